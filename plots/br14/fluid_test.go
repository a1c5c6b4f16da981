package br14

import (
	"testing"

	"productform/plots/internal/plotstest"
)

// Two classes with one processor each are two M/M/1 queues; one shared processor is M/M/1 with the
// total rate.
func TestBalancedMeans(t *testing.T) {
	for _, c := range []struct {
		demand [2][2]float64
		want   [2]float64
	}{
		{[2][2]float64{{1, 0}, {0, 1}}, [2]float64{1, 0.25}},
		{[2][2]float64{{1, 1}, {1, 1}}, [2]float64{5.0 / 3, 2.0 / 3}},
	} {
		got := BalancedMeans(c.demand, [2]float64{0.5, 0.2})
		for k, want := range c.want {
			if !plotstest.CloseTo(got[k], want, 1e-9) {
				t.Errorf("demands %v, class %d: %v, want %v", c.demand, k+1, got[k], want)
			}
		}
	}
}

// Symmetric jobs get equal numbers of tasks, at equal prices.
func TestProportionalOfTwo(t *testing.T) {
	for _, got := range ProportionalOfTwo(3, [][2]float64{{1, 0.5}, {0.5, 1}}) {
		if !plotstest.CloseTo(got, 2, 1e-12) { // 3/1.5
			t.Errorf("%v tasks, want 2", got)
		}
	}
}

// A truthful job gets 1/(1 + a) tasks: both resources are full.
func TestLiarsTasks(t *testing.T) {
	if pf, drf := LiarsTasks(0.5, 0.5); !plotstest.CloseTo(pf, 2.0/3, 1e-15) || !plotstest.CloseTo(drf, 2.0/3, 1e-15) {
		t.Errorf("%v and %v, want 2/3", pf, drf)
	}
	if pf, _ := LiarsTasks(0.5, 1/1.5); !plotstest.CloseTo(pf, 0.75, 1e-15) { // (1 + a)(1 - a/2) times 2/3
		t.Errorf("%v, want 0.75", pf)
	}
}
