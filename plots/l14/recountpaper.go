package l14

import (
	"context"
	"slices"

	"productform/dispatch"
)

// Counted holds the measures of a run in [L14]: the rates of priority violations in the plan and
// among running tasks, and the penalty for missed deadlines.
type Counted struct{ Planned, Running, Penalty float64 }

// Recount runs a scenario and evaluates it by the definitions, over all pairs of jobs present at
// each decision.
func Recount(ctx context.Context, s dispatch.Scenario) (Counted, error) {
	var o Counted
	var before, present float64 // time of the last decision; total time with jobs present
	var planned, running float64
	count := 0
	s.Watch = func(d *dispatch.Decision) {
		if count > 0 {
			o.Planned += planned * (d.Time - before)
			o.Running += running * (d.Time - before)
			present += d.Time - before
		}
		count, before = len(d.Present), d.Time
		planned, running = Violated(s.Jobs, d.Present, d.Plan()), Violated(s.Jobs, d.Present, d.Hand())
	}
	r, err := dispatch.Run(ctx, s)
	if err != nil {
		return o, err
	}
	if present > 0 {
		o.Planned, o.Running = o.Planned/present, o.Running/present
	}
	for i, rec := range r.Jobs {
		if j := s.Jobs[i]; j.Deadline > 0 && rec.Finish-j.Deadline > 1e-9*rec.Finish { // late by more than rounding
			o.Penalty += j.Priority * (rec.Finish - j.Deadline)
		}
	}
	return o, nil
}

// Violated returns the fraction of present jobs that have no worker while a job of lower priority
// has one.
func Violated(jobs []dispatch.Job, present, workers []int) float64 {
	n := 0
	for _, i := range present {
		if !slices.Contains(workers, i) && slices.ContainsFunc(workers, func(j int) bool {
			return j >= 0 && jobs[j].Priority < jobs[i].Priority
		}) {
			n++
		}
	}
	if len(present) == 0 {
		return 0
	}
	return float64(n) / float64(len(present))
}
