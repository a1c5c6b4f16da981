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
				r.Capacities[row] = perCapacity[i].times(times)
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
	p := l.problem
	r := &dualRun{graph: l.graph, problem: p, rates: make([]signed, len(p.classes)), capacities: make([]signed, len(p.groups))}
	r.up()
	r.down()
	root := r.states() - 1
	scale := scaled(p.scale, 0)
	ok = true
	finish := func(s *signed, rate bool, factor float64) Derivative {
		d := s.derivative(r.v[root], r.e[root], rate)
		d = d.times(scale).times(factor)
		ok = ok && math.Abs(d.Value) <= math.MaxFloat64 && d.ErrorBound <= math.MaxFloat64
		return d
	}
	for i, k := range p.classes {
		// A rate of the problem counts one way to choose servers; the class moves them all.
		share, _ := new(big.Rat).SetFrac(intOne, waysToChoose(l.component.Model.Servers, k.choose)).Float64()
		perRate = append(perRate, finish(&r.rates[i], true, share))
	}
	for s := range p.groups {
		perCapacity = append(perCapacity, finish(&r.capacities[s], false, 1))
	}
	return perRate, perCapacity, ok
}

// times returns d·f for a factor f > 0 with two roundings behind it.
func (d Derivative) times(f float64) Derivative {
	v := d.Value * f
	return Derivative{v, d.ErrorBound*f*(1+4*roundoff) + 4*roundoff*math.Abs(v)}
}

// A dualRun sweeps a graph with dual numbers: the values v of the states with bounds e on the relative
// errors of both parts, and the derivatives of Z with respect to the numbers of the problem.
type dualRun struct {
	*graph
	problem           *problem
	v                 []dual
	e                 []float64
	rates, capacities []signed
}

// termWeight returns the weight of a term. On the class lattice it is a rate, but for the root.
func (r *dualRun) termWeight(t int32) dual {
	if r.weight[t] < 0 {
		return dual{1, 0}
	}
	w := scaled(r.weights[r.weight[t]], 0)
	if r.lattice == ClassLattice {
		return dual{w, w}
	}
	return dual{w, 0}
}

func (r *dualRun) up() {
	r.v, r.e = make([]dual, r.states()), make([]float64, r.states())
	for k := range r.v {
		first, last := r.terms(k)
		if first == last {
			r.v[k] = dual{1, 0}
			continue
		}
		var sum dual
		for t := first; t < last; t++ {
			term, err := r.product(r.termWeight(t), 0, t, -1)
			sum = sum.add(term)
			r.e[k] = max(r.e[k], err)
		}
		r.v[k] = sum.over(r.den.float(k), r.graph.rate.float(k))
		r.e[k] = (r.e[k] + 2*float64(last-first+6)*roundoff) * (1 + 1e-9)
	}
}

// product multiplies x, of relative error err, by the values of the children of term t but for number skip.
func (r *dualRun) product(x dual, err float64, t int32, skip int) (dual, float64) {
	for j, c := range r.children(t) {
		if j != skip {
			x = x.mul(r.v[c])
			err += r.e[c] + 4*roundoff
		}
	}
	return x, err
}

// down goes through the states from the root with the adjoint w of their numerators. The derivative of Z with
// respect to a weight is w times the values of the children; that with respect to d(k) is -w(k) v(k), and sums of
// these over the states that have a class are carried down along the rests.
func (r *dualRun) down() {
	n := r.states()
	w, carry := make([]dual, n), make([]dual, n)
	e, visits, bound := make([]float64, n), make([]float64, n), make([]float64, n)
	group, copies := r.problem.weightGroups()
	masks := r.problem.classMasks()
	w[n-1] = dual{1, 0}
	for k := n - 1; k >= 0; k-- {
		first, last := r.terms(k)
		if first == last {
			continue
		}
		w[k] = w[k].over(r.den.float(k), r.graph.rate.float(k))
		e[k] = (e[k] + 2*(visits[k]+6)*roundoff) * (1 + 1e-9)
		loss := w[k].mul(r.v[k])
		worst := e[k] + r.e[k] + 4*roundoff
		for t := first; t < last; t++ {
			for i, c := range r.children(t) {
				term, err := r.product(r.termWeight(t).mul(w[k]), e[k]+4*roundoff, t, i)
				w[c] = w[c].add(term)
				e[c] = max(e[c], err)
				visits[c]++
			}
			if r.weight[t] < 0 {
				continue
			}
			term, err := r.product(w[k], e[k], t, -1)
			if r.lattice == ClassLattice {
				r.rates[r.weight[t]].add(term, 1, err)
				continue
			}
			s, count := group[r.weight[t]], copies[r.weight[t]]
			r.capacities[s].add(term, count, err)
			r.capacities[s].add(loss, -count, worst)
		}
		if r.lattice == ClassLattice {
			if k == n-1 {
				continue // adds up the others: its denominator is 1
			}
			for s, mask := range masks {
				if mask&k != 0 {
					r.capacities[s].add(loss, -1, worst)
				}
			}
		}
		carry[k] = carry[k].add(loss)
		bound[k] = max(bound[k], worst) + roundoff
		for o := r.ownFirst[k]; o < r.ownFirst[k+1]; o++ {
			coef := 1.0
			if r.coef != nil {
				coef = r.coef.float(int(o))
			}
			r.rates[r.own[o]].add(carry[k], coef, bound[k]+2*roundoff)
		}
		if t := r.rest[k]; t >= 0 {
			for _, c := range r.children(t) {
				carry[c] = carry[c].add(carry[k])
				bound[c] = max(bound[c], bound[k]) + roundoff
			}
		}
	}
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
