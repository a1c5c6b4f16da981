package plan

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"math"
	"slices"
)

// A box holds the plans with one set of edges whose steps lie between two corners.
type box struct {
	edges        bits
	lower, upper []int
	cost         int64   // of lower
	least        int64   // what those of its plans that meet the targets cost at least
	delay        float64 // a lower bound on the mean delay of its plans, where that is minimized
	number       int     // in the order in which boxes are made, which settles ties
}

// boxes is a heap of boxes, the most promising first.
type boxes struct {
	list    []*box
	byDelay bool
}

func (b *boxes) Len() int { return len(b.list) }
func (b *boxes) Less(i, k int) bool {
	x, y := b.list[i], b.list[k]
	if b.byDelay {
		return cmp.Or(cmp.Compare(x.delay, y.delay), cmp.Compare(x.number, y.number)) < 0
	}
	return cmp.Or(cmp.Compare(x.least, y.least), cmp.Compare(x.number, y.number)) < 0
}
func (b *boxes) Swap(i, k int) { b.list[i], b.list[k] = b.list[k], b.list[i] }
func (b *boxes) Push(x any)    { b.list = append(b.list, x.(*box)) }
func (b *boxes) Pop() any {
	last := len(b.list) - 1
	x := b.list[last]
	b.list = b.list[:last]
	return x
}

// A search looks for the cheapest plan that meets the targets or, if byDelay is set, for the one with the least mean delay
// among those that cost less than below. It is a branch and bound over boxes: with the others at their upper ends, a step is
// raised to the least value that does not fail, as whatever is below fails too; a box is dropped if its upper corner fails, and
// what cannot be better than the best plan known is not looked at. Each plan that was seen to fail is a corner that all plans
// with at most its steps share the failure of: the corners and the costs are the proof.
type search struct {
	in      *instance
	judge   *judge
	limit   int
	tell    func(Progress)
	open    boxes
	boxes   int
	from    Choice // what every plan holds
	known   map[bits]*known
	fewer   []corner // whose failure all sets of fewer edges share
	below   int64    // plans that cost as much are of no interest
	delay   *float64 // nor, if byDelay, are those with a mean delay as large; nil until a plan is found
	best    *box     // the best plan found, at lower
	pending []*box   // single plans that no engine decides
	tol     float64  // by which, relatively, another plan has to be better, if byDelay
	most    []int    // all that can be bought
	bound   *box     // the most promising one
}

// known is what is known of the plans with one set of edges.
type known struct {
	failed []corner
	met    [][]int
	seen   []corner // in place of met if byDelay: plans that failed at nothing yet, but will if a better one is found
}

// A corner is a plan that fails; so do all that buy less.
type corner struct {
	edges bits
	steps []int
	fails judgement
}

var errLimit = errors.New("plan: limit of solves")

// newSearch starts a search among the plans that hold from and cost less than below.
func newSearch(in *instance, j *judge, s Settings, from Choice, below int64, byDelay bool) *search {
	return &search{in: in, judge: j, limit: j.solves + s.Limit, tell: s.Progress, open: boxes{byDelay: byDelay},
		from: from, known: map[bits]*known{}, below: below, tol: s.RelTol, most: in.most()}
}

// run searches to the end, or until the limit of solves.
func (s *search) run(ctx context.Context) error {
	lower := make([]int, len(s.in.options))
	copy(lower, s.from.Steps)
	first := bitsOf(s.from.Edges)
	for edges := range bits(1) << len(s.in.edges) {
		if edges&first == first {
			s.push(&box{edges: edges, lower: lower, upper: s.most, cost: s.in.cost(edges, lower)})
		}
	}
	for s.open.Len() > 0 {
		b := heap.Pop(&s.open).(*box)
		s.bound = b
		if least := b.cost + s.packing(b); !s.open.byDelay && least > b.least {
			b.least = least // by corners found since it was made
			heap.Push(&s.open, b)
			continue
		}
		if s.isDone(b) {
			heap.Push(&s.open, b)
			break
		}
		err := s.explore(ctx, b)
		if errors.Is(err, errLimit) {
			heap.Push(&s.open, b)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isDone reports whether a box, the most promising one, holds nothing of interest.
func (s *search) isDone(b *box) bool {
	if s.open.byDelay {
		return s.delay != nil && b.delay >= *s.delay
	}
	return b.least >= s.below
}

func (s *search) push(b *box) {
	b.least = max(b.least, b.cost)
	b.number = s.boxes
	s.boxes++
	heap.Push(&s.open, b)
}

// test judges a plan by what is known, or by solving it.
func (s *search) test(ctx context.Context, edges bits, steps []int) (judgement, error) {
	k := s.of(edges)
	for i := range k.failed {
		if atMost(steps, k.failed[i].steps) {
			return k.failed[i].fails, nil
		}
	}
	for i := range s.fewer {
		if c := &s.fewer[i]; edges&^c.edges == 0 && atMost(steps, c.steps) {
			return c.fails, nil
		}
	}
	for _, p := range k.met {
		if atMost(p, steps) {
			return judgement{verdict: Met}, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return judgement{}, err
	}
	if s.judge.solves >= s.limit {
		return judgement{}, errLimit
	}
	if len(s.in.edges) > 0 && slices.Equal(steps, s.most) {
		if r, err := s.lack(ctx, edges, steps); err != nil || r.verdict == Failed {
			return r, err
		}
	}
	r, err := s.judge.judge(ctx, edges, steps, s.delay)
	switch {
	case err != nil:
		return r, err
	case r.verdict == Failed:
		k.fail(corner{edges, slices.Clone(steps), r})
	case s.open.byDelay:
		k.seen = append(k.seen, corner{edges, slices.Clone(steps), judgement{verdict: Failed, fails: failsDelay, delay: r.delay}})
	case r.verdict == Met:
		k.met = append(slices.DeleteFunc(k.met, func(o []int) bool { return atMost(steps, o) }), slices.Clone(steps))
	}
	if s.tell != nil {
		s.tell(s.progress())
	}
	return r, nil
}

// of returns what is known of a set of edges.
func (s *search) of(edges bits) *known {
	if s.known[edges] == nil {
		s.known[edges] = &known{}
	}
	return s.known[edges]
}

// fail takes note of a corner, in place of those within it, unless it is within another.
func (k *known) fail(c corner) {
	if slices.ContainsFunc(k.failed, func(o corner) bool { return atMost(c.steps, o.steps) }) {
		return
	}
	k.failed = append(slices.DeleteFunc(k.failed, func(o corner) bool { return atMost(o.steps, c.steps) }), c)
}

// lack looks, before anything is solved, whether the most capacity with a set of edges is too little. If so, it adds as many
// edges as leave it so: that is a proof for all sets of fewer edges.
func (s *search) lack(ctx context.Context, edges bits, steps []int) (judgement, error) {
	r, err := s.judge.scales(ctx, s.in.model(edges, steps))
	if err != nil || r.verdict != Failed {
		return r, err
	}
	c := corner{edges, slices.Clone(steps), r}
	for k := range s.in.edges {
		if with := c.edges | 1<<k; with != c.edges {
			r, err := s.judge.scales(ctx, s.in.model(with, steps))
			if err != nil {
				return r, err
			}
			if r.verdict == Failed {
				c.edges, c.fails = with, r
			}
		}
	}
	s.fewer = append(s.fewer, c)
	return c.fails, nil
}

// atMost reports whether x <= y in each step.
func atMost(x, y []int) bool {
	for k, v := range x {
		if v > y[k] {
			return false
		}
	}
	return true
}

// explore looks into a box and leaves what is open of it to the heap. What it learns before the limit of solves stays in the box.
func (s *search) explore(ctx context.Context, b *box) error {
	upper := s.affordable(b)
	if upper == nil {
		return nil
	}
	top, err := s.test(ctx, b.edges, upper)
	if err != nil || top.verdict == Failed {
		return err
	}
	if s.open.byDelay {
		b.delay = max(b.delay, top.delay)
	}
	if err := s.raise(ctx, b, upper); err != nil || b.cost >= s.below {
		return err
	}
	if s.open.byDelay {
		return s.exploreDelay(ctx, b, upper, top)
	}
	bottom, err := s.test(ctx, b.edges, b.lower)
	switch {
	case err != nil:
		return err
	case bottom.verdict == Met:
		s.found(b.edges, b.lower)
		return nil
	case slices.Equal(b.lower, upper):
		s.pending = append(s.pending, b)
		return nil
	}
	if top.verdict == Met {
		if err := s.descend(ctx, b, upper); err != nil {
			return err
		}
		if b.cost >= s.below {
			return nil
		}
	}
	if bottom.verdict == Failed {
		if err := s.extend(ctx, b, upper); err != nil {
			return err
		}
	}
	s.split(b, upper)
	return nil
}

// affordable returns the upper corner of a box, each step within what can be spent on it alone; nil if its plans cost too much.
func (s *search) affordable(b *box) []int {
	left := s.below - 1 - b.cost
	if left < 0 {
		return nil
	}
	upper := slices.Clone(b.upper)
	for k, o := range s.in.options {
		if o.cost > 0 {
			upper[k] = int(min(int64(upper[k]), int64(b.lower[k])+left/o.cost))
		}
	}
	return upper
}

// raise raises each step of the lower corner to the least value that does not fail with the others at upper.
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

// descend looks for a plan at or below upper, which meets the targets, that none of its steps can be taken off: dear steps are
// taken off first.
func (s *search) descend(ctx context.Context, b *box, upper []int) error {
	at := slices.Clone(upper)
	order := make([]int, len(at))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(s.in.options[y].cost, s.in.options[x].cost) })
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

// exploreDelay goes on with a box whose lower corner has been raised.
func (s *search) exploreDelay(ctx context.Context, b *box, upper []int, top judgement) error {
	switch {
	case top.verdict == Met && s.in.cost(b.edges, upper) < s.below:
		s.better(b.edges, upper, top.delay) // the others in the box buy less
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

// spend tries a plan that spends all it can within a box, on one option after the other.
func (s *search) spend(ctx context.Context, b *box, upper []int) error {
	at := slices.Clone(b.lower)
	left := s.below - 1 - b.cost
	for i := range s.in.options {
		k := (i + b.number) % len(s.in.options) // another order in each box
		n := int64(upper[k] - at[k])
		if cost := s.in.options[k].cost; cost > 0 {
			n = min(n, left/cost)
			left -= n * cost
		}
		at[k] += int(n)
	}
	r, err := s.test(ctx, b.edges, at)
	if err == nil && r.verdict == Met {
		s.better(b.edges, at, r.delay)
	}
	return err
}

// better takes note of a plan with a smaller mean delay than the best known. It is at least delay.
func (s *search) better(edges bits, steps []int, delay float64) {
	s.best = &box{edges: edges, lower: slices.Clone(steps), cost: s.in.cost(edges, steps)}
	least := math.Nextafter(delay*(1-s.tol), 0)
	s.delay = &least
}

// found takes note of a plan that is better than the best known.
func (s *search) found(edges bits, steps []int) {
	s.best = &box{edges: edges, lower: slices.Clone(steps), cost: s.in.cost(edges, steps)}
	s.below = s.best.cost
}

// split cuts a box in two across the side that the most money can be spent on.
func (s *search) split(b *box, upper []int) {
	side, most := -1, int64(-1)
	for k, o := range s.in.options {
		if n := upper[k] - b.lower[k]; n > 0 && o.cost*int64(n) > most {
			side, most = k, o.cost*int64(n)
		}
	}
	middle := b.lower[side] + (upper[side]-b.lower[side])/2
	left := &box{edges: b.edges, lower: b.lower, upper: slices.Clone(upper), cost: b.cost, least: b.least, delay: b.delay}
	left.upper[side] = middle
	right := &box{edges: b.edges, lower: slices.Clone(b.lower), upper: upper, least: b.least, delay: b.delay}
	right.lower[side] = middle + 1
	right.cost = s.in.cost(b.edges, right.lower)
	s.push(left)
	s.push(right)
}

// leastCost returns the cost that no plan which meets the targets is below, unless none does at any.
func (s *search) leastCost() (units int64, isLimited bool) {
	least := s.below
	for _, b := range slices.Concat(s.open.list, s.pending) {
		least = min(least, max(b.least, b.cost))
	}
	return least, least < math.MaxInt64
}

// leastDelay returns the mean delay that no plan which meets the targets and costs less than s.below is below, unless there is none.
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

// progress says how far the search is.
func (s *search) progress() Progress {
	p := Progress{Solves: s.judge.solves, AtLeast: s.in.rat(max(s.bound.least, s.bound.cost))}
	if s.best != nil {
		p.Cost = s.in.rat(s.best.cost)
	}
	return p
}

// corners returns those that prove the result, without those that others cover: plans that fail, or have a mean delay of at least
// delay.
func (s *search) corners(delay float64) []corner {
	all := slices.Clone(s.fewer)
	for edges := range bits(1) << len(s.in.edges) {
		k := s.known[edges]
		if k == nil {
			continue
		}
		for _, c := range k.seen {
			if c.fails.delay >= delay {
				k.fail(c)
			}
		}
		for _, c := range k.failed {
			covered := slices.ContainsFunc(s.fewer, func(f corner) bool { return edges&^f.edges == 0 && atMost(c.steps, f.steps) })
			if !covered {
				all = append(all, c)
			}
		}
	}
	return all
}
