package productform_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/bf"
	"productform/cluster"
	"productform/fluid"
	"productform/network/loss"
	"productform/num"
	"productform/sim"
	simloss "productform/sim/loss"
)

func Example() {
	m, err := cluster.New([]float64{2, 1}, []float64{1, 0.4}, [][]int{{0, 1}, {1}})
	if err != nil {
		log.Fatal(err)
	}
	r, err := bf.Solve(context.Background(), m, bf.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Classes {
		fmt.Printf("%s: %.4f jobs, each for %.4f\n", c.Name, c.MeanJobs.Float, c.MeanDelay.Float)
	}
	// Output:
	// class 1: 0.6250 jobs, each for 0.6250
	// class 2: 0.7628 jobs, each for 1.9071
}

// The mean numbers of jobs in a cluster that is read from a file.
func Example_means() {
	ctx := context.Background()
	m, err := cluster.ReadFile("testdata/shop.yaml")
	if err != nil {
		log.Fatal(err)
	}
	r, err := bf.Solve(ctx, m, bf.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Classes {
		fmt.Printf("%s %.6g\n", c.Name, c.MeanJobs.Float)
	}
	// Output:
	// web 0.625
	// reports 0.762821
}

// Percentiles of the delay and derivatives of the means at half the load.
func Example_percentiles() {
	ctx := context.Background()
	m, err := cluster.ReadFile("testdata/shop.yaml")
	if err != nil {
		log.Fatal(err)
	}
	p, err := bf.Prepare(ctx, m)
	if err != nil {
		log.Fatal(err)
	}
	half, err := p.At(ctx, big.NewRat(1, 2))
	if err != nil {
		log.Fatal(err)
	}
	q := bf.Question{Levels: []*big.Rat{big.NewRat(95, 100)}, Gradients: true}
	r, err := half.Answer(ctx, q, bf.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	low, high := r.Classes[0].Quantiles[0].Bounds()
	fmt.Printf("the 95th percentile of web lies between %.4f and %.4f\n", low, high)
	more := r.Gradients.Classes[0].MeanJobs.ArrivalRates[0]
	fmt.Printf("jobs of web increase by %.4f times their arrival rate\n", more.Float)
	// Output:
	// the 95th percentile of web lies between 1.3025 and 1.3025
	// jobs of web increase by 0.5293 times their arrival rate
}

// The probability that a job is lost, as a fraction.
func Example_blocking() {
	m := &loss.Model{Room: 30, Classes: []loss.Class{
		{Name: "call", ArrivalRate: num.Rat("20")},
		{Name: "video", ArrivalRate: num.Rat("1.5"), Units: 6}}}
	r, err := loss.Solve(context.Background(), m, loss.Settings{Engine: num.Exact})
	if err != nil {
		log.Fatal(err)
	}
	blocking := r.Classes[1].Blocking
	fmt.Printf("%s %.6g\n", r.Classes[1].Name, blocking.Float)
	fmt.Println("a fraction with a denominator of", len(blocking.Exact.Denom().String()), "digits")
	// Output:
	// video 0.459977
	// a fraction with a denominator of 32 digits
}

// How jobs share several resources.
func Example_shares() {
	p, err := fluid.ReadPoolFile("testdata/pool.yaml")
	if err != nil {
		log.Fatal(err)
	}
	a, err := fluid.Allocate(context.Background(), p, fluid.DRF, fluid.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Jobs[0].Name, a.Jobs[0].Tasks.Float)
	// Output: search 3
}

// The same probability by simulation and by theory.
func Example_simulation() {
	ctx := context.Background()
	m := &loss.Model{Room: 30, Classes: []loss.Class{
		{Name: "call", ArrivalRate: num.Rat("20")},
		{Name: "video", ArrivalRate: num.Rat("1.5"), Units: 6}}}
	r, err := loss.Solve(ctx, m, loss.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	found, err := sim.Run(ctx, simloss.System{Model: m}, sim.Settings{Runs: 20, Jumps: 2e4})
	if err != nil {
		log.Fatal(err)
	}
	e := found.Class(1, simloss.Blocking)
	fmt.Printf("%.4f ± %.4f, exactly %.4f\n", e.Mean, e.HalfWidth, r.Classes[1].Blocking.Float)
	// Output: 0.4548 ± 0.0092, exactly 0.4600
}
