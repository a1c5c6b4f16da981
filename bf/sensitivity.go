package bf

import (
	"math"
	"math/big"

	"productform/cluster"
	"productform/num"
)

// A Derivative is a derivative with a proved bound on its absolute error.
type Derivative struct {
	Value      float64
	ErrorBound float64
}

// A Gradient holds the derivatives of the mean number of jobs E[X] = Σ_i E[X_i].
type Gradient struct {
	ArrivalRates []Derivative // ∂E[X]/∂λ_i of each row of classes; to the right where λ_i = 0
	Capacities   []Derivative // ∂E[X]/∂C_s of each row of servers, all servers of a group together; to the right where C_s = 0
}

// MeanJobsGradient returns the derivatives of the mean number of jobs with respect to every
// arrival rate and capacity, in float64 with proved error bounds. Since E[X] is the derivative
// of log Z(zλ) at z = 1, one sweep up the lattice and one down, each
// carrying the derivative in z along, give all of them: twice the work of the means.
//
// It runs over an explicit graph of the lattice: 20 classes take about a second and 500 MB.
// Errors are those of [Solve]; settings other than Lattice and MaxBytes do not matter.
func MeanJobsGradient(m *cluster.Model, s Settings) (*Gradient, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	r := &Gradient{ArrivalRates: make([]Derivative, len(m.Classes)), Capacities: make([]Derivative, len(m.Servers))}
	components := reduceAll(m)
	for k := range components {
		c := &components[k]
		l, err := newPlan(c, Enclose, s)
		if err == nil {
			err = l.build()
		}
		if err != nil {
			return nil, inRows(err, c)
		}
		perRate, perCapacity, ok := l.gradient()
		if !ok {
			return nil, errRange
		}
		for i, list := range c.Classes {
			for _, row := range list {
				r.ArrivalRates[row] = perRate[i]
			}
		}
		for i, list := range c.Servers {
			for _, row := range list {
				// A row of n servers that is one server of the component moves it n times as fast.
				times := float64(m.Servers[row].Size() / c.Model.Servers[i].Size())
				if m.MeanSize != nil {
					size, _ := m.MeanSize.Float64()
					times /= size
				}
				d := perCapacity[i]
				r.Capacities[row] = Derivative{d.Value * times, d.ErrorBound*times*(1+4*roundoff) + 4*roundoff*math.Abs(d.Value*times)}
			}
		}
	}
	return r, nil
}

// reduceAll reduces a model but keeps classes of rate 0 and servers of capacity 0, which have derivatives too.
func reduceAll(m *cluster.Model) []cluster.Component {
	positive := func(x *big.Rat) *big.Rat {
		if x.Sign() == 0 {
			return big.NewRat(1, 1)
		}
		return x
	}
	full := &cluster.Model{MeanSize: m.MeanSize, Servers: append([]cluster.Server(nil), m.Servers...), Classes: append([]cluster.Class(nil), m.Classes...)}
	for i := range full.Servers {
		full.Servers[i].Capacity = positive(full.Servers[i].Capacity)
	}
	for i := range full.Classes {
		full.Classes[i].ArrivalRate = positive(full.Classes[i].ArrivalRate)
	}
	components := full.Reduce()
	for _, c := range components {
		for i, list := range c.Classes {
			sum := new(big.Rat)
			for _, row := range list {
				sum.Add(sum, m.Classes[row].ArrivalRate)
			}
			c.Model.Classes[i].ArrivalRate = sum
		}
		for i, list := range c.Servers {
			sum := new(big.Rat)
			for _, row := range list {
				times := int64(m.Servers[row].Size() / c.Model.Servers[i].Size())
				sum.Add(sum, new(big.Rat).Mul(m.Servers[row].Capacity, big.NewRat(times, 1)))
			}
			if m.MeanSize != nil {
				sum.Quo(sum, m.MeanSize)
			}
			c.Model.Servers[i].Capacity = sum
		}
	}
	return components
}

// A dual is a number and its derivative in z at z = 1, rates being z λ.
type dual struct{ x, d float64 }

func (a dual) mul(b dual) dual { return dual{a.x * b.x, a.x*b.d + a.d*b.x} }
func (a dual) add(b dual) dual { return dual{a.x + b.x, a.d + b.d} }

// over returns a/(M - zλ) at z = 1, den = M - λ.
func (a dual) over(den, rate float64) dual {
	x := a.x / den
	return dual{x, (a.d + x*rate) / den}
}

// gradient returns the derivatives with respect to the rates and capacities of the component.
func (l *plan) gradient() (perRate, perCapacity []Derivative, ok bool) {
	p, g := l.problem, l.graph
	n := g.states()
	onRates := g.lattice == ClassLattice // the weights are rates, but for those of the root
	weight := func(t int32) dual {
		if g.weight[t] < 0 {
			return dual{1, 0}
		}
		w := scaled(g.weights[g.weight[t]], 0)
		if onRates {
			return dual{w, w}
		}
		return dual{w, 0}
	}
	v, w := make([]dual, n), make([]dual, n)
	e, f := make([]float64, n), make([]float64, n) // relative errors of both parts of v, of w
	for k := range n {
		first, last := g.terms(k)
		if first == last {
			v[k] = dual{1, 0}
			continue
		}
		var sum dual
		for t := first; t < last; t++ {
			term := weight(t)
			err := 0.0
			for _, c := range g.children(t) {
				term = term.mul(v[c])
				err += e[c] + 4*roundoff
			}
			sum = sum.add(term)
			e[k] = max(e[k], err)
		}
		v[k] = sum.over(g.den.float(k), g.rate.float(k))
		e[k] = (e[k] + 2*float64(last-first+6)*roundoff) * (1 + 1e-9)
	}
	root := n - 1
	w[root] = dual{1, 0}
	visits := make([]float64, n)
	rates, capacities := make([]signed, len(p.classes)), make([]signed, len(p.groups))
	group, copies := p.weightGroups()
	masks := p.classMasks()
	carry, bound := make([]dual, n), make([]float64, n)
	for k := root; k >= 0; k-- {
		first, last := g.terms(k)
		if first == last {
			continue
		}
		w[k] = w[k].over(g.den.float(k), g.rate.float(k))
		f[k] = (f[k] + 2*(visits[k]+6)*roundoff) * (1 + 1e-9)
		product := w[k].mul(v[k])
		worst := e[k] + f[k] + 4*roundoff
		for t := first; t < last; t++ {
			children := g.children(t)
			for i, c := range children {
				term, err := weight(t).mul(w[k]), f[k]+4*roundoff
				for j, o := range children {
					if j != i {
						term = term.mul(v[o])
						err += e[o] + 4*roundoff
					}
				}
				w[c] = w[c].add(term)
				f[c] = max(f[c], err)
				visits[c]++
			}
			if g.weight[t] < 0 {
				continue
			}
			term, err := w[k], f[k]
			for _, c := range children {
				term = term.mul(v[c])
				err += e[c] + 4*roundoff
			}
			if onRates {
				rates[g.weight[t]].add(term, 1, err)
			} else {
				s := group[g.weight[t]]
				capacities[s].add(term, copies[g.weight[t]], err)
				capacities[s].add(product, -copies[g.weight[t]], worst)
			}
		}
		if onRates && k != root {
			for s, mask := range masks {
				if mask&k != 0 {
					capacities[s].add(product, -1, worst)
				}
			}
		}
		if onRates && k == root {
			continue
		}
		carry[k] = carry[k].add(product)
		bound[k] = max(bound[k], worst) + roundoff
		for o := g.ownFirst[k]; o < g.ownFirst[k+1]; o++ {
			coef := 1.0
			if g.coef != nil {
				coef = g.coef.float(int(o))
			}
			rates[g.own[o]].add(carry[k], coef, bound[k]+2*roundoff)
		}
		if t := g.rest[k]; t >= 0 {
			for _, c := range g.children(t) {
				carry[c] = carry[c].add(carry[k])
				bound[c] = max(bound[c], bound[k]) + roundoff
			}
		}
	}
	scale := scaled(p.scale, 0)
	ok = true
	finish := func(s *signed, extra bool) Derivative {
		d := s.derivative(v[root], e[root], extra)
		d.Value *= scale
		d.ErrorBound = d.ErrorBound*scale*(1+4*roundoff) + 4*roundoff*math.Abs(d.Value)
		ok = ok && math.Abs(d.Value) <= math.MaxFloat64 && d.ErrorBound <= math.MaxFloat64
		return d
	}
	for i, k := range p.classes {
		// A rate counts one way of choosing servers: a class moves them all.
		d := finish(&rates[i], true)
		ways, _ := new(big.Rat).SetFrac(intOne, waysToChoose(l.component.Model.Servers, k.choose)).Float64()
		perRate = append(perRate, Derivative{d.Value * ways, d.ErrorBound*ways*(1+4*roundoff) + 4*roundoff*math.Abs(d.Value*ways)})
	}
	for s := range p.groups {
		perCapacity = append(perCapacity, finish(&capacities[s], false))
	}
	return perRate, perCapacity, ok
}

// weightGroups returns the group and the number of its servers behind each weight of the lattices of servers.
func (p *problem) weightGroups() (group []int, copies []float64) {
	for s, g := range p.groups {
		for k := range g.n {
			group = append(group, s)
			copies = append(copies, float64(k+1))
		}
	}
	return group, copies
}

// A signed adds up the derivative of Z with respect to one number, and its derivative in z,
// positive and negative terms apart, with the largest relative error of a term.
type signed struct {
	x, d     [2]num.Sum
	relative float64
}

func (s *signed) add(t dual, factor, err float64) {
	side := b2i(factor < 0)
	s.x[side].Add(t.x * math.Abs(factor))
	s.d[side].Add(t.d * math.Abs(factor))
	s.relative = max(s.relative, err+4*roundoff)
}

// derivative returns that of E = Z'/Z, Z' the derivative in z: with y = ∂Z and y' its
// derivative in z, it is (y' + y)/Z - E y/Z for a rate, which z multiplies, and without the second y for a capacity.
func (s *signed) derivative(z dual, e float64, rate bool) Derivative {
	mean := z.d / z.x
	relative := inflate(s.relative + 3*e + 12*roundoff)
	value, size := 0.0, 0.0
	add := func(x, sign float64) {
		value += sign * x
		size += x
	}
	for side, sign := range []float64{1, -1} {
		y, d := s.x[side].Value()/z.x, s.d[side].Value()/z.x
		add(d, sign)
		add(mean*y, -sign)
		if rate {
			add(y, sign)
		}
	}
	return Derivative{value, relative * size * (1 + 1e-9)}
}
