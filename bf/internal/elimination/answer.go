package elimination

import (
	"context"
	"math"
	"slices"

	"productform/bf/internal/forest"
	"productform/internal/arithmetic"
)

// A reach bounds the probability mass beyond the panels.
type reach struct {
	*mesh
	beyond []float64 // for each break, the largest probability that a time exceeds it; 1 for the first
}

func (h *reach) add(f *function) {
	all := h.integral(f, 0, weight{})
	for k := 1; k < h.panels(); k++ {
		mass, part := h.integral(f, k, weight{}), 1.0
		if least := all.value - all.error; least > 0 {
			part = (mass.value + mass.error) / least * (1 + 8*u)
		}
		h.beyond[k] = max(h.beyond[k], part)
	}
}

// tailBounds returns bounds on the probability that any time exceeds the end, and on that
// probability for one server.
//
// Let R be the event that no time exceeds the end, and H(x) the largest probability P~(T_s > x) of
// all servers. The panels give P~ conditioned on R. Both densities are log-supermodular, R is
// decreasing and T_s > x increasing, so P~(T_s > x | R) grows with all arrival rates, and with h as
// the largest of them, H(x) <= h + P~(not R) <= h + S H(T). The probability that T_s is beyond a
// time is log-concave in it (Prekopa), and 1 at 0: H(T) <= H(x)^θ with θ = T/x. So H(x) <= h + S
// H(x)^θ, for all rates from 0 to the given ones, with h at the given rates. If Y > h + S Y^θ, then
// H(x) is never Y. It depends continuously on the rates, and equals e^{-Cx} at rates 0, with C the
// smallest capacity: if that is below Y, then H(x) < Y for all rates.
func (h *reach) tailBounds(capacities []float64) (any, one float64) {
	servers, slowest := float64(len(capacities)), slices.Min(capacities)
	any, one = 1, 1
	for k := 1; k < h.panels(); k++ {
		theta := h.end() / h.breaks[k] * (1 - 0x1p-40)
		for _, f := range []float64{1.001, 1.1, 2, 4} {
			y := max(f*h.beyond[k], 1.001*math.Exp(-slowest*h.breaks[k]))
			if power := math.Pow(y, theta) * (1 + 0x1p-20); y < 1 && h.beyond[k]+servers*power < y*(1-0x1p-20) &&
				servers*power < any {
				any, one = servers*power, power
			}
		}
	}
	return any, one
}

// An answer holds the integrals found by passes, for times within the panels.
type answer struct {
	reach
	normalization arithmetic.Number
	least         []ratio   // E[min_{S_i} T] of each class with arrivals
	jobs          [][]ratio // P(X_i = n), if requested
	rates         []float64 // rates of the classes with arrivals
	laws          []*law    // laws of their minimum times, if requested

	far              float64    // the largest relative bound due to times beyond the panels
	servers, classes []weighted // with weights: the time of each server and the minimum time of each class
	busy             []float64  // Σ_i λ_i P(T_s = min_{S_i} T) of each server
	busyBound        []float64  // bound on its error
	around           []float64  // Σ_i λ_i
}

// answer runs the forward and backward passes.
func (e *passes) answer(ctx context.Context, most float64) (*answer, error) {
	if err := e.forward(ctx, most); err != nil {
		return nil, err
	}
	servers, classes := len(e.order), len(e.problem.Classes)
	a := &answer{
		reach: reach{e.mesh, make([]float64, e.panels())}, normalization: arithmetic.FromFloat(1, 0),
		least: make([]ratio, classes), jobs: make([][]ratio, classes), rates: make([]float64, classes),
		laws: make([]*law, classes), servers: make([]weighted, servers), classes: make([]weighted, classes),
		busy: make([]float64, servers), busyBound: make([]float64, servers), around: make([]float64, servers),
	}
	for _, f := range e.kept {
		if len(f.servers) == 0 {
			steps := f.exponent / 512
			z := arithmetic.NewWide(math.Ldexp(f.values[0], f.exponent-512*steps), steps)
			a.normalization = a.normalization.Mul(arithmetic.FromWide(z, math.Expm1(f.err)*(1+8*u)))
		}
	}
	err := e.back(ctx, func(c *clique) error {
		own, err := c.minimumDensity(ctx, []int{c.server})
		if err != nil {
			return err
		}
		a.add(own.parts[0])
		if e.weights != nil {
			a.servers[c.server] = own.weigh(a.mesh)
		}
		for _, i := range e.buckets[c.server].classes {
			if err := a.class(ctx, c, i); err != nil {
				return err
			}
		}
		return nil
	})
	return a, err
}

// class adds the integrals of the minimum time of the servers of class i.
func (a *answer) class(ctx context.Context, c *clique, i int) error {
	k := c.problem.Classes[i]
	d, err := c.minimumDensity(ctx, k.Servers)
	if err != nil {
		return err
	}
	mass, masses := d.integral(a.mesh, weight{})
	mean, _ := d.integral(a.mesh, weight{power: 1})
	a.least[i] = mean.over(mass)
	if c.weights != nil {
		a.classes[i] = d.weigh(a.mesh)
		return nil
	}
	a.rates[i] = k.Rate
	if c.ask.Rarest > 0 && k.Rate > 0 && !a.rough {
		a.laws[i] = d.law(a.mesh)
	}
	if c.ask.ByClass > 0 && k.Rate > 0 {
		for n := range c.ask.ByClass + 1 {
			p, _ := d.integral(a.mesh, poisson(n, k.Rate))
			a.jobs[i] = append(a.jobs[i], p.over(mass))
		}
	}
	for v, s := range k.Servers {
		share := masses[v].over(mass)
		if len(k.Servers) == 1 {
			share = ratio{1, 0}
		}
		a.busy[s] += k.Rate * share.value
		a.busyBound[s] += k.Rate*share.value*math.Expm1(share.bound)*(1+8*u) + 4*u*a.busy[s]
		a.around[s] += k.Rate
	}
	return nil
}

// longest returns the largest mean.
func (a *answer) longest() float64 {
	most := 0.0
	for _, x := range a.least {
		most = max(most, x.value)
	}
	return most
}

// rarest returns the logarithm of the smallest requested probability, 0 if none is requested. If
// the panels may end before that many jobs become likely, the probability is extrapolated at its
// last rate of decay.
func (a *answer) rarest(guess bool, s Settings) float64 {
	least := 0.0
	if s.Rarest > 0 {
		least = math.Log(s.Rarest)
	}
	for i, list := range a.jobs {
		if len(list) == 0 {
			continue
		}
		last := len(list) - 1
		if guess {
			last = min(last, max(1, int(a.rates[i]*a.end()/2)))
		}
		log := math.Log(list[last].value)
		if rest := len(list) - 1 - last; rest > 0 {
			log += float64(rest) * (log - math.Log(list[last-1].value))
		}
		least = min(least, log)
	}
	return least
}

// isShort reports whether the times beyond the end contribute too much of the tolerance: more than
// an eighth for most numbers, or half for any.
func (a *answer) isShort(p *Problem, tolerance float64, s Settings) bool {
	any, _ := a.tailBounds(p.Capacities)
	if any*a.end() > tolerance/8*a.longest() || any > tolerance/8*math.Exp(a.rarest(false, s)) || a.far > tolerance/2 {
		return true
	}
	rates, jobs := 0.0, 0.0
	for i, k := range p.Classes {
		rates += k.Rate
		jobs += k.Rate * a.least[i].value
	}
	return s.Gradients && any*a.end()*a.end()*rates > tolerance/8*a.longest()*jobs
}

// number returns a ratio with an additional absolute error off in both directions: the true value
// is at least value (e^{-bound} - off/value) and at most value (e^{bound} + off/value), and
// 1/(e^{-b} - x) > e^b + x.
func (r ratio) number(off float64) arithmetic.Number {
	less := (off/r.value - math.Expm1(-r.bound)) * (1 + 8*u)
	if !(less < 1) {
		return arithmetic.FromFloat(r.value, math.Inf(1))
	}
	return arithmetic.FromFloat(r.value, less/(1-less)*(1+8*u))
}

// result returns the measures and their largest bound, including the times beyond the end. E~ given
// R is at most E~, because R is decreasing and a minimum is increasing. E~[min; not R] is at most T
// P(not R) + E[(T_j - T)^+], where P(T_j > x) <= z^{x/T} with z of one server. So the mean minimum
// exceeds the mean given R by at most T (P(not R) + z/log(1/z)). A probability of jobs, the mean of
// one between 0 and 1, differs by at most P(not R) from that given R.
func (a *answer) result(p *Problem, s Settings) (r *forest.Result, worst float64) {
	any, one := a.tailBounds(p.Capacities)
	beyond := a.tailMean(any, one)
	r = &forest.Result{
		Times: make([]arithmetic.Number, len(p.Classes)),
		Busy:  make([]arithmetic.Number, len(p.Capacities)),
	}
	r.Normalization = arithmetic.FromWide(
		a.normalization.Wide, arithmetic.Compound(a.normalization.Bound, any/(1-any)*(1+8*u), 0),
	)
	for i := range p.Classes {
		r.Times[i] = a.least[i].number(beyond)
		a.far = max(a.far, beyond/a.least[i].value)
		if s.Rarest > 0 {
			r.Laws = append(r.Laws, nil)
			if l := a.laws[i]; l != nil {
				l.any = any
				r.Laws[i] = l
				worst = max(worst, l.worst(s.Rarest))
			}
		}
		if s.ByClass > 0 {
			r.Jobs = append(r.Jobs, forest.NoJobs(s.ByClass))
			for n, p := range a.jobs[i] {
				r.Jobs[i][n] = p.number(any)
				a.far = max(a.far, any/p.value)
			}
		}
	}
	for s, c := range p.Capacities {
		r.Busy[s] = arithmetic.FromFloat(0, 0)
		far := a.around[s] * any
		if a.busy[s] > 0 {
			a.far = max(a.far, far/a.busy[s])
		}
		if off := a.busyBound[s] + far; a.busy[s] > 0 && off < a.busy[s]/2 {
			r.Busy[s] = arithmetic.FromFloat(a.busy[s], off/(a.busy[s]-off)*(1+8*u)).Quo(arithmetic.FromFloat(c, 0))
		} else if a.around[s] > 0 {
			r.Busy[s] = arithmetic.FromFloat(a.busy[s]/c, math.Inf(1))
		}
	}
	return r, max(worst, r.Worst(1))
}

// tailMean returns T (P(not R) + z/log(1/z)), a bound on the mean contributed by times beyond the
// end.
func (a *answer) tailMean(any, one float64) float64 {
	return a.end() * (any - one/math.Log(one)) * (1 + 8*u)
}
