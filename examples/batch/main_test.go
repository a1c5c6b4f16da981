package main

import (
	"context"
	"errors"
	"math"
	"testing"

	"productform/internal/docs"
	"productform/sizes"
	"productform/tags"
)

// The program prints what its README shows.
func TestOutput(t *testing.T) {
	if err := docs.CheckOutput("README.md", "go run ./examples/batch", run); err != nil {
		t.Error(err)
	}
}

// Each limit in the README is proved optimal.
func TestProved(t *testing.T) {
	jobSizes, err := durations()
	if err != nil {
		t.Fatal(err)
	}
	for _, hosts := range []int{2, 3, 4} {
		for _, load := range []float64{0.2, 0.3, 0.4, 0.5} {
			best, err := tags.Optimize(
				context.Background(), tags.Model{Sizes: jobSizes, Hosts: hosts, Load: load}, tags.PolicyTAGS,
				tags.Objective{Slowdown: 1},
			)
			if best.Gap > 6e-11 || err != nil && !errors.Is(err, tags.ErrInfeasible) {
				t.Errorf("%d machines, load %v: gap %v, %v", hosts, load, best.Gap, err)
			}
		}
	}
}

// The time limit of two machines is the best of all durations in the log, tried one by one.
func TestAgainstAllLimits(t *testing.T) {
	jobSizes, err := durations()
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range []float64{0.2, 0.5} {
		m := tags.Model{Sizes: jobSizes, Hosts: 2, Load: load}
		best, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1})
		if err != nil {
			t.Fatal(err)
		}
		least, limit := math.Inf(1), 0.0
		atoms := jobSizes.(sizes.Atomic).Atoms()
		for _, s := range atoms[:len(atoms)-1] {
			if r, err := tags.Evaluate(context.Background(), m, tags.PolicyTAGS, []float64{s}); err == nil &&
				r.MeanSlowdown.Float < least {
				least, limit = r.MeanSlowdown.Float, s
			}
		}
		if limit != best.Cutoffs[0] || math.Abs(best.MeanSlowdown.Float-least) > 1e-11*least {
			t.Errorf("load %v: limit %v with slowdown %v, the best of all is %v with %v",
				load, best.Cutoffs[0], best.MeanSlowdown.Float, limit, least)
		}
	}
}
