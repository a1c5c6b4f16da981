package elimination

import (
	"context"
	"math"
	"slices"

	"productform/bf/internal/forest"
	"productform/internal/arithmetic"
)

// weights requests means with the weight Ŷ = Σ_i (c_i + w_i min_{S_i} T), over the classes with w_i
// > 0: see [forest.Moment]. Each function then has a hat, the same integral with the weight of its
// classes. A hat is a sum of positive integrals, in each of which one class or one earlier function
// carries its weight, so their bounds apply. The weight is concave and positive, so hats are
// log-concave like their functions. c_i > 0 keeps each away from 0.
type weights struct{ constants, factors []float64 } // weights of each class; 0 if it is excluded

// weigh returns the weights of one class, or of all classes for -1, with constants equal to a
// quarter of their mean numbers of jobs.
func (a *answer) weigh(p *Problem, class int) *weights {
	w := &weights{make([]float64, len(p.Classes)), make([]float64, len(p.Classes))}
	for i, k := range p.Classes {
		if k.Rate > 0 && (class < 0 || class == i) {
			w.factors[i], w.constants[i] = k.Rate, k.Rate*a.least[i].value/4
		}
	}
	return w
}

// linear returns c_i + w_i min_{S_i} t as a function, over all orders and panels.
func (e *passes) linear(i int) *function {
	servers := slices.Sorted(slices.Values(e.problem.Classes[i].Servers))
	f := newFunction(servers, e.mesh)
	c, factor := e.weights.constants[i], e.weights.factors[i]
	f.eachCell(func(order, panel []int, cell int) {
		first, w := order[0], len(servers)
		values, stride := f.cellValues(cell), power(e.n, w-1-order[0])
		for x := range values {
			values[x] = c + factor*e.points[panel[first]*e.n+x/stride%e.n]
		}
		h := e.half(panel[first])
		for mask := range 1 << w {
			for r := range radii {
				length := h
				if mask>>first&1 == 1 {
					length *= ellipseFactor(r)
				}
				f.norms[(cell<<w+mask)*radii+r] = (c + factor*(e.centre(panel[first])+length)) * (1 + 8*u)
			}
		}
		f.fuzz[cell] = 8 * u * f.norm(cell, 0, 0)
		f.err = max(f.err, 2*math.Pow(e.lebesgue, float64(w))*f.fuzz[cell]/(c+factor*e.breaks[panel[first]]))
	})
	f.defect = nil
	f.normalize(1)
	return f
}

// eachCell calls do for every cell.
func (f *function) eachCell(do func(order, panel []int, cell int)) {
	for i, c := range f.cells {
		do(f.orders[c.order], c.panel, i)
	}
}

// terms returns the products whose sum is the weighted product.
func (e *passes) terms(f factors) (list []factors) {
	for j, k := range f.functions {
		if k.hat != nil {
			g := f
			g.functions = slices.Clone(f.functions)
			g.functions[j] = k.hat
			list = append(list, g)
		}
	}
	for _, i := range f.classes {
		if e.weights.factors[i] > 0 {
			list = append(list, f.times(factors{functions: []*function{e.linear(i)}}))
		}
	}
	return list
}

// hat returns the weighted integral, nil if it is 0.
func (e *passes) hat(ctx context.Context, f factors, gone, above int) (*function, error) {
	var list []*function
	for _, term := range e.terms(f) {
		k, err := integrate(ctx, e.mesh, e.problem, term, gone, above, e.scratches)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	if len(list) < 2 {
		return slices.Concat(list, []*function{nil})[0], nil
	}
	return e.sum(list), nil
}

// sum adds functions of the same servers. As in remainder, the interpolation of each function over
// e^{slopes·(t-c)} has an error of at most 4ρ^-n times its norm in each time, amplified by the
// later interpolations; defects and fuzz are those of the functions.
func (e *passes) sum(list []*function) *function {
	out := newFunction(list[0].servers, e.mesh)
	relative, worst := true, 0.0
	for k, f := range list {
		if k == 0 || f.exponent > out.exponent {
			out.exponent = f.exponent
		}
		out.err = max(out.err, f.err)
		relative = relative && f.defect == nil
	}
	scale := make([]float64, len(list))
	for k, f := range list {
		scale[k] = math.Ldexp(1, f.exponent-out.exponent)
	}
	out.eachCell(func(order, panel []int, cell int) {
		values := out.cellValues(cell)
		for k, f := range list {
			for x, v := range f.cellValues(cell) {
				values[x] += scale[k] * v
			}
		}
		if e.rough {
			return
		}
		least := out.measure(e.mesh, order, cell, panel, e.scratches[0])
		bad := out.defect[cell]
		for k, f := range list {
			bad += (scale[k]*(1+0x1p-40) + lost) * e.resloped(f, cell, panel, out.cellSlopes(cell), len(list))
		}
		defect := math.Inf(1)
		if least = math.Exp(-2*out.err) * (least - bad); least > bad && least > lost {
			defect = -math.Log1p(-bad/least) * (1 + 0x1p-40)
		}
		coarse := e.coarse
		if out.defect[cell] = 0; !relative && defect > e.most {
			coarse, out.defect[cell] = e.coarseSmall, bad+lost
		} else {
			worst = max(worst, defect)
		}
		for _, k := range panel {
			coarse[k] = max(coarse[k], defect)
		}
	})
	out.normalize(1)
	out.err += worst + u
	if relative {
		out.defect = nil
	}
	return out
}

// resloped bounds the error of interpolating f in a cell with the given slopes, relative to
// e^{slopes·(t-c)}. f is one of terms functions.
func (e *passes) resloped(f *function, cell int, panel []int, slopes []float64, terms int) float64 {
	off := make([]float64, len(slopes))
	height := 0.0
	for v, a := range f.cellSlopes(cell) {
		off[v] = math.Abs(a-slopes[v]) * e.half(panel[v])
		height += off[v]
	}
	top, total, amplified := math.Exp(height), 0.0, 1.0
	for v := range slopes {
		var norms [radii]float64
		for r := range radii {
			norms[r] = f.norm(cell, 1<<v, r) * math.Exp(height+off[v]*(ellipseFactor(r)-1))
		}
		total += amplified * e.tail(&norms)
		amplified *= e.lebesgue
	}
	fuzz := f.fuzz[cell] + float64(terms+2)*u*f.norm(cell, 0, 0)
	if f.defect != nil {
		total += top * f.defect[cell]
	}
	return (total + amplified*top*fuzz) * (1 + 0x1p-30)
}

// A weighted holds the mean of a time without the weight, the mean weight, and the mean of their
// product.
type weighted struct{ time, weight, both ratio }

// weigh computes the means of a density and its hats.
func (d *density) weigh(g *mesh) weighted {
	mass, _ := d.integral(g, weight{})
	time, _ := d.integral(g, weight{power: 1})
	w := weighted{time: time.over(mass)}
	if len(d.hats) > 0 {
		hats := &density{parts: d.hats}
		all, _ := hats.integral(g, weight{})
		both, _ := hats.integral(g, weight{power: 1})
		w.weight, w.both = all.over(mass), both.over(mass)
	}
	return w
}

// moment adds the contribution of times beyond the end, where E~[Ŷ; not R] differs from Σ_i c_i
// P(not R) by at most Σ w_i times the error of a mean. The weighted mean of a time differs by no
// more than
//
//	Σ c_i times that + Σ w_i T² (P(not R) + 2z (1/l + 1/l²)),  l = log(1/z),
//
// as T_a T_b - T² is at most the mean of the T_a² - T² and T_b² - T² that are positive, and P(T_a >
// x) <= z^{x/T}. The mean given R of a quantity increasing in all times is at most its mean. moment
// also returns the largest relative bound of this contribution.
func (w weighted) moment(by *weights, beyond, end, any, one float64) (m forest.Moment, far float64) {
	constants, factors := 0.0, 0.0
	for i, x := range by.factors {
		constants += by.constants[i]
		factors += x
	}
	l := -math.Log(one)
	square := end * end * (any + 2*one*(1/l+1/(l*l)))
	far = beyond / w.time.value
	m = forest.Moment{Mean: w.time.number(beyond), Weight: arithmetic.FromFloat(0, 0), Both: arithmetic.FromFloat(0, 0)}
	if w.weight.value > 0 {
		weight, both := factors*beyond*(1+0x1p-20), (constants*beyond+factors*square)*(1+0x1p-20)
		m.Weight, m.Both = w.weight.number(weight), w.both.number(both)
		far = max(far, weight/w.weight.value, both/w.both.value)
	}
	return m, far
}

// gradients returns the derivatives of the mean number of jobs of one class, or of all classes for
// -1, and their largest bound.
func (a *answer) gradients(p *Problem, by *weights, class int) (g forest.Gradients, worst float64) {
	any, one := a.tailBounds(p.Capacities)
	moment := func(w weighted) forest.Moment {
		m, far := w.moment(by, a.tailMean(any, one), a.end(), any, one)
		worst = max(worst, m.Mean.Bound, m.Weight.Bound, m.Both.Bound)
		a.far = max(a.far, far)
		return m
	}
	for i := range p.Classes {
		g.Rates = append(g.Rates, moment(a.classes[i]).Rate(class < 0 || class == i))
	}
	for s := range p.Capacities {
		g.Capacities = append(g.Capacities, moment(a.servers[s]).Capacity())
	}
	return g, worst
}

// derive adds the requested derivatives to the measures, by weighted passes on the same mesh, and
// returns their largest bound. The error may be errCoarse.
func (a *answer) derive(
	ctx context.Context, p *Problem, o *Order, s Settings, r *forest.Result, target float64,
) (worst float64, err error) {
	var asked []int
	if s.Gradients {
		asked = append(asked, -1)
	}
	for _, class := range append(asked, s.Of...) {
		e := newPasses(p, o, newMesh(a.breaks, a.n), Settings{})
		e.weights = a.weigh(p, class)
		b, err := e.answer(ctx, target)
		if a.join(&e.flaws); err != nil {
			return math.Inf(1), err
		}
		g, bound := b.gradients(p, e.weights, class)
		worst, a.far = max(worst, 2*bound+8*u), max(a.far, 2*b.far)
		r.Gradients = append(r.Gradients, g)
	}
	return worst, nil
}
