package stability

import (
	"cmp"
	"context"
	"math/big"
	"slices"
)

// A subset is a set of classes and servers, by rows, and its margin μ(A) - Σ_{i∈A} λ_i.
type subset struct {
	margin  *big.Rat
	classes []int
	servers []int
}

// isPreferred reports whether a is preferred to b: by margin, then number of classes, then first
// rows.
func (a *subset) isPreferred(b *subset) bool {
	if b == nil || a == nil {
		return a != nil
	}
	return cmp.Or(a.margin.Cmp(b.margin), compareRows(a.classes, b.classes)) < 0
}

// compareRows compares lists by length, then by first rows.
func compareRows(a, b []int) int { return cmp.Or(len(a)-len(b), slices.Compare(a, b)) }

// margin returns the set with the smallest margin, given the verdict and the bottleneck.
func (g *graph) margin(ctx context.Context, r *Result, tight cut) (*subset, error) {
	if !r.Stable {
		if r.Arrival.Cmp(r.Capacity) == 0 {
			return &subset{new(big.Rat), slices.Clone(r.Bottleneck), slices.Clone(r.BottleneckServers)}, nil
		}
		if _, err := g.solve(ctx, g.load, g.capacity); err != nil {
			return nil, err
		}
		return g.subsetOf(cut{g.classes, g.servers}), nil
	}
	best, err := g.leastOfSingles(ctx, tight)
	if err != nil {
		return nil, err
	}
	for i := range g.load {
		if g.single[i] {
			continue
		}
		candidate, err := g.leastWith(ctx, g.rows[i][0], r.CriticalScale, best)
		if err != nil {
			return nil, err
		}
		if candidate.isPreferred(best) {
			best = candidate
		}
	}
	return best, nil
}

// subsetOf translates a set of the network into rows.
func (g *graph) subsetOf(c cut) *subset {
	load, capacity := g.sums(c.classes, c.servers)
	rows := g.rowsOf(c.classes)
	return &subset{new(big.Rat).SetFrac(capacity.Sub(capacity, load), g.unit), rows, g.serversOf(c.servers, rows)}
}

// leastOfSingles returns the set with the smallest margin among those that contain a class with a
// single combination of servers, or nil if there is no such class.
//
// It starts from a flow of all λ_i. The amount that class i can send beyond λ_i is the smallest
// margin of the sets that contain i. Once i is finished, the remaining sets belong to a network
// without i, whose flow is returned. So slack grows, and the searches of most classes end early,
// because they find more slack nearby than the smallest known margin. Many sets may attain the
// smallest margin, for example if classes are equal. Only the part of each that the search has
// reached is examined.
func (g *graph) leastOfSingles(ctx context.Context, tight cut) (*subset, error) {
	bound := g.marginBound(tight)
	if bound == nil {
		return nil, nil
	}
	size := new(big.Int)
	for _, x := range slices.Concat(g.load, g.capacity) {
		size.Add(size, x)
	}
	if size.BitLen() >= wideBits {
		return g.leastOfSinglesBig(ctx, bound, size)
	}
	if _, err := g.solve(ctx, g.load, g.capacity); err != nil {
		return nil, err
	}
	limit := wideOf(bound)
	var best cut
	var bestRows []int // classes of best, once a set of margin limit is found
	for i := range int32(len(g.load)) {
		if !g.single[i] {
			continue
		}
		more := limit.plus(uint128{0, 1})
		left, err := g.lack(ctx, i, more)
		if err != nil {
			return nil, err
		}
		if !left.isZero() {
			margin, rows := more.minus(left), g.rowsOf(g.classes)
			if bestRows == nil || margin.isLess(limit) || compareRows(rows, bestRows) < 0 {
				best, bestRows = cut{slices.Clone(g.classes), slices.Clone(g.servers)}, rows
			}
			limit = margin
		}
		g.release(i)
	}
	if bestRows == nil {
		return nil, nil
	}
	return g.subsetOf(best), nil
}

// lack sends up to more from class i beyond its need, and returns the part that cannot be sent. If
// that is positive, g.classes and g.servers are the set with the smallest margin that contains i.
func (g *network) lack(ctx context.Context, i int32, more uint128) (uint128, error) {
	if !g.slackAt(i).isLess(more) || g.hasRoom(i, more) {
		return uint128{}, ctx.Err()
	}
	g.sources = append(g.sources[:0], i)
	g.need[i] = more
	if err := g.maximize(ctx); err != nil {
		return uint128{}, err
	}
	left := g.need[i]
	g.need[i] = uint128{}
	return left, nil
}

// hasRoom reports whether class i can send more to its servers if the classes that send flow there
// move it to slack at their other servers. It only checks, which is much faster than sending the
// flow, and takes no more steps than a search.
func (g *network) hasRoom(i int32, more uint128) bool {
	g.taken = g.taken[:0]
	looks := len(g.head)
	take := func(s int32, amount uint128) {
		g.slack[s] = g.slack[s].minus(amount)
		g.taken = append(g.taken, part{s, amount})
		more = more.minus(minUint128(more, amount))
	}
	defer func() {
		for _, x := range g.taken {
			g.slack[x.server] = g.slack[x.server].plus(x.amount)
		}
	}()
	own := g.head[g.first[i]:g.first[i+1]]
	for _, s := range own {
		take(s, g.slack[s])
	}
	for _, s := range own {
		for _, e := range g.used[g.base[s]:][:g.count[s]] {
			j, left := g.tail[e], g.flow[e]
			if j == i {
				continue
			}
			others := g.head[g.first[j]:g.first[j+1]]
			if looks -= len(others); looks < 0 {
				return false
			}
			for _, t := range others {
				if amount := minUint128(left, g.slack[t]); !amount.isZero() {
					if take(t, amount); more.isZero() {
						return true
					}
					if left = left.minus(amount); left.isZero() {
						break
					}
				}
			}
		}
	}
	return false
}

// slackAt returns the total slack of the servers of class i.
func (g *network) slackAt(i int32) uint128 {
	var sum uint128
	for _, s := range g.head[g.first[i]:g.first[i+1]] {
		sum = sum.plus(g.slack[s])
	}
	return sum
}

// marginBound returns an upper bound on the margin, in units: the minimum of the margins of the
// bottleneck and of each class with a single combination, alone. It is nil if there is no such
// class.
func (g *graph) marginBound(tight cut) *big.Int {
	var bound *big.Int
	margin := new(big.Int)
	for i := range g.load {
		if !g.single[i] {
			continue
		}
		margin.Neg(g.load[i])
		for _, s := range g.head[g.first[i]:g.first[i+1]] {
			margin.Add(margin, g.capacity[s])
		}
		if bound == nil || margin.Cmp(bound) < 0 {
			bound = new(big.Int).Set(margin)
		}
	}
	if bound != nil && len(tight.classes) > 0 {
		load, capacity := g.sums(tight.classes, tight.servers)
		if margin.Sub(capacity, load).Cmp(bound) < 0 {
			bound.Set(margin)
		}
	}
	return bound
}

// leastOfSinglesBig is leastOfSingles for numbers too long for the network, given their sum and a
// margin that is attained. On a network with loads rounded up and capacities rounded down, margins
// are no larger. This shows for most classes that no set with such a small margin contains them.
// Each other class sends without limit, and the minimum cut of this flow is the required set.
func (g *graph) leastOfSinglesBig(ctx context.Context, bound, size *big.Int) (*subset, error) {
	shift := uint(size.BitLen() - wideBits + 2) // space for one more unit per class, twice
	up := func(x *big.Int) *big.Int {
		x = new(big.Int).Neg(x)
		return x.Neg(x.Rsh(x, shift)) // Rsh rounds down
	}
	rounded := newNetwork(g.choices(), len(g.capacity))
	load, capacity := make([]*big.Int, len(g.load)), make([]*big.Int, len(g.capacity))
	for i, x := range g.load {
		load[i] = up(x)
	}
	for s, x := range g.capacity {
		capacity[s] = new(big.Int).Rsh(x, shift)
	}
	if _, err := rounded.solve(ctx, load, capacity); err != nil {
		return nil, err
	}
	fits := len(rounded.classes) == 0 // otherwise rounding hides the margin
	more := wideOf(up(bound)).plus(uint128{0, 1})
	need := slices.Clone(g.load)
	endless := new(big.Int).Add(size, big.NewInt(1))
	var best *subset
	for i := range int32(len(need)) {
		if !g.single[i] {
			continue
		}
		left, err := rounded.lack(ctx, i, more)
		if err != nil {
			return nil, err
		}
		if !fits || !left.isZero() {
			need[i] = endless
			if _, err := g.solve(ctx, need, g.capacity); err != nil {
				return nil, err
			}
			sent, room := g.sums(g.classes, g.servers)
			if margin := room.Sub(room, sent); margin.Cmp(bound) <= 0 {
				if candidate := g.subsetOf(cut{g.classes, g.servers}); candidate.isPreferred(best) {
					best = candidate
				}
				bound = margin
				more = wideOf(up(bound)).plus(uint128{0, 1})
			}
		}
		need[i] = new(big.Int)
		rounded.release(i)
	}
	return best, nil
}

// choices returns the servers that each class may use.
func (g *network) choices() [][]int32 {
	list := make([][]int32, len(g.need))
	for i := range list {
		list[i] = g.head[g.first[i]:g.first[i+1]]
	}
	return list
}
