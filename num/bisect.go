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

// LastPositive returns the largest x in [low, high] with f(x) > 0; f must be positive from low up
// to some x. It calls a smooth f about 20 times, a third as often as [LastGood]: it interpolates by
// the Illinois method (Dowell and Jarratt, BIT 11, 1971), and bisects after three steps that do not
// halve the range.
func LastPositive(low, high float64, f func(x float64) float64) float64 {
	above := f(high)
	if low >= high || above > 0 {
		return high
	}
	from, to := math.Float64bits(low), math.Float64bits(high)
	below, slow := f(low), 0
	var last float64 // value at the end that moved last
	for to-from > 1 {
		width := to - from
		step := width / 2
		if x := float64(width) * (below / (below - above)); slow < 3 && x >= 0 && x <= float64(width) {
			step = min(max(uint64(x), 1), width-1)
		}
		v := f(math.Float64frombits(from + step))
		if v > 0 {
			if from, below = from+step, v; last > 0 {
				above /= 2
			}
		} else {
			if to, above = from+step, v; last < 0 {
				below /= 2
			}
		}
		last = v
		if slow++; to-from <= width/2 {
			slow = 0
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
