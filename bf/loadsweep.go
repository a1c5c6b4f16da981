package bf

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"

	"productform/cluster"
	"productform/internal/cube"
	"productform/internal/input"
)

// LoadSweep solves m once for each factor, with all arrival rates multiplied by it, and returns the
// results in the order of the factors (factors >= 0). Points run side by side, one on each core, unless
// their tables are so large that one point keeps all cores busy. They share Settings.MaxBytes; a point that
// needs more than its share is solved once more when it has all of it, so that neither the numbers nor what is refused
// depend on how many cores there are. The largest factor is solved first. A factor that fails ends the sweep: the
// error, as of [Solve], names it.
func LoadSweep(ctx context.Context, m *cluster.Model, factors []*big.Rat, s Settings) ([]*Result, error) {
	for i, f := range factors {
		if err := nonnegative(input.Index("factors", i), f); err != nil {
			return nil, err
		}
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	results := make([]*Result, len(factors))
	solve := func(i int, s Settings) (err error) {
		if results[i], err = Solve(ctx, m.Scale(factors[i]), s); err != nil {
			err = fmt.Errorf("factors[%d] = %s: %w", i, factors[i].RatString(), err)
		}
		return err
	}
	if len(factors) == 0 {
		return results, nil
	}
	largest := 0
	for i, f := range factors {
		if f.Cmp(factors[largest]) > 0 {
			largest = i
		}
	}
	if err := solve(largest, s); err != nil {
		return nil, err
	}
	s.MaxBytes = cmp.Or(s.MaxBytes, defaultMaxBytes)
	workers := sideBySide(results[largest].Parts, s)
	shared := s
	shared.MaxBytes = s.MaxBytes / int64(workers)
	errs := make([]error, len(factors))
	var next atomic.Int64 // the next point
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			s := shared
			s.spare = new([]float64)
			for i := int(next.Add(1)) - 1; i < len(factors); i = int(next.Add(1)) - 1 {
				if i != largest {
					errs[i] = solve(i, s)
				}
			}
		})
	}
	group.Wait()
	for i, err := range errs {
		if workers > 1 && isInput(err) {
			err = solve(i, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// sideBySide returns how many points with the parts of this one are solved at a time. Each has memory for the
// tables of every part, and for the choice of its lattice.
func sideBySide(parts []Part, s Settings) int {
	workers := float64(runtime.GOMAXPROCS(0))
	for _, p := range parts {
		if p.States >= 1<<cube.LeafBits {
			return 1
		}
		workers = min(workers, float64(s.MaxBytes)/p.bytes)
	}
	return max(1, int(workers))
}
