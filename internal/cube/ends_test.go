package cube

import (
	"context"
	"testing"
)

// A cancelled context leaves a table unchanged, even if its length is not a power of four times the
// length of a block.
func TestTransformsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range []int{transformBits, transformBits + 1, transformBits + 2, LeafBits + 1} {
		for _, workers := range []int{1, 2} {
			below, above := make([]int64, 1<<n), make([]float64, 1<<n)
			for a := range below {
				below[a], above[a] = 1, 1
			}
			AddSubsets(ctx, below, workers)
			AddSupersets(ctx, above, workers)
			changed := 0
			for a := range below {
				if below[a] != 1 || above[a] != 1 {
					changed++
				}
			}
			if changed > 0 {
				t.Errorf("2^%d sets, %d workers: %d changed after the end of the context", n, workers, changed)
			}
		}
	}
}
