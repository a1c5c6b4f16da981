package learner

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The mean of the last numbers, by adding them; sums of at most 30 terms of one sign in another order agree to 1e-14.
func TestLearner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Learner
		var told []float64
		window := rapid.IntRange(0, 10).Draw(t, "window")
		for range 30 {
			v := rapid.SampledFrom([]float64{0, 0.1, 1, 7.3, 1e16, 1e50}).Draw(t, "v")
			told = append(told, v)
			l.Learn(v, window)
			last := told
			if window > 0 {
				last = told[max(0, len(told)-window):]
			}
			want := 0.0
			for _, u := range last {
				want += u / float64(len(last))
			}
			if math.Abs(l.Mean-want) > 1e-14*want {
				t.Fatalf("mean %v of the last %d of %v, want %v", l.Mean, window, told, want)
			}
		}
	})
}
