package main

import (
	"context"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/plots"
	"productform/sim"
	simcluster "productform/sim/cluster"
)

// small returns a catalogue of four figures that draw instantly, of which bf-6 is simulated. The
// packages of plots test the real ones.
func small() []plots.Spec {
	return []plots.Spec{parabola("bf-1"), queue("bf-6"), parabola("tags-6"), parabola("tags-7")}
}

// parabola is a figure with a curve and a check.
func parabola(id string) plots.Spec {
	return plots.Exact(id, "A parabola", func(_ context.Context, _ plots.Effort, f *plots.Figure) error {
		s := plots.Series{Label: "square"}
		for k := range 100 {
			x := float64(k)
			s.X, s.Y = append(s.X, x), append(s.Y, x*x)
		}
		f.Caption = "The square of a number against the number."
		f.Panels = []plots.Panel{{
			Title:  "Squares",
			X:      plots.Axis{Quantity: "number"},
			Y:      plots.Axis{Quantity: "square"},
			Series: []plots.Series{s},
		}}
		f.Checks = []plots.Check{plots.SolverCheck(id, "square of 3, as a sum", 9, 3+3+3, 0)}
		return nil
	})
}

// queue is a figure of the mean number of jobs at one server, simulated at three loads.
func queue(id string) plots.Spec {
	return plots.Spec{
		ID:    id,
		Title: "One server",
		Prepare: func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
			loads := []*big.Rat{big.NewRat(1, 5), big.NewRat(2, 5), big.NewRat(3, 5)}
			for _, rho := range loads {
				m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
					Classes: []cluster.Class{{Name: "a", ArrivalRate: rho, Servers: cluster.On(0)}}}
				_, err := p.Simulate(
					ctx, fmt.Sprintf("one server, load %v", rho), simcluster.Cluster{Model: m, Policy: simcluster.FCFS},
					e, sim.Settings{},
				)
				if err != nil {
					return nil, err
				}
			}
			return func(_ context.Context, f *plots.Figure) error {
				f.Caption = "Mean number of jobs against the load."
				s := plots.Series{Label: "simulated", Kind: plots.Points}
				for k, rho := range loads {
					x, _ := rho.Float64()
					jobs := p.Simulations[k].Result.All(sim.MeanJobs)
					s.X, s.Y = append(s.X, x), append(s.Y, jobs.Mean)
					f.Checks = append(f.Checks, plots.SimulatedCheck(
						id, fmt.Sprintf("mean number of jobs, load %v", rho), x/(1-x), jobs, p.Simulations[k].Name,
					))
				}
				f.Panels = []plots.Panel{{
					Title:  "Jobs",
					X:      plots.Axis{Quantity: "load"},
					Y:      plots.Axis{Quantity: "jobs"},
					Series: []plots.Series{s},
				}}
				return nil
			}, nil
		},
	}
}

// waiting is a figure that announces when its computation begins and then blocks until it is
// interrupted.
func waiting(begun func()) plots.Spec {
	return plots.Exact("bf-2", "A figure without end", func(
		ctx context.Context, _ plots.Effort, _ *plots.Figure,
	) error {
		begun()
		<-ctx.Done()
		return ctx.Err()
	})
}
