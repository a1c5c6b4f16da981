package num

import "math"

// LastGood returns the largest x in [low, high] for which good holds; good must hold from low up to
// some x.
func LastGood(low, high float64, good func(x float64) bool) float64 {
	if low >= high || good(high) {
		return high
	}
	from, to := math.Float64bits(low), math.Float64bits(high)
	for to-from > 1 {
		if mid := from + (to-from)/2; good(math.Float64frombits(mid)) {
			from = mid
		} else {
			to = mid
		}
	}
	return math.Float64frombits(from)
}

// FirstGood returns the smallest x in [low, high] for which good holds; good must hold from some x
// up to high. Positive floats have the order of their bits, so 64 steps find it to the last digit.
func FirstGood(low, high float64, good func(x float64) bool) float64 {
	if good(low) {
		return low
	}
	return math.Nextafter(LastGood(low, high, func(x float64) bool { return !good(x) }), math.Inf(1))
}
