package l14

import (
	"context"
	"fmt"

	"productform/dispatch"
	"productform/plots"
)

// sampleChecks reruns the first sample under each policy, and counts violations and sums penalties
// from its events, decision by decision and job by job. Zero numbers give no rows.
func sampleChecks(ctx context.Context, f *plots.Figure, s *benchmark, m machines, policies []namedPolicy,
	all [][]outcome) error {
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
		}{{"violation rate by the plan", plannedOf}, {"violation rate by running tasks", runningOf}, {"penalty",
			penaltyOf}} {
			if v := n.of(all[k][0]); v != 0 || n.of(again) > 1e-9 {
				f.Checks = append(f.Checks, plots.SolverCheck(f.ID,
					fmt.Sprintf("%s, %s, %s, sample of seed %d, counted again", n.name, c.label, m.environment(),
						s.seeds[0]), v, n.of(again), 1e-9))
			}
		}
	}
	return nil
}

// recount runs a scenario and evaluates it by the definitions.
func recount(ctx context.Context, s dispatch.Scenario) (outcome, error) {
	counted, err := Recount(ctx, s)
	return outcome{counted.Planned, counted.Running, counted.Penalty}, err
}
