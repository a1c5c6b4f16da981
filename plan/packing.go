package plan

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// packing returns a lower bound on what the plans of a box that meet the targets cost beyond its lower corner. Such a plan has, for
// each corner that fails, a step k above it: it buys the element (k, j), step j of option k, for j one more than the corner has. The
// cost of each element is shared out among the corners: a corner takes from all its elements what the cheapest of them has left. As
// every corner has an element that is bought, and no element gives more than it costs, the sum of what corners take is a
// bound (weak duality of covering and packing). Corners with few elements in the box take first.
func (s *search) packing(b *box) (sum int64) {
	upper := s.affordable(b)
	if upper == nil || s.open.byDelay {
		return 0
	}
	type core struct {
		steps []int
		size  int // elements in the box
	}
	var cores []core
	for _, c := range s.of(b.edges).failed {
		if atMost(b.lower, c.steps) {
			size := 0
			for k, n := range c.steps {
				if n < upper[k] {
					size++
				}
			}
			cores = append(cores, core{c.steps, size})
		}
	}
	slices.SortStableFunc(cores, func(x, y core) int { return cmp.Compare(x.size, y.size) })
	left := make([][]int64, len(upper)) // of the cost of each step beyond lower
	for k, o := range s.in.options {
		left[k] = slices.Repeat([]int64{o.cost}, upper[k]-b.lower[k])
	}
	for _, c := range cores {
		take := int64(math.MaxInt64)
		for k, n := range c.steps {
			if n < upper[k] {
				take = min(take, left[k][n-b.lower[k]])
			}
		}
		if take == 0 || take == math.MaxInt64 {
			continue
		}
		sum += take
		for k, n := range c.steps {
			if n < upper[k] {
				left[k][n-b.lower[k]] -= take
			}
		}
	}
	return sum
}

// extend looks for a corner beyond the lower corner of a box, which fails, that no step can be added to: cheap steps are added first,
// so that what has to be bought by a plan beyond it is dear.
func (s *search) extend(ctx context.Context, b *box, upper []int) error {
	at := slices.Clone(b.lower)
	order := make([]int, len(at))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(s.in.options[x].cost, s.in.options[y].cost) })
	for _, k := range order {
		low, high := at[k], upper[k]
		for at[k] = high; low < high; at[k] = low + (high-low+1)/2 {
			r, err := s.test(ctx, b.edges, at)
			switch {
			case err != nil:
				return err
			case r.verdict == Failed:
				low = at[k]
			default:
				high = at[k] - 1
			}
		}
	}
	return nil
}
