package net

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"productform/network/loss"
	"productform/num"
	"productform/plots"
	simloss "productform/sim/loss"
)

// agents is the number of agents of net-3.
const agents = 12

// bothSkills returns the numbers of agents with both skills.
func bothSkills() []int { return []int{0, 2, 4, 12} }

// A mix describes the arrivals of calls in two languages.
type mix struct {
	Words  string
	first  *big.Rat // fraction of calls in the first language
	Letter string
}

func mixes() []mix {
	return []mix{
		{"equally many calls in both languages", big.NewRat(1, 2), "a"},
		{"three times as many calls in one language", big.NewRat(3, 4), "b"},
	}
}

// callCentre returns a call centre at the given load. Some agents speak both languages, and half of
// the others speak each.
func callCentre(both int, m mix, rho *big.Rat) *loss.Model {
	one := big.NewRat(1, 1)
	all := new(big.Rat).Mul(rho, big.NewRat(agents, 1))
	first := new(big.Rat).Mul(all, m.first)
	c := &loss.Model{Classes: []loss.Class{
		{Name: "first", ArrivalRate: first}, {Name: "second", ArrivalRate: new(big.Rat).Sub(all, first)},
	}}
	for s := range agents {
		c.Servers = append(c.Servers, loss.Server{Name: fmt.Sprint("agent ", s+1), Capacity: one, Tokens: 1})
		if s < both || s%2 == 0 {
			c.Classes[0].Servers = append(c.Classes[0].Servers, s)
		}
		if s < both || s%2 == 1 {
			c.Classes[1].Servers = append(c.Classes[1].Servers, s)
		}
	}
	return c
}

// skillLoads returns the simulated loads.
func skillLoads() []*big.Rat {
	return []*big.Rat{big.NewRat(7, 10), big.NewRat(9, 10), big.NewRat(11, 10)}
}

// A lossRun is a simulation at one load.
type lossRun struct {
	both int
	mix  mix
	rho  *big.Rat
	run  *plots.Simulation
}

// prepareSkills plans net-3.
func prepareSkills(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	vary := shapes()[2]
	law, err := vary.sizes()
	if err != nil {
		return nil, err
	}
	var runs []lossRun
	for _, m := range mixes() {
		for _, both := range bothSkills() {
			for _, rho := range skillLoads() {
				name := fmt.Sprintf("call centre, %d of %d agents with both skills, %s, load %s",
					both, agents, m.Words, plots.Decimal(rho))
				run, err := simulate(ctx, p, name, simloss.System{Model: callCentre(both, m, rho), Shape: law}, e)
				if err != nil {
					return nil, err
				}
				runs = append(runs, lossRun{both: both, mix: m, rho: rho, run: run})
			}
		}
	}
	return func(ctx context.Context, f *plots.Figure) error {
		for _, m := range mixes() {
			panel, err := drawSkills(ctx, f, m, runs)
			if err != nil {
				return err
			}
			f.Panels = append(f.Panels, panel)
		}
		f.OneLegend = true
		plots.ShareY(f.Panels)
		if err := checkSkills(ctx, f); err != nil {
			return err
		}
		return texts.Describe(f, map[string]any{
			"Agents": agents, "Both": bothSkills(), "Mixes": mixes(), "Loads": exactLoads(), "Simulated": skillLoads(),
			"Runs": runWords(p, e, "calls, ends of calls"),
		}, nil)
	}, nil
}

// exactLoads returns the loads of the curves of losses: 0.5, 0.55, ..., 1.2.
func exactLoads() (list []*big.Rat) {
	for k := int64(10); k <= 24; k++ {
		list = append(list, big.NewRat(k, 20))
	}
	return list
}

// drawSkills draws blocking against the load.
func drawSkills(ctx context.Context, f *plots.Figure, m mix, runs []lossRun) (plots.Panel, error) {
	panel := plots.Panel{Title: capital(m.Words), X: loadAxis(), Y: blockingAxis("calls")}
	for look, both := range bothSkills() {
		line := plots.Series{Label: fmt.Sprintf("%d with both skills", both), Look: look}
		for _, rho := range exactLoads() {
			r, err := loss.Solve(ctx, callCentre(both, m, rho), loss.Settings{})
			if err != nil {
				return panel, err
			}
			line.X, line.Y = append(line.X, float(rho)), append(line.Y, r.Blocking.Float)
		}
		panel.Series = append(panel.Series, line)
		dots := plots.Series{Label: line.Label, Kind: plots.Points, Look: look}
		for _, one := range runs {
			if one.both != both || one.mix.Letter != m.Letter {
				continue
			}
			lost := one.run.Result.All(simloss.Blocking)
			if !seen(lost) {
				continue
			}
			addPoint(&dots, float(one.rho), lost, plots.Log)
			f.Checks = append(f.Checks, plots.SimulatedCheck(
				f.ID+m.Letter, fmt.Sprintf("blocking, %d of both skills, load %s", both, plots.Decimal(one.rho)),
				line.At(float(one.rho)), lost, one.run.Name,
			))
		}
		addSeen(&panel, dots)
	}
	return panel, nil
}

func loadAxis() plots.Axis {
	return plots.Axis{Quantity: "load", Symbol: "ρ", Min: 0.45, Max: 1.25}
}

// blockingAxis returns the axis of the fraction of jobs, or calls, that are lost.
func blockingAxis(jobs string) plots.Axis {
	return plots.Axis{Quantity: "fraction of " + jobs + " lost", Scale: plots.Log}
}

// capital returns words as a title; the first word is in ASCII.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// checkSkills compares with Erlang's formula: if all agents have both skills they are one group,
// and if none has, two groups.
func checkSkills(ctx context.Context, f *plots.Figure) error {
	rho := big.NewRat(9, 10)
	for _, one := range []struct {
		both  int
		group int64
	}{{0, agents / 2}, {agents, agents}} {
		r, err := loss.Solve(ctx, callCentre(one.both, mixes()[0], rho), loss.Settings{})
		if err != nil {
			return err
		}
		want, err := loss.ErlangB(
			ctx, int(one.group), new(big.Rat).Mul(rho, big.NewRat(one.group, 1)),
			loss.FormulaSettings{Engine: num.Exact},
		)
		if err != nil {
			return err
		}
		f.Checks = append(f.Checks, plots.SolverCheck(
			f.ID+"a", fmt.Sprintf("blocking, %d of both skills, load 0.9, by Erlang's formula", one.both),
			r.Blocking.Float, want.Float, solverTolerance(r.RelativeErrorBound),
		))
	}
	return nil
}
