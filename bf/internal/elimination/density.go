package elimination

import (
	"context"
	"math"

	"productform/num"
)

// A density is the density of the minimum of a few times on [0, T], up to a factor. It is a sum
// over the servers that can attain the minimum; its parts are functions of one time, with defects.
type density struct {
	servers []int
	parts   []*function
	hats    []*function // terms of the weighted density of all parts, if requested
}

// minimumDensity returns the density of the minimum time of servers: the sum over each server, with
// the times of the others above its own. The cheapest integral comes first.
func (c *clique) minimumDensity(ctx context.Context, servers []int) (*density, error) {
	d := &density{servers: servers}
	for _, v := range servers {
		f, err := c.reduce(ctx, c.all, []int{v}, servers)
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, collapse(c.mesh, c.problem, f, v, c.scratches[0]))
		if c.weights != nil {
			for _, term := range c.terms(f) {
				d.hats = append(d.hats, collapse(c.mesh, c.problem, term, v, c.scratches[0]))
			}
		}
	}
	return d, nil
}

// collapse multiplies factors of one time. As in remainder, the interpolation error is at most
// 4ρ^-n times the norm of the product.
func collapse(g *mesh, p *Problem, f factors, server int, r *scratch) *function {
	out := newFunction([]int{server}, g)
	var sum num.Sum
	scale := 1.0
	for _, s := range f.servers {
		sum.Add(-p.Capacities[s])
		scale *= p.Capacities[s]
	}
	for _, i := range f.classes {
		sum.Add(p.Classes[i].Rate)
	}
	a := rateOf(sum)
	exponent := a.value
	for i := range g.points {
		out.values[i] = g.power(a, i)
		for _, k := range f.functions {
			out.values[i] *= k.values[i]
		}
	}
	for _, k := range f.functions {
		out.err += k.err
		out.exponent += k.exponent
	}
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
			norms[e] = math.Exp(exponent*g.centre(cell) + math.Abs(net)*g.half(cell)*ellipseFactor(e))
			for _, k := range f.functions {
				norms[e] *= k.norm(cell, 1, e)
			}
		}
		fuzz, off := float64(30+len(f.functions))*u+g.powerRoundoff(exponent, cell), 0.0
		if exponent*(g.centre(cell)+g.half(cell)) < -700 { // the power alone may lose all digits
			fuzz++
		}
		for _, k := range f.functions {
			fuzz += k.fuzz[cell] / k.norm(cell, 0, 0)
			off = k.addDefect(off, cell)
		}
		out.defect[cell] += (g.tail(&norms)+norms[0]*(off+g.lebesgue*fuzz))*(1+0x1p-30) + lost
	}
	out.normalize(scale)
	out.err += float64(len(f.servers)+1) * u
	return out
}
