package l14

import (
	"context"
	"fmt"

	"productform/dispatch"
	"productform/plots"
)

// sampleChecks runs the first sample again under each of the policies and counts violations and adds up penalties from what
// happened, decision by decision and job by job. Numbers that are 0 are no rows.
func sampleChecks(ctx context.Context, f *plots.Figure, s *tournament, m machines, policies []contender, all [][]outcome) error {
	for k, c := range policies {
		scenario, err := s.scenario(m, c.policy, s.seeds[0])
		if err != nil {
			return err
		}
		again, err := recount(ctx, scenario)
		if err != nil {
			return err
		}
		for _, n := range []struct {
			name string
			of   func(outcome) float64
		}{{"violation rate by the plan", plannedOf}, {"violation rate by tasks in hand", runningOf}, {"penalty", penaltyOf}} {
			if v := n.of(all[k][0]); v != 0 || n.of(again) > 1e-9 {
				f.Checks = append(f.Checks, plots.SolverCheck(f.ID, fmt.Sprintf("%s, %s, %s, sample of seed %d, counted again", n.name, c.label, m.environment(), s.seeds[0]), v, n.of(again), 1e-9))
			}
		}
	}
	return nil
}

// recount runs a scenario and judges it by the definitions: pair by pair of the jobs present at each decision.
func recount(ctx context.Context, s dispatch.Scenario) (outcome, error) {
	var o outcome
	var before, present float64 // time of the last decision; seconds with jobs present
	var planned, running float64
	count := 0
	s.Watch = func(d *dispatch.Decision) {
		if count > 0 {
			o.planned += planned * (d.Time - before)
			o.running += running * (d.Time - before)
			present += d.Time - before
		}
		count, before = len(d.Present), d.Time
		planned, running = violated(s.Jobs, d.Present, d.Plan), violated(s.Jobs, d.Present, d.Hand)
	}
	r, err := dispatch.Run(ctx, s)
	if err != nil {
		return o, err
	}
	if present > 0 {
		o.planned, o.running = o.planned/present, o.running/present
	}
	for i, rec := range r.Jobs {
		if j := s.Jobs[i]; j.Deadline > 0 && rec.Finish-j.Deadline > 1e-9*rec.Finish { // late by more than rounding
			o.penalty += j.Priority * (rec.Finish - j.Deadline)
		}
	}
	return o, nil
}

// violated returns the part of the jobs present that no worker is for though one is for a job of lower priority.
func violated(jobs []dispatch.Job, present, workers []int) float64 {
	served := make(map[int]bool)
	for _, j := range workers {
		if j >= 0 {
			served[j] = true
		}
	}
	n := 0
	for _, i := range present {
		for j := range served {
			if !served[i] && jobs[j].Priority < jobs[i].Priority {
				n++
				break
			}
		}
	}
	if len(present) == 0 {
		return 0
	}
	return float64(n) / float64(len(present))
}
