package convolution_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/network/internal/convolution"
)

// Folding open work ρ into a station gives the series of f(u + ρ), which the test sums term by
// term: Σ_n C(n, j) ρ^(n-j) / Π_{i <= n} α(i).
func TestFoldedRatesMatchShiftedSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rates []*big.Rat
		for range rapid.IntRange(1, 6).Draw(t, "rates") {
			rates = append(rates, big.NewRat(
				int64(rapid.IntRange(1, 12).Draw(t, "rate")), int64(rapid.IntRange(1, 5).Draw(t, "over")),
			))
		}
		last := rates[len(rates)-1]
		load := new(big.Rat).Mul(last, big.NewRat(int64(rapid.IntRange(0, 7).Draw(t, "load")), 10))
		jobs := rapid.IntRange(0, 9).Draw(t, "jobs")
		f := &convolution.Totals{Alone: rates, Most: last}
		if err := f.Fold(context.Background(), "", load, jobs); err != nil {
			t.Fatal(err)
		}
		rho, _ := load.Float64()
		want := make([]float64, max(jobs, 1)+1)
		for j := range want {
			term := 1.0 // C(n, j) ρ^(n-j) / Π α, starting at n = j
			for n := 1; n < 400; n++ {
				alpha, _ := rates[min(n, len(rates))-1].Float64()
				switch {
				case n <= j:
					term /= alpha
				default:
					term *= rho * float64(n) / float64(n-j) / alpha
				}
				if n >= j {
					want[j] += term
				}
			}
			if j == 0 {
				want[0]++
			}
		}
		c, _ := f.Scale.Float64()
		for j, w := range want {
			if j > 0 {
				alpha, _ := f.Rates[min(j, len(f.Rates))-1].Float64()
				c /= alpha
			}
			if math.Abs(c-w) > 1e-11*w { // about 400 roundings per term
				t.Fatalf("coefficient %d: %v, summed %v (rates %v)", j, c, w, f.Rates)
			}
		}
	})
}

// The probability that M/M/m with an open load is empty matches Erlang's formula, and the mean
// number of jobs matches his delay formula.
func TestFoldedQueueMatchesErlang(t *testing.T) {
	for _, m := range []int{1, 2, 10, 60} {
		load := big.NewRat(int64(9*m), 10)
		f := &convolution.Totals{Most: big.NewRat(int64(m), 1)}
		for j := range m {
			f.Alone = append(f.Alone, big.NewRat(int64(j)+1, 1))
		}
		if err := f.Fold(context.Background(), "", load, 0); err != nil {
			t.Fatal(err)
		}
		sum, term := new(big.Rat), big.NewRat(1, 1)
		for j := range m {
			sum.Add(sum, term)
			term = new(big.Rat).Mul(term, new(big.Rat).Quo(load, big.NewRat(int64(j)+1, 1)))
		}
		wait := new(big.Rat).Quo(term, big.NewRat(1, 10)) // (a^m/m!)/(1 - a/m)
		sum.Add(sum, wait)
		if f.Scale.Cmp(sum) != 0 {
			t.Errorf("m = %d: 1/P(empty) = %v, want %v", m, f.Scale, sum)
		}
		mean := new(big.Rat).Quo(wait, sum) // P(wait)
		mean.Mul(mean, big.NewRat(9, 1))    // ρ/(1 - ρ)
		mean.Add(mean, load)
		if got := new(big.Rat).Quo(load, f.Rates[0]); got.Cmp(mean) != 0 {
			t.Errorf("m = %d: mean jobs %v, want %v", m, got, mean)
		}
	}
}
