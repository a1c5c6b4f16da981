package dispatch

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fewest agrees with adding the numbers one by one, even if the requested sum is exactly the sum of
// some of them.
func TestFewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(
			rapid.OneOf(rapid.SampledFrom([]float64{1, 0.1, 3, 1e-50, 1e50}), rapid.Float64Range(0.5, 1.5)), 1, 60,
		).Draw(t, "values")
		slices.Sort(values)
		slices.Reverse(values)
		var s sums
		s.set([]int{0, 0, 0}, []float64{2}) // must not affect later results
		s.set(firstNumbers(len(values)), values)
		for range 20 {
			from := rapid.IntRange(0, len(values)-1).Draw(t, "from")
			most := rapid.IntRange(1, len(values)-from).Draw(t, "most")
			enough := 0.0
			for _, v := range values[from : from+rapid.IntRange(0, most).Draw(t, "of")] {
				enough += v
			}
			enough *= rapid.SampledFrom([]float64{
				1, 1, 1 - 1e-9, 1 - 0x1p-53, 1 + 0x1p-52, 1.1, 1e300,
			}).Draw(t, "times")
			want := 1
			for sum := values[from]; sum < enough && want < most; want++ {
				sum += values[from+want]
			}
			if got := s.fewest(from, most, enough); got != want {
				t.Fatalf("fewest(%d, %d, %v) is %d, want %d", from, most, enough, got, want)
			}
		}
	})
}

// fewest is exact for short sums within a long list, whose total has a larger rounding error.
func TestFewestOfMany(t *testing.T) {
	values := make([]float64, 100000)
	for k := range values {
		values[k] = 1 / (3 + float64(k/7)/100000)
	}
	var s sums
	s.set(firstNumbers(len(values)), values)
	for from := 0; from < len(values); from += 997 {
		enough := 0.0
		for k, v := range values[from:min(from+300, len(values))] {
			enough += v
			for _, e := range []float64{enough, enough * (1 + 0x1p-52), enough * (1 - 0x1p-53)} {
				want, sum := 1, values[from]
				for ; sum < e && want < len(values)-from; want++ {
					sum += values[from+want]
				}
				if got := s.fewest(from, len(values)-from, e); got != want {
					t.Fatalf("sum of %d numbers from index %d: got %d, want %d", k+1, from, got, want)
				}
			}
		}
	}
}

// firstNumbers returns 0, ..., n-1.
func firstNumbers(n int) []int {
	places := make([]int, n)
	for k := range places {
		places[k] = k
	}
	return places
}
