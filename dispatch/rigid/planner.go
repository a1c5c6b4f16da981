package rigid

import (
	"cmp"

	"productform/internal/input"
)

// A Planner decides which jobs of a stream start. The caller keeps the clock, for example a
// simulation that draws its jobs one by one. At each moment the caller calls Reach, then Submit for
// each job that arrives, and finally Decide. If it combines events into moments as [LastOf]
// specifies, the jobs start at the times of [Run], to the last digit.
//
// Jobs have small numbers from 0; a number may be used again once its job has ended. No job runs
// longer than requested, and workers do not fail. A Planner must not be used by several goroutines
// at once.
type Planner struct{ line *schedule }

// NewPlanner returns a planner at time 0 without jobs, for a number of workers. The error is a
// [num.InputError].
func NewPlanner(p Policy, workers int) (*Planner, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if workers < 1 {
		return nil, input.Errorf("Workers", workers, "an integer >= 1")
	}
	line := newSchedule(p, workers, 0)
	line.isSafe = true
	return &Planner{line}, nil
}

// LastOf returns the last time that belongs to the same moment as a first time: it is later only by
// rounding. Events in between happen at the time of the last of them.
func LastOf(first float64) float64 { return first * (1 + timeTol) }

// Reach advances the clock to a moment, at which some running jobs end.
func (p *Planner) Reach(now float64, ended []int) {
	p.line.reach(now, p.line.workers)
	for _, i := range ended {
		p.line.end(i)
	}
	p.line.settle()
}

// Submit adds job i, which requests a number of workers, 1 to all, for a time; 0 means 1, as in
// [Scenario].
func (p *Planner) Submit(i, workers int, time float64) {
	p.line.reserveNumbers(i)
	p.line.submit(i, workers, cmp.Or(time, minRequest))
}

// Decide returns the jobs that start now. The list is valid until the next call.
func (p *Planner) Decide() []int {
	l := p.line
	l.work += 100 + len(l.queue) + len(l.active)
	l.decide()
	return l.begun
}

// TakeWork returns the work since the last call, in units of about 10 ns, for callers that check
// whether they are cancelled.
func (p *Planner) TakeWork() int {
	work := p.line.work
	p.line.work = 0
	return work
}
