package elimination

import (
	"context"
	"slices"

	"productform/bf/internal/forest"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/ranktable"
)

// Solve returns the measures of a problem, eliminating servers in an order from [NewOrder] or
// another order with its width. It solves each component of the problem separately.
//
// The error is an [*input.Error]; a [*num.TooLargeError]; one that wraps [num.ErrUnstable]; a
// [*ToleranceError]; or that of the context. An unstable component that is not a forest is rejected
// as too large: its times are unbounded.
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
	if !(s.Rarest >= 0 && s.Rarest < 1) {
		return nil, input.Errorf("Rarest", s.Rarest, "a number >= 0 and < 1")
	}
	if err := o.check(len(p.Capacities)); err != nil {
		return nil, err
	}
	r := newResult(p, s)
	list := components(p, o, s.Gradients || len(s.Of) > 0)
	for _, c := range list {
		part, err := c.solve(ctx, p, len(list), s)
		if err != nil {
			return nil, err
		}
		r.addComponent(p, c, part, s)
	}
	return r, nil
}

// solve returns the measures of a component of a problem with parts components.
func (c *component) solve(ctx context.Context, p *Problem, parts int, s Settings) (*forest.Result, error) {
	own := c.problem(p)
	if f := own.forest(); f != nil {
		return f.Solve(ctx, forest.Settings{
			Tolerance: s.Tolerance,
			Parts:     parts,
			ByClass:   s.ByClass,
			Rarest:    s.Rarest,
			Gradients: s.Gradients,
			Of:        c.asked(s),
			MaxBytes:  s.MaxBytes,
		})
	}
	s.Of = c.asked(s)
	return solveWide(ctx, own, inOrder(len(c.servers)), s)
}

// check rejects an order that is not a permutation of n servers.
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
	r := &Result{
		Normalization: arithmetic.FromFloat(1, 0),
		Jobs:          make([]arithmetic.Number, len(p.Classes)),
		Times:         make([]arithmetic.Number, len(p.Classes)),
		Busy:          make([]arithmetic.Number, len(p.Capacities)),
	}
	if s.ByClass > 0 {
		r.ClassJobs = make([][]arithmetic.Number, len(p.Classes))
		for i := range r.ClassJobs {
			r.ClassJobs[i] = forest.NoJobs(s.ByClass)
		}
	}
	if s.Rarest > 0 {
		r.Laws = make([]Law, len(p.Classes))
	}
	blank := func() Gradients {
		return Gradients{Rates: make([]Difference, len(p.Classes)), Capacities: make([]Difference, len(p.Capacities))}
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

// addComponent adds the result of a component.
func (r *Result) addComponent(p *Problem, c *component, part *forest.Result, s Settings) {
	r.Normalization = r.Normalization.Mul(part.Normalization)
	for k, row := range c.servers {
		r.Busy[row] = part.Busy[k]
	}
	for k, row := range c.classes {
		r.Times[row] = part.Times[k]
		r.Jobs[row] = arithmetic.FromFloat(p.Classes[row].Rate, 0).Mul(part.Times[k])
		if s.ByClass > 0 {
			r.ClassJobs[row] = part.Jobs[k]
		}
	}
	for k, l := range part.Laws {
		if l != nil {
			r.Laws[c.classes[k]] = l
		}
	}
	rest := part.Gradients
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
	for _, k := range c.asked(s) {
		for i, row := range s.Of {
			if c.classes[k] == row {
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

// components returns the connected parts of a problem. With idle, classes without arrivals are
// included and link their servers.
func components(p *Problem, o *Order, idle bool) []*component {
	sets := ranktable.Singles(len(p.Capacities))
	for _, k := range p.Classes {
		if k.Rate > 0 || idle {
			for _, s := range k.Servers[1:] {
				sets.Join(s, k.Servers[0])
			}
		}
	}
	parts := make(map[int]*component)
	var list []*component
	for _, s := range o.Servers {
		c := parts[sets.Root(s)]
		if c == nil {
			c = &component{}
			parts[sets.Root(s)] = c
			list = append(list, c)
		}
		c.servers = append(c.servers, s)
	}
	for i, k := range p.Classes {
		if k.Rate > 0 || idle {
			c := parts[sets.Root(k.Servers[0])]
			c.classes = append(c.classes, i)
		}
	}
	return list
}

// problem returns the component as a separate problem, with its servers in the order of
// elimination.
func (c *component) problem(p *Problem) *Problem {
	own := &Problem{Classes: make([]Class, len(c.classes))}
	local := make(map[int]int)
	for k, row := range c.servers {
		local[row] = k
		own.Capacities = append(own.Capacities, p.Capacities[row])
	}
	for k, row := range c.classes {
		own.Classes[k].Rate = p.Classes[row].Rate
		for _, s := range p.Classes[row].Servers {
			own.Classes[k].Servers = append(own.Classes[k].Servers, local[s])
		}
	}
	return own
}

// asked returns the classes of the component whose derivatives are requested.
func (c *component) asked(s Settings) (list []int) {
	for k, row := range c.classes {
		if slices.Contains(s.Of, row) {
			list = append(list, k)
		}
	}
	return list
}
