package net

import (
	"context"
	"fmt"
	"math/big"

	"productform/network/swap"
	"productform/plots"
	"productform/sim"
	simswap "productform/sim/swap"
)

// Numbers of net-6. There is one server per class, and one shared by both.
const (
	swapServers   = 3
	mostSwapJobs  = 10
	swapPercent   = 95
	swapLevel     = swapPercent / 100.
	simulatedJobs = 3 // number of class-1 jobs; twice and three times as many are also simulated
	otherJobs     = 4 // number of class-2 jobs
)

// swapQueue returns a queue of two classes with one server each and a shared one, whose jobs may
// swap.
func swapQueue(joined bool) *swap.Model {
	one := big.NewRat(1, 1)
	m := &swap.Model{
		Servers: []swap.Server{{Name: "1", Capacity: one}, {Name: "both", Capacity: one}, {Name: "2", Capacity: one}},
		Classes: []swap.Class{{Name: "class 1", Servers: []int{0, 1}}, {Name: "class 2", Servers: []int{1, 2}}},
	}
	if joined {
		m.Swaps = [][2]int{{0, 1}}
	}
	return m
}

// closedSwaps returns the queue with the given number of jobs of class 1 in front, and a server of
// half the rate for class 2.
func closedSwaps(joined bool, jobs int) *swap.Model {
	m := swapQueue(joined)
	m.Servers[2].Capacity = big.NewRat(1, 2)
	m.Classes[0].Population, m.Classes[1].Population = jobs, otherJobs
	return m
}

// openSwaps returns the queue at the given load, with equal arrival rates of both classes.
func openSwaps(joined bool, rho *big.Rat) *swap.Model {
	m := swapQueue(joined)
	for i := range m.Classes {
		m.Classes[i].ArrivalRate = new(big.Rat).Mul(rho, big.NewRat(swapServers, 2))
	}
	return m
}

// orders returns the values of joined for both queues.
func orders() []bool { return []bool{false, true} }

func orderName(joined bool) string {
	if joined {
		return "pass-and-swap"
	}
	return "first come, first served"
}

// orderLabel returns the name of the order in legends.
func orderLabel(joined bool) string {
	if joined {
		return "swaps"
	}
	return "FCFS"
}

// A swapRun is a simulation of the closed queue, if jobs > 0, or of the open queue.
type swapRun struct {
	joined bool
	jobs   int
	rho    *big.Rat
	run    *plots.Simulation
}

// swapLoads returns the loads of the open queue.
func swapLoads() []*big.Rat {
	return []*big.Rat{big.NewRat(3, 10), big.NewRat(5, 10), big.NewRat(7, 10), big.NewRat(8, 10), big.NewRat(9, 10)}
}

// prepareSwaps plans net-6.
func prepareSwaps(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
	var runs []swapRun
	add := func(one swapRun, name string, m *swap.Model, s sim.Settings) (err error) {
		s.Jumps, s.WarmUp = e.RareJumps(), plots.Shorter(e.WarmUp)
		one.run, err = p.Simulate(ctx, orderName(one.joined)+name, simswap.Queue{Model: m}, e, s)
		runs = append(runs, one)
		return err
	}
	for _, joined := range orders() {
		for k := range 3 {
			jobs := simulatedJobs * (k + 1)
			if err := add(
				swapRun{joined: joined, jobs: jobs}, fmt.Sprintf(", %d jobs of class 1", jobs),
				closedSwaps(joined, jobs), sim.Settings{},
			); err != nil {
				return nil, err
			}
		}
		for _, rho := range swapLoads() {
			if err := add(swapRun{joined: joined, rho: rho}, ", load "+
				plots.Decimal(rho), openSwaps(joined, rho), sim.Settings{Levels: []float64{swapLevel}}); err != nil {
				return nil, err
			}
		}
	}
	return func(ctx context.Context, f *plots.Figure) error {
		closed, err := drawClosedSwaps(ctx, f, runs)
		if err != nil {
			return err
		}
		open, err := drawOpenSwaps(ctx, f, runs)
		if err != nil {
			return err
		}
		f.Panels = []plots.Panel{closed, open}
		return texts.Describe(f, map[string]any{
			"Percent":   swapPercent,
			"Most":      mostSwapJobs,
			"Other":     otherJobs,
			"Simulated": swapLoads(),
			"Runs":      runWords(p, e, "arrivals, ends of jobs"),
		}, nil)
	}, nil
}

// drawClosedSwaps draws the throughput of both classes against the number of jobs.
func drawClosedSwaps(ctx context.Context, f *plots.Figure, runs []swapRun) (plots.Panel, error) {
	panel := plots.Panel{
		Title: "Closed: who leaves",
		X:     plots.Axis{Quantity: "number of jobs of class 1", Min: 0, Max: mostSwapJobs + 1},
		Y:     plots.Axis{Quantity: "throughput", Unit: "jobs per unit of time", Min: -0.1, Max: swapServers},
	}
	for look, joined := range orders() {
		for i := range 2 {
			line := plots.Series{Label: orderLabel(joined), Group: fmt.Sprintf("class %d", i+1), Look: look}
			for n := 1; n <= mostSwapJobs; n++ {
				r, err := swap.Solve(ctx, closedSwaps(joined, n), swap.Settings{})
				if err != nil {
					return panel, err
				}
				line.X, line.Y = append(line.X, float64(n)), append(line.Y, r.Classes[i].Throughput.Float)
			}
			panel.Series = append(panel.Series, line)
			dots := line
			dots.Kind, dots.X, dots.Y = plots.Points, nil, nil
			for _, one := range runs {
				if one.jobs == 0 || one.joined != joined {
					continue
				}
				x := float64(one.jobs)
				addPoint(&dots, x, one.run.Result.Class(i, sim.Throughput), plots.Linear)
				if line.At(x) == 0 { // rates of 0 have no check
					continue
				}
				f.Checks = append(f.Checks, plots.SimulatedCheck(
					f.ID+"a",
					fmt.Sprintf("throughput of class %d, %s, %d jobs of class 1", i+1, orderName(joined), one.jobs),
					line.At(x), one.run.Result.Class(i, sim.Throughput), one.run.Name,
				))
			}
			addSeen(&panel, dots)
		}
	}
	return panel, nil
}

// drawOpenSwaps draws delays against the load.
func drawOpenSwaps(ctx context.Context, f *plots.Figure, runs []swapRun) (plots.Panel, error) {
	panel := plots.Panel{Title: "Open: delays", X: plots.Axis{Quantity: "load", Symbol: "ρ", Min: 0, Max: 1},
		Y: plots.Axis{Quantity: "delay", Unit: "units of time", Scale: plots.Log}}
	line := plots.Series{Label: "exact, both", Group: "mean", Look: thirdLook}
	for k := int64(1); k <= 19; k++ {
		rho := big.NewRat(k, 20)
		r, err := swap.Solve(ctx, openSwaps(true, rho), swap.Settings{})
		if err != nil {
			return panel, err
		}
		line.X, line.Y = append(line.X, float(rho)), append(line.Y, r.Classes[0].MeanDelay.Float)
	}
	var means []plots.Series
	for look, joined := range orders() {
		mean := plots.Series{Label: orderLabel(joined), Group: "mean", Kind: plots.Points, Look: look, Bars: true}
		tail := plots.Series{
			Label:  orderLabel(joined),
			Group:  fmt.Sprintf("%dth percentile", swapPercent),
			Look:   look,
			Marked: true,
		}
		for _, one := range runs {
			if one.jobs > 0 || one.joined != joined {
				continue
			}
			x, r := float(one.rho), one.run.Result
			if !seen(r.Class(0, sim.MeasuredDelay)) {
				continue
			}
			addPoint(&mean, x, r.Class(0, sim.MeasuredDelay), plots.Log)
			f.Checks = append(f.Checks, plots.SimulatedCheck(
				f.ID+"b", fmt.Sprintf("mean delay, %s, load %s", orderName(joined), plots.Decimal(one.rho)),
				line.At(x), r.Class(0, sim.MeasuredDelay), one.run.Name,
			))
			q := r.Quantile(sim.OfClass, 0, swapLevel)
			if q == nil { // too few jobs for a percentile
				continue
			}
			tail.X, tail.Y, tail.Low, tail.High = append(tail.X, x), append(tail.Y, q.Value),
				append(tail.Low, q.Low), append(tail.High, q.High)
		}
		addSeen(&panel, tail)
		means = append(means, mean)
	}
	panel.Series = append(panel.Series, line)
	addSeen(&panel, means...)
	return panel, nil
}
