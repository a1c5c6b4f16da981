package sizes

import (
	"math"
	"sort"
)

// TailIntegrals returns
//
//	∫_low^high P(X > t) dt = E[min(X, high) - low; X > low],
//	∫_low^high 2 (t - low) P(X > t) dt = E[(min(X, high) - low)²; X > low]
//
// for 0 <= low <= high, by sums and integrals of positive terms: the relative error of results above
// 2^-1022 is about 1e-13 even if the interval is so short, or so far out, that differences of
// moments would cancel. high may be +Inf. The errors are those of [Distribution.PartialMoment].
func TailIntegrals(d Distribution, low, high float64) (first, second float64, err error) {
	if err := checkPartial(2, low, high); err != nil {
		return 0, 0, err
	}
	start, top, bounded := d.Support()
	if bounded {
		high = min(high, top)
	}
	switch {
	case !(low < high):
		return 0, 0, nil
	case low < start:
		below := min(start, high) - low
		first, second, err = TailIntegrals(d, min(start, high), high)
		return below + first, below*below + 2*below*first + second, err
	}
	if list, ok := d.(Atomic); ok {
		first, second = listIntegrals(d, list, low, high)
		return first, second, nil
	}
	return integrateTail(d, low, high)
}

// listIntegrals sums over the sizes in (low, high).
func listIntegrals(d Distribution, list Atomic, low, high float64) (first, second float64) {
	atoms := list.Atoms()
	at := low
	for _, x := range atoms[sort.SearchFloat64s(atoms, low):] { // P(X > t) is constant between sizes
		next := min(x, high)
		tail := d.Survival(at)
		first += (next - at) * tail
		second += (next - at) * (next - low + at - low) * tail
		if at = next; at >= high {
			break
		}
	}
	return first, second
}

// integrateTail integrates over u = t - low, in panels over which t doubles. From 0 it returns the
// moments of min(X, high). With high = ∞ it stops at the end of the first panel from which the
// exact integral does not cancel, and adds that integral:
//
//	∫_t^∞ 2(u - low) P(X > u) du = E[X²; X > t] - t² P(X > t) - 2 low ∫_t^∞ P(X > u) du.
func integrateTail(d Distribution, low, high float64) (first, second float64, err error) {
	if low == 0 {
		return cappedMoments(d, high)
	}
	const most = 2200 // doublings within the range of float64
	from := 0.0
	survival := func(u float64) float64 { return d.Survival(low + u) }
	weighted := func(u float64) float64 { return 2 * u * d.Survival(low+u) }
	for range most {
		at := low + from
		tail, length := d.Survival(at), high-at
		if math.IsInf(high, 1) {
			above, err := d.PartialMoment(2, at, high)
			if err != nil {
				return 0, 0, err
			}
			beyond := max(0, above-at*(at*tail)-2*low*d.MeanExcess(at))
			if above <= 4*(second+beyond) || tail == 0 {
				return d.MeanExcess(low), second + beyond, nil
			}
			length = at
		}
		if length*tail <= 1e-18*first && length*(length+2*from)*tail <= 1e-18*second {
			break
		}
		to := min(from+at, high-low)
		first += adaptive(survival, from, to, legendre20(survival, from, to), first, 10)
		second += adaptive(weighted, from, to, legendre20(weighted, from, to), second, 10)
		if from = to; low+from >= high || from >= high-low {
			break
		}
	}
	return first, second, nil
}

// cappedMoments returns E[min(X, high)] and E[min(X, high)²].
func cappedMoments(d Distribution, high float64) (first, second float64, err error) {
	if first, err = d.PartialMoment(1, 0, high); err != nil {
		return 0, 0, err
	}
	if second, err = d.PartialMoment(2, 0, high); err != nil || math.IsInf(high, 1) {
		return first, second, err
	}
	tail := d.Survival(high)
	return first + high*tail, second + high*(high*tail), nil
}

// adaptive returns ∫_x^y f for a positive f, given its estimate by one rule of 20 points: it halves
// the range until two halves agree with the whole to 1e-14 of the sum, at most depth times.
func adaptive(f func(float64) float64, x, y, whole, sum float64, depth int) float64 {
	mid := x + (y-x)/2
	left, right := legendre20(f, x, mid), legendre20(f, mid, y)
	both := left + right
	if sum = max(sum, both); depth == 0 || math.Abs(both-whole) <= 1e-14*sum {
		return both
	}
	return adaptive(f, x, mid, left, sum, depth-1) + adaptive(f, mid, y, right, sum, depth-1)
}
