package cluster_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/cluster"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sizes"
)

func Example() {
	m, err := cluster.Read(strings.NewReader(`
servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
classes:
- {name: web, arrival_rate: 1, servers: [big, small]}
- {name: reports, arrival_rate: 0.4, servers: [small]}
`))
	if err != nil {
		log.Fatal(err)
	}
	varied, err := sizes.Parse("lognormal:4", 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, policy := range []simcluster.Policy{simcluster.FCFS, simcluster.ProcessorSharing} {
		system := simcluster.Cluster{Model: m, Sizes: varied, Policy: policy}
		r, err := sim.Run(context.Background(), system, sim.Settings{Runs: 5, Jumps: 2e4, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: mean delay %.2f ± %.2f\n", policy, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
	}
	// Output:
	// fcfs: mean delay 1.44 ± 0.17
	// ps: mean delay 0.99 ± 0.05
}

// All jobs have equal sizes. Under FCFS they are faster than under balanced fairness; more
// interruptions bring them closer to it.
func ExampleCluster() {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "job", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
	}
	equal, err := sizes.NewDeterministic(1)
	if err != nil {
		log.Fatal(err)
	}
	for _, often := range []float64{1, 10} {
		c := simcluster.Cluster{Model: m, Sizes: equal, Policy: simcluster.Interrupt, Interruptions: often}
		r, err := sim.Run(context.Background(), c, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%g interruptions: mean delay %.2f ± %.2f\n",
			often, r.All(sim.MeanDelay).Mean, r.All(sim.MeanDelay).HalfWidth)
	}
	// Output:
	// 1 interruptions: mean delay 1.68 ± 0.03
	// 10 interruptions: mean delay 1.93 ± 0.08
}
