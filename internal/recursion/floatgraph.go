// This file evaluates a graph in float64, with a proved bound on the relative error of every
// number: it counts the roundings of each.

package recursion

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// Evaluate returns the measures of a graph on one of the lattices of servers. The error is
// [num.ErrFloatRange] or that of the context.
func Evaluate(ctx context.Context, p *Problem, g *Graph) (Measures, error) {
	f := newFloatRun(ctx, g)
	if err := f.up(); err != nil {
		return Measures{}, err
	}
	root := g.States() - 1
	z := arithmetic.FromFloat(f.v[root], arithmetic.Inflate(f.e[root]))
	m := Measures{Normalization: z}
	first, _ := g.Terms(root)
	// for each weight, 1 + the position of its single server among these servers, or 0
	idleOf := make([]int32, len(g.Weights))
	var mostlyIdle []int
	for s, group := range p.Groups { // the terms of the root take one server out of each group
		t := first + int32(s)
		idle := arithmetic.FromFloat(1, 0)
		for _, c := range g.Children(t) {
			idle = idle.Mul(arithmetic.FromFloat(f.v[c], arithmetic.Inflate(f.e[c])))
		}
		busy := idle.Quo(z).OneMinus()
		switch {
		case busy.Double() > LowUtilization:
		case group.N == 1:
			mostlyIdle = append(mostlyIdle, s)
			idleOf[g.Weight[t]] = int32(len(mostlyIdle))
		default:
			difference, err := f.busy(g.Weight[t]-int32(group.N-1), int32(group.N))
			if err != nil {
				return Measures{}, err
			}
			busy = difference.Quo(z)
		}
		m.Busy = append(m.Busy, busy)
	}
	jobs, differences, err := f.down(len(p.Classes), idleOf, len(mostlyIdle))
	if err != nil {
		return Measures{}, err
	}
	for i, s := range mostlyIdle {
		m.Busy[s] = differences[i].Quo(z)
	}
	for i, k := range p.Classes {
		m.Jobs = append(
			m.Jobs, arithmetic.FromFloat(arithmetic.Scaled(k.Rate, 0), arithmetic.Roundoff).Mul(jobs[i]).Quo(z),
		)
	}
	return m, nil
}

// LowUtilization is the utilization below which 1 - P(idle) loses too many digits. Then, with W the
// adjoint, where no path from the set of all servers to one that contains s removes s,
//
//	Z(all) - Z(all∖{s}) = Σ_{K∋s} W(K) [λ(K) - λ(K∖{s})] Z(K∖{s}),
//
// a sum of positive terms: Z(K) - Z(K∖{s}) obeys the recursion for Z with these as its source.
const LowUtilization = 1. / 16

// denRoundoff bounds the relative error of d(k) in float64.
const denRoundoff = arithmetic.Roundoff + 0x1p-63

// A floatRun holds the values v of the states, and bounds e on their relative errors.
type floatRun struct {
	*Graph
	weights []float64
	v, e    []float64
	reader  *ShareReader // nil unless the graph has shares
	stop    Cancellation
}

func newFloatRun(ctx context.Context, g *Graph) *floatRun {
	f := &floatRun{Graph: g, stop: Cancellation{Ctx: ctx}, weights: make([]float64, len(g.Weights))}
	if g.Shares != nil {
		f.reader = g.Shares.Reader()
	}
	for i, w := range g.Weights {
		f.weights[i] = arithmetic.Scaled(w, 0)
	}
	return f
}

// Values returns the values of the states of a graph, and bounds on their relative errors. The
// error is [num.ErrFloatRange] or that of the context.
func Values(ctx context.Context, g *Graph) (v, e []float64, err error) {
	f := newFloatRun(ctx, g)
	err = f.up()
	for k := range f.e {
		f.e[k] = arithmetic.Inflate(f.e[k])
	}
	return f.v, f.e, err
}

// up computes v and e: a term adds the errors of its children, a sum takes the largest of its terms
// plus one rounding per addition, and the weight, d(k) and the division have one each. A d(k)
// computed from shares has slightly more, see denRoundoff. The error is num.ErrFloatRange if a
// value may underflow, or is too large.
func (f *floatRun) up() error {
	n := f.Inner()
	f.v, f.e = make([]float64, n), make([]float64, n)
	for k := range n {
		first, last := f.Terms(k)
		if first == last {
			f.v[k] = 1
			continue
		}
		if err := f.stop.After(4 * int(last-first)); err != nil {
			return err
		}
		sum, worst := 0.0, 0.0
		for t := first; t < last; t++ {
			product, err := f.weights[f.Weight[t]], 0.0
			for _, c := range f.Children(t) {
				product *= f.v[c]
				err += f.e[c] + arithmetic.Roundoff
			}
			sum += product
			worst = max(worst, err)
		}
		f.v[k] = sum / f.DenFloat(k)
		if !(f.v[k] >= arithmetic.Least && f.v[k] <= math.MaxFloat64) {
			return num.ErrFloatRange
		}
		f.e[k] = (worst + float64(last-first+1)*arithmetic.Roundoff + denRoundoff) * (1 + 1e-9)
	}
	return nil
}

// down returns Σ_k coef(k, i) w(k) v(k) for each class i, w being the adjoint of the numerator of a
// state: E[X_i] is rate_i/Z times that. Sums over the states that have a class, themselves or
// through their rest, are passed down along the rests. For the single servers that are mostly idle
// it returns Z - Z(without the server): see LowUtilization.
func (f *floatRun) down(classes int, idleOf []int32, count int) (sums, differences []arithmetic.Number, err error) {
	n := f.States()
	a := adjoints{w: make([]float64, n), e: make([]float64, n), count: make([]float64, n)}
	carry, bound := make([]float64, n), make([]float64, n)
	total, difference := make([]boundedSum, classes), make([]boundedSum, count)
	a.w[n-1] = 1
	for k := n - 1; k >= 0; k-- {
		first, last := f.Terms(k)
		if first == last {
			continue
		}
		if err := f.stop.After(8 * int(last-first+f.OwnFirst[k+1]-f.OwnFirst[k])); err != nil {
			return nil, nil, err
		}
		a.w[k] /= f.DenFloat(k)
		if !(a.w[k] >= arithmetic.Least) {
			return nil, nil, num.ErrFloatRange
		}
		a.e[k] += (a.count[k]*arithmetic.Roundoff + denRoundoff) * (1 + 1e-9)
		for t := first; t < last; t++ {
			f.push(t, a.w[k]*f.weights[f.Weight[t]], a.e[k]+2*arithmetic.Roundoff, &a)
			if i := idleOf[f.Weight[t]]; i > 0 {
				gain, lost := f.rateWith(k, f.Children(t))
				x, err := a.w[k], a.e[k]+3*arithmetic.Roundoff
				for _, c := range f.Children(t) {
					x *= f.v[c]
					err += f.e[c] + arithmetic.Roundoff
				}
				difference[i-1].add(x*gain, err)
				difference[i-1].lost += x * lost
			}
		}
		carry[k] += a.w[k] * f.v[k]
		bound[k] = max(bound[k], a.e[k]+f.e[k]) + 2*arithmetic.Roundoff
		for o := f.OwnFirst[k]; o < f.OwnFirst[k+1]; o++ {
			i := f.Own[o]
			switch {
			case f.Shares != nil:
				q, ok := f.Shares.Float(k, i)
				if !ok {
					total[i].lost += carry[k] * (4 * TinyShare)
				}
				total[i].add(carry[k]*q, bound[k]+float64(2*len(f.Shares.Choices[i])+1)*arithmetic.Roundoff)
			case f.Coef != nil:
				total[i].add(carry[k]*f.Coef.Float(int(o)), bound[k]+2*arithmetic.Roundoff)
			default:
				total[i].add(carry[k], bound[k])
			}
		}
		if t := f.Rest[k]; t >= 0 {
			for _, c := range f.Children(t) {
				carry[c] += carry[k]
				bound[c] = max(bound[c], bound[k]) + arithmetic.Roundoff
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

// A boundedSum sums positive terms and keeps the largest of their relative errors.
type boundedSum struct {
	sum   num.Sum
	worst float64
	lost  float64 // bounds the omitted terms
}

func (s *boundedSum) add(x, e float64) {
	s.sum.Add(x)
	s.worst = max(s.worst, e)
}

func (s *boundedSum) value() arithmetic.Number {
	sum, e := s.sum.Value(), arithmetic.Inflate(s.worst+4*arithmetic.Roundoff)
	if s.lost > 0 {
		e += 2 * s.lost / sum // doubled for the roundings in lost
	}
	return arithmetic.FromFloat(sum, e)
}

// adjoints holds w, a bound on its relative error before the additions, and their number.
type adjoints struct{ w, e, count []float64 }

// push adds the contribution of term t, of adjoint weight w, to the adjoints of its children.
func (f *floatRun) push(t int32, w, err float64, a *adjoints) {
	children := f.Children(t)
	for i, c := range children {
		x, ex := w, err
		for j, o := range children {
			if i != j {
				x *= f.v[o]
				ex += f.e[o] + arithmetic.Roundoff
			}
		}
		a.w[c] += x
		a.e[c] = max(a.e[c], ex)
		a.count[c]++
	}
}

// busy returns D(root), where D(k) is the value of state k minus that of state k without one server
// of a group, without a subtraction. The terms that remove a server of the group have the weights
// low..low+n-1, for 1..n servers of it: only the other terms lead to D, so
//
//	D(k) = (Σ_h k_h C_h D(k-e_h) + (k_g-1) C_g D(k-e_g) + [λ(k) - λ(k-e_g)] v(k-e_g)) / d(k),
//
// and a product of children has D of the child with the server in place of its value. Gains of λ
// omitted as too small are bounded by a second sweep over their bounds.
func (f *floatRun) busy(low, n int32) (arithmetic.Number, error) {
	sum, complete, err := f.differences(low, n, false)
	if complete || err != nil {
		return sum, err
	}
	bound, _, err := f.differences(low, n, true)
	missing := bound.Double() * (1 + 2*bound.Bound) / sum.Double()
	return arithmetic.FromWide(sum.Wide, arithmetic.Compound(sum.Bound, missing, 0)), err
}

// differences returns D(root). With lost it uses the bounds on the omitted gains in place of the
// gains. complete reports that no gains are omitted.
func (f *floatRun) differences(low, n int32, lost bool) (root arithmetic.Number, complete bool, err error) {
	d, ed := make([]float64, f.States()), make([]float64, f.States())
	complete = true
	for k := range d {
		first, last := f.Terms(k)
		if err := f.stop.After(8 * int(last-first)); err != nil {
			return arithmetic.Number{}, false, err
		}
		sum, worst, member := 0.0, 0.0, false
		for t := first; t < last; t++ {
			w := f.Weight[t]
			children := f.Children(t)
			if w >= low && w < low+n {
				member = true
				gain, missing := f.rateWith(k, children)
				if missing > 0 {
					complete = false
				}
				if lost {
					gain = missing
				}
				value, err := 1.0, 3*arithmetic.Roundoff
				for _, c := range children {
					value *= f.v[c]
					err += f.e[c] + arithmetic.Roundoff
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
				product, err := f.weights[w]*d[c], ed[c]+2*arithmetic.Roundoff
				for j, o := range children {
					if i != j {
						product *= f.v[o]
						err += f.e[o] + arithmetic.Roundoff
					}
				}
				sum += product
				worst = max(worst, err)
			}
		}
		if member {
			d[k] = sum / f.DenFloat(k)
			ed[k] = (worst + float64(last-first+4)*arithmetic.Roundoff) * (1 + 1e-9)
		}
	}
	last := len(d) - 1
	return arithmetic.FromFloat(d[last], arithmetic.Inflate(ed[last])), complete, nil
}

// rateWith returns λ(k) minus the rate of the children of one of its terms, rounded once, or 0 and
// a bound if it is too small.
func (f *floatRun) rateWith(k int, children []int32) (gain, bound float64) {
	g := f.Graph
	switch {
	case g.Shares != nil:
		exact := f.reader.Gain(g, k, int(children[0]))
		gain, _ := exact.Float64()
		if gain < TinyShare && exact.Sign() > 0 {
			return 0, 2 * TinyShare
		}
		return gain, 0
	case g.Rate.Large == nil:
		exact := g.Rate.Small[k]
		for _, c := range children {
			exact -= g.Rate.Small[c]
		}
		return float64(exact), 0
	}
	var buf big.Int
	exact := new(big.Int).Set(g.Rate.At(k, &buf))
	for _, c := range children {
		exact.Sub(exact, g.Rate.At(int(c), &buf))
	}
	return arithmetic.Scaled(exact, 0), 0
}
