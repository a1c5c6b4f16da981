package gibbs

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A rise is a time at which a rate grows.
type rise struct{ at, by float64 }

// sortRises sorts by time. Most lists are short.
func sortRises(list []rise) {
	const short = 24
	if len(list) > short {
		slices.SortFunc(list, func(a, b rise) int {
			switch {
			case a.at < b.at:
				return -1
			case a.at > b.at:
				return 1
			}
			return 0
		})
		return
	}
	for k := 1; k < len(list); k++ {
		x := list[k]
		j := k
		for ; j > 0 && list[j-1].at > x.at; j-- {
			list[j] = list[j-1]
		}
		list[j] = x
	}
}

// merge appends two lists that are sorted by time, as one.
func merge(to, a, b []rise) []rise {
	for len(a) > 0 && len(b) > 0 {
		if a[0].at <= b[0].at {
			to, a = append(to, a[0]), a[1:]
		} else {
			to, b = append(to, b[0]), b[1:]
		}
	}
	return append(append(to, a...), b...)
}

// A conditional draws the lifetime of a server given the lifetimes of the others: a time t >= 0
// whose density is proportional to exp(-∫_0^t c(u) du). The rate c is constant between its rises;
// it may be negative at first, and is positive after the last rise. The fields are scratch of a
// draw.
//
// Piece k of the time lies between rises k-1 and k, and the last piece after all rises. The density
// is largest where c turns positive, at the start of piece peak. Heights are relative to this
// maximum, so none overflows. Before piece peak the height of a piece is that at its end, and
// from there on that at its start.
type conditional struct{ rate, height, mass []float64 }

// draw draws a time, given the rises in order and the rate after the last one. It also returns the
// density at 0.
func (p *conditional) draw(rises []rise, last float64, random *rand.Rand) (t, atZero float64) {
	n := len(rises)
	if len(p.rate) <= n {
		p.rate, p.height, p.mass = make([]float64, 2*n+1), make([]float64, 2*n+1), make([]float64, 2*n+1)
	}
	rate, height, mass := p.rate[:n+1], p.height[:n+1], p.mass[:n+1]
	rate[n] = last
	peak := n
	for k := n - 1; k >= 0; k-- {
		rate[k] = rate[k+1] - rises[k].by
		if rate[k] >= 0 {
			peak = k
		}
	}
	total, h := 0.0, 1.0
	for k := peak; k < n; k++ {
		length := rises[k].at
		if k > 0 {
			length -= rises[k-1].at
		}
		mean, end := meanDecay(rate[k] * length)
		height[k], mass[k] = h, h*length*mean
		total += mass[k]
		h *= end
	}
	height[n], mass[n] = h, h/last
	total += mass[n]
	h = 1
	for k := peak - 1; k >= 0; k-- {
		length := rises[k].at
		if k > 0 {
			length -= rises[k-1].at
		}
		mean, end := meanDecay(-rate[k] * length)
		height[k], mass[k] = h, h*length*mean
		total += mass[k]
		h *= end
	}

	u := random.Float64() * total
	k := 0
	for ; k < n && u >= mass[k]; k++ {
		u -= mass[k]
	}
	if k < peak {
		return max(0, rises[k].at-timeTo(u/height[k], -rate[k])), h / total
	}
	if k > 0 {
		t = rises[k-1].at
	}
	return t + timeTo(u/height[k], rate[k]), h / total
}

// meanDecay returns (1 - e^-x)/x, the mean of e^-u over u in [0, x], and e^-x, for x >= 0.
func meanDecay(x float64) (mean, end float64) {
	if x < 1./64 { // the next term of the series is below 1e-14
		mean = 1 - x/2*(1-x/3*(1-x/4*(1-x/5*(1-x/6))))
		return mean, 1 - x*mean
	}
	end = math.Exp(-x)
	return (1 - end) / x, end
}

// timeTo returns the time t at which ∫_0^t e^-cu du is the area, for c >= 0.
func timeTo(area, c float64) float64 {
	x := area * c
	if x < 1e-8 { // the next term of the series is x²/3
		return area * (1 + x/2)
	}
	return -math.Log1p(-min(x, 1-0x1p-53)) / c // rounding may overshoot the end of the last piece
}
