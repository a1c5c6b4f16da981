package cube

import (
	"context"
	"errors"
	"math/rand/v2"
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

// A cancelled context leaves the table of a sweep unchanged.
func TestSweepsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	capacity, classes, rate := randomCube(rand.New(rand.NewPCG(1, 4)), LeafBits+2)
	c := New(floats(rate), nil)
	c.Denominators, c.AllSets = NewDenominators(capacity, classes, rate, c.Unit), true
	for a := range c.x {
		c.x[a] = -1
	}
	for _, workers := range []int{1, 2} {
		_, up := c.Up(ctx, workers)
		_, down := c.Down(ctx, workers)
		if !errors.Is(up, context.Canceled) || !errors.Is(down, context.Canceled) {
			t.Errorf("%d workers: up %v, down %v", workers, up, down)
		}
	}
	changed := 0
	for _, x := range c.x {
		if x != -1 {
			changed++
		}
	}
	if changed > 0 {
		t.Errorf("%d values changed after the end of the context", changed)
	}
}
