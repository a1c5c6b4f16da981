package tags

import (
	"math"
	"slices"
)

// lowestOf returns a, or if f(a) is not below 0 the point of a grid on [a, b] where f is least.
func lowestOf(a, b float64, f func(float64) float64) float64 {
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
// a jump, by continuation. If that fails too, or there may be several solutions, since the distribution is not unimodal or the
// speeds differ, it looks for more.
func (f *fairCost) solve() ([]float64, error) {
	n := len(f.low)
	below, s := crossing(1e-150, 1e150, func(s float64) float64 { v, _ := f.shoot(s, make([]float64, n)); return v })
	x, ok := f.shot(s)
	if !ok {
		x, ok = f.continuation()
	}
	if ok && f.density != nil && slices.Min(f.speed) == slices.Max(f.speed) {
		return x, nil
	}
	y, looked, proved := f.boxes()
	if y != nil && (!ok || y[n] < x[n]-1e-9) {
		x, ok = y, true
	}
	switch {
	case ok:
		return x, nil
	case proved:
		return nil, &UnfairError{Looked: looked, Proved: true}
	}
	_, i := f.shoot(below, make([]float64, n))
	_, j := f.shoot(s, make([]float64, n))
	return nil, &UnfairError{Looked: looked, Slowdown: s, More: i + 1, Less: j + 1}
}

// shot returns the unknowns for slowdown S, and whether they solve the equations.
func (f *fairCost) shot(s float64) ([]float64, bool) {
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
