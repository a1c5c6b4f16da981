package plan_test

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/network"
	"productform/num"
	"productform/plan"
)

// A timed problem has the mean delay of each of its plans.
type timed struct {
	*centre
	delays []float64
}

// drawTimed draws a problem in which no purchase makes delays longer.
func drawTimed(t *rapid.T) (c timed) {
	var solve solver
	record := func(p *plan.Problem, choice plan.Choice, targets []plan.Target) ([]num.Value, error) {
		list, err := solve(p, choice, append(slices.Clone(targets), plan.Target{Measure: plan.MeanDelay}))
		delay := 0.
		if err == nil {
			delay = list[len(targets)].Float
			list = list[:len(targets)]
		}
		c.delays = append(c.delays, delay)
		return list, err
	}
	switch rapid.SampledFrom([]string{"skills", "gangs", "network"}).Draw(t, "kind") {
	case "skills":
		p := drawSkills(t, nil, 2)
		p.NewServers = nil
		for s := range p.Model.Servers { // all servers have one speed
			p.Model.Servers[s].Capacity = big.NewRat(1, 1)
			p.Upgrades[s].Step, p.Upgrades[s].Count = nil, 1
		}
		solve = applied(solvePatient)
		c.centre = drawCentre(t, p, []plan.Target{{Measure: plan.MeanWaiting, Class: "c1"}, {Measure: plan.MeanDelay}},
			record)
	case "gangs":
		solve = applied(solveGangs)
		p := drawGangs(t)
		p.Upgrades[0].Most = 3
		c.centre = drawCentre(t, p, []plan.Target{{Measure: plan.MeanWaiting}}, record)
	default:
		p := drawNetwork(t)
		p.Network.Classes = p.Network.Classes[:1]
		targets := slices.DeleteFunc(networkTargets(p), func(t plan.Target) bool { return t.Measure != plan.MeanDelay })
		if len(p.Upgrades) == 0 || len(targets) == 0 || slices.ContainsFunc(p.Network.Stations, isSlower) {
			t.Skip("nothing to upgrade, or a chain of lcfs stations whose jobs may never move")
		}
		solve = solveNetworks
		c.centre = drawCentre(t, p, targets, record)
	}
	return c
}

// best returns the shortest mean delay of the plans that meet the targets at a cost of at most most,
// or 0.
func (c timed) best(most *big.Rat) (least float64) {
	for i, x := range c.plans {
		if x.meetsAll(c.problem) && x.cost.Cmp(most) <= 0 && (least == 0 || c.delays[i] < least) {
			least = c.delays[i]
		}
	}
	return least
}

// The frontier of models other than clusters with the service all is that of brute force, and proved;
// a bound that is too large is rejected.
func TestShortestDelaysMatchBruteForce(t *testing.T) {
	ctx := context.Background()
	const tol = 4e-9
	rapid.Check(t, func(t *rapid.T) {
		c := drawTimed(t)
		p := c.problem
		costs := map[string]*big.Rat{}
		for _, x := range c.plans {
			costs[x.cost.RatString()] = x.cost
		}
		points, err := plan.Frontier(ctx, p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range points {
			if err := plan.Verify(ctx, p, a, plan.Settings{}); err != nil {
				t.Fatal(err)
			}
			if a.Plan == nil {
				continue
			}
			at := c.at(a.Plan.Choice)
			found := c.best(at.cost)
			if got := a.Plan.Solution.MeanDelay.Float; !at.meetsAll(p) || got > found*(1+tol) {
				t.Fatalf("point %d: mean delay %v, want %v", i, got, found)
			}
			if i+1 < len(points) {
				continue
			}
			larger := *a
			more := *a.Proof.Delay * (1 + 1e-6)
			larger.Proof.Delay = &more
			if err := plan.Verify(ctx, p, &larger, plan.Settings{}); !errors.Is(err, plan.ErrUnproved) {
				t.Fatalf("a bound above the mean delay of the plan: %v", err)
			}
		}
		for _, cost := range slices.Collect(maps.Values(costs)) { // the frontier has the best of each
			best, point := c.best(cost), 0.
			for _, a := range points {
				if a.Plan != nil && a.Plan.Cost.Cmp(cost) <= 0 {
					point = a.Plan.Solution.MeanDelay.Float
				}
			}
			if best == 0 && point != 0 || best != 0 && (point == 0 || point > best*(1+tol)) {
				t.Fatalf("at most %v: mean delay %v, want %v", cost, point, best)
			}
		}
	})
}

// isSlower reports whether the rates of a station fall.
func isSlower(s network.Station) bool { return !slices.IsSortedFunc(s.Rates, (*big.Rat).Cmp) }
