package bf

import "math/bits"

// connectedGraph is the lattice of connected sets of servers. In the server recursion
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
// It gives up, returning nil, as soon as more than limit terms are needed.
func connectedGraph(p *problem, limit int) (g *graph, overloaded int) {
	n := len(p.groups)
	b := &connectedBuilder{p: p, words: (n + 63) / 64, limit: limit, known: map[string]int32{},
		through: make([][]int32, n), seen: make([]int32, len(p.classes)), g: newGraph(ConnectedLattice, 0, 0)}
	for i, k := range p.classes {
		set := make(serverSet, b.words)
		for _, c := range k.choose {
			set.put(c.Server)
			b.through[c.Server] = append(b.through[c.Server], int32(i))
		}
		b.class = append(b.class, set)
	}
	for _, group := range p.groups {
		b.g.weights = append(b.g.weights, group.capacity)
	}
	all := make(serverSet, b.words)
	for s := range n {
		all.put(s)
	}
	if b.state(all) < 0 {
		return nil, -1
	}
	return b.g, b.g.close(p)
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
	p       *problem
	g       *graph
	words   int
	class   []serverSet
	through [][]int32 // classes that use each server
	sets    []serverSet
	known   map[string]int32 // state of each set, by its bytes
	limit   int
	key     []byte
	seen    []int32 // round in which components last met each class
	round   int32
}

// find returns the state of a set, or -1.
func (b *connectedBuilder) find(set serverSet) int32 {
	b.key = b.key[:0]
	for _, w := range set {
		b.key = append(b.key, byte(w), byte(w>>8), byte(w>>16), byte(w>>24), byte(w>>32), byte(w>>40), byte(w>>48), byte(w>>56))
	}
	if k, ok := b.known[string(b.key)]; ok {
		return k
	}
	return -1
}

// state returns the state of a connected set, which it adds, after the states it needs, if
// it is new; -1 if the limit is passed. It does not keep set.
func (b *connectedBuilder) state(set serverSet) int32 {
	if k := b.find(set); k >= 0 {
		return k
	}
	set = append(serverSet(nil), set...)
	servers := set.list()
	if b.limit -= len(servers); b.limit < 0 {
		return -1
	}
	t := servers[0]
	var own []int32
	link := make(serverSet, b.words) // what the own classes tie together
	for _, c := range b.through[t] {
		if b.class[c].within(set) {
			own = append(own, c)
			link.or(b.class[c])
		}
	}
	rest := b.components(set, t)
	children := append([]int32(nil), rest...)
	ends := append(make([]int, 0, len(servers)), len(children))
	for _, c := range rest {
		if c < 0 {
			return -1
		}
	}
	merged := make(serverSet, b.words)
	for _, s := range servers[1:] {
		tie := link
		if link.has(s) {
			tie = make(serverSet, b.words)
			for _, c := range own {
				if !b.class[c].has(s) {
					tie.or(b.class[c])
				}
			}
		}
		copy(merged, tie)
		tied := tie.has(t)
		keep := func(c int32) {
			if tied && tie.meets(b.sets[c]) {
				merged.or(b.sets[c])
			} else {
				children = append(children, c)
			}
		}
		for _, c := range rest {
			if !b.sets[c].has(s) {
				keep(c)
				continue
			}
			for _, cc := range b.g.children(b.g.first[c] + int32(b.sets[c].below(s))) {
				keep(cc)
			}
		}
		if tied {
			c := b.state(merged)
			if c < 0 {
				return -1
			}
			children = append(children, c)
		}
		ends = append(ends, len(children))
	}
	return b.add(set, servers, own, children, ends)
}

// add appends the state of a set, the children of whose terms end at ends.
func (b *connectedBuilder) add(set serverSet, servers []int, own, children []int32, ends []int) int32 {
	start := 0
	for j, s := range servers {
		b.g.addTerm(int32(s), children[start:ends[j]]...)
		start = ends[j]
	}
	b.g.own = append(b.g.own, own...)
	b.p.addTotal(b.g, func(s int) int { return b2i(set.has(s)) })
	b.g.endState(int32(len(servers)), b.g.first[len(b.g.first)-1])
	k := int32(len(b.sets))
	b.sets = append(b.sets, set)
	b.find(set)
	b.known[string(b.key)] = k
	return k
}

// components returns the states of the components of set without server t.
func (b *connectedBuilder) components(set serverSet, t int) []int32 {
	var parts []serverSet
	b.round++
	for _, s := range set.list() {
		for _, c := range b.through[s] {
			if b.seen[c] == b.round {
				continue
			}
			b.seen[c] = b.round
			if b.class[c].has(t) || !b.class[c].within(set) {
				continue
			}
			grown := append(serverSet(nil), b.class[c]...)
			apart := parts[:0]
			for _, q := range parts {
				if grown.meets(q) {
					grown.or(q)
				} else {
					apart = append(apart, q)
				}
			}
			parts = append(apart, grown)
		}
	}
	var states []int32
	for _, q := range parts {
		states = append(states, b.state(q))
	}
	return states
}
