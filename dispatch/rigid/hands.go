package rigid

import (
	"cmp"
	"slices"

	"productform/dispatch"
)

// hands say which workers each job has, and what happens to its tasks: task k of a job is with the k-th of its workers.
type hands struct {
	up       []bool // by worker
	job      []int  // by worker: that has it, or -1
	workers  [][]int
	first    []int // by job: the attempt of its first task; those of the others follow
	attempts int   // begun

	isRecording bool
	events      []dispatch.Event
}

func newHands(workers, jobs int, isRecording bool) *hands {
	h := &hands{up: make([]bool, workers), job: make([]int, workers), workers: make([][]int, jobs), first: make([]int, jobs), isRecording: isRecording}
	for w := range h.up {
		h.up[w], h.job[w] = true, -1
	}
	return h
}

// inOrder is the order in which jobs in hand have begun.
func (h *hands) inOrder(a, b int) int { return cmp.Compare(h.first[a], h.first[b]) }

func (h *hands) tell(e dispatch.Event) {
	if h.isRecording {
		h.events = append(h.events, e)
	}
}

// task tells something of the task of job i that is with its k-th worker.
func (h *hands) task(what dispatch.Kind, i, k int) {
	h.tell(dispatch.Event{Kind: what, Job: i, Task: k, Worker: h.workers[i][k], Attempt: h.first[i] + k})
}

// begin gives job i so many free workers, those with the lowest numbers.
func (h *hands) begin(i, size int) {
	h.first[i] = h.attempts + 1
	h.attempts += size
	h.workers[i] = h.workers[i][:0]
	for w := 0; len(h.workers[i]) < size; w++ {
		if h.up[w] && h.job[w] < 0 {
			h.job[w] = i
			h.workers[i] = append(h.workers[i], w)
			h.task(dispatch.Started, i, len(h.workers[i])-1)
		}
	}
}

// finish takes its workers from job i, which has ended.
func (h *hands) finish(i int) {
	for k, w := range h.workers[i] {
		h.job[w] = -1
		h.task(dispatch.Finished, i, k)
	}
	h.tell(dispatch.Event{Kind: dispatch.Completed, Job: i, Task: -1, Worker: -1})
	h.workers[i] = nil
}

// fail takes a worker away, and returns the job that had it, or -1.
func (h *hands) fail(w int) int {
	i := h.job[w]
	if i >= 0 {
		h.task(dispatch.Lost, i, slices.Index(h.workers[i], w))
	}
	h.up[w], h.job[w] = false, -1
	h.tell(dispatch.Event{Kind: dispatch.Failed, Job: -1, Task: -1, Worker: w})
	return i
}

// comeBack gives a worker back.
func (h *hands) comeBack(w int) {
	h.up[w] = true
	h.tell(dispatch.Event{Kind: dispatch.Returned, Job: -1, Task: -1, Worker: w})
}

// stop takes the workers that are left from job i, which is lost.
func (h *hands) stop(i int) {
	for k, w := range h.workers[i] {
		if h.job[w] == i {
			h.job[w] = -1
			h.task(dispatch.Preempted, i, k)
		}
	}
}
