package sizes

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// A script is a source that first returns the given numbers, then those of another source.
type script struct {
	numbers []uint64
	rand.Source
}

func (s *script) Uint64() uint64 {
	if len(s.numbers) == 0 {
		return s.Source.Uint64()
	}
	v := s.numbers[0]
	s.numbers = s.numbers[1:]
	return v
}

// The bits 2^32-1 send ExpFloat64 to its tail. A uniform number of 0 then gives infinity, which is
// drawn again.
func TestDrawsOfInfiniteExponentials(t *testing.T) {
	infinite := func() *rand.Rand {
		return rand.New(&script{[]uint64{1<<32 - 1, 0}, rand.NewPCG(1, 1)})
	}
	if v := infinite().ExpFloat64(); !math.IsInf(v, 1) {
		t.Fatalf("the source makes %v, want infinity", v)
	}
	want := rand.New(rand.NewPCG(1, 1)).ExpFloat64()
	if got := exponentialDraw(infinite()); got != want {
		t.Errorf("exponential draw %v, want %v", got, want)
	}
	for _, p := range []float64{1e-9, 0.3, 1} {
		if got, want := geometricDraw(infinite(), p), 1+int(want/-math.Log1p(-p)); got != want {
			t.Errorf("p = %v: geometric draw %v, want %v", p, got, want)
		}
	}
}

// The columns of a table add up to the probabilities, and to exactly 0 for a weight of 0.
func TestAliasColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-9, 1), rapid.Float64Range(1, 1e6))
		weights := append(rapid.SliceOfN(weight, 0, 100).Draw(t, "weights"), 1)
		a := newIndexTable(weights)
		n := float64(len(weights))
		probs := make([]float64, len(weights))
		var sum float64
		for i, w := range weights {
			sum += w
			probs[i] += a.keep[i] / n
			if a.keep[i] < 1 {
				probs[a.other[i]] += (1 - a.keep[i]) / n
			}
		}
		for i, w := range weights {
			// Each of up to 101 steps rounds a column of at most 101 by 2^-47.
			if math.Abs(probs[i]-w/sum) > 1e-12 || w == 0 && probs[i] != 0 {
				t.Fatalf("index %d has probability %v, want %v", i, probs[i], w/sum)
			}
		}
	})
}
