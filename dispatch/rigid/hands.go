package rigid

import (
	"cmp"
	"slices"

	"productform/dispatch"
)

// hands tracks the workers of each job and records events of its tasks. Task k of a job runs on its
// k-th worker.
type hands struct {
	up       []bool // by worker
	job      []int  // by worker: the job that holds it, or -1
	workers  [][]int
	first    []int // by job: the attempt at its first task; the other attempts follow consecutively
	attempts int   // number of attempts started so far

	isRecording bool
	events      []dispatch.Event
}

func newHands(workers, jobs int, isRecording bool) *hands {
	h := &hands{
		up:          make([]bool, workers),
		job:         make([]int, workers),
		workers:     make([][]int, jobs),
		first:       make([]int, jobs),
		isRecording: isRecording,
	}
	for w := range h.up {
		h.up[w], h.job[w] = true, -1
	}
	return h
}

// compareStarts compares running jobs by the order in which they started.
func (h *hands) compareStarts(a, b int) int { return cmp.Compare(h.first[a], h.first[b]) }

func (h *hands) record(e dispatch.Event) {
	if h.isRecording {
		h.events = append(h.events, e)
	}
}

// task records an event of the task of job i on its k-th worker.
func (h *hands) task(what dispatch.Kind, i, k int) {
	h.record(dispatch.Event{Kind: what, Job: i, Task: k, Worker: h.workers[i][k], Attempt: h.first[i] + k})
}

// begin gives job i the free workers with the lowest numbers.
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

// finish releases the workers of job i, which has ended.
func (h *hands) finish(i int) {
	for k, w := range h.workers[i] {
		h.job[w] = -1
		h.task(dispatch.Finished, i, k)
	}
	h.record(dispatch.Event{Kind: dispatch.Completed, Job: i, Task: -1, Worker: -1})
	h.workers[i] = nil
}

// fail marks a worker as down, and returns the job that held it, or -1.
func (h *hands) fail(w int) int {
	i := h.job[w]
	if i >= 0 {
		h.task(dispatch.Lost, i, slices.Index(h.workers[i], w))
	}
	h.up[w], h.job[w] = false, -1
	h.record(dispatch.Event{Kind: dispatch.Failed, Job: -1, Task: -1, Worker: w})
	return i
}

// restore marks a worker as up again.
func (h *hands) restore(w int) {
	h.up[w] = true
	h.record(dispatch.Event{Kind: dispatch.Returned, Job: -1, Task: -1, Worker: w})
}

// stop releases the remaining workers of job i, which is lost.
func (h *hands) stop(i int) {
	for k, w := range h.workers[i] {
		if h.job[w] == i {
			h.job[w] = -1
			h.task(dispatch.Preempted, i, k)
		}
	}
}
