package cube

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Integers below 2^20 add up exactly, so both transforms can be compared with the sums that define
// them, at some sets.
func TestTransformsAreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{3, 5, 12, 13, 14, LeafBits} {
		x := make([]int64, 1<<n)
		below := make([]int64, 1<<n)
		above := make([]float64, 1<<n)
		for a := range x {
			x[a] = rng.Int64N(1 << 20)
			below[a], above[a] = x[a], float64(x[a])
		}
		AddSubsets(t.Context(), below, 2)
		AddSupersets(t.Context(), above, 2)
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
			AddSubsets(b.Context(), below, 1)
		}
	})
	b.Run("servers=20/sums=supersets", func(b *testing.B) {
		for b.Loop() {
			AddSupersets(b.Context(), above, 1)
		}
	})
}

// The sums over supersets match, to the last bit, those by one element after another, for any
// number of workers.
func TestSupersetsAreAddedInOneOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small, large := rapid.IntRange(3, LeafBits-1), rapid.IntRange(LeafBits, LeafBits+1)
		n := rapid.OneOf(small, small, small, large).Draw(t, "servers")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x := make([]float64, 1<<n)
		for a := range x {
			x[a] = rng.ExpFloat64()
		}
		want, got := slices.Clone(x), make([]float64, len(x))
		for i := range n {
			for first := 0; first < len(want); first += 2 << i {
				without, with := want[first:][:1<<i], want[first+1<<i:][:1<<i]
				for a := range without {
					without[a] += with[a]
				}
			}
		}
		for _, workers := range []int{1, 2, 3, 7, 16} {
			copy(got, x)
			AddSupersets(t.Context(), got, workers)
			if !slices.Equal(got, want) {
				t.Fatalf("%d servers: %d workers give other digits than additions one by one", n, workers)
			}
		}
	})
}
