package bf

import (
	"math/rand/v2"
	"testing"
)

// Integers below 2^20 add up exactly, so that both transforms can be compared with plain sums.
func TestTransformsAreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{3, 5, 12, 13, 14} {
		below := make([]int64, 1<<n)
		above := make([]float64, 1<<n)
		want := make([]int64, 1<<n)
		wantAbove := make([]float64, 1<<n)
		for a := range below {
			below[a] = rng.Int64N(1 << 20)
			above[a] = float64(below[a])
		}
		for a := range want {
			for b := a; ; b = (b - 1) & a {
				want[a] += below[b]
				wantAbove[b] += float64(below[a])
				if b == 0 {
					break
				}
			}
		}
		subsetSums(below)
		supersetSums(above)
		for a := range want {
			if below[a] != want[a] || above[a] != wantAbove[a] {
				t.Fatalf("n=%d: sums at %b are %d and %v, want %d and %v", n, a, below[a], above[a], want[a], wantAbove[a])
			}
		}
	}
}

func BenchmarkTransforms(b *testing.B) {
	below, above := make([]int64, 1<<20), make([]float64, 1<<20)
	b.Run("servers=20/sums=subsets", func(b *testing.B) {
		for b.Loop() {
			subsetSums(below)
		}
	})
	b.Run("servers=20/sums=supersets", func(b *testing.B) {
		for b.Loop() {
			supersetSums(above)
		}
	})
}
