package elimination

import (
	"math"

	"productform/internal/arithmetic"
)

// classJobs returns P(X_i = k), k = 0..n, of a class of rate λ that is served while a time lasts with the density e^{-κx} f(x) over z: X given this time x is
// Poisson with mean λx, so that with A_k(t) = λ^k ∫_t^∞ (s-t)^k/k! e^{-(κ+λ)(s-t)} f(s) ds the probability is A_k(0)/z, and
//
//	A_0' = (κ+λ) A_0 - f,  A_k' = (κ+λ) A_k - λ A_{k-1}.
//
// All A_k(T) are at most 2 f(T)/κ, so that what is kept beyond T is at most as much as in z; outside bounds the logarithm of its probability.
func (w *sweep) classJobs(n int, class place, outside float64) ([]arithmetic.Number, error) {
	rate := class.rate
	f, kappa := w.density(class)
	gamma, more := w.backward(kappa, 1, f.x, smoothest)
	z := gamma.number(f.bound + more + tail)
	last := len(f.x) - 1
	end, _ := f.x[last].right()
	cap, exp := smoothest*end/kappa, f.x[last].exp
	list := make([]arithmetic.Number, 0, n+1)
	a, bound, lambda := f.x, f.bound, 1.0
	for range n + 1 {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		now, _ := a[last].right()
		most := math.Ldexp(cap*(kappa+rate)/(lambda*now), exp-a[last].exp)
		var add float64
		a, add = w.backward(kappa+rate, lambda, a, min(smoothest, most))
		bound += add
		p := a.number(bound).Quo(z)
		if p.F > 0 {
			p.Bound = arithmetic.Compound(p.Bound, math.Exp(outside-logarithm(p)), 0)
		}
		list = append(list, p)
		lambda = rate
	}
	return list, nil
}

// density returns f and κ of the time a class is served.
func (w *sweep) density(class place) (f pair, kappa float64) {
	if !class.shared {
		f = w.gather(class.at, -1)
		f.bound += w.drift
		return f, w.total(class.at)
	}
	parts, kappa := w.joint(class.at)
	return w.add(&parts[0], &parts[1]), kappa
}

// decayOf returns κ of that density.
func (f *forest) decayOf(class place) float64 {
	if class.shared {
		return f.decay[2*class.at] + f.decay[2*class.at+1] - f.edges[class.at].rate
	}
	return f.total(class.at)
}

// logarithm returns log a, to within a millionth or so.
func logarithm(a arithmetic.Number) float64 { return math.Log(a.F) + 512*math.Ln2*float64(a.Exp) }
