package oneserver

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/num"
)

// times are the distributions of the waiting times and delays of the classes of a part, in float64:
// mixtures over the points of a Poisson process of rate q (see the package comment). They keep
// V/H after n steps, whose numbers are in the range of float64 when those of H are not, and the
// flows s_n of every choice of every class.
//
// Roundings. A rate d has 4 and d/q one more. Since q exceeds all d by an eighth, 1 - d/q is at
// least 1/9 and has at most 5*8+1, and a step at most 42 + 4 + G. A sum of flows adds one for each
// step, and the last one a sweep down.
type times struct {
	*states
	gain    []float64   // d in the unit
	lift    [][]float64 // H(k+e_g)/H(k) of each group
	direct  []float64   // a_ig/λ_i at class*groups+group
	bound   float64     // on the relative errors of H, of the entries and of direct
	unit    float64     // of rates
	rate    float64     // q in the unit
	stay    []float64   // 1 - d/q
	v, next []float64   // P^n H / H, and its successor
	entries []entry
	tasks   [][]interval // where a class may wait; V there does not depend on other states
	steps   int
}

// An interval is a range of states, from the first to the one before end.
type interval struct{ from, end int }

// leastGap is the smallest number of states between two intervals; fewer are faster to compute than
// to skip.
const leastGap = 16

// waiting returns the states in which some class may wait, in tasks of about [taskStates] states.
func (s *states) waiting() (tasks [][]interval) {
	waits := make([]bool, s.States)
	for i := range s.holds {
		h := &s.holds[i]
		for _, from := range h.rows {
			for _, p := range h.position {
				waits[from+p] = true
			}
		}
	}
	size := taskStates // number of states of the last task
	for at := 0; at < len(waits); at++ {
		if !waits[at] {
			continue
		}
		if size >= taskStates {
			tasks, size = append(tasks, nil), 0
		}
		task := &tasks[len(tasks)-1]
		if last := len(*task) - 1; last >= 0 && at-(*task)[last].end < leastGap {
			size += at + 1 - (*task)[last].end
			(*task)[last].end = at + 1
		} else {
			size++
			*task = append(*task, interval{at, at + 1})
		}
	}
	return tasks
}

// An entry describes how waiting jobs of a class start on servers of one capacity.
type entry struct {
	class    int
	capacity *big.Rat
	service  float64   // Σ_g a_ig/λ_i over the groups of the capacity
	weight   []float64 // Σ_g q_i(k) d_ig/k_g F(k-e_g) H(k)/(q Z) at the states of the class
	flow     []float64 // s_0, s_1, ...
}

// firstSteps is the number of steps to begin with, and mostSteps limits them.
const (
	firstSteps = 64
	mostSteps  = 1 << 24
)

// leastTail is the smallest probability of a distribution that is known. Weights and V/H below the
// range of float64 change no a_n by more than 2^-900 in 2^24 steps over 2^24 states.
const leastTail = 0x1p-150

// timesOf returns the times before the first step, from tables and the means.
func timesOf(ctx context.Context, t *tables, m *measures) (*times, error) {
	l := &times{states: t.states, gain: make([]float64, t.States), unit: t.unit, bound: 4 * t.bound}
	for from := 0; from < t.States; from += t.grid.size {
		t.gain(l.gain[from:][:t.grid.size], from)
	}
	l.gain[0] = 0
	l.begin(m)
	factor := 1 / l.rate / t.totals.z.Value()
	for _, stride := range t.Stride {
		lift := make([]float64, t.States)
		for at := range t.States - stride {
			lift[at] = t.free[at+stride] / t.free[at] // not used at k_g = n_g
		}
		l.lift = append(l.lift, lift)
	}
	err := l.addEntries(ctx, func(at, below int, each float64) float64 {
		return each * t.busy[below] * t.free[at] * factor
	})
	return l, err
}

// addEntries adds the entries, given the weight of state k, which depends on k, k-e_g and q
// d_g/k_g.
func (l *times) addEntries(ctx context.Context, weight func(at, below int, each float64) float64) error {
	list := make([]float64, l.grid.size)
	for i, c := range l.classes {
		h, first := &l.holds[i], len(l.entries)
		for k, choice := range c.choices {
			capacity := l.groups[choice.group].capacity
			j := first
			for j < len(l.entries) && l.entries[j].capacity.Cmp(capacity) != 0 {
				j++
			}
			if j == len(l.entries) {
				l.entries = append(l.entries, entry{class: i, capacity: capacity,
					weight: make([]float64, len(h.rows)*len(h.position))})
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			e := &l.entries[j]
			e.service += l.direct[i*len(l.groups)+choice.group]
			for n, from := range h.rows {
				each := h.eachOf(list, n, k, l.Digit(int(from), choice.group))
				w := e.weight[n*len(h.position):]
				for m, p := range h.position {
					x := 1.0
					if each != nil {
						x = each[m]
					}
					at := int(from + p)
					w[m] += weight(at, at-l.Stride[choice.group], x)
				}
			}
		}
	}
	return nil
}

// timesOfSweep returns the times before the first step, from numbers of any size and the means. It
// rejects capacities beyond the range of float64.
func timesOfSweep(ctx context.Context, w *sweep, m *measures) (*times, error) {
	for _, g := range w.groups {
		if err := checkRate(g.capacity, 1e300); err != nil {
			return nil, err
		}
	}
	l := &times{states: w.states, unit: 1, gain: make([]float64, w.States)}
	for at := range w.States {
		l.gain[at] = w.gain[at].Double()
	}
	l.begin(m)
	for _, stride := range w.Stride {
		lift := make([]float64, w.States)
		for at := range w.States - stride {
			lift[at] = w.free[at+stride].Quo(w.free[at]).Double()
		}
		l.lift = append(l.lift, lift)
	}
	err := l.addEntries(ctx, func(at, below int, each float64) float64 {
		x := w.busy[below].Mul(w.free[at]).Quo(w.z)
		l.bound = max(l.bound, x.RelativeError())
		return each * x.Double() / l.rate
	})
	l.bound *= 2 // those of H are at most those of the entries
	return l, err
}

// begin sets q, the state before the first step, and the jobs that do not wait.
func (l *times) begin(m *measures) {
	for _, g := range l.groups {
		c, _ := g.capacity.Float64()
		l.rate = max(l.rate, c/l.unit)
	}
	for _, d := range l.gain {
		l.rate = max(l.rate, d)
	}
	l.rate *= 1.125
	l.tasks = l.waiting()
	l.stay, l.v, l.next = make([]float64, l.States), make([]float64, l.States), make([]float64, l.States)
	for at, d := range l.gain {
		l.stay[at], l.v[at] = 1-d/l.rate, 1
	}
	l.direct = make([]float64, len(m.direct))
	for k, x := range m.direct {
		l.direct[k] = x.Quo(x.Rational(l.classes[k/len(l.groups)].rate)).Double()
		l.bound = max(l.bound, x.RelativeError())
	}
}

// extendTo takes steps until there are n.
func (l *times) extendTo(ctx context.Context, n int) error {
	for ; l.steps < n; l.steps++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := l.grid.inParallel(len(l.tasks)+len(l.entries), func(k int) error {
			if k < len(l.tasks) {
				for _, s := range l.tasks[k] {
					l.step(s.from, s.end)
				}
				return nil
			}
			e := &l.entries[k-len(l.tasks)]
			e.flow = append(e.flow, l.holds[e.class].dot(e.weight, l.v))
			return nil
		})
		if err != nil {
			return err
		}
		l.v, l.next = l.next, l.v
	}
	return nil
}

// step sets next to P v from one state to another: V(k) = (1 - d(k)/q) V(k) + Σ_g V(k+e_g)/q.
func (l *times) step(first, last int) {
	next, stay := l.next[first:last], l.stay[first:last]
	for k, x := range l.v[first:last] {
		next[k] = stay[k] * x
	}
	w := 1 / l.rate
	for g, stride := range l.Stride {
		inner := stride * l.Limits[g] // states to which a server of the group can be added
		for row := first / (inner + stride) * (inner + stride); row < last; row += inner + stride {
			from, end := max(row, first), min(row+inner, last)
			if from >= end {
				continue
			}
			to, lift, above := l.next[from:end], l.lift[g][from:end], l.v[from+stride:end+stride]
			for k, x := range above {
				to[k] += float64(float64(w*lift[k]) * x)
			}
		}
	}
}

// rest returns q (-Q)^-1 V / H at the states in which jobs wait.
func (l *times) rest(ctx context.Context) ([]float64, error) {
	w := append([]float64(nil), l.v...)
	for _, task := range slices.Backward(l.tasks) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, s := range slices.Backward(task) {
			x := l.Point(s.end - 1)
			for at := s.end - 1; at >= s.from; at-- {
				sum := w[at]
				for g, k := range x {
					if k < l.Limits[g] {
						sum += float64(l.lift[g][at] / l.rate * w[at+l.Stride[g]])
					}
				}
				w[at] = sum / (l.gain[at] / l.rate)
				l.Back(x)
			}
		}
	}
	return w, nil
}

// distributions holds the distributions of the waiting time and the delay of a class.
type distributions struct{ waiting, delay delays.Survival }

// now returns the distributions of all classes after the steps taken.
func (l *times) now(ctx context.Context) ([]distributions, error) {
	rest, err := l.rest(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]distributions, len(l.classes))
	levels := float64((l.servers()+1)*(len(l.groups)+8) + len(l.groups))
	bound := arithmetic.Compound(l.bound,
		arithmetic.Roundings(float64(l.steps)*float64(len(l.groups)+48)+levels+2*dotRoundings+16), 0)
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
		waiting := l.holds[e.class].dot(e.weight, rest)
		for n := l.steps; n >= 0; n-- {
			if n < l.steps {
				waiting += e.flow[n]
			}
			a.waiting.A[n] += waiting
			a.delay.A[n] += waiting
		}
		capacity, _ := e.capacity.Float64()
		ends, service := capacity/l.unit/l.rate, e.service
		for n := range a.delay.A {
			a.delay.A[n] += service
			if n < l.steps {
				service = float64((1-ends)*service) + e.flow[n]
			}
		}
	}
	return list, nil
}

// distributions returns the distributions of all classes, with as many steps as a question needs.
func (l *times) distributions(
	ctx context.Context, q delays.Question, maxBytes int64,
) ([]distributions, error) {
	least, latest := q.Extremes(l.time())
	late := len(q.Tails) == 0 // whether the times need the most steps
	most := int(min(mostSteps, float64(maxBytes)/float64(16*(len(l.entries)+2*len(l.classes)))))
	for steps := firstSteps; ; {
		if steps > most {
			return nil, &num.TooLargeError{States: float64(l.States), Input: rejectExtreme(q, late,
				"one that takes at most %d steps: near the limit of stability times are long; means take no steps",
				most)}
		}
		if err := l.extendTo(ctx, steps); err != nil {
			return nil, err
		}
		list, err := l.now(ctx)
		if err != nil {
			return nil, err
		}
		want, forTimes := 0.0, 0.0
		for i := range list {
			if a := list[i].delay.A; !(a[0] < 2 && a[steps] < 2) { // V/H is beyond float64
				return nil, &rangeError{rejectExtreme(q, late,
					"a model whose distributions of times are within the range of float64; means may leave it")}
			}
			for _, s := range []*delays.Survival{&list[i].waiting, &list[i].delay} {
				tail := least
				if s.A[0] <= tail {
					tail = 1 // the quantile is 0
				}
				want, forTimes = max(want, s.Wanted(tail, latest)), max(forTimes, s.Wanted(1, latest))
			}
		}
		late = len(q.Tails) == 0 || len(q.Times[0]) > 0 && want == forTimes
		if want <= float64(steps) {
			return list, nil
		}
		steps = delays.NextSteps(steps, want)
	}
}

// A rangeError rejects a question about times whose distributions leave the range of float64.
type rangeError struct{ bad *input.Error }

func (e *rangeError) Error() string   { return e.bad.Error() }
func (e *rangeError) Unwrap() []error { return []error{e.bad, num.ErrFloatRange} }

// rejectExtreme rejects the latest time of a question, or its largest level.
func rejectExtreme(q delays.Question, late bool, want string, args ...any) *input.Error {
	path, list, sign := "Levels", q.Tails, -1
	if late {
		path, list, sign = "Times", q.Times[0], 1
	}
	k := 0
	for i, x := range list {
		if x.Cmp(list[k]) == sign {
			k = i
		}
	}
	value := list[k]
	if !late {
		value = new(big.Rat).Sub(big.NewRat(1, 1), value)
	}
	return input.Errorf(input.Index(path, k), value.RatString(), want, args...)
}

// time returns 1/q, in the unit of time of the model.
func (l *times) time() *big.Rat {
	q := new(big.Rat).SetFloat64(l.rate)
	q.Mul(q, new(big.Rat).SetFloat64(l.unit))
	return q.Inv(q)
}
