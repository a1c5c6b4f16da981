package elimination

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
)

// A ToleranceError is the error of a problem whose bounds float64 does not bring below the tolerance.
type ToleranceError struct{ Tolerance, Bound float64 } // asked, and reached; the latter is +Inf if there is none

func (e *ToleranceError) Error() string {
	return fmt.Sprintf("elimination in float64 reaches a relative bound of %.2g, not of %.2g", e.Bound, e.Tolerance)
}

// Solve returns the measures of a problem by an order of [NewOrder], or by another one with its width. Each component of the problem is solved apart.
//
// The error is an [*input.Error]; a [*num.TooLargeError]; one that wraps [num.ErrUnstable]; a [*ToleranceError]; or that of the context. An unstable component
// that is no forest is refused as too large: times in it have no end.
func Solve(ctx context.Context, p *Problem, o *Order, s Settings) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if !(s.Tolerance > 0 && s.Tolerance < 1) {
		return nil, input.Errorf("Tolerance", s.Tolerance, "a number in (0, 1)")
	}
	if s.ByClass < 0 {
		return nil, input.Errorf("ByClass", s.ByClass, "a number of jobs")
	}
	if err := o.check(len(p.Capacities)); err != nil {
		return nil, err
	}
	r := newResult(p, s)
	list := components(p, o, s.Gradients || len(s.Of) > 0)
	for _, c := range list {
		f := c.forest(p)
		if f == nil {
			if err := c.addWide(ctx, p, s, r); err != nil {
				return nil, err
			}
			continue
		}
		for k, row := range c.classes {
			f.classes[k].wanted = slices.Contains(s.Of, row)
		}
		part, err := f.solve(ctx, len(c.servers)-1, len(list), s)
		if err != nil {
			return nil, err
		}
		r.take(p, c, part, s)
	}
	return r, nil
}

// check refuses an order that is not one of n servers.
func (o *Order) check(n int) error {
	seen := make([]bool, n)
	for k, s := range o.Servers {
		if s < 0 || s >= n || seen[s] {
			return input.Errorf(input.Index("Servers", k), s, "each server once")
		}
		seen[s] = true
	}
	if len(o.Servers) != n {
		return input.Errorf("Servers", len(o.Servers), "each of the %d servers once", n)
	}
	return nil
}

// newResult returns a result of classes without arrivals and servers without classes.
func newResult(p *Problem, s Settings) *Result {
	r := &Result{Normalization: arithmetic.FromFloat(1, 0), Jobs: make([]arithmetic.Number, len(p.Classes)), Busy: make([]arithmetic.Number, len(p.Capacities))}
	if s.ByClass > 0 {
		r.ClassJobs = make([][]arithmetic.Number, len(p.Classes))
		for i := range r.ClassJobs {
			r.ClassJobs[i] = noJobs(s.ByClass)
		}
	}
	blank := func() Gradients {
		return Gradients{make([]Difference, len(p.Classes)), make([]Difference, len(p.Capacities))}
	}
	if s.Gradients {
		g := blank()
		r.Gradients = &g
	}
	for range s.Of {
		r.ClassGradients = append(r.ClassGradients, blank())
	}
	return r
}

// noJobs returns the distribution of no jobs.
func noJobs(most int) []arithmetic.Number {
	return append([]arithmetic.Number{arithmetic.FromFloat(1, 0)}, make([]arithmetic.Number, most)...)
}

// take adds the part of a component.
func (r *Result) take(p *Problem, c *component, part *part, s Settings) {
	r.Normalization = r.Normalization.Mul(part.normalization)
	for k, row := range c.servers {
		r.Busy[row] = part.busy[k]
	}
	for k, row := range c.classes {
		r.Jobs[row] = arithmetic.FromFloat(p.Classes[row].Rate, 0).Mul(part.times[k])
		if s.ByClass > 0 {
			r.ClassJobs[row] = part.jobs[k]
		}
	}
	rest := part.gradients
	put := func(to *Gradients) {
		for k, row := range c.classes {
			to.Rates[row] = rest[0].Rates[k]
		}
		for k, row := range c.servers {
			to.Capacities[row] = rest[0].Capacities[k]
		}
	}
	if s.Gradients {
		put(r.Gradients)
		rest = rest[1:]
	}
	for _, row := range c.classes { // in the order of part.gradients
		if !slices.Contains(s.Of, row) {
			continue
		}
		for i, asked := range s.Of {
			if asked == row {
				put(&r.ClassGradients[i])
			}
		}
		rest = rest[1:]
	}
}

// A component is a connected part of a problem.
type component struct {
	servers []int // rows, in the order of elimination
	classes []int // rows
}

// components returns the connected parts of a problem. Classes without arrivals are in one if they are wanted, and link their servers then.
func components(p *Problem, o *Order, idle bool) []*component {
	root := make([]int, len(p.Capacities))
	for s := range root {
		root[s] = s
	}
	find := func(s int) int {
		for root[s] != s {
			root[s] = root[root[s]]
			s = root[s]
		}
		return s
	}
	for _, k := range p.Classes {
		if k.Rate > 0 || idle {
			for _, s := range k.Servers[1:] {
				root[find(s)] = find(k.Servers[0])
			}
		}
	}
	parts := make(map[int]*component)
	var list []*component
	for _, s := range o.Servers {
		c := parts[find(s)]
		if c == nil {
			c = &component{}
			parts[find(s)] = c
			list = append(list, c)
		}
		c.servers = append(c.servers, s)
	}
	for i, k := range p.Classes {
		if k.Rate > 0 || idle {
			c := parts[find(k.Servers[0])]
			c.classes = append(c.classes, i)
		}
	}
	return list
}

// forest returns a component whose servers form a tree, nil if they do not.
func (c *component) forest(p *Problem) *forest {
	f := &forest{capacity: make([]float64, len(c.servers)), own: make([]float64, len(c.servers)), terms: make([]int, len(c.servers)), exact: c.isExact(p)}
	local := make(map[int]int)
	for k, row := range c.servers {
		local[row], f.capacity[k] = k, p.Capacities[row]
	}
	known := make(map[[2]int]int)
	for _, row := range c.classes {
		class := &p.Classes[row]
		for _, s := range class.Servers {
			f.terms[local[s]]++
		}
		switch len(class.Servers) {
		case 1:
			at := local[class.Servers[0]]
			f.own[at] += class.Rate
			f.classes = append(f.classes, place{rate: class.Rate, at: at})
		case 2:
			a, b := local[class.Servers[0]], local[class.Servers[1]]
			ends := [2]int{min(a, b), max(a, b)}
			e, ok := known[ends]
			if !ok {
				e = len(f.edges)
				known[ends] = e
				f.edges = append(f.edges, edge{ends: ends})
			}
			f.edges[e].rate += class.Rate
			f.classes = append(f.classes, place{rate: class.Rate, shared: true, at: e})
		default:
			return nil
		}
	}
	if len(f.edges) != len(c.servers)-1 {
		return nil
	}
	return f
}

// isExact reports whether all capacities and rates are multiples of a power of two, and their sum less than 2^53 times that.
func (c *component) isExact(p *Problem) bool {
	unit, sum := math.MaxInt, 0.0
	add := func(x float64) {
		if x > 0 {
			f, e := math.Frexp(x)
			unit = min(unit, e-53+bits.TrailingZeros64(uint64(f*0x1p53)))
			sum += x
		}
	}
	for _, s := range c.servers {
		add(p.Capacities[s])
	}
	for _, k := range c.classes {
		add(p.Classes[k].Rate)
	}
	return sum < math.Ldexp(1, unit+53)
}
