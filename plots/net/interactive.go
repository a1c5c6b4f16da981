package net

import (
	"context"
	"fmt"
	"math/big"

	"productform/network"
	"productform/num"
	"productform/plots"
	"productform/sim"
	simnetwork "productform/sim/network"
	"productform/sizes"
)

// Numbers of users of net-1.
const (
	thinkTime = 5
	mostUsers = 160
)

// interactive returns a model of users who alternate between thinking and visits to a processor and
// possibly a disk.
func interactive(users int) *network.Model {
	branch := func(visit int, p *big.Rat) network.Branch { return network.Branch{Visit: visit, Probability: p} }
	one := big.NewRat(1, 1)
	return &network.Model{
		Stations: []network.Station{
			{Name: "think", Discipline: network.Delay}, {Name: "processors", Discipline: network.Sharing, Servers: 2},
			{Name: "disk", Discipline: network.FCFS},
		},
		Classes: []network.Class{{Name: "user", Population: users, Visits: []network.Visit{
			{Station: 0, MeanSize: big.NewRat(thinkTime, 1), Next: []network.Branch{branch(1, one)}},
			{
				Station:  1,
				MeanSize: big.NewRat(1, 20),
				Next:     []network.Branch{branch(2, big.NewRat(3, 5)), branch(0, big.NewRat(2, 5))},
			},
			{Station: 2, MeanSize: big.NewRat(3, 100), Next: []network.Branch{branch(1, one)}},
		}}},
	}
}

// simulatedUsers returns the simulated populations.
func simulatedUsers(e plots.Effort) []int {
	if e.Precision == plots.Draft {
		return []int{40, 80, 120}
	}
	return []int{20, 40, 60, 80, 100, 120, 140, 160}
}

// An interactiveRun is a simulation with a given number of users.
type interactiveRun struct {
	users int
	shape shape
	run   *plots.Simulation
}

// prepareInteractive plans net-1.
func prepareInteractive(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	var runs []interactiveRun
	for _, users := range simulatedUsers(e) {
		for _, s := range shapes() {
			if s.SCV == 1 {
				continue
			}
			law, err := s.sizes()
			if err != nil {
				return nil, err
			}
			system := simnetwork.Network{Model: interactive(users)}
			system.Sizes, err = interactiveSizes(system.Model, law)
			if err != nil {
				return nil, err
			}
			run, err := simulate(ctx, p, fmt.Sprintf("interactive system, %d users, %s", users, s.label()), system, e)
			if err != nil {
				return nil, err
			}
			runs = append(runs, interactiveRun{users, s, run})
		}
	}
	return func(ctx context.Context, f *plots.Figure) error {
		if err := drawInteractive(ctx, f, runs); err != nil {
			return err
		}
		return texts.Describe(f, map[string]any{
			"Think": thinkTime, "Most": mostUsers, "Users": simulatedUsers(e), "Runs": runWords(p, e, "ends of visits"),
		}, nil)
	}, nil
}

// drawInteractive draws throughput and delay.
func drawInteractive(ctx context.Context, f *plots.Figure, runs []interactiveRun) error {
	var populations []*big.Rat
	for n := int64(1); n <= mostUsers; n++ {
		populations = append(populations, big.NewRat(n, 1))
	}
	exact, err := network.Sweep(
		ctx, interactive(1), network.Change{Parameter: network.Population, Values: populations},
		network.Question{}, network.Settings{},
	)
	if err != nil {
		return err
	}
	users := plots.Axis{Quantity: "number of users", Symbol: "N", Min: 0, Max: mostUsers + 5}
	rate := plots.Panel{
		Title: "Throughput",
		X:     users,
		Y:     plots.Axis{Quantity: "throughput", Unit: "cycles per second", Min: 0, Max: 18},
	}
	delay := plots.Panel{
		Title: "Delay",
		X:     users,
		Y:     plots.Axis{Quantity: "mean delay, without thinking", Unit: "seconds", Min: 0, Max: 6},
	}
	bounds := [2]plots.Series{
		{Label: "bounds", Kind: plots.Band, Look: fourthLook}, {Label: "bounds", Kind: plots.Band, Look: fourthLook},
	}
	lines := [2]plots.Series{{Label: "exact", Look: firstLook}, {Label: "exact", Look: firstLook}}
	for k, r := range exact {
		n := float64(k + 1)
		bound, err := network.Bounds(ctx, interactive(k+1))
		if err != nil {
			return err
		}
		cycle := float(bound[0].MeanDelay.High)
		add := func(s *plots.Series, low, high float64) {
			s.X, s.Low, s.High = append(s.X, n), append(s.Low, low), append(s.High, high)
		}
		add(&bounds[0], float(bound[0].Throughput.Low), float(bound[0].Throughput.High))
		add(&bounds[1], float(bound[0].MeanDelay.Low)-thinkTime, cycle-thinkTime)
		lines[0].X, lines[0].Y = append(lines[0].X, n), append(lines[0].Y, r.Chains[0].Throughput.Float)
		lines[1].X, lines[1].Y = append(lines[1].X, n), append(lines[1].Y, r.Chains[0].MeanDelay.Float-thinkTime)
	}
	rate.Series, delay.Series = []plots.Series{bounds[0], lines[0]}, []plots.Series{bounds[1], lines[1]}
	addUsers(f, &rate, &delay, runs, exact)
	f.Panels, f.OneLegend = []plots.Panel{rate, delay}, true
	return checkInteractive(ctx, f, exact[mostUsers-1])
}

// addUsers adds the simulated points and their checks.
func addUsers(f *plots.Figure, rate, delay *plots.Panel, runs []interactiveRun, exact []*network.Result) {
	for look, s := range shapes() {
		a := plots.Series{Label: "simulated, " + s.label(), Kind: plots.Points, Look: secondLook + look, Bars: true}
		b := a
		for _, one := range runs {
			if one.shape != s {
				continue
			}
			x, r := float64(one.users), one.run.Result
			theory := exact[one.users-1].Chains[0]
			cycle := *r.Class(0, sim.MeanDelay)
			response := cycle
			response.Mean -= thinkTime
			addPoint(&a, x, r.Class(0, sim.Throughput), plots.Linear)
			addPoint(&b, x, &response, plots.Linear)
			at := fmt.Sprintf(", %d users, %s", one.users, s.label())
			f.Checks = append(f.Checks,
				plots.SimulatedCheck(
					f.ID+"a", "throughput"+at, theory.Throughput.Float, r.Class(0, sim.Throughput), one.run.Name,
				),
				plots.SimulatedCheck(f.ID+"b", "mean cycle"+at, theory.MeanDelay.Float, &cycle, one.run.Name))
		}
		addSeen(rate, a)
		addSeen(delay, b)
	}
}

// checkInteractive compares the engines at the largest population.
func checkInteractive(ctx context.Context, f *plots.Figure, largest *network.Result) error {
	again, err := network.Solve(ctx, interactive(mostUsers), network.Settings{Engine: num.Exact})
	if err != nil {
		return err
	}
	f.Checks = append(f.Checks, plots.SolverCheck(
		f.ID+"a", fmt.Sprintf("throughput, %d users, in fractions", mostUsers), largest.Chains[0].Throughput.Float,
		again.Chains[0].Throughput.Float, solverTolerance(largest.RelativeErrorBound),
	))
	return nil
}

// interactiveSizes returns sizes of one distribution for all visits except FCFS visits, which are
// exponential.
func interactiveSizes(m *network.Model, law sizes.Distribution) ([][]sizes.Distribution, error) {
	list := make([][]sizes.Distribution, len(m.Classes))
	for c := range m.Classes {
		for _, v := range m.Classes[c].Visits {
			if m.Stations[v.Station].Discipline == network.FCFS {
				list[c] = append(list[c], nil)
				continue
			}
			d, err := sizes.WithMean(law, float(num.OrOne(v.MeanSize)))
			if err != nil {
				return nil, err
			}
			list[c] = append(list[c], d)
		}
	}
	return list, nil
}
