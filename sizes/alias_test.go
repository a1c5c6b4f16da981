package sizes

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The shares of an index in all columns add up to its weight.
func TestAliasColumnsKeepWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(
			rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-9, 1), rapid.Float64Range(1, 1e6)), 1, 40,
		).Draw(t, "weights")
		weights = append(weights, 1)
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		keep, other := aliasColumns(weights)
		part := make([]float64, len(weights))
		for i, k := range keep {
			if !(k >= 0 && k <= 1) || k == 1 && other[i] != i {
				t.Fatalf("column %d keeps %v, else %d", i, k, other[i])
			}
			part[i] += k
			part[other[i]] += 1 - k
		}
		for i, w := range weights {
			if want := w / sum * float64(len(weights)); math.Abs(part[i]-want) > 1e-12*float64(len(weights)) {
				t.Errorf("index %d of weights %v has %v columns, want %v", i, weights, part[i], want)
			}
		}
	})
}
