package oiqueue

import (
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// leastFlow replaces smaller relative masses in bounds, so nothing underflows.
const leastFlow = 0x1p-300

// relative returns x/y, at least leastFlow unless x is 0, to better than 1 %.
func (l *timedLevels) relative(x, y arithmetic.Number) float64 {
	if x.IsZero() {
		return 0
	}
	v, _ := x.Quo(y).Value()
	return max(v.Float, leastFlow)
}

// tail returns bounds on the measure of all states beyond the level of n jobs, relative to that of
// all states up to it: of W first, then of D_i by class. It is the smaller one of two bounds.
//
// First, a state (y, K) beyond the level has a total rate of at least μ(K) + c, c = (n+1) min θ_r.
// So a unit that flows into it adds at most V(K) there and beyond, with U_j(K) jobs of class j that
// arrive later. If the left sides are positive,
//
//	(μ(K) + c - λ(K)) V(K)   = 1 + Σ_i λ_i Σ_{K'≠K} p_i(K,K') V(K'),
//	(μ(K) + c - λ(K)) U_j(K) = λ_j Σ_K' p_j(K,K') V(K') + Σ_i λ_i Σ_{K'≠K} p_i(K,K') U_j(K'),
//
// where p_i(K,K') is the probability that a job of class i changes K to K', and λ(K) = Σ_i λ_i
// p_i(K,K). Arrivals of jobs that may time out let λ_i p_i(K,K') W(y, K) flow from the level.
//
// Second, jobs of class i leave at a rate of at least θ_i x_i, whatever the other jobs: for the
// measure W̄(x) of all orders of x_i jobs of class i, θ_i x_i W̄(x) <= λ_i W̄(x-e_i). The mean of
// λ_i/(θ_i x_i) W̄(x-e_i), with weights x_i/k over the k jobs that may time out, bounds W̄(x). So
// the measure of k of these jobs is at most a/k times that of k-1, a = Σ_i λ_i/θ_i, and the same
// holds for D_j of jobs that never time out. With r = a/(n+1) < 1, and W and D_j of the level, the
// measures beyond the level are at most
//
//	r/(1-r) W,  r/(1-r) D_j,  and 1/(1-r) λ_i/θ_i W for x_i W̄(x) of a class that may time out.
//
// Rounding errors are below 1 % and included.
func (l *timedLevels) tail() []float64 {
	a, b := l.frozenTail(), l.ratioTail()
	for k := range a {
		a[k] = 1.01 * min(a[k], b[k])
		if math.IsNaN(a[k]) {
			a[k] = math.Inf(1)
		}
	}
	return a
}

// ratioTail returns the second bound of tail.
func (l *timedLevels) ratioTail() []float64 {
	t := make([]float64, 1+len(l.classes))
	sum := 0.0
	for _, x := range l.classes {
		if x.theta != nil {
			sum += quotient(x.rate, x.theta)
		}
	}
	r := sum / float64(l.jobs+1)
	t[0] = r / (1 - r) * l.relative(l.ofLevel[0], l.total[0])
	for i, x := range l.classes {
		if x.theta == nil {
			t[1+i] = r / (1 - r) * l.relative(l.ofLevel[1+i], l.total[1+i])
		} else {
			t[1+i] = quotient(x.rate, x.theta) / (1 - r) * l.relative(l.ofLevel[0], l.total[1+i])
		}
	}
	if !(r <= 0.99) {
		for k := range t {
			t[k] = math.Inf(1)
		}
	}
	return t
}

// quotient returns a/b to within a rounding.
func quotient(a, b *big.Rat) float64 { return num.Nearest(new(big.Rat).Quo(a, b)) }

// frozenTail returns the first bound of tail.
func (l *timedLevels) frozenTail() []float64 {
	points, classes := l.box.States, len(l.classes)
	v, u := make([]float64, points), make([]float64, points*classes)
	l.spread(v, u)
	w, d := l.levelByServers()
	t := make([]float64, 1+classes)
	each := make([]float64, classes) // λ_j W/D_j, and 1/D_j, in units of the total
	for j, x := range l.classes {
		each[j] = num.Nearest(x.rate) * l.relative(l.total[0], l.total[1+j])
	}
	for at, mass := range w {
		if mass == 0 {
			continue
		}
		for i, x := range l.classes {
			if x.theta == nil {
				continue
			}
			own := mass * l.relative(l.total[0], l.total[1+i])
			for _, m := range l.movesOf(i, at) {
				rate := m.float()
				t[0] += rate * mass * v[m.to]
				t[1+i] += rate * own * v[m.to]
				for j := range l.classes {
					t[1+j] += rate * (d[at*classes+j]*v[m.to] + mass*each[j]*u[m.to*classes+j])
				}
			}
		}
	}
	return t
}

// levelByServers returns W and D_j of the level by busy servers, relative to the totals.
func (l *timedLevels) levelByServers() (w, d []float64) {
	classes := len(l.classes)
	w, d = make([]float64, l.box.States), make([]float64, l.box.States*classes)
	for e, at := range l.level.at {
		values := l.level.values[e*l.width : (e+1)*l.width]
		mass := l.relative(values[0], l.total[0])
		w[at] += mass
		for j := range l.classes {
			if slot := l.slot[j]; slot > 0 {
				d[at*classes+j] += l.relative(values[slot], l.total[1+j])
			} else { // at most all jobs have the class
				d[at*classes+j] += float64(l.jobs) * l.relative(values[0], l.total[1+j])
			}
		}
	}
	return w, d
}

// spread sets v to V(K), and u to U_j(K)/λ_j at K classes + j, or to +Inf.
func (l *timedLevels) spread(v, u []float64) {
	least := l.thetas[0]
	for _, theta := range l.thetas {
		if theta.Cmp(least) < 0 {
			least = theta
		}
	}
	c, _ := new(big.Rat).Mul(least, big.NewRat(int64(l.jobs+1), 1)).Float64()
	classes := len(l.classes)
	lambda, sum := make([]float64, classes), make([]float64, classes)
	for i, x := range l.classes {
		lambda[i] = num.Nearest(x.rate)
	}
	for at := len(v) - 1; at >= 0; at-- {
		flow := 1.0
		clear(sum)
		for i := range l.classes {
			for _, m := range l.movesOf(i, at) {
				if m.to == at {
					continue
				}
				rate := m.float()
				flow += rate * v[m.to]
				sum[i] += rate / lambda[i] * v[m.to]
				for j := range classes {
					sum[j] += rate * u[m.to*classes+j]
				}
			}
		}
		d := l.slack[at] + c - 8*arithmetic.Roundoff*(math.Abs(l.slack[at])+c) // a lower bound
		v[at] = math.Inf(1)
		if d > 0 {
			v[at] = flow / d
		}
		for i := range l.classes {
			for _, m := range l.movesOf(i, at) {
				if m.to == at {
					sum[i] += m.float() / lambda[i] * v[at]
				}
			}
			u[at*classes+i] = math.Inf(1)
			if d > 0 {
				u[at*classes+i] = sum[i] / d
			}
		}
	}
}
