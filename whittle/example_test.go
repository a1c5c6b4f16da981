package whittle_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/cluster"
	"productform/num"
	"productform/whittle"
)

func Example() {
	n := &whittle.Network{
		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)},
		// μ of {0}, {1} and {0, 1}
		Rank: []*big.Rat{nil, big.NewRat(2, 1), big.NewRat(2, 1), big.NewRat(3, 1)},
	}
	r, err := whittle.Stationary(context.Background(), n, whittle.Box(8, 12), whittle.Settings{Engine: num.Exact})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("E[X] =", r.MeanJobs[0].Exact, "and", r.MeanJobs[1].Exact)
	fmt.Printf("P(outside the table) = %.1e\n", r.MassLeftOut.Float)
	// Output:
	// E[X] = 17/39 and 44/39
	// P(outside the table) = 1.8e-04
}

// Two classes, each with its own server of rate 1, share a third.
func ExampleStationary_exact() {
	n := &whittle.Network{
		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1)},
		Rank:         []*big.Rat{nil, big.NewRat(2, 1), big.NewRat(2, 1), big.NewRat(3, 1)},
	}
	r, err := whittle.Stationary(context.Background(), n, whittle.Box(8, 12), whittle.Settings{Engine: num.Exact})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("E[X] =", r.MeanJobs[0].Exact, r.MeanJobs[1].Exact)
	fmt.Println("P(empty) =", r.EmptyProbability.Exact)
	fmt.Printf("P(outside the box) = %.1e\n", r.MassLeftOut.Float)
	// Output:
	// E[X] = 17/39 44/39
	// P(empty) = 9/26
	// P(outside the box) = 1.8e-04
}

// The same network, from the servers.
func ExampleFromCluster() {
	one := big.NewRat(1, 1)
	n, err := whittle.FromCluster(context.Background(), &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: one}, {Name: "s2", Capacity: one}, {Name: "shared", Capacity: one},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0, 2)},
			{Name: "b", ArrivalRate: one, Servers: cluster.On(1, 2)},
		},
	})
	fmt.Println(n.Rank, err)
	// Output: [0/1 2/1 2/1 3/1] <nil>
}

// A lattice that holds all but a millionth of the probability, and the answer in float64.
func ExampleStationary() {
	rank, _ := whittle.SingleServer(3, big.NewRat(1, 1))
	n := &whittle.Network{
		ArrivalRates: []*big.Rat{big.NewRat(1, 5), big.NewRat(1, 5), big.NewRat(2, 5)},
		Rank:         rank,
	}
	r, err := whittle.Stationary(context.Background(), n, whittle.Box(21, 21, 36), whittle.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("left out %.1e, rounding below %.0e\n", r.MassLeftOut.Float, r.RelativeErrorBound)
	for i, jobs := range r.MeanJobs {
		fmt.Printf("E[X_%d] = %.6f\n", i, jobs.Float)
	}
	// Output:
	// left out 7.5e-07, rounding below 8e-14
	// E[X_0] = 1.000000
	// E[X_1] = 1.000000
	// E[X_2] = 2.000000
}

// Rates that share one server in the wrong proportion are not those of a Whittle network.
func ExampleBalanceFromRates() {
	l := whittle.Box(1, 1)
	one := big.NewRat(1, 1)
	phi := [][]*big.Rat{
		{nil, nil},
		{one, nil},
		{nil, one},
		{big.NewRat(2, 3), big.NewRat(1, 3)}, // state [1 1]
	}
	_, _, err := whittle.BalanceFromRates(context.Background(), l, phi, nil)
	fmt.Println(err)
	// Output: rates are not balanced: in state [1 1], classes 0 and 1, 2/3 differs from 1/3 by 0.5 (relative), the worst of all states and pairs
}

// Poisson numbers of jobs, without a limit: the sums beyond the box lie within bounds.
func ExampleStationaryOfBalance() {
	l := whittle.Box(10)
	phi, _ := whittle.InfiniteServers(context.Background(), l, big.NewRat(1, 1))
	b, _, _ := whittle.BalanceFromRates(context.Background(), l, phi, nil)
	r, err := whittle.StationaryOfBalance(
		context.Background(), []*big.Rat{big.NewRat(1, 1)}, b, []*big.Rat{big.NewRat(11, 1)},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	z, e := r.Normalization, r.MeanJobs[0]
	fmt.Println("Z in", z.Low.Text('f', 10), z.High.Text('f', 10))
	fmt.Println("E[X] in", e.Low.Text('f', 7), e.High.Text('f', 7))
	// Output:
	// Z in 2.7182818011 2.7182818287
	// E[X] in 0.9999999 1.0000000
}
