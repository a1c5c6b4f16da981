package recursion

import (
	"context"
	"math/bits"
)

// links are the classes of a problem of single servers as sets of servers, which they link.
type links struct {
	servers, words int
	class          []serverSet // servers of each class
	through        [][]int32   // classes that use each server
	seen           []int32     // last round in which each class was met
	round          int32
}

func newLinks(p *Problem) *links {
	n := len(p.Groups)
	l := &links{servers: n, words: (n + 63) / 64, through: make([][]int32, n), seen: make([]int32, len(p.Classes))}
	for i, k := range p.Classes {
		set := make(serverSet, l.words)
		for _, c := range k.Choose {
			set.put(c.Group)
			l.through[c.Group] = append(l.through[c.Group], int32(i))
		}
		l.class = append(l.class, set)
	}
	return l
}

func (l *links) allServers() serverSet {
	set := make(serverSet, l.words)
	for s := range l.servers {
		set.put(s)
	}
	return set
}

// eachClass calls f once for each class that uses a server of the set, and returns the number of
// these classes.
func (l *links) eachClass(set serverSet, f func(class int32)) (classes int) {
	l.round++
	for at, w := range set {
		for ; w != 0; w &= w - 1 {
			for _, c := range l.through[at<<6+bits.TrailingZeros64(w)] {
				if l.seen[c] != l.round {
					l.seen[c] = l.round
					classes++
					f(c)
				}
			}
		}
	}
	return classes
}

// count returns the number of terms of the graph of connected sets and the work of building it in
// the same unit, or a number above the limit if it is exceeded. Each state counts its servers and
// the classes that use them.
//
// A connected set is a union of classes in which each class meets an earlier one, so all such sets
// are found from single classes by adding one class at a time. The last sets found are extended
// first: they are large, so an excess of sets shows early.
func (l *links) count(ctx context.Context, limit int) (used int, err error) {
	stop := Cancellation{Ctx: ctx}
	found := newSetTable(l.words)
	var open []int32
	union := make(serverSet, l.words)
	add := func(set serverSet) {
		if found.slots[found.slot(set)] == 0 {
			open = append(open, found.remember(set))
		}
	}
	add(l.allServers())
	for _, class := range l.class {
		add(class)
		for len(open) > 0 && used <= limit {
			set := found.set(open[len(open)-1])
			open = open[:len(open)-1]
			scanned := l.eachClass(set, func(c int32) {
				if copy(union, set); !l.class[c].isSubset(set) {
					union.or(l.class[c])
					add(union)
				}
			})
			used += set.size() + scanned*(l.words+8)/40 // a scan of 32 words takes as long as a term
			if err := stop.After(8 * scanned); err != nil {
				return used, err
			}
		}
	}
	return used, nil
}
