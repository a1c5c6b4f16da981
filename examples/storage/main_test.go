package main

import (
	"math"
	"math/big"
	"testing"

	"productform/bf"
	"productform/internal/docs"
	"productform/oiqueue"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/storage", run); err != nil {
		t.Error(err)
	}
}

// Every number in the tables follows also from the rates of the order-independent queue: the mean
// delays by its own recursion in fractions, the growth by trying every set of classes.
func TestAgainstQueue(t *testing.T) {
	m, err := read()
	if err != nil {
		t.Fatal(err)
	}
	now, err := solve(m)
	if err != nil {
		t.Fatal(err)
	}
	options, err := changes(m, now.worst())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		a, err := solve(o.model)
		if err != nil {
			t.Fatal(err)
		}
		q, err := oiqueue.FromCluster(t.Context(), o.model)
		if err != nil {
			t.Fatal(err)
		}
		want, err := oiqueue.Stationary(t.Context(), q, oiqueue.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		allowed := a.result.RelativeErrorBound + want.RelativeErrorBound
		for i, jobs := range want.MeanJobs {
			if got := a.result.Classes[i].MeanJobs.Float; math.Abs(got-jobs.Float) > allowed*jobs.Float {
				t.Errorf("%s: mean jobs of %s = %v, want %v", o.name, m.Classes[i].Name, got, jobs.Float)
			}
		}
		least := math.Inf(1)
		for set := 1; set < len(q.Rank); set++ {
			load := new(big.Rat)
			for i, rate := range q.ArrivalRates {
				if set>>i&1 == 1 {
					load.Add(load, rate)
				}
			}
			scale, _ := load.Quo(q.Rank[set], load).Float64()
			least = min(least, scale)
		}
		if scale, _ := a.limits.CriticalScale.Float64(); scale != least { // both are one fraction, rounded once
			t.Errorf("%s: critical scale %v, want %v", o.name, scale, least)
		}
	}
}

// No other node is better than the chosen one, as computed with the lattice of servers.
func TestBestReplica(t *testing.T) {
	m, err := read()
	if err != nil {
		t.Fatal(err)
	}
	now, err := solve(m)
	if err != nil {
		t.Fatal(err)
	}
	worst := now.worst()
	best, err := bestReplica(m, worst)
	if err != nil {
		t.Fatal(err)
	}
	delay := func(server int) float64 {
		r, err := bf.Solve(t.Context(), withReplica(m, worst, server), bf.Settings{Lattice: bf.ServerLattice})
		if err != nil {
			t.Fatal(err)
		}
		return r.MeanDelay.Float
	}
	for s := 2; s < 7; s++ { // a3, a4, b1, b2, b3 hold no replica of sessions
		if delay(s) < delay(best) {
			t.Errorf("a replica on %s is better than on %s", m.Servers[s].Name, m.Servers[best].Name)
		}
	}
}
