package bf

import (
	"math/rand/v2"
	"testing"
)

// Integers below 2^20 add up exactly, so that both transforms can be compared with the sums
// they stand for, at some sets.
func TestTransformsAreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{3, 5, 12, 13, 14, leafBits} {
		x := make([]int64, 1<<n)
		below := make([]int64, 1<<n)
		above := make([]float64, 1<<n)
		for a := range x {
			x[a] = rng.Int64N(1 << 20)
			below[a], above[a] = x[a], float64(x[a])
		}
		addSubsets(t.Context(), below, 2)
		addSupersets(t.Context(), above, 2)
		for range 64 {
			a := rng.IntN(1 << n)
			var subsets, supersets int64
			for b, v := range x {
				if b&^a == 0 {
					subsets += v
				}
				if a&^b == 0 {
					supersets += v
				}
			}
			if below[a] != subsets || above[a] != float64(supersets) {
				t.Fatalf("n=%d: sums at %b are %d and %v, want %d and %d", n, a, below[a], above[a], subsets, supersets)
			}
		}
	}
}

func BenchmarkTransforms(b *testing.B) {
	below, above := make([]int64, 1<<20), make([]float64, 1<<20)
	b.Run("servers=20/sums=subsets", func(b *testing.B) {
		for b.Loop() {
			addSubsets(b.Context(), below, 1)
		}
	})
	b.Run("servers=20/sums=supersets", func(b *testing.B) {
		for b.Loop() {
			addSupersets(b.Context(), above, 1)
		}
	})
}
