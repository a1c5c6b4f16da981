package main

import (
	"math"
	"math/big"
	"testing"

	"productform/internal/docs"
	"productform/network/loss"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/callcentre", run); err != nil {
		t.Error(err)
	}
}

// Without agents for both, each language is a pool with the formula of Erlang: a call waits longer
// than t with probability C e^-(n μ - λ)t.
func TestSeparatePools(t *testing.T) {
	s, err := solve(16, 9, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		agents    int
		perMinute float64
		load      *big.Rat
		got       float64
	}{{16, 3, big.NewRat(12, 1), s.englishInTime}, {9, 1.5, big.NewRat(6, 1), s.frenchInTime}} {
		wait, err := loss.ErlangC(t.Context(), c.agents, c.load, loss.FormulaSettings{})
		if err != nil {
			t.Fatal(err)
		}
		want := 1 - wait.Float*math.Exp(-(float64(c.agents)/4-c.perMinute)/3)
		if math.Abs(c.got-want) > 1e-12 {
			t.Errorf("%d agents answer %v in time, want %v", c.agents, c.got, want)
		}
	}
}
