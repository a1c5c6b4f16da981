package gibbs_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/bf/gibbs"
	"productform/cluster"
)

func Example() {
	m := &cluster.Model{}
	for i := range 60 { // servers, each of which has a class in common with its neighbour, and with the seventh
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", i), Capacity: big.NewRat(1, 1)})
		m.Classes = append(m.Classes, cluster.Class{
			Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(4, 5), Servers: cluster.On(i, (i+1)%60, (i+7)%60),
		})
	}
	r, err := gibbs.Run(context.Background(), m, gibbs.Settings{Precision: 0.01, Seed: 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean delay %.2f, within %.2f at confidence %g\n",
		r.MeanDelay.Mean, r.MeanDelay.HalfWidth, r.MeanDelay.Confidence)
	// Output: mean delay 0.92, within 0.01 at confidence 0.95
}

// One more unit of capacity removes the most jobs at the server that is short of capacity.
func ExampleRun_gradient() {
	m := &cluster.Model{
		Servers: []cluster.Server{{Name: "a", Capacity: big.NewRat(1, 1)}, {Name: "b", Capacity: big.NewRat(2, 1)}},
		Classes: []cluster.Class{
			{Name: "both", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0, 1)},
			{Name: "a only", ArrivalRate: big.NewRat(4, 5), Servers: cluster.On(0)},
		},
	}
	r, err := gibbs.Run(context.Background(), m, gibbs.Settings{Sweeps: 4000, Seed: 1, Gradient: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for s, g := range r.Gradient.Capacities {
		fmt.Printf("%s: %.3f ± %.3f\n", m.Servers[s].Name, -g.Mean, g.HalfWidth)
	}
	// Output:
	// a: 21.071 ± 0.011
	// b: 1.079 ± 0.004
}
