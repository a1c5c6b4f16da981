package bf_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/bf"
	"productform/cluster"
	"productform/num"
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
	r, err := bf.Solve(context.Background(), m, bf.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range r.Classes {
		fmt.Printf("%s: %.4f jobs, each for %.4f\n", m.Classes[i].Name, c.MeanJobs.Float, c.MeanDelay.Float)
	}
	fmt.Println("proved to twelve digits:", r.RelativeErrorBound < 1e-12)
	// Output:
	// web: 0.6250 jobs, each for 0.6250
	// reports: 0.7628 jobs, each for 1.9071
	// proved to twelve digits: true
}

// threeServers is the cluster of Figure 1 of [BC17] at load 4/5. Each of two classes has a
// dedicated server, and they share a third one.
func threeServers() *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{
			{Name: "first", Capacity: num.Rat("1")},
			{Name: "second", Capacity: num.Rat("1")},
			{Name: "shared", Capacity: num.Rat("1")},
		},
		Classes: []cluster.Class{
			{Name: "a", ArrivalRate: num.Rat("6/5"), Servers: cluster.On(0, 2)},
			{Name: "b", ArrivalRate: num.Rat("6/5"), Servers: cluster.On(1, 2)},
		},
	}
}

func ExampleSolve() {
	r, err := bf.Solve(context.Background(), threeServers(), bf.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean jobs %.4f, mean delay of class a %.4f, bound below 1e-12: %v\n",
		r.MeanJobs.Float, r.Classes[0].MeanDelay.Float, r.RelativeErrorBound < 1e-12)
	fmt.Println(r.Parts[0].Lattice, "lattice:", r.Parts[0].Why)
	// Output:
	// mean jobs 5.2500, mean delay of class a 2.1875, bound below 1e-12: true
	// class lattice: 2^2 sets of classes, 2^3 of servers
}

func ExampleAnswer_exact() {
	r, err := bf.Answer(context.Background(), threeServers(), bf.Question{MaxJobs: 2}, bf.Settings{Engine: num.Exact})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("E[X] =", r.MeanJobs.Exact)
	for n, p := range r.JobsDistribution {
		fmt.Printf("P(%d jobs) = %v\n", n, p.Exact)
	}
	// Output:
	// E[X] = 21/4
	// P(0 jobs) = 1/10
	// P(1 jobs) = 3/25
	// P(2 jobs) = 3/25
}

// The 95th percentile of the delay and the derivatives of the means at half the load.
func ExamplePrepared_At() {
	ctx := context.Background()
	p, err := bf.Prepare(ctx, threeServers())
	if err != nil {
		fmt.Println(err)
		return
	}
	half, err := p.At(ctx, big.NewRat(1, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	q := bf.Question{Levels: []*big.Rat{num.Rat("0.95")}, Gradients: true}
	r, err := half.Answer(ctx, q, bf.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	low, high := r.Classes[0].Quantiles[0].Bounds()
	fmt.Printf("95 of 100 jobs of class a take at most %.4f, known within 1e-09: %v\n", high, high-low < 1e-9)
	fmt.Printf("one more of them per unit of time adds %.4f to their delay\n",
		r.Gradients.Classes[0].MeanDelay.ArrivalRates[0].Float)
	// Output:
	// 95 of 100 jobs of class a take at most 2.3852, known within 1e-09: true
	// one more of them per unit of time adds 0.6166 to their delay
}

// There are too many jobs of class a. The error names the classes that cannot be served.
func ExampleSolve_unstable() {
	m := threeServers()
	m.Classes[0].ArrivalRate = num.Rat("2.5")
	_, err := bf.Solve(context.Background(), m, bf.Settings{})
	var unstable *cluster.UnstableError
	if errors.As(err, &unstable) {
		fmt.Printf("%q bring %s jobs per unit of time, and their servers can do %s\n",
			unstable.Names, unstable.ArrivalRate.FloatString(1), unstable.Capacity.FloatString(1))
	}
	// Output:
	// ["a" "b"] bring 3.7 jobs per unit of time, and their servers can do 3.0
}

func ExampleGradient() {
	r, err := bf.Answer(context.Background(), threeServers(), bf.Question{Gradient: true}, bf.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("one more unit of dedicated capacity saves %.2f jobs, of shared capacity %.2f\n",
		-r.Gradient.Capacities[0].Float, -r.Gradient.Capacities[2].Float)
	// Output:
	// one more unit of dedicated capacity saves 7.42 jobs, of shared capacity 8.59
}

// One more unit of capacity reduces the mean delay of class a most on its dedicated server.
// Capacity for the other class also helps, since that class then leaves more of the shared server.
func ExampleGradients() {
	r, err := bf.Answer(context.Background(), threeServers(), bf.Question{Gradients: true}, bf.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for s, server := range threeServers().Servers {
		fmt.Printf("%s: %.2f\n", server.Name, -r.Gradients.Classes[0].MeanDelay.Capacities[s].Float)
	}
	// Output:
	// first: 3.87
	// second: 2.31
	// shared: 3.58
}

func ExamplePrepared_Sweep() {
	ctx := context.Background()
	p, err := bf.Prepare(ctx, threeServers())
	if err != nil {
		fmt.Println(err)
		return
	}
	factors := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(6, 5)}
	results, err := p.Sweep(ctx, factors, bf.Question{}, bf.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, r := range results {
		fmt.Printf("rates times %s: mean delay %.4f\n", factors[k].RatString(), r.MeanDelay.Float)
	}
	// Output:
	// rates times 1/2: mean delay 0.8201
	// rates times 1: mean delay 2.1875
	// rates times 6/5: mean delay 9.1165
}
