package ranktable

import "slices"

// A Limit is the number of servers that jobs of some classes can hold together.
type Limit struct {
	Classes []int // not empty
	Most    int   // >= 1
}

// Limits describes servers that jobs take in order of arrival, as far as limits on classes allow.
// The sets of limits are disjoint or nested.
type Limits struct {
	servers int
	limits  []Limit // inner limits come first
	parent  []int   // the smallest set around each limit; len(limits) means all servers
	home    []int   // the smallest set with each class
}

// NewLimits returns servers with limits on some of the classes.
func NewLimits(servers, classes int, limits []Limit) *Limits {
	l := &Limits{servers: servers, limits: slices.Clone(limits), home: make([]int, classes)}
	slices.SortStableFunc(l.limits, func(a, b Limit) int { return len(a.Classes) - len(b.Classes) })
	for k, limit := range l.limits {
		l.parent = append(l.parent, l.next(k+1, limit.Classes[0]))
	}
	for i := range l.home {
		l.home[i] = l.next(0, i)
	}
	return l
}

// next returns the first limit with a class, beginning at a given one.
func (l *Limits) next(from, class int) int {
	for from < len(l.limits) && !slices.Contains(l.limits[from].Classes, class) {
		from++
	}
	return from
}

// Busy returns the number of servers held by x_i jobs of each class, in any order of arrival. The
// jobs of a set hold as many servers as its largest subsets and its other classes hold together, up
// to its limit.
func (l *Limits) Busy(x []int) int {
	busy := make([]int, len(l.limits)+1)
	take := func(set, n int) { busy[set] += min(n, l.servers-busy[set]) }
	for i, n := range x {
		take(l.home[i], n)
	}
	for k, limit := range l.limits {
		take(l.parent[k], min(busy[k], limit.Most))
	}
	return busy[len(l.limits)]
}
