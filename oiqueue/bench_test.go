package oiqueue

import (
	"fmt"
	"math/big"
	"testing"
)

// A ring of servers, each class on two neighbours, at load 9/10.
func ring(b *testing.B, n int) *Queue {
	rates, capacities, compatible := make([]*big.Rat, n), make([]*big.Rat, n), make([][]int, n)
	for i := range n {
		rates[i], capacities[i], compatible[i] = rat(9, 10), rat(1, 1), []int{i, (i + 1) % n}
	}
	q, err := FromGraph(b.Context(), rates, capacities, compatible)
	if err != nil {
		b.Fatal(err)
	}
	return q
}

func BenchmarkStationary(b *testing.B) {
	for _, n := range []int{8, 12, 16} {
		q := ring(b, n)
		b.Run(fmt.Sprintf("classes=%d/engine=float64", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Stationary(b.Context(), q, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, n := range []int{6, 8, 10} {
		q := ring(b, n)
		b.Run(fmt.Sprintf("classes=%d/engine=exact", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Stationary(b.Context(), q, exactly); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
