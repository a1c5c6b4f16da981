package oneserver

import (
	"context"
	"math"
	"slices"

	"productform/internal/input"
)

// waitTails holds the tails of V, the time after which a job would start if it did not give up.
type waitTails struct {
	longer [][]float64 // by end of a step and class, P(V > x)
	begun  [][]float64 // by step and class, P(served, V in the step)
	served [][]float64 // by end of a step and class, P(served, V > x)
}

func newWaitTails(classes, steps int) *waitTails {
	t := &waitTails{begun: make([][]float64, steps)}
	for range steps + 1 {
		t.longer, t.served = append(t.longer, nil), append(t.served, make([]float64, classes))
	}
	return t
}

// addPoint adds the end number k. Nothing happens to nil tails.
func (t *waitTails) addPoint(r *race, k int, a, u []float64, z float64) {
	if t != nil {
		t.longer[k] = r.longer(a, u, z)
	}
}

// addStep adds the jobs that start in the step after end number k.
func (t *waitTails) addStep(k int, begun []float64) {
	if t != nil {
		t.begun[k] = begun
	}
}

// finish sums the served jobs from the end, after which only jobs with endless patience wait, so no
// digits cancel.
func (t *waitTails) finish(r *race) {
	n := len(t.begun)
	for i := range t.served[n] {
		if r.byClass[i].endless() {
			t.served[n][i] = t.longer[n][i]
		}
	}
	for k := n - 1; k >= 0; k-- {
		for i := range t.served[k] {
			t.served[k][i] = t.served[k+1][i] + t.begun[k][i]
		}
	}
}

// A quantileTask is a percentile within a step.
type quantileTask struct {
	class  int
	served bool    // over the jobs that are served
	tail   float64 // P(W > t), or P(served, W > t)
	start  float64 // this probability at the start of the step
	end    float64 // at its end, before any jobs give up there
	result *float64
}

// addQuantiles adds the percentiles that waiting times exceed with given probabilities.
func (r *race) addQuantiles(
	ctx context.Context, m *patienceMeasures, b *backward, t *waitTails, tails []float64,
) error {
	tasks := make(map[int][]quantileTask) // by step
	last := 0
	for i := range m.classes {
		c := &m.classes[i]
		c.quantiles, c.servedQuantiles = make([]float64, len(tails)), make([]float64, len(tails))
		for q, tail := range tails {
			for _, task := range []quantileTask{
				{class: i, tail: tail, result: &c.quantiles[q]},
				{class: i, served: true, tail: tail * c.served, result: &c.servedQuantiles[q]},
			} {
				k, found := r.place(b.grid, t, &task)
				if !found {
					return input.Errorf(input.Index("Levels", q), 1-tail,
						"a lower level, since too few jobs wait longer")
				}
				if k > 0 {
					tasks[k] = append(tasks[k], task)
					last = max(last, k)
				}
			}
		}
	}
	a := slices.Clone(r.weights)
	ahead := make([][stages]float64, r.States)
	for k := 1; k <= last; k++ {
		if len(tasks[k]) > 0 {
			u, err := b.at(ctx, k)
			if err != nil {
				return err
			}
			s := &stretch{
				r: r, from: b.grid[k-1], to: b.grid[k], a: a, u: u, rest: t.served[k], ahead: ahead, inner: b.inner,
			}
			for _, task := range tasks[k] {
				if err := s.solve(ctx, task); err != nil {
					return err
				}
			}
		}
		if err := r.forth(ctx, b.grade(k), a, ahead); err != nil {
			return err
		}
		rescale(a)
	}
	return nil
}

// place returns the step in which a percentile is, with the probabilities of the task at its ends;
// 0 if the percentile is an end, after setting the result. found is false if it is beyond the last
// end.
func (r *race) place(grid []float64, t *waitTails, task *quantileTask) (step int, found bool) {
	own := &r.byClass[task.class]
	at := func(k int) (before, after float64) { // the probability before and after jobs give up
		if task.served {
			return t.served[k][task.class], t.served[k][task.class]
		}
		return own.tailBefore(grid[k]) * t.longer[k][task.class], own.tail(grid[k]) * t.longer[k][task.class]
	}
	_, start := at(0)
	for k := range grid {
		before, after := at(k)
		switch {
		case k == 0 && after <= task.tail || k > 0 && before > task.tail && after <= task.tail:
			*task.result = grid[k]
			return 0, true
		case after <= task.tail:
			task.start, task.end = start, before
			return k, true
		}
		start = after
	}
	return 0, false
}

// A stretch is a step in which percentiles are computed: a is that at its start, u that at its end,
// and rest the probabilities that jobs start after it. The rest are buffers.
type stretch struct {
	r            *race
	from, to     float64
	a, u, rest   []float64
	ahead, inner [][stages]float64
}

// solve computes a percentile: the zero of the logarithm of a quotient of probabilities, which
// falls and is smooth, by regula falsi with the weights of the Illinois method.
func (s *stretch) solve(ctx context.Context, task quantileTask) error {
	const near = 4e-15 // about the roundings of a probability
	low, high := s.from, s.to
	below, above := math.Log(task.start/task.tail), math.Log(task.end/task.tail)
	t := high
	for side := 0; high-low > near*high && above < -near; {
		next := low + (high-low)*below/(below-above)
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		last := t
		t = next
		p, err := s.tail(ctx, task.class, task.served, t)
		if err != nil {
			return err
		}
		off := math.Log(p / task.tail)
		if math.Abs(off) < near || math.Abs(t-last) < near*t {
			break
		}
		if off > 0 {
			if low, below = t, off; side > 0 {
				above /= 2
			}
			side = 1
		} else {
			if high, above = t, off; side < 0 {
				below /= 2
			}
			side = -1
		}
	}
	*task.result = t
	return nil
}

// tail returns P(W > t) of a class, or P(served, W > t), for a time in the stretch.
func (s *stretch) tail(ctx context.Context, class int, served bool, t float64) (float64, error) {
	r := s.r
	a, u := slices.Clone(s.a), slices.Clone(s.u)
	rest := r.newGrade(t, s.to-t)
	if err := r.back(ctx, rest, u, s.inner); err != nil {
		return 0, err
	}
	if err := r.forth(ctx, r.newGrade(s.from, t-s.from), a, s.ahead); err != nil {
		return 0, err
	}
	z := product(a, u)
	if !served {
		return r.byClass[class].tail(t) * r.longer(a, u, z)[class], nil
	}
	if err := r.forth(ctx, rest, a, s.ahead); err != nil {
		return 0, err
	}
	return s.rest[class] + r.addStep(r.noMeasures(), rest, s.ahead, s.inner, z, nil)[class], nil
}

// noMeasures returns measures that are all 0.
func (r *race) noMeasures() *patienceMeasures {
	m := &patienceMeasures{classes: make([]waitMeasures, len(r.byClass))}
	for i := range m.classes {
		m.classes[i].servedBy = make([]float64, len(r.groups))
	}
	return m
}
