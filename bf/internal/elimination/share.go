package elimination

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// share distributes pieces of work over several workers, each piece once. It returns early with the
// error of the context.
func share(ctx context.Context, workers, pieces int, do func(worker, piece int)) error {
	var next atomic.Int64
	work := func(worker int) error {
		for {
			piece := int(next.Add(1)) - 1
			if piece >= pieces {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			do(worker, piece)
		}
	}
	if workers == 1 {
		return work(0)
	}
	var g errgroup.Group
	for worker := range workers {
		g.Go(func() error { return work(worker) })
	}
	return g.Wait()
}
