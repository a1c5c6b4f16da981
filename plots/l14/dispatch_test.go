package l14

import (
	"testing"

	"productform/dispatch"
)

// The jobs have priorities 3, 2, 2 and 1. Only the second and the last have workers, so the first
// and the third are violated.
func TestViolated(t *testing.T) {
	jobs := []dispatch.Job{{Priority: 3}, {Priority: 2}, {Priority: 2}, {Priority: 1}}
	for _, c := range []struct {
		present, workers []int
		want             float64
	}{
		{[]int{0, 1, 2, 3}, []int{1, 3, -1}, 0.5},
		{[]int{0, 1, 2, 3}, []int{1, 1}, 0.25},
		{[]int{0, 1, 2, 3}, []int{0, 1, 2}, 0},
		{[]int{0, 1}, []int{-1}, 0},
		{nil, []int{-1}, 0},
	} {
		if got := Violated(jobs, c.present, c.workers); got != c.want {
			t.Errorf("%v present, workers for %v: %v, want %v", c.present, c.workers, got, c.want)
		}
	}
}
