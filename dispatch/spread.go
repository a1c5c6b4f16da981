package dispatch

import "slices"

// SpreadOf sums up values, which it does not change. It takes O(n log n) time.
func SpreadOf(values []float64) Spread { return spread(slices.Clone(values)) }
