package oneserver

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/num"
)

// times are the distributions of the waiting times and delays of the classes of a part, in float64:
// mixtures over the points of a Poisson process of rate q (see the package comment). They keep V
// after n steps, P^n H, and the flows s_n of every choice of every class.
//
// Roundings. A rate d has 4 and d/q one more. Since q exceeds all d by an eighth, 1 - d/q is at
// least 1/9 and has at most 5*8+1, and a step of V at most 42 + 2 + G. A sum of flows adds one for
// each step, and the last one a sweep down.
type times struct {
	*tables
	direct  []float64 // a_ig/λ_i at class*groups+group
	rate    float64   // q in the unit of the tables
	stay    []float64 // 1 - d/q
	v, next []float64 // P^n H, and its successor
	entries []entry
	steps   int
}

// An entry is the way in which waiting jobs of a class begin on the servers of a group.
type entry struct {
	class, group int
	hold         *holding
	weight       []float64 // q_i(k) d_ig/k_g of the holding; nil if all are 1
	begins       []float64 // G_g
	factor       float64   // μ_g/(q Z)
	flow         []float64 // s_0, s_1, ...
}

// firstSteps is the number of steps to begin with, and mostSteps limits them.
const (
	firstSteps = 64
	mostSteps  = 1 << 24
)

// leastTail is the smallest probability of a distribution that is known. If all tables are between
// 2^-400 and 2^400, a step loses less than 2^-1074 of a number below the range of float64, which
// changes no a_n by more than 2^-200 in 2^24 steps over 2^22 states.
const leastTail = 0x1p-150

// newTimes returns the times before the first step, given the means.
func newTimes(ctx context.Context, t *tables, m *measures) (*times, error) {
	if !t.isWithin(0x1p-400, 0x1p400) {
		return nil, num.ErrFloatRange
	}
	l := &times{tables: t, v: append([]float64(nil), t.free...), next: make([]float64, t.States)}
	capacity := make([]float64, len(t.groups))
	for g := range t.groups {
		c, _ := t.groups[g].capacity.Float64()
		capacity[g] = c / t.unit
		l.rate = max(l.rate, capacity[g])
	}
	for _, d := range t.gain {
		l.rate = max(l.rate, d)
	}
	l.rate *= 1.125
	l.stay = make([]float64, t.States)
	for at, d := range t.gain {
		l.stay[at] = 1 - d/l.rate
	}
	l.direct = make([]float64, len(m.direct))
	for g := range t.groups {
		begins, err := t.begins(ctx, g, new(buffers))
		if err != nil {
			return nil, err
		}
		for i, c := range t.classes {
			for k, choice := range c.choices {
				if choice.group != g {
					continue
				}
				at := i*len(t.groups) + g
				l.direct[at] = m.direct[at].Quo(m.direct[at].Rational(c.rate)).Double()
				l.entries = append(l.entries, entry{class: i, group: g, hold: &t.holds[i], weight: t.holds[i].each[k],
					begins: begins, factor: capacity[g] / l.rate / t.z})
			}
		}
	}
	return l, nil
}

// extendTo takes steps until there are n.
func (l *times) extendTo(ctx context.Context, n int) error {
	for ; l.steps < n; l.steps++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := range l.entries {
			e := &l.entries[j]
			e.flow = append(e.flow, e.factor*e.hold.dot(e.weight, e.begins, l.v, 0))
		}
		l.step()
	}
	return nil
}

// step sets v to P v: V(k) = (1 - d(k)/q) V(k) + Σ_g V(k+e_g)/q.
func (l *times) step() {
	for at, x := range l.v {
		l.next[at] = l.stay[at] * x
	}
	w := 1 / l.rate
	for g, stride := range l.Stride {
		inner := stride * l.Limits[g] // states to which a server of the group can be added
		for from := 0; from < l.States; from += inner + stride {
			to, above := l.next[from:from+inner], l.v[from+stride:from+stride+inner]
			for k, x := range above {
				to[k] += float64(w * x)
			}
		}
	}
	l.v, l.next = l.next, l.v
}

// rest returns q (-Q)^-1 V, except at k = 0, where no job waits.
func (l *times) rest(ctx context.Context) ([]float64, error) {
	w := make([]float64, l.States)
	l.gain[0] = 1
	err := l.grid.fall(ctx, w, l.v, l.gain)
	l.gain[0] = 0
	for at := range w {
		w[at] *= l.rate
	}
	return w, err
}

// distributions are those of the waiting time and the delay of a class.
type distributions struct{ waiting, delay delays.Survival }

// now returns the distributions of all classes after the steps taken.
func (l *times) now(ctx context.Context) ([]distributions, error) {
	rest, err := l.rest(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]distributions, len(l.classes))
	levels := float64((l.servers() + 1) * (len(l.groups) + 8))
	bound := arithmetic.Compound(4*l.bound,
		arithmetic.Roundings(float64(l.steps)*float64(len(l.groups)+46)+levels+2*dotRoundings+16), 0)
	for i := range list {
		list[i] = distributions{delays.NewSurvival(make([]float64, l.steps+1), bound),
			delays.NewSurvival(make([]float64, l.steps+1), bound)}
	}
	for j := range l.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := &l.entries[j]
		a := &list[e.class]
		waiting := e.factor * e.hold.dot(e.weight, e.begins, rest, 0)
		for n := l.steps; n >= 0; n-- {
			if n < l.steps {
				waiting += e.flow[n]
			}
			a.waiting.A[n] += waiting
			a.delay.A[n] += waiting
		}
		capacity, _ := l.groups[e.group].capacity.Float64()
		ends := capacity / l.unit / l.rate
		service := l.direct[e.class*len(l.groups)+e.group]
		for n := range a.delay.A {
			a.delay.A[n] += service
			if n < l.steps {
				service = float64((1-ends)*service) + e.flow[n]
			}
		}
	}
	return list, nil
}

// distributionsOf returns the distributions of all classes, with as many steps as a question needs.
func distributionsOf(
	ctx context.Context, t *tables, m *measures, q delays.Question, maxBytes int64,
) (*times, []distributions, error) {
	l, err := newTimes(ctx, t, m)
	if err != nil {
		return nil, nil, err
	}
	least, latest := q.Extremes(l.time())
	for steps := firstSteps; ; {
		if steps > mostSteps || 16*float64(steps)*float64(len(l.entries)+2*len(l.classes)) > float64(maxBytes) {
			return nil, nil, &num.TooLargeError{States: float64(t.States), Input: input.Errorf("Times", latest,
				"times and levels that take fewer than %d steps", steps)}
		}
		if err := l.extendTo(ctx, steps); err != nil {
			return nil, nil, err
		}
		list, err := l.now(ctx)
		if err != nil {
			return nil, nil, err
		}
		want := 0.0
		for i := range list {
			for _, s := range []*delays.Survival{&list[i].waiting, &list[i].delay} {
				tail := least
				if s.A[0] <= tail {
					tail = 1 // the quantile is 0
				}
				want = max(want, s.Wanted(tail, latest))
			}
		}
		if want <= float64(steps) {
			return l, list, nil
		}
		steps = delays.NextSteps(steps, want)
	}
}

// time returns 1/q, in the unit of time of the model.
func (l *times) time() *big.Rat {
	q := new(big.Rat).SetFloat64(l.rate)
	q.Mul(q, new(big.Rat).SetFloat64(l.unit))
	return q.Inv(q)
}
