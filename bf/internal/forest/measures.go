package forest

import (
	"math"
	"slices"

	"productform/internal/arithmetic"
)

// joint returns the density of the minimum on edge e with ends a and b, divided by e^{-κx}, in two
// parts: for T_a < T_b and for T_b < T_a. At T_a = x < T_b it is F_a(x) e^{λx} R_b(x) = e^{-κx}
// q_a(x) r_b(x), κ = κ_a + κ_b - λ.
func (w *sweep) joint(e int) (parts [2]pair, kappa float64) {
	there, back := &w.messages[2*e], &w.messages[2*e+1]
	for i, x := range [2][2]*message{{there, back}, {back, there}} {
		parts[i] = pair{slices.Clone(x[0].q.x), slices.Clone(x[0].q.y), x[0].q.bound}
		w.multiply(&parts[i], &x[1].r)
		parts[i].bound += w.drift
	}
	return parts, w.decay[2*e] + w.decay[2*e+1] - w.edges[e].rate
}

// add returns a + b.
func (w *sweep) add(a, b *pair) pair {
	c := pair{x: make(curve, len(a.x)), y: make(curve, len(a.y))}
	worst := 0.0
	for _, part := range [][3]curve{{a.x, b.x, c.x}, {a.y, b.y, c.y}} {
		for k := range part[2] {
			var defect float64
			part[2][k], defect = w.sum(k, &part[0][k], &part[1][k])
			worst = max(worst, defect)
		}
	}
	c.bound = max(a.bound, b.bound) + worst
	return c
}

// edgeOf returns the integral over all times at edge e, E~ of the minimum of its ends, the
// probabilities that each end is the minimum, and the law of the minimum. With the density e^{-κx}
// f(x) of the minimum, P(min > x) is e^{-κx} γ(x), γ(x) = ∫_x^∞ e^{-κ(y-x)} f(y) dy; γ(0) is the
// integral, and the mean is ∫ e^{-κx} γ(x) dx / γ(0).
func (w *sweep) edgeOf(e int) (z, least arithmetic.Number, before [2]arithmetic.Number, law *law) {
	parts, kappa := w.joint(e)
	for i := range parts {
		p := &parts[i]
		gamma, bound := w.backward(kappa, 1, p.x, smoothest)
		*p = pair{x: gamma, bound: p.bound + bound}
	}
	gamma := w.add(&parts[0], &parts[1])
	z = gamma.x.number(gamma.bound + tail)
	for i, p := range parts {
		before[i] = p.x.number(p.bound).Quo(z)
	}
	return z, w.mean(&gamma, kappa, z), before, w.law(&gamma, kappa)
}

// mean returns ∫ e^{-κx} γ(x) dx / z.
func (w *sweep) mean(gamma *pair, kappa float64, z arithmetic.Number) arithmetic.Number {
	area, bound := w.backward(kappa, 1, gamma.x, smoothest)
	return area.number(gamma.bound + bound + tail).Quo(z)
}

// serverOf returns the integral over all times at server s, E~[T_s], and the law of T_s.
func (w *sweep) serverOf(s int) (z, mean arithmetic.Number, law *law) {
	q := w.gather(s, -1)
	kappa := w.total(s)
	gamma, bound := w.backward(kappa, 1, q.x, smoothest)
	p := pair{x: gamma, bound: q.bound + bound + w.drift}
	z = p.x.number(p.bound + tail)
	return z, w.mean(&p, kappa, z), w.law(&p, kappa)
}

// measures computes the measures of all servers and edges, unless the defect of a polynomial
// exceeds the target.
func (w *sweep) measures(target float64) (*Result, error) {
	if err := w.pass(target); err != nil || w.isCoarse(target) {
		return nil, err
	}
	r := &Result{
		Times: make([]arithmetic.Number, len(w.classes)),
		Laws:  make([]Law, len(w.classes)),
		Busy:  make([]arithmetic.Number, len(w.capacity)),
	}
	least, alone := make([]arithmetic.Number, len(w.edges)), make([]arithmetic.Number, len(w.capacity))
	leastLaws, laws := make([]*law, len(w.edges)), make([]*law, len(w.capacity))
	for s := range r.Busy {
		r.Busy[s] = arithmetic.FromFloat(w.own[s], w.sums(s))
	}
	for e, k := range w.edges {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		var before [2]arithmetic.Number
		r.Normalization, least[e], before, leastLaws[e] = w.edgeOf(e)
		for i, s := range k.ends {
			r.Busy[s] = r.Busy[s].Add(arithmetic.FromFloat(k.rate, w.sums(s)).Mul(before[i]))
		}
	}
	served := make([]bool, len(r.Busy)) // alone, at a rate that may be 0
	for _, k := range w.classes {
		if !k.shared {
			served[k.at] = true
		}
	}
	for s := range r.Busy {
		if served[s] || len(w.edges) == 0 {
			if err := w.ctx.Err(); err != nil {
				return nil, err
			}
			r.Normalization, alone[s], laws[s] = w.serverOf(s)
		}
		if r.Busy[s].F != 0 { // the error of times beyond T is tail times the incident rates
			r.Busy[s].Bound = arithmetic.Compound(
				r.Busy[s].Bound, tail*w.incidentRates(s)/r.Busy[s].Double()*(1+0x1p-20), 0,
			)
		}
		r.Busy[s] = r.Busy[s].Quo(arithmetic.FromFloat(w.capacity[s], 0))
	}
	for _, c := range w.capacity {
		r.Normalization = r.Normalization.Mul(arithmetic.FromFloat(c, 0))
	}
	for i, k := range w.classes {
		r.Times[i] = entry(k, least, alone)
		if k.rate > 0 {
			r.Laws[i] = entry(k, leastLaws, laws)
		}
	}
	return r, nil
}

// sums returns a bound on the relative error of sums of rates of classes of server s.
func (f *Forest) sums(s int) float64 {
	if f.exact {
		return 0
	}
	return arithmetic.Roundings(float64(f.terms[s]))
}

// classJobs returns P(X_i = k), k = 0..n, for a class of rate λ that is served for a time with the
// density e^{-κx} f(x)/z. Given this time x, X is Poisson with mean λx, so with A_k(t) = λ^k ∫_t^∞
// (s-t)^k/k! e^{-(κ+λ)(s-t)} f(s) ds the probability is A_k(0)/z, and
//
//	A_0' = (κ+λ) A_0 - f,  A_k' = (κ+λ) A_k - λ A_{k-1}.
//
// All A_k(T) are at most 2 f(T)/κ, so the mass beyond T is at most that in z; outside bounds the
// logarithm of its probability.
func (w *sweep) classJobs(n int, class place, outside float64) ([]arithmetic.Number, error) {
	rate := class.rate
	f, kappa := w.density(class)
	gamma, more := w.backward(kappa, 1, f.x, smoothest)
	z := gamma.number(f.bound + more + tail)
	last := len(f.x) - 1
	end, _ := f.x[last].right()
	limit, exp := smoothest*end/kappa, f.x[last].exp
	list := make([]arithmetic.Number, 0, n+1)
	a, bound, lambda := f.x, f.bound+w.drift, 1.0
	for range n + 1 {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		now, _ := a[last].right()
		most := math.Ldexp(limit*(kappa+rate)/(lambda*now), exp-a[last].exp)
		var add float64
		a, add = w.backward(kappa+rate, lambda, a, min(smoothest, most))
		bound += add
		p := a.number(bound).Quo(z)
		if p.F > 0 {
			p.Bound = arithmetic.Compound(p.Bound, math.Exp(outside-logarithm(p))*(1+0x1p-10), 0)
		}
		list = append(list, p)
		lambda = rate
	}
	return list, nil
}

// density returns f and κ of the time that a class is served.
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
func (f *Forest) decayOf(class place) float64 {
	if class.shared {
		return f.decay[2*class.at] + f.decay[2*class.at+1] - f.edges[class.at].rate
	}
	return f.total(class.at)
}

// logarithm returns log a, with an error of less than 0x1p-20.
func logarithm(a arithmetic.Number) float64 { return math.Log(a.F) + 512*math.Ln2*float64(a.Exp) }

// A Moment holds E~[τ], E~[Ŷ] and E~[τ Ŷ] of the time τ that a class is served, min_{S_i} T, or of
// T_s, with Ŷ = Y + c n, Y = Σ_i w_i min_{S_i} T. If each w_i is λ_i or 0, E~[Y] = Σ_i w_i ∂ log
// Z/∂λ_i is the mean number of jobs of some classes. Then
//
//	∂/∂λ_i E~[Y] = w_i/λ_i E~[min_{S_i} T] + Cov~(min_{S_i} T, Y),  ∂/∂C_s E~[Y] = -Cov~(T_s, Y),
//
// and constants have covariance 0.
type Moment struct{ Mean, Weight, Both arithmetic.Number }

// Rate returns the derivative with respect to the rate of a class that is served during τ; counted
// states whether Y includes the class.
func (m Moment) Rate(counted bool) Difference {
	d := Difference{Plus: m.Both, Minus: m.Mean.Mul(m.Weight)}
	if counted {
		d.Plus = d.Plus.Add(m.Mean)
	}
	return d
}

// Capacity returns the derivative with respect to the capacity of the server.
func (m Moment) Capacity() Difference { return Difference{Plus: m.Mean.Mul(m.Weight), Minus: m.Both} }

// extraWeight returns the argument extra of [horizon] for moments with a weight constant + a x.
func (f *Forest) extraWeight(constant float64) float64 {
	total := 0.0
	for s := range f.capacity {
		total += f.incidentRates(s)
	}
	return 1 + math.Log1p(2*total/(f.slack*constant))
}

// weigh returns the weights of one class, or of all classes for -1, with constants close to their
// mean number of jobs. The constants of one class are at its own servers, so functions without
// these servers have no weight.
func (f *Forest) weigh(class int, r *Result) *weights {
	c := &weights{
		constants: make([]float64, len(f.capacity)),
		own:       make([]float64, len(f.capacity)),
		edges:     make([]float64, len(f.edges)),
	}
	for i, k := range f.classes {
		if class >= 0 && i != class {
			continue
		}
		c.constant += k.rate * r.Times[i].Double()
		if k.shared {
			c.edges[k.at] += k.rate
		} else {
			c.own[k.at] += k.rate
		}
	}
	if c.constant == 0 {
		c.constant = 1
	}
	c.constant /= float64(len(f.capacity))
	each := c.constant
	switch {
	case class < 0:
		for s := range c.constants {
			c.constants[s] = each
		}
	case f.classes[class].shared:
		for _, s := range f.edges[f.classes[class].at].ends {
			c.constants[s] = each * float64(len(f.capacity)) / 2
		}
	default:
		c.constants[f.classes[class].at] = each * float64(len(f.capacity))
	}
	return c
}

// gradients returns the derivatives of the mean number of jobs of one class, or of all classes for
// -1, by a sweep with their weights. They are meaningless if the defect of a polynomial exceeds the
// target.
func (w *sweep) gradients(class int, target float64) (g Gradients, err error) {
	if err := w.pass(target); err != nil || w.isCoarse(target) {
		return g, err
	}
	shared, alone := make([]Moment, len(w.edges)), make([]Moment, len(w.capacity))
	for e := range w.edges {
		if err := w.ctx.Err(); err != nil {
			return g, err
		}
		parts, kappa := w.joint(e)
		f := w.add(&parts[0], &parts[1])
		if a := w.weights.edges[e]; a > 0 {
			own := w.weighted(w.weights.constant, a)
			w.multiply(&f, &own)
		}
		shared[e] = w.momentOf(&f, kappa)
	}
	for s := range alone {
		if err := w.ctx.Err(); err != nil {
			return g, err
		}
		f := w.gather(s, -1)
		f.bound += w.drift
		alone[s] = w.momentOf(&f, w.total(s))
		g.Capacities = append(g.Capacities, alone[s].Capacity())
	}
	for i, k := range w.classes {
		g.Rates = append(g.Rates, entry(k, shared, alone).Rate(class < 0 || class == i))
	}
	return g, nil
}

// momentOf returns the Moment of a time with density e^{-κx} f(x).
func (w *sweep) momentOf(f *pair, kappa float64) Moment {
	var sums, areas [2]arithmetic.Number
	for i, part := range []curve{f.x, f.y} {
		gamma, bound := w.backward(kappa, 1, part, smoothest)
		area, more := w.backward(kappa, 1, gamma, smoothest)
		sums[i] = gamma.number(f.bound + bound + tail)
		areas[i] = area.number(f.bound + bound + more + tail)
	}
	return Moment{areas[0].Quo(sums[0]), sums[1].Quo(sums[0]), areas[1].Quo(sums[0])}
}
