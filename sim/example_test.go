package sim_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/cluster"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

// On one server at load 1/2 with constant sizes, a job is present for 1.5 units of time on average
// under FCFS (Pollaczek and Khinchine), and for 2 under processor sharing.
func Example() {
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "server", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "job", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
	}
	jobSizes, err := sizes.NewDeterministic(1)
	if err != nil {
		log.Fatal(err)
	}
	for _, policy := range []simcluster.Policy{simcluster.FCFS, simcluster.ProcessorSharing} {
		r, err := sim.Run(context.Background(), simcluster.Cluster{Model: model, Sizes: jobSizes, Policy: policy},
			sim.Settings{Runs: 20, Jumps: 1e5, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: mean delay %.2f ± %.2f\n", policy, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
	}
	// Output:
	// fcfs: mean delay 1.50 ± 0.01
	// ps: mean delay 1.99 ± 0.01
}

// How many interruptions per job make the sizes irrelevant? Two of three servers serve each class,
// and five in six jobs are short.
func ExampleRun_interruptions() {
	one := big.NewRat(1, 1)
	model := &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: one}, {Name: "s2", Capacity: one}, {Name: "shared", Capacity: one},
		},
		Classes: []cluster.Class{
			{Name: "1", ArrivalRate: big.NewRat(6, 5), Servers: cluster.On(0, 2)},
			{Name: "2", ArrivalRate: big.NewRat(6, 5), Servers: cluster.On(1, 2)},
		},
	}
	jobSizes := sizes.BonaldComteBimodal()
	for _, m := range []float64{0, 1, 5} {
		c := simcluster.Cluster{Model: model, Sizes: jobSizes}
		if m > 0 {
			c.Policy, c.Interruptions = simcluster.Interrupt, m
		}
		r, err := sim.Run(context.Background(), c, sim.Settings{Runs: 10, Jumps: 2e5, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("m = %g: mean delay %.1f\n", m, r.All(sim.MeanDelay).Mean)
	}
	fmt.Println("balanced fairness: 35/16 = 2.2")
	// Output:
	// m = 0: mean delay 4.2
	// m = 1: mean delay 2.8
	// m = 5: mean delay 2.3
	// balanced fairness: 35/16 = 2.2
}

// With one server at load 1/2 under FCFS, half of the jobs have delays of at most 2 log 2 = 1.39
// mean sizes, and 99 % of at most 2 log 100 = 9.21. Processor sharing favours short jobs, which are
// the majority, at the expense of long ones.
func ExampleQuantile() {
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "server", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "job", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
	}
	for _, policy := range []simcluster.Policy{simcluster.FCFS, simcluster.ProcessorSharing} {
		r, err := sim.Run(
			context.Background(), simcluster.Cluster{Model: model, Policy: policy},
			sim.Settings{Runs: 20, Jumps: 2e4, Seed: 1, Levels: []float64{0.5, 0.99}},
		)
		if err != nil {
			log.Fatal(err)
		}
		for _, level := range []float64{0.5, 0.99} {
			q := r.Quantile(sim.OfClass, 0, level)
			fmt.Printf("%s: level %g of %.0f delays: %.2f, in [%.2f, %.2f]\n",
				policy, q.Level, q.Jobs, q.Value, q.Low, q.High)
		}
	}
	// Output:
	// fcfs: level 0.5 of 200194 delays: 1.39, in [1.38, 1.41]
	// fcfs: level 0.99 of 200194 delays: 9.16, in [8.91, 9.48]
	// ps: level 0.5 of 200175 delays: 1.12, in [1.11, 1.14]
	// ps: level 0.99 of 200175 delays: 12.14, in [11.87, 12.52]
}
