package sweep

import (
	"math"
	"sync"
	"time"
)

// Progress reports the progress of a [Run].
type Progress struct {
	Done      int           // tasks with a result, computed or reused
	Reused    int           // tasks whose result was on disk
	Total     int           // all tasks
	Elapsed   time.Duration // since the start of this run
	Left      time.Duration // estimate from the cost and the time of the tasks computed in this run
	LeftKnown bool          // Left is known: after the first computed task, and at the end
}

// A meter counts tasks and reports progress.
type meter struct {
	mu      sync.Mutex // held while report runs, so reports occur one at a time and in order
	report  func(Progress)
	start   time.Time
	workers int
	now     Progress

	costLeft, costDone float64       // cost of the tasks without a result, and of the computed tasks
	busy               time.Duration // total time of the computed tasks over all workers
}

func newMeter(report func(Progress), workers int) *meter {
	return &meter{report: report, start: time.Now(), workers: workers}
}

// add announces one more task.
func (m *meter) add(cost float64) {
	m.now.Total++
	m.costLeft += cost
}

// reused records the end of a task whose result was on disk.
func (m *meter) reused(cost float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Reused++
	m.finish(cost)
}

// computed records the end of a task that ran.
func (m *meter) computed(cost float64, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.costDone += cost
	m.busy += took
	m.finish(cost)
}

func (m *meter) finish(cost float64) {
	m.now.Done++
	m.costLeft -= cost
	if m.report == nil {
		return
	}
	m.now.Elapsed = time.Since(m.start)
	m.now.Left, m.now.LeftKnown = timeLeft(m.busy, m.costDone, m.costLeft, m.now.Total-m.now.Done, m.workers)
	m.report(m.now)
}

// timeLeft returns (busy/costDone) costLeft / min(tasks, workers), the time for the remaining
// tasks, of total cost costLeft, if a unit of cost takes as long as before, and whether it is
// known. Running tasks count as not started, so Left is too long by half a task.
func timeLeft(busy time.Duration, costDone, costLeft float64, tasks, workers int) (time.Duration, bool) {
	if tasks == 0 {
		return 0, true
	}
	left := float64(busy) * (max(costLeft, 0) / costDone) / float64(min(tasks, workers))
	// nothing computed yet (0/0, or costs so different that their sum lost them), or over 292 years
	if !(left < math.MaxInt64) {
		return 0, false
	}
	return time.Duration(left), true
}
