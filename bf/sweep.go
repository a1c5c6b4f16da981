package bf

import (
	"context"
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"

	"productform/internal/cube"
	"productform/internal/input"
	"productform/num"
)

// Sweep answers a question once per factor >= 0, with all arrival rates multiplied by the factor.
// It returns the results of [Prepared.Answer] in the order of the factors. Lattices are selected
// once. The largest factor is solved first; if it fails, the others are not solved. If any factor
// fails, there are no results, and the error comes from [Prepared.Answer] with the factor.
//
// Points run in parallel, one per core, unless their tables are so large that one point keeps all
// cores busy. They share Settings.MaxBytes. A point that needs more than its share is solved again
// later with all of it, so neither numbers nor errors depend on the number of cores.
func (p *Prepared) Sweep(ctx context.Context, factors []*big.Rat, q Question, s Settings) ([]*Result, error) {
	model := *p
	w := &sweep{model: &model, factors: factors, results: make([]*Result, len(factors))}
	for i, f := range factors {
		if err := checkNonnegative(input.Index("factors", i), f); err != nil {
			return nil, err
		}
		if f.Cmp(factors[w.largest]) > 0 {
			w.largest = i
		}
	}
	if len(factors) == 0 {
		return w.results, nil
	}
	ask, err := p.request(q, s)
	if err != nil {
		return nil, w.factorError(w.largest, err)
	}
	model.first, model.isFirst = make(map[num.Engine][]*plan), true
	if err := w.solve(ctx, w.largest, ask); err != nil {
		return nil, err
	}
	model.isFirst = false
	if err := w.solveOthers(ctx, ask); err != nil {
		return nil, err
	}
	return w.results, nil
}

// A sweep holds the state of one Prepared.Sweep.
type sweep struct {
	model   *Prepared
	factors []*big.Rat
	largest int // index of the largest factor
	results []*Result
}

func (w *sweep) solve(ctx context.Context, i int, s request) (err error) {
	p, err := w.model.At(ctx, w.factors[i])
	if err == nil {
		w.results[i], err = p.answer(ctx, s)
	}
	if err != nil {
		return w.factorError(i, err)
	}
	return nil
}

func (w *sweep) factorError(i int, err error) error {
	return fmt.Errorf("factors[%d] = %s: %w", i, w.factors[i].RatString(), err)
}

// solveOthers solves all factors except the largest.
func (w *sweep) solveOthers(ctx context.Context, s request) error {
	workers := parallelPoints(w.results[w.largest].Parts, s)
	shared := s
	shared.MaxBytes = s.MaxBytes / int64(workers)
	errs := make([]error, len(w.factors))
	var next atomic.Int64 // next point
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			s := shared
			s.sweepMemory = new(cube.Memory)
			for i := int(next.Add(1)) - 1; i < len(errs); i = int(next.Add(1)) - 1 {
				if i != w.largest {
					errs[i] = w.solve(ctx, i, s)
				}
			}
		})
	}
	group.Wait()
	for i, err := range errs {
		if workers > 1 && isInput(err) {
			err = w.solve(ctx, i, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parallelPoints returns the number of points, similar to the point with these parts, that are
// solved at a time. Each needs memory for the tables of every part and for the selection of its
// lattice.
func parallelPoints(parts []Part, s request) int {
	workers := float64(runtime.GOMAXPROCS(0))
	for _, p := range parts {
		if p.States >= 1<<cube.LeafBits {
			return 1
		}
		workers = min(workers, float64(s.MaxBytes)/p.bytes)
	}
	return max(1, int(workers))
}
