package tags

import (
	"fmt"
	"math"
)

// lowest returns a, or if f(a) is not below 0 the point of a grid on [a, b] where f is least.
func lowest(a, b float64, f func(float64) float64) float64 {
	const points = 40
	best := f(a)
	if best < 0 {
		return a
	}
	at := a
	for k := 1; k < points; k++ {
		x := a * math.Pow(b/a, float64(k)/points)
		if v := f(x); v < best {
			best, at = v, x
		}
	}
	return at
}

// crossing returns x and y with f(x) < 0 <= f(y), some units in the last place apart, between low and high, which are
// above 0 and have f(low) < 0 <= f(high): by bisection of the exponent, then by Chandrupatla's method (Advances in
// Engineering Software 28, 1997).
func crossing(low, high float64, f func(float64) float64) (x, y float64) {
	for high > 2*low {
		mid := math.Float64frombits(math.Float64bits(low)/2 + math.Float64bits(high)/2)
		if f(mid) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	x1, f1, x2, f2 := low, f(low), high, f(high)
	for t := 0.5; ; {
		least := 0x1p-52 * x1 / math.Abs(x2-x1)
		if !(least < 0.5) {
			break
		}
		t = min(max(t, least), 1-least)
		x3, f3 := x1, f1
		x1 += t * (x2 - x1)
		f1 = f(x1)
		if (f1 < 0) != (f3 < 0) {
			x2, f2, x3, f3 = x3, f3, x2, f2
		}
		xi, phi := (x1-x2)/(x3-x2), (f1-f2)/(f3-f2)
		t = 0.5
		if phi*phi < xi && (1-phi)*(1-phi) < 1-xi { // inverse quadratic interpolation is safe
			t = f1/(f2-f1)*f3/(f2-f3) + (x3-x1)/(x2-x1)*f1/(f3-f1)*f2/(f3-f2)
		}
	}
	if f1 < 0 {
		return x1, x2
	}
	return x2, x1
}

// solve returns the unknowns: by shooting, as the surplus of the last host grows with S but for jumps; if that ends at
// a jump, by continuation. If that fails too, or the law may have several solutions, it looks for more.
func (f *fairFarm) solve() ([]float64, error) {
	n := len(f.low)
	below, s := crossing(1e-150, 1e150, func(s float64) float64 { v, _ := f.shoot(s, make([]float64, n)); return v })
	x, ok := f.shot(s)
	if !ok {
		x, ok = f.continuation()
	}
	if ok && f.density != nil {
		return x, nil
	}
	top := 64 * s
	if ok {
		top = math.Exp(x[n])
	}
	if y := f.smallest(s/64, top); y != nil && (!ok || y[n] < x[n]) {
		x, ok = y, true
	}
	if ok {
		return x, nil
	}
	_, i := f.shoot(below, make([]float64, n))
	_, j := f.shoot(s, make([]float64, n))
	return nil, fmt.Errorf("%w for %v at load %v: if they were below %.6g, host %d would have more, and if above, "+
		"host %d less", ErrUnfair, f.m.Sizes, f.m.Load, s, i+1, j+1)
}

// smallest returns the solution with the smallest slowdown that it finds between two, or nil. At each slowdown of a
// grid it shoots with all cutoffs that give a host this slowdown, not only with the largest, and starts Newton's method
// where the surplus of the last host is near 0 or has another sign than at the slowdown before.
func (f *fairFarm) smallest(from, to float64) []float64 {
	const octave, limit = 8, 32
	n := len(f.low)
	cutoffs, lead := make([]float64, n), make([]float64, n+1)
	var last []float64
	for s := from; s < to; s *= math.Exp2(1.0 / octave) {
		var here []float64
		var found []float64
		f.branch(0, 0, 0, s, cutoffs, func(surplus float64) bool {
			k := len(here)
			here = append(here, surplus)
			if math.Abs(surplus) < 0.5 || k < len(last) && (surplus < 0) != (last[k] < 0) {
				x := make([]float64, n+1)
				for j, c := range cutoffs {
					x[j] = math.Log(c)
				}
				x[n] = math.Log(s)
				if f.newton(x, lead) && (found == nil || x[n] < found[n]) {
					found = x
				}
			}
			return len(here) < limit
		})
		if found != nil {
			return found
		}
		last = here
	}
	return nil
}

// branch gives host i and those after it all cutoffs of the slowdown, of which it sees those that a grid tells apart,
// and calls leaf with the surplus of the last host for each choice, until leaf is false.
func (f *fairFarm) branch(i int, waited, a, slowdown float64, cutoffs []float64, leaf func(surplus float64) bool) bool {
	const points = 60
	if i == len(cutoffs) {
		return leaf(f.surplus(i, waited, a, math.Inf(1), slowdown))
	}
	lack := func(b float64) float64 { return -f.surplus(i, waited, a, b, slowdown) }
	from, to := max(a, f.low[i]), f.high[i]
	last, at := lack(from), from
	for k := 1; k <= points && from < to; k++ {
		b := from * math.Pow(to/from, float64(k)/points)
		v := lack(b)
		if (v < 0) != (last < 0) {
			var x float64
			if last < 0 {
				x, _ = crossing(at, b, lack)
			} else {
				x, _ = crossing(at, b, func(b float64) float64 { return -lack(b) })
			}
			cutoffs[i] = x
			if !f.branch(i+1, slowdown*f.harmonic(a, x), x, slowdown, cutoffs, leaf) {
				return false
			}
		}
		last, at = v, b
	}
	return true
}

// shot returns the unknowns for slowdown S, and whether they solve the equations.
func (f *fairFarm) shot(s float64) ([]float64, bool) {
	x := make([]float64, len(f.low)+1)
	f.shoot(s, x[:len(f.low)])
	x[len(f.low)] = s
	for j := range x {
		x[j] = math.Log(x[j])
	}
	size := 0.0
	for i := range x {
		size = max(size, math.Abs(f.residual(i, x, make([]float64, len(x)))))
	}
	return x, size < 1e-10 // false for NaN
}
