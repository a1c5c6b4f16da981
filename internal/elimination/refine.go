package elimination

import (
	"context"
	"math"

	"productform/internal/arithmetic"
)

// Defects of polynomials are not asked to be below leastDefect, some roundings, and partitions have at most maxPanels panels.
const (
	leastDefect = 0x1p-43
	maxPanels   = 5000
)

// A task is a forest with what is asked of it.
type task struct {
	*forest
	Settings
	target float64 // largest defect of a polynomial
	extra  float64 // of the horizon
}

// solve refines a partition until its polynomials are as good as the tolerance asks, and returns the measures. The error may be a [*ToleranceError].
func (f *forest) solve(ctx context.Context, root int, s Settings) (*part, error) {
	if err := f.prepare(root, s.Tolerance); err != nil {
		return nil, err
	}
	t := &task{forest: f, Settings: s, target: max(leastDefect, s.Tolerance/(16*float64(len(f.capacity))))}
	if s.ByClass > 0 {
		for _, k := range f.classes {
			if k.rate > 0 {
				t.extra = max(t.extra, float64(s.ByClass)*math.Log1p(f.decayOf(k)/k.rate))
			}
		}
		t.extra += 20
	}
	g := t.panels()
	for g.count() <= maxPanels {
		r, finer, err := t.try(ctx, g)
		switch {
		case err != nil:
			return nil, err
		case finer != nil:
			g = finer
		case r.worst() <= s.Tolerance:
			return r, nil
		case t.target <= leastDefect:
			return nil, &ToleranceError{s.Tolerance, r.worst()}
		default:
			t.target = max(leastDefect, t.target/8)
		}
	}
	return nil, &ToleranceError{s.Tolerance, math.Inf(1)}
}

// panels returns the first partition.
func (t *task) panels() *panels {
	fastest := 0.0
	for s := range t.capacity {
		fastest = max(fastest, t.around(s))
	}
	return newPanels(2/fastest, horizon(t.capacity, t.slack, t.extra))
}

// try returns the measures on a partition, or a better partition.
func (t *task) try(ctx context.Context, g *panels) (r *part, finer *panels, err error) {
	w := t.newSweep(ctx, g, 0)
	if r, err = w.measures(t.target); err != nil {
		return nil, nil, err
	}
	if t.ByClass > 0 && !w.isCoarse(t.target) {
		if further, err := t.jobs(w, r); err != nil || further {
			return nil, t.panels(), err
		}
	}
	if t.Gradients && !w.isCoarse(t.target) {
		weight := t.meanWeight(r)
		if extra := t.extraWeight(weight); extra > t.extra {
			t.extra = extra
			return nil, t.panels(), nil
		}
		w = t.newSweep(ctx, g, weight)
		if err := w.gradients(r, t.target); err != nil {
			return nil, nil, err
		}
	}
	if w.isCoarse(t.target) {
		return nil, w.refined(t.target), nil
	}
	return r, nil, nil
}

// jobs adds the distribution of the number of jobs of each class, and reports whether time has to go further for it, which it remembers.
func (t *task) jobs(w *sweep, r *part) (further bool, err error) {
	lack := 0.0
	r.jobs = make([][]arithmetic.Number, len(t.classes))
	for i, k := range t.classes {
		if k.rate == 0 {
			r.jobs[i] = append([]arithmetic.Number{arithmetic.FromFloat(1, 0)}, make([]arithmetic.Number, t.ByClass)...)
			continue
		}
		if r.jobs[i], err = w.classJobs(t.ByClass, k, math.Log(tail)-t.extra); err != nil {
			return false, err
		}
		for _, p := range r.jobs[i] {
			if p.F > 0 {
				lack = max(lack, math.Log(tail)-t.extra-logarithm(p)+50)
			}
		}
	}
	t.extra += 2 * lack
	return lack > 0, nil
}

// meanWeight returns the mean number of jobs for each server, or 1 if there are none.
func (t *task) meanWeight(r *part) float64 {
	sum := 0.0
	for i, k := range t.classes {
		sum += k.rate * r.times[i].Double()
	}
	if sum == 0 {
		return 1
	}
	return sum / float64(len(t.capacity))
}
