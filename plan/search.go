package plan

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
)

// A box holds the plans with one set of edges whose steps lie between two corners.
type box struct {
	edges        bits
	lower, upper []int
	cost         int64   // cost of lower
	least        int64   // lower bound on the cost of its plans that meet the targets
	delay        float64 // lower bound on the mean delay of its plans, if that is minimized
	number       int     // creation order, which breaks ties
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

// A search finds the cheapest plan that meets the targets or, if byDelay is set, the plan with the
// smallest mean delay among those that cost less than below. It is a branch and bound over boxes,
// the most promising first; it skips boxes that cannot improve the best known plan. Each failed
// plan is a corner, and all plans with at most its steps also fail: the corners and the costs are
// the proof.
type search struct {
	in       *instance
	judge    *judge
	limit    int
	tell     func(Progress)
	open     boxes
	boxes    int
	from     Choice // included in every plan
	known    map[bits]*known
	encoding *encoding
	fewer    []corner // corners whose failure extends to all sets of fewer edges
	below    int64    // only plans that cost less are of interest
	delay    *float64 // and, if byDelay, only plans with a smaller mean delay; nil until a plan is found
	best     *box     // the best plan found, at its lower corner
	pending  []*box   // single plans that no engine decides
	tol      float64  // if byDelay, relative improvement that a better plan must have
	most     []int    // everything that can be bought
	bound    *box     // the most promising one
	any      bool     // any plan that meets the targets suffices
	monotone bool     // all failures extend to plans with fewer steps
}

var errLimit = errors.New("plan: limit of solves")

// newSearch starts a search among the plans that include from and cost less than below.
func newSearch(in *instance, j *judge, s SearchSettings, from Choice, below int64, byDelay bool) *search {
	return &search{in: in, judge: j, limit: j.solves + s.Limit, tell: s.Progress, open: boxes{byDelay: byDelay},
		from: from, known: map[bits]*known{}, encoding: newEncoding(in.options), below: below,
		tol: s.RelTol, most: in.maxSteps(), monotone: in.isMonotone()}
}

// run searches to the end, or until it reaches the limit on solves.
func (s *search) run(ctx context.Context) error {
	lower := make([]int, len(s.in.options))
	copy(lower, s.from.Steps)
	first := bitsOf(s.from.Edges)
	for edges := range bits(1) << len(s.in.edges) {
		if edges&first == first {
			s.push(&box{edges: edges, lower: lower, upper: s.most, cost: s.in.cost(edges, lower)})
		}
	}
	for s.open.Len() > 0 && !(s.any && s.best != nil) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := heap.Pop(&s.open).(*box)
		s.bound = b
		if least := b.cost + s.packedCost(b); !s.open.byDelay && least > b.least {
			b.least = least // because of corners found since it was created
			heap.Push(&s.open, b)
			continue
		}
		if s.isDone(b) {
			heap.Push(&s.open, b)
			break
		}
		explore := s.explore
		if s.open.byDelay {
			explore = s.exploreDelay
		}
		err := explore(ctx, b)
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

// isDone reports whether the given box, the most promising one, contains nothing of interest.
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

// test judges a plan from known results, or by solving it.
func (s *search) test(ctx context.Context, edges bits, steps []int) (judgement, error) {
	if err := ctx.Err(); err != nil {
		return judgement{}, err
	}
	k, plan := s.of(edges), s.encoding.pack(steps)
	if c := k.failure(plan); c != nil {
		return c.fails, nil
	}
	for i := range s.fewer {
		if c := &s.fewer[i]; edges&^c.edges == 0 && isAtMost(steps, c.steps) {
			return c.fails, nil
		}
	}
	if s.monotone && k.isMet(plan) {
		return judgement{verdict: Met}, nil
	}
	if r, ok := k.seen[key(plan)]; ok {
		if s.open.byDelay && s.delay != nil && r.delay >= *s.delay { // a better plan has been found since
			r = judgement{verdict: Failed, fails: failsDelay, delay: r.delay}
			k.fail(corner{edges, slices.Clone(steps), r})
		}
		return r, nil
	}
	if s.judge.solves >= s.limit {
		return judgement{}, errLimit
	}
	if len(s.in.edges) > 0 && slices.Equal(steps, s.most) {
		if r, err := s.lacksCapacity(ctx, edges, steps); err != nil || r.verdict == Failed {
			return r, err
		}
	}
	r, err := s.judge.judge(ctx, edges, steps, s.delay)
	switch {
	case err != nil:
		return r, err
	case r.isCorner():
		k.fail(corner{edges, slices.Clone(steps), r})
	case r.verdict == Met && !s.open.byDelay && s.monotone:
		k.recordMet(steps)
	default:
		k.seen[key(plan)] = r
	}
	if s.tell != nil {
		s.tell(s.progress())
	}
	return r, nil
}

// lacksCapacity checks, before anything is solved, whether even the largest capacity with a set of
// edges is insufficient. If so, it adds edges as long as that remains true, which gives a proof for
// all sets of fewer edges.
func (s *search) lacksCapacity(ctx context.Context, edges bits, steps []int) (judgement, error) {
	r, err := s.judge.lacks(ctx, edges, steps)
	if err != nil || r.verdict != Failed {
		return r, err
	}
	c := corner{edges, slices.Clone(steps), r}
	for k := range s.in.edges {
		if with := c.edges | 1<<k; with != c.edges {
			r, err := s.judge.lacks(ctx, with, steps)
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

// affordable returns the upper corner of a box, limiting each step to what can be spent on it
// alone. It returns nil if the plans of the box cost too much.
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

// leastCost returns a lower bound on the cost of the plans that meet the targets, unless no plan
// does.
func (s *search) leastCost() (units int64, isLimited bool) {
	least := s.below
	for _, b := range slices.Concat(s.open.list, s.pending) {
		least = min(least, max(b.least, b.cost))
	}
	return least, least < math.MaxInt64
}

// progress returns the progress of the search.
func (s *search) progress() Progress {
	p := Progress{Solves: s.judge.solves, AtLeast: s.in.rat(max(s.bound.least, s.bound.cost))}
	if s.best != nil {
		p.Cost = s.in.rat(s.best.cost)
	}
	return p
}

// corners returns the corners that prove the result, without those covered by others: plans that
// fail, or have a mean delay of at least delay.
func (s *search) corners(ctx context.Context, delay float64) ([]corner, error) {
	all := slices.Clone(s.fewer)
	for edges := range bits(1) << len(s.in.edges) {
		k := s.known[edges]
		if k == nil {
			continue
		}
		for _, plan := range slices.Sorted(maps.Keys(k.seen)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if r := k.seen[plan]; s.open.byDelay && r.delay >= delay {
				k.fail(corner{
					edges, s.encoding.unpack(plan), judgement{verdict: Failed, fails: failsDelay, delay: r.delay},
				})
			}
		}
		for _, plan := range slices.Sorted(maps.Keys(k.seen)) { // those that no corner covers
			if r := k.seen[plan]; r.verdict == Failed && r.alone {
				steps := s.encoding.unpack(plan)
				if s.in.cost(edges, steps) < s.below && k.failure(s.encoding.pack(steps)) == nil {
					all = append(all, corner{edges, steps, r})
				}
			}
		}
		for _, c := range k.failed.rows {
			covered := slices.ContainsFunc(s.fewer, func(f corner) bool {
				return edges&^f.edges == 0 && isAtMost(c.steps, f.steps)
			})
			if !covered {
				all = append(all, c)
			}
		}
	}
	return all, nil
}
