package tags

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
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

// residual returns the surplus of host i if slowdown S e^lead_i is wanted of each host.
func (f *fairCost) residual(i int, x, lead []float64) float64 {
	n := len(x) - 1
	cutoff := func(j int) float64 { // s_j
		switch {
		case j <= 0:
			return 0
		case j > n:
			return math.Inf(1)
		}
		return math.Exp(x[j-1])
	}
	waited := 0.0
	if i > 0 {
		waited = f.harmonic(cutoff(i-1), cutoff(i)) * math.Exp(x[n]+lead[i-1])
	}
	return f.surplus(i, waited, cutoff(i), cutoff(i+1), math.Exp(x[n]+lead[i]))
}

// newton solves for x by Newton's method, and is false if it does not converge. Cutoff s_j matters to hosts j, j+1 and
// j+2 only; derivatives are differences.
func (f *fairCost) newton(x, lead []float64) bool {
	const h, rounds = 1e-6, 40
	n, last := len(x), math.Inf(1)
	q, step, jacobian := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewDense(n, n, nil)
	for range rounds {
		for j := range x {
			if !(math.Abs(x[j]) < 600) || j > 0 && j < n-1 && !(x[j] > x[j-1]) {
				return false // not increasing, or beyond float64
			}
		}
		if !(math.Exp(x[0]) > f.l.low && math.Exp(x[n-2]) < f.l.high) {
			return false
		}
		for i := range n {
			q.SetVec(i, f.residual(i, x, lead))
		}
		size := mat.Norm(q, math.Inf(1))
		if size < 1e-10 && size >= last/2 { // no more to gain
			return true
		}
		if !(size < 2*last) {
			return false
		}
		last = size
		for j, at := range x {
			from, to := j, min(n, j+3)
			if j == n-1 {
				from = 0
			}
			for i := from; i < to; i++ {
				x[j] = at + h
				up := f.residual(i, x, lead)
				x[j] = at - h
				jacobian.Set(i, j, (up-f.residual(i, x, lead))/(2*h))
			}
			x[j] = at
		}
		if step.SolveVec(jacobian, q) != nil || !(mat.Norm(step, math.Inf(1)) < 10) {
			return false
		}
		for j := range x {
			x[j] -= step.AtVec(j)
		}
	}
	return false
}

// continuation starts at the cutoffs that balance the loads, where host i has slowdown S e^lead_i, and follows that
// while the leads go to 0.
func (f *fairCost) continuation() ([]float64, bool) {
	const tries = 100
	m := f.m
	most, err := MaxLoad(f.l.ctx, m)
	if err != nil {
		return nil, false
	}
	balanced := &fairCost{tagsCost: newTAGSCost(m.withLoad(most), f.l, f.o)}
	if !balanced.setRanges() {
		return nil, false
	}
	n := len(balanced.low)
	visits := f.visits(balanced.low)
	r := f.loads(PolicyTAGS, balanced.low, visits)
	f.inverses(PolicyTAGS, balanced.low, visits)
	f.formulas().waits(&r, visits)
	x, full := make([]float64, n+1), make([]float64, n+1)
	for i, h := range r.Hosts {
		if !(h.Slack.Float > 0 && h.Slowdown.Float > 0 && h.Slowdown.Float <= math.MaxFloat64) {
			return nil, false
		}
		full[i] = math.Log(h.Slowdown.Float)
		x[n] += full[i] / float64(n+1)
	}
	for j, c := range balanced.low {
		x[j] = math.Log(c)
	}
	for i := range full {
		full[i] -= x[n]
	}
	slope, lead, y := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	t, step := 1.0, 0.125
	for range tries {
		if f.l.stopped() {
			return nil, false
		}
		next := max(t-step, 0)
		for j := range y {
			lead[j] = next * full[j]
			y[j] = x[j] + slope[j]*(next-t)
		}
		if !f.newton(y, lead) {
			step /= 4
			continue
		}
		for j := range y {
			slope[j] = (y[j] - x[j]) / (next - t)
		}
		copy(x, y)
		if t, step = next, 1.5*step; t == 0 {
			return x, true
		}
	}
	return nil, false
}

// result returns the cutoffs and the visits, with the slacks λ M_2/(2 v² V_i) that follow from V_i = S (H_i - H_{i-1}).
func (f *fairCost) result(x []float64) ([]float64, []visit[double]) {
	n := len(x) - 1
	cutoffs := make([]float64, n)
	for j := range cutoffs {
		cutoffs[j] = math.Exp(x[j])
	}
	visits := f.visits(cutoffs)
	before := 0.0
	for i := range visits {
		a, b := between(cutoffs, i)
		h := f.harmonic(a, b)
		visits[i].slack = double(f.need(i, a, b) / (math.Exp(x[n]) * (h - before)))
		before = h
	}
	return cutoffs, visits
}
