package elimination

import (
	"context"
	"math"
)

// A density of the least of a few times is a sum over the servers that can have it, as far as [0, T] goes and but for a factor. Its parts are functions of one time, with defects.
type density struct {
	servers []int
	parts   []*function
}

// least returns the density of the least time of servers: of each, with the times of the others above.
func (c *clique) least(ctx context.Context, servers []int) (*density, error) {
	f, err := c.reduce(ctx, c.all, servers)
	if err != nil {
		return nil, err
	}
	d := &density{servers: servers}
	for _, v := range servers {
		rest := f
		for _, s := range servers {
			if s == v {
				continue
			}
			with, without := rest.split(c.problem, s)
			kept, err := c.integrate(ctx, with, s, v)
			if err != nil {
				return nil, err
			}
			rest = without.times(factors{functions: []*function{kept}})
		}
		d.parts = append(d.parts, collapse(c.mesh, c.problem, rest, v, c.room))
	}
	return d, nil
}

// collapse multiplies factors of one time. As in remainder, interpolation errs by 4ρ^-n times the norm of the product at most.
func collapse(g *mesh, p *Problem, f factors, server int, r *room) *function {
	out := newFunction([]int{server}, g)
	exponent, total, scale := 0.0, 0.0, 1.0
	for _, s := range f.servers {
		exponent -= p.Capacities[s]
		total += p.Capacities[s]
		scale *= p.Capacities[s]
	}
	for _, i := range f.classes {
		exponent += p.Classes[i].Rate
		total += p.Classes[i].Rate
	}
	for i, t := range g.points {
		out.values[i] = math.Exp(exponent * t)
		for _, k := range f.functions {
			out.values[i] *= k.values[i]
		}
	}
	for _, k := range f.functions {
		out.err += k.err
		out.exponent += k.exponent
	}
	roundoff := (30 + total*g.end()*float64(len(f.classes)+4) + float64(len(f.functions))) * u
	for cell := range g.panels() {
		if g.rough {
			break
		}
		out.measure(g, []int{0}, cell, []int{cell}, r)
		net := exponent - out.slopes[cell]
		for _, k := range f.functions {
			net += k.slopes[cell]
		}
		var norms [radii]float64
		for e := range radii {
			norms[e] = math.Exp(exponent*g.centre(cell) + math.Abs(net)*g.half(cell)*stretch(e))
			for _, k := range f.functions {
				norms[e] *= k.norm(cell, 1, e)
			}
		}
		fuzz, carried := roundoff, 0.0
		if exponent*(g.centre(cell)+g.half(cell)) < -700 { // the power alone may lose all digits
			fuzz++
		}
		for _, k := range f.functions {
			fuzz += k.fuzz[cell] / k.norm(cell, 0, 0)
			if k.defect != nil {
				carried += norms[0] * k.defect[cell] / k.norm(cell, 0, 0)
			}
		}
		out.defect[cell] += (g.tail(&norms) + carried + g.lebesgue*norms[0]*fuzz) * (1 + 0x1p-30)
	}
	out.normalize(scale)
	out.err += float64(len(f.servers)+1) * u
	return out
}

// An estimate is value 2^exponent, with an error of at most error 2^exponent.
type estimate struct {
	value, error float64
	exponent     int
}

// moments integrates a part over the panels from first on, and its product with the time. The weights are exact for the interpolation of the product, which errs by 4ρ^-n times its norm.
func (g *mesh) moments(f *function, first int) (mass, mean estimate) {
	mass.exponent, mean.exponent = f.exponent, f.exponent
	relative := math.Expm1(f.err) * (1 + 8*u)
	for k := first; k < g.panels(); k++ {
		h, c := g.half(k), g.centre(k)
		own, product := 0.0, 0.0
		for i, w := range g.weight {
			x := h * w * f.values[k*g.n+i]
			own += x
			product += x * g.points[k*g.n+i]
		}
		if g.rough {
			mass.add(own, 0)
			mean.add(product, 0)
			continue
		}
		var norms, timed [radii]float64
		for e := range radii {
			norms[e] = f.norm(k, 1, e) * math.Exp(math.Abs(f.slopes[k])*h*stretch(e))
			timed[e] = norms[e] * (c + h*stretch(e))
		}
		off := 2*h*g.tail(&norms) + 2*h*(f.defect[k]+f.fuzz[k])*norms[0]/f.norm(k, 0, 0) + h*g.absolute*norms[0]*float64(g.n+80)*u
		offTimed := 2*h*g.tail(&timed) + (2*h*(f.defect[k]+f.fuzz[k])*norms[0]/f.norm(k, 0, 0)+h*g.absolute*norms[0]*float64(g.n+80)*u)*g.breaks[k+1]
		mass.add(own, off+relative*(math.Abs(own)+off))
		mean.add(product, offTimed+relative*(math.Abs(product)+offTimed))
	}
	return mass, mean
}

func (e *estimate) add(value, error float64) {
	e.value += value
	e.error += error*(1+8*u) + u*math.Abs(e.value)
}

// plus adds two estimates.
func (e estimate) plus(f estimate) estimate {
	if e.exponent < f.exponent {
		e, f = f, e
	}
	e.add(math.Ldexp(f.value, f.exponent-e.exponent), math.Ldexp(f.error, f.exponent-e.exponent))
	return e
}

// relative returns a bound of |log(true/value)|.
func (e estimate) relative() float64 {
	if x := e.error / e.value; x >= 0 && x < 0.25 && e.value > 0 {
		return -math.Log1p(-x) * (1 + 8*u)
	}
	return math.Inf(1)
}

// over returns e/f and a bound of |log| of its relative error.
func (e estimate) over(f estimate) (ratio, bound float64) {
	return math.Ldexp(e.value/f.value, e.exponent-f.exponent), e.relative() + f.relative() + 4*u
}
