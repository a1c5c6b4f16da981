package plan

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// explore searches a box for cheaper plans, and pushes its undecided parts to the heap. If its
// lower corner is within a known corner, the remaining plans are those with more steps of some
// option than that corner. Otherwise, explore searches for corners and for a plan that meets the
// targets. Everything learned before the limit on solves is kept.
func (s *search) explore(ctx context.Context, b *box) error {
	upper := s.affordable(b)
	if upper == nil {
		return nil
	}
	if c := s.widest(b, upper); c != nil {
		s.pushRemainder(b, upper, c)
		return nil
	}
	top, err := s.test(ctx, b.edges, upper)
	if err != nil || top.isCorner() {
		return err
	}
	bottom, err := s.test(ctx, b.edges, b.lower)
	switch {
	case err != nil:
		return err
	case bottom.verdict == Met:
		s.found(b.edges, b.lower)
		return nil
	case bottom.verdict == Undecided:
		s.pending = append(s.pending, &box{edges: b.edges, lower: b.lower, upper: b.lower, cost: b.cost, least: b.cost})
		s.pushRemainder(b, upper, b.lower)
		return nil
	}
	if top.verdict == Met && s.best == nil {
		if err := s.descend(ctx, b, upper); err != nil {
			return err
		}
	}
	if bottom.alone {
		s.pushRemainder(b, upper, b.lower)
		return nil
	}
	if err := s.gather(ctx, b); err != nil {
		return err
	}
	s.push(b)
	return nil
}

// widest returns the steps of a corner around the lower corner of a box, or nil if none is known.
// It picks a corner beyond which even the cheapest plans of the box are most expensive and, among
// these, one that leaves the fewest options.
func (s *search) widest(b *box, upper []int) (steps []int) {
	k, plan := s.of(b.edges), s.encoding.pack(b.lower)
	most, fewest := int64(-1), 0
	for i := range k.failed.rows {
		if !k.encoding.isAtMost(plan, k.failed.at(i, len(plan))) {
			continue
		}
		c := k.failed.rows[i].steps
		least, options := int64(math.MaxInt64), 0
		for j, n := range c {
			if n < upper[j] {
				least = min(least, s.in.options[j].cost*int64(n+1-b.lower[j]))
				options++
			}
		}
		if least > most || least == most && options < fewest {
			steps, most, fewest = c, least, options
		}
	}
	return steps
}

// pushRemainder pushes to the heap the parts of a box that a corner leaves: for each option, the
// plans with more steps of it than the corner, and at most as many of the options before it. Parts
// whose plans cost most come first.
func (s *search) pushRemainder(b *box, upper, corner []int) {
	var order []int
	for k := range corner {
		if corner[k] < upper[k] {
			order = append(order, k)
		}
	}
	more := func(k int) int64 { return s.in.options[k].cost * int64(corner[k]+1-b.lower[k]) }
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(more(y), more(x)) })
	upper = slices.Clone(upper)
	for _, k := range order {
		if cost := b.cost + more(k); cost < s.below {
			part := &box{
				edges: b.edges,
				lower: slices.Clone(b.lower),
				upper: slices.Clone(upper),
				cost:  cost,
				least: b.least,
			}
			part.lower[k] = corner[k] + 1
			s.push(part)
		}
		upper[k] = corner[k]
	}
}

// gather looks for corners around the lower corner of a box, which fails. It finds them one by one,
// without common elements (see packedCost), until a plan beyond all of them does not fail. It then
// reduces this plan to one that meets the targets.
func (s *search) gather(ctx context.Context, b *box) error {
	at := slices.Clone(b.lower)
	for {
		corner, err := s.extend(ctx, b.edges, at)
		if err != nil {
			return err
		}
		for k, n := range corner {
			if n < s.most[k] {
				at[k] = n + 1
			}
		}
		r, err := s.test(ctx, b.edges, at)
		switch {
		case err != nil:
			return err
		case r.verdict == Met:
			return s.descend(ctx, b, at)
		case r.verdict == Undecided || r.alone:
			return nil
		}
	}
}

// inOrder returns the options by increasing cost of a step, rotated to start at some place.
func (s *search) inOrder(from int) []int {
	order := make([]int, len(s.in.options))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(s.in.options[x].cost, s.in.options[y].cost) })
	if from %= max(len(order), 1); from > 0 {
		order = slices.Concat(order[from:], order[:from])
	}
	return order
}

// extend extends a failing plan to a corner, to which no step can be added. Steps of cheap options
// are added first, which makes the purchases beyond the corner expensive, but each call starts with
// another option, which keeps corners different.
func (s *search) extend(ctx context.Context, edges bits, plan []int) ([]int, error) {
	at := slices.Clone(plan)
	for _, k := range s.inOrder(s.boxes) {
		low, high := at[k], s.most[k]
		for at[k] = high; low < high; at[k] = low + (high-low+1)/2 {
			r, err := s.test(ctx, edges, at)
			switch {
			case err != nil:
				return nil, err
			case r.isCorner():
				low = at[k]
			default:
				high = at[k] - 1
			}
		}
	}
	return at, nil
}

// descend starts at upper, which meets the targets, and looks for a plan from which no step can be
// removed. It removes expensive steps first.
func (s *search) descend(ctx context.Context, b *box, upper []int) error {
	at := slices.Clone(upper)
	order := s.inOrder(0)
	slices.Reverse(order)
	for _, k := range order {
		low, high := b.lower[k], at[k]
		for low < high {
			at[k] = low + (high-low)/2
			r, err := s.test(ctx, b.edges, at)
			if err != nil {
				return err
			}
			if r.verdict == Met {
				high = at[k]
			} else {
				low = at[k] + 1
			}
		}
		at[k] = high
	}
	if s.in.cost(b.edges, at) < s.below {
		s.found(b.edges, at)
	}
	return nil
}

// found records a plan that is better than the best known one.
func (s *search) found(edges bits, steps []int) {
	s.best = &box{edges: edges, lower: slices.Clone(steps), cost: s.in.cost(edges, steps)}
	s.below = s.best.cost
}

// packedCost returns a lower bound on the additional cost, beyond its lower corner, of the plans of
// a box that meet the targets. For each failing corner, such a plan exceeds it in some option k: it
// buys the element (k, j), step j of option k, where j is one more than the steps of the corner.
// The cost of each element is divided among the corners: a corner takes from all its elements the
// remaining cost of the cheapest of them. Every corner has an element that is bought, and no
// element gives more than its cost. So the sum of the amounts taken is a bound (weak duality of
// covering and packing). Corners with few elements in the box take first.
func (s *search) packedCost(b *box) (sum int64) {
	upper := s.affordable(b)
	if upper == nil || s.open.byDelay {
		return 0
	}
	type core struct {
		steps []int
		size  int // elements in the box
	}
	var cores []core
	failed, plan := &s.of(b.edges).failed, s.encoding.pack(b.lower)
	for i, c := range failed.rows {
		if s.encoding.isAtMost(plan, failed.at(i, len(plan))) {
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
	left := make([][]int64, len(upper)) // cost of each step beyond lower
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
