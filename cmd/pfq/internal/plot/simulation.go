package plot

import (
	"cmp"
	"fmt"
	"math/big"

	"productform/cmd/pfq/internal/command"
	"productform/plots"
	"productform/sim"
)

// A point is a simulated load.
type point struct {
	load   int // index of the factor
	policy int // index of the policy, of a pool
	result *sim.Result
}

const mostPoints = 8 // maximum number of simulated loads

// simulate simulates the model at some of the drawn factors; plan returns the simulation for a
// factor.
func (f *question) simulate(
	q command.Query, factors []*big.Rat, plan func(k int) (*sim.Plan, error),
) (points []point, err error) {
	for _, k := range plots.Evenly(len(factors), mostPoints) {
		plan, err := plan(k)
		if err != nil {
			return nil, err
		}
		result, _, err := command.Replicate(q.Ctx, plan, f.settings, q.Stderr)
		if err != nil {
			return nil, err
		}
		points = append(points, point{load: k, result: result})
	}
	return points, nil
}

// simulationCaption describes how points were simulated; it is empty if there are none.
func (f *question) simulationCaption(points []point) string {
	if points == nil {
		return ""
	}
	const defaultJumps = 1e6 // the default of sim.Settings
	s := f.settings
	text := fmt.Sprintf(" Points: simulation, %d runs of %g jumps", s.Runs, cmp.Or(s.Jumps, defaultJumps))
	switch {
	case s.WarmUp == sim.NoWarmUp:
		text += " without a warm-up"
	case s.WarmUp > 0:
		text += fmt.Sprintf(" after %g", s.WarmUp)
	default:
		text += " after as many"
	}
	return text + fmt.Sprintf(", seed %d; bars are intervals at confidence %g.", s.Seed, s.Confidence)
}
