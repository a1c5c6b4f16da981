package main

import (
	"bytes"
	"math/big"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/internal/docs"
	"productform/num"
	"productform/oiqueue"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/threeservers", run); err != nil {
		t.Error(err)
	}
}

// The model has the rates of the closed form, and those of the order-independent queue of the same
// graph.
func TestModelAgainstQueue(t *testing.T) {
	m, err := cluster.ReadYAML(bytes.NewReader(model))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Classes {
		m.Classes[i].ArrivalRate = num.Rat("6/5") // load 0.8
	}
	q, err := oiqueue.FromCluster(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := oiqueue.Stationary(t.Context(), q, oiqueue.Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	one := big.NewRat(1, 1)
	gamma1, gamma2, err := bf.ThreeServers(num.Rat("6/5"), num.Rat("6/5"), one, one, one)
	if err != nil {
		t.Fatal(err)
	}
	for i, gamma := range []*big.Rat{gamma1, gamma2} {
		if got := new(big.Rat).Quo(q.ArrivalRates[i], r.MeanJobs[i].Exact); got.Cmp(gamma) != 0 {
			t.Errorf("class %d: service rate %v, closed form %v", i+1, got, gamma)
		}
	}
}
