package tags

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// middle returns unknowns at which to start Newton's method: increasing cutoffs inside a box, and
// the geometric mean of the slowdowns that they give the hosts, with slacks below 1e-3 replaced by
// 1e-3.
func (f *fairCost) middle(b *fairBox) []float64 {
	n := len(b.low)
	x := make([]float64, n+1)
	waited, a := 0.0, 0.0
	for i := range x {
		end := math.Inf(1)
		if i < n {
			from, to := math.Log(b.low[i].X), math.Log(b.high[i].X)
			x[i] = from + (to-from)*float64(i+1)/float64(n+1)
			end = math.Exp(x[i])
		}
		waited += f.need(i, a, end) / max(f.spareSlack(i, f.spared(a), f.l.partialExcess(end)), 1e-3)
		x[n] += math.Log(waited/f.harmonic(a, end)) / float64(n+1)
		a = end
	}
	x[n] = min(max(x[n], math.Log(b.least)), math.Log(b.most))
	return x
}

// residual returns the surplus of host i.
func (f *fairCost) residual(i int, x []float64) float64 {
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
	slowdown, waited := math.Exp(x[n]), 0.0
	if i > 0 {
		waited = f.harmonic(cutoff(i-1), cutoff(i)) * slowdown
	}
	return f.surplus(i, waited, cutoff(i), cutoff(i+1), slowdown)
}

// residuals sets q to the surplus of all hosts, and returns its norm. The norm is +Inf if x is
// outside the range of the unknowns.
func (f *fairCost) residuals(x []float64, q *mat.VecDense) (size float64) {
	n := len(x) - 1
	for j := range x {
		if !(math.Abs(x[j]) < 600) || j > 0 && j < n && !(x[j] > x[j-1]) {
			return math.Inf(1) // not increasing, or beyond float64
		}
	}
	if !(math.Exp(x[0]) > f.l.low && math.Exp(x[n-1]) < f.l.high) {
		return math.Inf(1)
	}
	for i := range x {
		q.SetVec(i, f.residual(i, x))
	}
	if size = mat.Norm(q, 2); math.IsNaN(size) {
		return math.Inf(1)
	}
	return size
}

// jacobian sets the derivatives of the residuals by finite differences. Cutoff s_j affects only
// hosts j, j+1 and j+2.
func (f *fairCost) jacobian(x []float64, to *mat.Dense) {
	const h = 1e-6
	n := len(x)
	for j, at := range x {
		first, end := j, min(n, j+3)
		if j == n-1 {
			first = 0
		}
		for i := first; i < end; i++ {
			x[j] = at + h
			up := f.residual(i, x)
			x[j] = at - h
			to.Set(i, j, (up-f.residual(i, x))/(2*h))
		}
		x[j] = at
	}
}

// newton solves for x by Newton's method, shortening each step until the residual falls. It returns
// false if it does not converge.
func (f *fairCost) newton(x []float64) bool {
	const rounds, solved, shortest = 40, 1e-10, 1e-3
	n := len(x)
	q, step, derivatives := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewDense(n, n, nil)
	next := make([]float64, n)
	size := f.residuals(x, q)
	for range rounds {
		f.jacobian(x, derivatives)
		if !(size <= math.MaxFloat64) || step.SolveVec(derivatives, q) != nil {
			return false
		}
		longest := mat.Norm(step, math.Inf(1))
		if !(longest <= math.MaxFloat64) {
			return false
		}
		better := math.Inf(1)
		for scale := min(1, 2/longest); !(better < size*(1-0.01*scale)); scale /= 2 {
			if better < math.Inf(1) && size < solved { // no further gain
				return true
			}
			if scale < shortest {
				return false
			}
			for j := range x {
				next[j] = x[j] - scale*step.AtVec(j)
			}
			better = f.residuals(next, q)
		}
		copy(x, next)
		size = better
	}
	return false
}

// result returns the cutoffs and the visits, with the slacks λ M_2/(2 v² V_i) that follow from V_i
// = S (H_i - H_{i-1}).
func (f *fairCost) result(x []float64) ([]float64, []visit[double]) {
	n := len(x) - 1
	cutoffs := make([]float64, n)
	for j := range cutoffs {
		cutoffs[j] = math.Exp(x[j])
	}
	visits := f.visits(cutoffs)
	before := 0.0
	for i := range visits {
		a, b := hostCutoffs(cutoffs, i)
		h := f.harmonic(a, b)
		visits[i].slack = double(f.need(i, a, b) / (math.Exp(x[n]) * (h - before)))
		before = h
	}
	return cutoffs, visits
}
