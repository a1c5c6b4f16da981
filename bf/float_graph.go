package bf

import (
	"context"
	"math/big"

	"productform/num"
)

// floatGraph evaluates a graph in float64, with a bound on the relative error of every number.
// It is for the lattices of servers; floatClasses does the class lattice.
func floatGraph(ctx context.Context, p *problem, g *graph) (measures, error) {
	f := &floatRun{graph: g, stop: cancellation{ctx: ctx}, weights: make([]float64, len(g.weights))}
	if g.shares != nil {
		f.reader = g.shares.reader()
	}
	for i, w := range g.weights {
		f.weights[i] = scaled(w, 0)
	}
	if err := f.up(); err != nil {
		return measures{}, err
	}
	root := g.states() - 1
	z := floatValue(f.v[root], inflate(f.e[root]))
	m := measures{normalization: z}
	first, _ := g.terms(root)
	light := make([]int32, len(g.weights)) // of each weight: 1 + the light single server it is of, or 0
	var lightServers []int
	for s, group := range p.groups { // the terms of the root take one server out of each group
		t := first + int32(s)
		idle := floatValue(1, 0)
		for _, c := range g.children(t) {
			idle = idle.mul(floatValue(f.v[c], inflate(f.e[c])))
		}
		busy := idle.quo(z).oneMinus()
		switch {
		case busy.double() > lowLoad:
		case group.n == 1:
			lightServers = append(lightServers, s)
			light[g.weight[t]] = int32(len(lightServers))
		default:
			difference, err := f.busy(g.weight[t]-int32(group.n-1), int32(group.n))
			if err != nil {
				return measures{}, err
			}
			busy = difference.quo(z)
		}
		m.busy = append(m.busy, busy)
	}
	jobs, differences, err := f.down(len(p.classes), light, len(lightServers))
	if err != nil {
		return measures{}, err
	}
	for i, s := range lightServers {
		m.busy[s] = differences[i].quo(z)
	}
	for i, k := range p.classes {
		m.jobs = append(m.jobs, floatValue(scaled(k.rate, 0), roundoff).mul(jobs[i]).quo(z))
	}
	return m, nil
}

// denRoundoff bounds the relative error of d(k) in float64.
const denRoundoff = roundoff + 0x1p-63

// A floatRun holds the values v of the states, and e that bounds their relative errors.
type floatRun struct {
	*graph
	weights []float64
	v, e    []float64
	reader  *shareReader // nil unless the graph has shares
	stop    cancellation
}

// up computes v and e: a term adds the errors of its children, a sum takes the largest of its
// terms and a rounding an addition, and the weight, d(k) and the division have one each. A d(k) made from shares has
// a little more, see denRoundoff. The error is errRange if a value is not safe from underflow.
func (f *floatRun) up() error {
	n := f.states()
	f.v, f.e = make([]float64, n), make([]float64, n)
	for k := range n {
		first, last := f.terms(k)
		if first == last {
			f.v[k] = 1
			continue
		}
		if err := f.stop.after(4 * int(last-first)); err != nil {
			return err
		}
		sum, worst := 0.0, 0.0
		for t := first; t < last; t++ {
			product, err := f.weights[f.weight[t]], 0.0
			for _, c := range f.children(t) {
				product *= f.v[c]
				err += f.e[c] + roundoff
			}
			sum += product
			worst = max(worst, err)
		}
		f.v[k] = sum / f.denFloat(k)
		if !(f.v[k] >= least) {
			return errRange
		}
		f.e[k] = (worst + float64(last-first+1)*roundoff + denRoundoff) * (1 + 1e-9)
	}
	return nil
}

// down returns Σ_k coef(k, i) w(k) v(k) for each class i, w being the adjoint of the numerator of
// a state: E[X_i] is rate_i/Z times that. Sums over the states that have a class of their
// own or in their rest are carried down along the rests. For the light single servers it returns
// Z - Z(without the server): see lowLoad.
func (f *floatRun) down(classes int, light []int32, lights int) (sums, differences []value, err error) {
	n := f.states()
	a := adjoints{w: make([]float64, n), e: make([]float64, n), count: make([]float64, n)}
	carry, bound := make([]float64, n), make([]float64, n)
	total, difference := make([]boundedSum, classes), make([]boundedSum, lights)
	a.w[n-1] = 1
	for k := n - 1; k >= 0; k-- {
		first, last := f.terms(k)
		if first == last {
			continue
		}
		if err := f.stop.after(8 * int(last-first+f.ownFirst[k+1]-f.ownFirst[k])); err != nil {
			return nil, nil, err
		}
		a.w[k] /= f.denFloat(k)
		if !(a.w[k] >= least) {
			return nil, nil, errRange
		}
		a.e[k] += (a.count[k]*roundoff + denRoundoff) * (1 + 1e-9)
		for t := first; t < last; t++ {
			f.push(t, a.w[k]*f.weights[f.weight[t]], a.e[k]+2*roundoff, &a)
			if i := light[f.weight[t]]; i > 0 {
				gain, lost := f.rateWith(k, f.children(t))
				x, err := a.w[k], a.e[k]+3*roundoff
				for _, c := range f.children(t) {
					x *= f.v[c]
					err += f.e[c] + roundoff
				}
				difference[i-1].add(x*gain, err)
				difference[i-1].lost += x * lost
			}
		}
		carry[k] += a.w[k] * f.v[k]
		bound[k] = max(bound[k], a.e[k]+f.e[k]) + 2*roundoff
		for o := f.ownFirst[k]; o < f.ownFirst[k+1]; o++ {
			i := f.own[o]
			switch {
			case f.shares != nil:
				q, ok := f.shares.float(k, i)
				if !ok {
					total[i].lost += carry[k] * (4 * tinyShare)
				}
				total[i].add(carry[k]*q, bound[k]+float64(2*len(f.shares.choices[i])+1)*roundoff)
			case f.coef != nil:
				total[i].add(carry[k]*f.coef.float(int(o)), bound[k]+2*roundoff)
			default:
				total[i].add(carry[k], bound[k])
			}
		}
		if t := f.rest[k]; t >= 0 {
			for _, c := range f.children(t) {
				carry[c] += carry[k]
				bound[c] = max(bound[c], bound[k]) + roundoff
			}
		}
	}
	for i := range total {
		sums = append(sums, total[i].value())
	}
	for i := range difference {
		differences = append(differences, difference[i].value())
	}
	return sums, differences, nil
}

// A boundedSum adds up positive terms and keeps the largest of their relative errors.
type boundedSum struct {
	sum   num.Sum
	worst float64
	lost  float64 // bounds what is left out
}

func (s *boundedSum) add(x, e float64) {
	s.sum.Add(x)
	s.worst = max(s.worst, e)
}

func (s *boundedSum) value() value {
	sum, e := s.sum.Value(), inflate(s.worst+4*roundoff)
	if s.lost > 0 {
		e += 2 * s.lost / sum // twice for the roundings in lost
	}
	return floatValue(sum, e)
}

// adjoints hold w, a bound on its relative error before the additions, and the number of these.
type adjoints struct{ w, e, count []float64 }

// push adds the contribution of term t, of adjoint weight w, to the adjoints of its children.
func (f *floatRun) push(t int32, w, err float64, a *adjoints) {
	children := f.children(t)
	for i, c := range children {
		x, ex := w, err
		for j, o := range children {
			if i != j {
				x *= f.v[o]
				ex += f.e[o] + roundoff
			}
		}
		a.w[c] += x
		a.e[c] = max(a.e[c], ex)
		a.count[c]++
	}
}

// inflate turns a bound e on the sum of relative errors into one on that of their product.
func inflate(e float64) float64 { return e / (1 - min(e, 0.5)) }

// busy returns D(root), where D(k) is the value of state k less that of state k without one server
// of a group, without a subtraction. The terms that take out a server of the group have the
// weights low..low+n-1, for 1..n servers of it: only the others can go on to D, so that
//
//	D(k) = (Σ_h k_h C_h D(k-e_h) + (k_g-1) C_g D(k-e_g) + [λ(k) - λ(k-e_g)] v(k-e_g)) / d(k),
//
// and a product of children has D of the one that holds the server in place of its value. Gains of λ that are
// left out as too small are bounded by a second sweep that has their bounds.
func (f *floatRun) busy(low, n int32) (value, error) {
	sum, complete, err := f.differences(low, n, false)
	if complete || err != nil {
		return sum, err
	}
	bound, _, err := f.differences(low, n, true)
	missing := bound.double() * (1 + 2*bound.e) / sum.double()
	return wideValue(sum.wide, compound(sum.e, missing, 0)), err
}

// differences returns D(root). With lost it has the bounds of the gains left out in place of the gains. complete tells that
// there are none.
func (f *floatRun) differences(low, n int32, lost bool) (root value, complete bool, err error) {
	d, ed := make([]float64, f.states()), make([]float64, f.states())
	complete = true
	for k := range d {
		first, last := f.terms(k)
		if err := f.stop.after(8 * int(last-first)); err != nil {
			return value{}, false, err
		}
		sum, worst, member := 0.0, 0.0, false
		for t := first; t < last; t++ {
			w := f.weight[t]
			children := f.children(t)
			if w >= low && w < low+n {
				member = true
				gain, missing := f.rateWith(k, children)
				if missing > 0 {
					complete = false
				}
				if lost {
					gain = missing
				}
				value, err := 1.0, 3*roundoff
				for _, c := range children {
					value *= f.v[c]
					err += f.e[c] + roundoff
				}
				sum += gain * value
				worst = max(worst, err)
				w--
				if w < low {
					continue
				}
			}
			for i, c := range children {
				if d[c] == 0 {
					continue
				}
				product, err := f.weights[w]*d[c], ed[c]+2*roundoff
				for j, o := range children {
					if i != j {
						product *= f.v[o]
						err += f.e[o] + roundoff
					}
				}
				sum += product
				worst = max(worst, err)
			}
		}
		if member {
			d[k] = sum / f.denFloat(k)
			ed[k] = (worst + float64(last-first+4)*roundoff) * (1 + 1e-9)
		}
	}
	last := len(d) - 1
	return floatValue(d[last], inflate(ed[last])), complete, nil
}

// rateWith returns λ(k) less that of the children of one of its terms, rounded once, or 0 and a bound if it is too small.
func (f *floatRun) rateWith(k int, children []int32) (gain, bound float64) {
	g := f.graph
	switch {
	case g.shares != nil:
		gain, _ := f.reader.gain(g, k, int(children[0])).Float64()
		if gain < tinyShare && f.reader.sum.Sign() > 0 {
			return 0, 2 * tinyShare
		}
		return gain, 0
	case g.rate.large == nil:
		exact := g.rate.small[k]
		for _, c := range children {
			exact -= g.rate.small[c]
		}
		return float64(exact), 0
	}
	var buf big.Int
	exact := new(big.Int).Set(g.rate.at(k, &buf))
	for _, c := range children {
		exact.Sub(exact, g.rate.at(int(c), &buf))
	}
	return scaled(exact, 0), 0
}
