package l14

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"productform/plots"
)

// Parameters of resampling.
const (
	resamples     = 4000
	bootstrapSeed = 14
)

// draws iterates over groups of size numbers below n, drawn with replacement. The groups are always
// the same, and each is valid until the next one.
func draws(n, size int) iter.Seq[[]int] {
	return func(yield func(drawn []int) bool) {
		r := rand.New(rand.NewPCG(bootstrapSeed, uint64(size)))
		drawn := make([]int, size)
		for range resamples {
			for i := range drawn {
				drawn[i] = r.IntN(n)
			}
			if !yield(drawn) {
				return
			}
		}
	}
}

// resampled returns the ends of the middle 95 % of a statistic of drawn samples, which receives
// their numbers. For [draws] of all n samples this is the percentile bootstrap interval (B. Efron
// and R. Tibshirani, "An Introduction to the Bootstrap", 1993, section 13.3); for fewer it is the
// range that this few samples would have shown.
func resampled(groups iter.Seq[[]int], statistic func(drawn []int) float64) (low, high float64) {
	all := make([]float64, 0, resamples)
	for drawn := range groups {
		all = append(all, statistic(drawn))
	}
	slices.Sort(all)
	return all[resamples/40], all[resamples-1-resamples/40]
}

// meanOf returns the mean of values with its bootstrap interval, which is never below the smallest
// value.
func meanOf(v []float64) (m, low, high float64) { return meanOver(v, draws(len(v), len(v))) }

// meanOver returns meanOf(v) for the given draws of all values.
func meanOver(v []float64, groups iter.Seq[[]int]) (m, low, high float64) {
	parts := make([]float64, len(v))
	for i := range v {
		parts[i] = v[i] / float64(len(v))
	}
	low, high = resampled(groups, func(drawn []int) (sum float64) {
		for _, i := range drawn {
			sum += parts[i]
		}
		return sum
	})
	m = mean(v)
	return m, min(low, m), max(high, m)
}

// An overRatio is a ratio of means over the same samples with its interval. [L14] states ratios of
// means, not means of ratios; a ratio in one sample may be 0/0.
type overRatio struct{ plots.Number }

// meansRatio returns a/b, or 1 if both are 0, since neither is larger.
func meansRatio(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	return a / b
}

// ratioOver returns the ratio of the means of a and b over the drawn samples.
func ratioOver(a, b []float64) func(drawn []int) float64 {
	return func(drawn []int) float64 {
		var sumA, sumB float64
		for _, i := range drawn {
			sumA, sumB = sumA+a[i], sumB+b[i]
		}
		return meansRatio(sumA, sumB)
	}
}

// ratioOf returns the ratio of the means of a and b with its bootstrap interval, in which each draw
// takes the outcomes of all policies on a sample. Such intervals reflect the skewness of penalties
// and are never below 0, unlike Student or jackknife intervals; for five samples they are too
// narrow.
func ratioOf(a, b []float64) overRatio {
	low, high := resampled(draws(len(a), len(a)), ratioOver(a, b))
	v := meansRatio(mean(a), mean(b))
	return overRatio{plots.Number{Mean: v, Low: min(low, v), High: max(high, v)}}
}

func (r overRatio) String() string {
	return fmt.Sprintf("%s (%s to %s)", finite(r.Mean), finite(r.Low), finite(r.High))
}

// finite writes a number that may be infinite.
func finite(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return plots.Short(v)
}

// partOf returns the fraction of groups of size samples, drawn with replacement from n, for which a
// statement holds.
func partOf(n, size int, holds func(drawn []int) bool) float64 {
	found := 0
	for drawn := range draws(n, size) {
		if holds(drawn) {
			found++
		}
	}
	return float64(found) / resamples
}

// covered counts the groups of size samples, drawn with replacement from v, whose bootstrap
// interval contains the mean of v. With correct intervals, 95 % would.
func covered(v []float64, size, groups int, seed uint64) (held int) {
	var all [][]int
	for drawn := range draws(size, size) {
		all = append(all, slices.Clone(drawn))
	}
	r := rand.New(rand.NewPCG(bootstrapSeed, seed))
	group := make([]float64, size)
	for range groups {
		for i := range group {
			group[i] = v[r.IntN(len(v))]
		}
		if _, low, high := meanOver(group, slices.Values(all)); low <= mean(v) && mean(v) <= high {
			held++
		}
	}
	return held
}

// coverage returns the fraction of groups of few samples, over all policies and workers, whose
// intervals contain the mean of all samples.
func coverage(results []benchmarkResult, of func(outcome) float64) float64 {
	const groups = 40
	held, all := 0, 0
	for _, v := range results {
		for k := range comparedPolicies() {
			held, all = held+covered(v.of(k, of), fewSamples, groups, uint64(all)), all+groups
		}
	}
	return float64(held) / float64(all)
}
