package queue_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/oiqueue"
	"productform/sim"
	"productform/sim/queue"
	"productform/sizes"
)

func Example() {
	system := queue.Network{
		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 4)},
		Rates: func(x []int, phi []float64) error { // the second class has half the weight of the first
			total := float64(2*x[0] + x[1])
			phi[0], phi[1] = 2*float64(x[0])/total, float64(x[1])/total
			return nil
		},
	}
	r, err := sim.Run(context.Background(), system, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		e := r.Class(i, sim.MeanDelay)
		fmt.Printf("class %d: mean delay %.1f ± %.1f\n", i, e.Mean, e.HalfWidth)
	}
	// Output:
	// class 0: mean delay 3.4 ± 0.2
	// class 1: mean delay 5.1 ± 0.3
}

// Two classes have one server each and share a third one: E[X] = 1.5641 for all sizes.
func ExampleNetwork() {
	jobSizes, err := sizes.Parse("lognormal:4", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := queue.Network{
		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)},
		Sizes:        []sizes.Distribution{jobSizes},
		Rank:         []*big.Rat{nil, big.NewRat(2, 1), big.NewRat(2, 1), big.NewRat(3, 1)},
	}
	r, err := sim.Run(context.Background(), n, sim.Settings{Runs: 10, Jumps: 3e4, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("E[X] = %.3f ± %.3f\n", r.All(sim.MeanJobs).Mean, r.All(sim.MeanJobs).HalfWidth)
	// Output:
	// E[X] = 1.592 ± 0.058
}

// A server never interrupts jobs but sends nine of ten back to the end of the queue. The number of
// jobs is the same as with one long visit each, E[X] = ρ/(1-ρ) = 1.
func ExampleQueue() {
	one := &oiqueue.Queue{ArrivalRates: []*big.Rat{big.NewRat(1, 2)}, Rank: []*big.Rat{nil, big.NewRat(1, 1)}}
	q, routing, err := oiqueue.Reentrant(context.Background(), one, big.NewRat(1, 10))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := sim.Run(
		context.Background(), queue.Queue{Model: q, Routing: &routing}, sim.Settings{Runs: 10, Jumps: 1e5, Seed: 1},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("E[X] = %.2f ± %.2f, %.2f a visit\n",
		r.All(sim.MeanJobs).Mean, r.All(sim.MeanJobs).HalfWidth, r.All(sim.MeanDelay).Mean)
	// Output:
	// E[X] = 0.99 ± 0.02, 1.98 a visit
}
