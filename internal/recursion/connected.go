package recursion

import (
	"context"
	"slices"
)

// ConnectedGraph is the lattice of connected sets of servers. In the server recursion
//
//	Z(K) = Σ_{s∈K} C_s Z(K∖{s}) / (M(K) - λ(K))
//
// the set K∖{s} is often disconnected: its components, linked by the classes with all servers
// inside, are independent, so their values multiply, and a server that no such class uses has value
// 1. Only connected sets reached from the set of all servers need a value: S²/2 of them for a line
// with local jobs.
//
// Finding the components of K∖{s} for all s costs little more than listing them: with t the lowest
// server of K, they are the known components of K∖{t}∖{s}, merged where classes through t without s
// link them.
//
// The sets are counted first: if more than limit terms, or equivalent work, are needed, nothing is
// built and the graph is nil. used is the part of the limit needed, as far as it was counted.
func ConnectedGraph(ctx context.Context, p *Problem, limit int) (g *Graph, used int, err error) {
	if p.leastTerms() > float64(limit) {
		return nil, limit + 1, ctx.Err()
	}
	l := newLinks(p)
	if used, err = l.count(ctx, limit); used > limit || err != nil {
		return nil, used, err
	}
	b := &connectedBuilder{
		p:        p,
		stop:     Cancellation{Ctx: ctx},
		links:    l,
		setTable: newSetTable(l.words),
		g:        newGraph(1<<6, 1<<9),
	}
	for _, group := range p.Groups {
		b.g.Weights = append(b.g.Weights, group.Capacity)
	}
	if b.state(l.allServers()) < 0 {
		return nil, used, b.err
	}
	return b.g, used, b.g.close(ctx, p)
}

// leastTerms returns a lower bound on the terms over connected sets, in linear time. It counts only
// the links of a forest, made of classes on two servers. A connected set has a term for each of its
// servers. With c(s) the number of connected sets of which s is the server nearest to the root, and
// m(s) the sum of their sizes,
//
//	c(s) = Π_t (1 + c(t)),  m(s) = c(s) (1 + Σ_t m(t)/(1 + c(t))),
//
// over the children t of s. Sets of one server do not count: they need a value only if a class uses
// only this server.
func (p *Problem) leastTerms() (terms float64) {
	n := len(p.Groups)
	next := make([][]int, n)
	for _, k := range p.Classes {
		if len(k.Choose) == 2 {
			a, b := k.Choose[0].Group, k.Choose[1].Group
			next[a], next[b] = append(next[a], b), append(next[b], a)
		}
	}
	parent, order := slices.Repeat([]int{-1}, n), make([]int, 0, n) // parents first
	for root := range n {
		if parent[root] >= 0 {
			continue
		}
		parent[root] = root
		order = append(order, root)
		for at := len(order) - 1; at < len(order); at++ {
			s := order[at]
			for _, t := range next[s] {
				if parent[t] < 0 {
					parent[t] = s
					order = append(order, t)
				}
			}
		}
	}
	sets, sizes := slices.Repeat([]float64{1}, n), slices.Repeat([]float64{1}, n) // c(s), and m(s)/c(s)
	for _, s := range slices.Backward(order) {
		terms += sets[s]*sizes[s] - 1
		if up := parent[s]; up != s {
			sets[up] *= 1 + sets[s]
			sizes[up] += sizes[s] / (1 + 1/sets[s])
		}
	}
	return terms * (1 - 0x1p-30) // below the sum despite roundings
}

type connectedBuilder struct {
	*links
	setTable // table of all states
	p        *Problem
	g        *Graph
	stop     Cancellation
	err      error   // error of the context
	stack    []int32 // children of the states in progress, the innermost last
}

// state returns the state of a connected set, adding a new one after the states it needs; -1 if the
// context is cancelled. It does not keep set.
func (b *connectedBuilder) state(set serverSet) int32 {
	if k := b.slots[b.slot(set)]; k != 0 {
		return k - 1
	}
	scratch := make([]uint64, 4*b.words)
	cut := func(i int) serverSet { return scratch[i*b.words : (i+1)*b.words] }
	link, avoid, merged := cut(1), cut(2), cut(3)
	set = cut(0)[:copy(cut(0), set)]
	servers := set.list()
	if b.err = b.stop.After(BigSteps * len(servers)); b.err != nil {
		return -1
	}
	t := servers[0]
	var own []int32 // classes inside through t
	for _, c := range b.through[t] {
		if b.class[c].isSubset(set) {
			own = append(own, c)
			link.or(b.class[c]) // the servers they link
		}
	}
	base := len(b.stack)
	if !b.components(set, t) {
		return -1
	}
	rest := slices.Clone(b.stack[base:])
	ends := append(make([]int, 0, len(servers)), len(b.stack))
	for _, s := range servers[1:] {
		tie := link
		if link.has(s) {
			tie = avoid
			b.tieWithout(tie, own, s)
		}
		if !b.componentsOf(rest, s, t, tie, merged) {
			return -1
		}
		ends = append(ends, len(b.stack))
	}
	start := base
	for j, s := range servers {
		b.g.addTerm(int32(s), b.stack[start:ends[j]]...)
		start = ends[j]
	}
	b.stack = b.stack[:base]
	b.g.Own = append(b.g.Own, own...)
	b.p.addTotal(b.g, func(s int) int { return oneIf(set.has(s)) })
	b.g.endState(int32(len(servers)), b.g.First[len(b.g.First)-1])
	return b.remember(set)
}

// tieWithout sets tie to the servers of the classes that do not use server s.
func (b *connectedBuilder) tieWithout(tie serverSet, classes []int32, s int) {
	clear(tie)
	for _, c := range classes {
		if !b.class[c].has(s) {
			tie.or(b.class[c])
		}
	}
}

// componentsOf appends the states of the components of a set without server s to the stack, given
// rest, those of the set without t, and tie, the servers that the classes through t link. It writes
// to merged.
func (b *connectedBuilder) componentsOf(rest []int32, s, t int, tie, merged serverSet) bool {
	tied := tie.has(t)
	copy(merged, tie)
	keep := func(c int32) {
		if tied && tie.meets(b.set(c)) {
			merged.or(b.set(c))
		} else {
			b.stack = append(b.stack, c)
		}
	}
	for _, c := range rest {
		if !b.set(c).has(s) {
			keep(c)
			continue
		}
		for _, cc := range b.g.Children(b.g.First[c] + int32(b.set(c).countBelow(s))) {
			keep(cc)
		}
	}
	if !tied {
		return true
	}
	c := b.state(merged)
	if c >= 0 {
		b.stack = append(b.stack, c)
	}
	return c >= 0
}

// components appends the states of the components of set without server t to the stack.
func (b *connectedBuilder) components(set serverSet, t int) bool {
	var parts []serverSet
	b.eachClass(set, func(c int32) {
		if !b.class[c].has(t) && b.class[c].isSubset(set) {
			parts = join(parts, b.class[c])
		}
	})
	for _, q := range parts {
		k := b.state(q)
		if k < 0 {
			return false
		}
		b.stack = append(b.stack, k)
	}
	return true
}

// join adds a set to disjoint parts, merging those that it meets.
func join(parts []serverSet, set serverSet) []serverSet {
	for i, q := range parts {
		if !q.meets(set) {
			continue
		}
		q.or(set)
		apart := parts[:i+1]
		for _, r := range parts[i+1:] {
			if r.meets(set) {
				q.or(r)
			} else {
				apart = append(apart, r)
			}
		}
		return apart
	}
	return append(parts, slices.Clone(set))
}
