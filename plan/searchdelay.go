package plan

import (
	"context"
	"math"
	"slices"
)

// exploreDelay searches a box for plans with smaller mean delays, and pushes its undecided parts to
// the heap. With the other steps at their upper ends, it raises each step to the smallest value
// that does not fail, since all smaller values also fail. It drops the box if its upper corner
// fails.
func (s *search) exploreDelay(ctx context.Context, b *box) error {
	upper := s.affordable(b)
	if upper == nil {
		return nil
	}
	top, err := s.test(ctx, b.edges, upper)
	if err != nil || top.verdict == Failed {
		return err
	}
	b.delay = max(b.delay, top.delay)
	if err := s.raise(ctx, b, upper); err != nil || b.cost >= s.below {
		return err
	}
	switch {
	case top.verdict == Met && s.in.cost(b.edges, upper) < s.below:
		s.recordBetter(b.edges, upper, top.delay) // the other plans in the box buy less
		return nil
	case slices.Equal(b.lower, upper):
		s.pending = append(s.pending, b)
		return nil
	}
	if err := s.spend(ctx, b, upper); err != nil {
		return err
	}
	s.split(b, upper)
	return nil
}

// raise raises each step of the lower corner to the smallest value that does not fail with the
// other steps at upper.
func (s *search) raise(ctx context.Context, b *box, upper []int) error {
	at := slices.Clone(upper)
	for k, o := range s.in.options {
		low, high := b.lower[k], upper[k]
		for low < high {
			at[k] = low + (high-low)/2
			r, err := s.test(ctx, b.edges, at)
			if err != nil {
				return err
			}
			if r.verdict == Failed {
				low = at[k] + 1
			} else {
				high = at[k]
			}
		}
		at[k] = upper[k]
		if low > b.lower[k] {
			b.lower = slices.Clone(b.lower)
			b.cost += o.cost * int64(low-b.lower[k])
			b.lower[k] = low
		}
	}
	return nil
}

// spend tries a plan that spends as much as possible within a box, on one option after the other.
func (s *search) spend(ctx context.Context, b *box, upper []int) error {
	at := slices.Clone(b.lower)
	left := s.below - 1 - b.cost
	for i := range s.in.options {
		k := (i + b.number) % len(s.in.options) // a different order in each box
		n := int64(upper[k] - at[k])
		if cost := s.in.options[k].cost; cost > 0 {
			n = min(n, left/cost)
			left -= n * cost
		}
		at[k] += int(n)
	}
	r, err := s.test(ctx, b.edges, at)
	if err == nil && r.verdict == Met {
		s.recordBetter(b.edges, at, r.delay)
	}
	return err
}

// recordBetter records a plan with a smaller mean delay than the best known one. That delay is at
// least delay.
func (s *search) recordBetter(edges bits, steps []int, delay float64) {
	s.best = &box{edges: edges, lower: slices.Clone(steps), cost: s.in.cost(edges, steps)}
	least := math.Nextafter(delay*(1-s.tol), 0)
	s.delay = &least
}

// split cuts a box in two along the side on which the most money can be spent.
func (s *search) split(b *box, upper []int) {
	side, most := -1, int64(-1)
	for k, o := range s.in.options {
		if n := upper[k] - b.lower[k]; n > 0 && o.cost*int64(n) > most {
			side, most = k, o.cost*int64(n)
		}
	}
	middle := b.lower[side] + (upper[side]-b.lower[side])/2
	left := &box{
		edges: b.edges,
		lower: b.lower,
		upper: slices.Clone(upper),
		cost:  b.cost,
		least: b.least,
		delay: b.delay,
	}
	left.upper[side] = middle
	right := &box{edges: b.edges, lower: slices.Clone(b.lower), upper: upper, least: b.least, delay: b.delay}
	right.lower[side] = middle + 1
	right.cost = s.in.cost(b.edges, right.lower)
	s.push(left)
	s.push(right)
}

// leastDelay returns a lower bound on the mean delay of the plans that meet the targets and cost
// less than s.below, unless there are none.
func (s *search) leastDelay() (delay float64, isLimited bool) {
	least := math.Inf(1)
	if s.delay != nil {
		least = *s.delay
	}
	for _, b := range slices.Concat(s.open.list, s.pending) {
		least = min(least, b.delay)
	}
	return least, least < math.Inf(1)
}
