package stability

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Factors from primes match those from divisions.
func TestBinomial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 5000)).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		if got, want := binomial(n, k), new(big.Int).Binomial(int64(n), int64(k)); got.Cmp(want) != 0 {
			t.Fatalf("C(%d, %d) = %v, want %v", n, k, got, want)
		}
	})
}
