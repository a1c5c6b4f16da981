package recursion

import (
	"context"
	"math/bits"
	"slices"
)

// ConnectedGraph is the lattice of connected sets of servers. In the server recursion
//
//	Z(K) = Σ_{s∈K} C_s Z(K∖{s}) / (M(K) - λ(K))
//
// the set K∖{s} often falls apart: components, linked by the classes whose servers all lie
// inside, are independent, so that their values multiply, and a server that no such class uses has value 1.
// Only connected sets reached from the set of all servers need a value: S²/2 of them for a line with local jobs.
//
// The components of K∖{s} for all s cost little more than writing them down: with t the
// lowest server of K, they are those of K∖{t}∖{s}, which are known, less what the classes
// through t that avoid s tie together.
//
// It gives up, returning nil, as soon as more than limit terms, or work as long, are needed; else
// it returns how much of the limit was.
func ConnectedGraph(ctx context.Context, p *Problem, limit int) (g *Graph, used int, err error) {
	n := len(p.Groups)
	b := &connectedBuilder{p: p, stop: Cancellation{Ctx: ctx}, words: (n + 63) / 64, limit: limit, slots: make([]int32, 1<<10),
		through: make([][]int32, n), seen: make([]int32, len(p.Classes)), g: newGraph(1<<10, 1<<14)}
	for i, k := range p.Classes {
		set := make(serverSet, b.words)
		for _, c := range k.Choose {
			set.put(c.Group)
			b.through[c.Group] = append(b.through[c.Group], int32(i))
		}
		b.class = append(b.class, set)
	}
	for _, group := range p.Groups {
		b.g.Weights = append(b.g.Weights, group.Capacity)
	}
	all := make(serverSet, b.words)
	for s := range n {
		all.put(s)
	}
	switch {
	case b.state(all) >= 0:
		return b.g, limit - b.limit, b.g.close(ctx, p)
	case b.err != nil:
		return nil, limit, b.err
	}
	return nil, limit, nil
}

// A serverSet is a set of servers, 64 to a word.
type serverSet []uint64

func (s serverSet) put(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s serverSet) has(i int) bool { return s[i>>6]>>(i&63)&1 == 1 }

func (s serverSet) or(t serverSet) {
	for i, w := range t {
		s[i] |= w
	}
}

func (s serverSet) meets(t serverSet) bool {
	for i, w := range t {
		if s[i]&w != 0 {
			return true
		}
	}
	return false
}

func (s serverSet) within(t serverSet) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// below returns the number of servers of the set before i.
func (s serverSet) below(i int) int {
	n := bits.OnesCount64(s[i>>6] & (1<<(i&63) - 1))
	for _, w := range s[:i>>6] {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s serverSet) list() []int {
	var l []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			l = append(l, i<<6+bits.TrailingZeros64(w))
		}
	}
	return l
}

type connectedBuilder struct {
	p       *Problem
	g       *Graph
	words   int
	class   []serverSet // servers of each class
	through [][]int32   // classes that use each server
	limit   int         // terms that may still be added, or work as long
	stop    Cancellation
	err     error // of the context

	sets  []uint64 // of all states, one after another
	slots []int32  // hash table of the states by their sets: state + 1, or 0

	seen  []int32 // round in which components last met each class
	round int32
	stack []int32 // children of the states under way, the innermost last
}

func (b *connectedBuilder) set(k int32) serverSet { return b.sets[int(k)*b.words:][:b.words] }

// slot returns where the state of a set is or belongs in the hash table.
func (b *connectedBuilder) slot(set serverSet) int {
	h := uint64(0)
	for _, w := range set {
		hi, lo := bits.Mul64(h^w^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	for i := int(h) & (len(b.slots) - 1); ; i = (i + 1) & (len(b.slots) - 1) {
		if k := b.slots[i]; k == 0 || slices.Equal(b.set(k-1), set) {
			return i
		}
	}
}

// remember adds the next state to the hash table.
func (b *connectedBuilder) remember(set serverSet) int32 {
	k := int32(len(b.sets) / b.words)
	b.sets = append(room(b.sets, b.words), set...)
	b.slots[b.slot(set)] = k + 1
	if 2*int(k) > len(b.slots) {
		b.slots = make([]int32, 4*len(b.slots))
		for i := range k + 1 {
			b.slots[b.slot(b.set(i))] = i + 1
		}
	}
	return k
}

// state returns the state of a connected set, which it adds, after the states it needs, if
// it is new; -1 if the limit is passed or the context has ended. It does not keep set.
func (b *connectedBuilder) state(set serverSet) int32 {
	if k := b.slots[b.slot(set)]; k != 0 {
		return k - 1
	}
	scratch := make([]uint64, 4*b.words)
	cut := func(i int) serverSet { return scratch[i*b.words : (i+1)*b.words] }
	link, avoid, merged := cut(1), cut(2), cut(3)
	set = cut(0)[:copy(cut(0), set)]
	servers := set.list()
	if b.limit -= len(servers); b.limit < 0 {
		return -1
	}
	if b.err = b.stop.After(BigSteps * len(servers)); b.err != nil {
		return -1
	}
	t := servers[0]
	var own []int32 // classes inside through t
	for _, c := range b.through[t] {
		if b.class[c].within(set) {
			own = append(own, c)
			link.or(b.class[c]) // what they tie together
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

// tieWithout sets tie to the servers of those of the classes that do not use server s.
func (b *connectedBuilder) tieWithout(tie serverSet, classes []int32, s int) {
	clear(tie)
	for _, c := range classes {
		if !b.class[c].has(s) {
			tie.or(b.class[c])
		}
	}
}

// componentsOf appends the states of the components of a set without server s to the stack, given rest, those of the
// set without t, and tie, the servers that the classes through t tie together. It writes to merged.
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
		for _, cc := range b.g.Children(b.g.First[c] + int32(b.set(c).below(s))) {
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
	b.round++
	scanned := 0
	for _, s := range set.list() {
		for _, c := range b.through[s] {
			if b.seen[c] == b.round {
				continue
			}
			b.seen[c] = b.round
			scanned++
			if b.class[c].has(t) || !b.class[c].within(set) {
				continue
			}
			parts = join(parts, b.class[c])
		}
	}
	b.limit -= scanned * (b.words + 8) / 40 // a scan of 32 words takes as long as a term
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
