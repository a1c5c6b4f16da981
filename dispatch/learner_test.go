package dispatch

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The mean agrees with direct summation. Sums of at most 30 terms of one sign agree to 1e-14 in any
// order.
func TestLearner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l learner
		var seen []float64
		window := rapid.IntRange(0, 10).Draw(t, "window")
		for range 30 {
			v := rapid.SampledFrom([]float64{0, 0.1, 1, 7.3, 1e16, 1e50}).Draw(t, "v")
			seen = append(seen, v)
			l.learn(v, window)
			last := seen
			if window > 0 {
				last = seen[max(0, len(seen)-window):]
			}
			want := 0.0
			for _, u := range last {
				want += u / float64(len(last))
			}
			if math.Abs(l.Mean-want) > 1e-14*want {
				t.Fatalf("mean %v of the last %d of %v, want %v", l.Mean, window, seen, want)
			}
		}
	})
}
