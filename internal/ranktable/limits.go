package ranktable

import "slices"

// A Limit says that jobs of some classes hold at most so many servers together.
type Limit struct {
	Classes []int // not empty
	Most    int   // >= 1
}

// Limits are servers that jobs of some classes take in order of arrival, as far as limits let them. The sets of limits
// are disjoint or nested.
type Limits struct {
	servers int
	limits  []Limit // those inside come first
	parent  []int   // of each limit: the least set around it, len(limits) for all servers
	home    []int   // of each class: the least set that holds it
}

// NewLimits returns so many servers with limits on some of the classes.
func NewLimits(servers, classes int, limits []Limit) *Limits {
	l := &Limits{servers: servers, limits: slices.Clone(limits), home: make([]int, classes)}
	slices.SortStableFunc(l.limits, func(a, b Limit) int { return len(a.Classes) - len(b.Classes) })
	for k, limit := range l.limits {
		l.parent = append(l.parent, l.around(k+1, limit.Classes[0]))
	}
	for i := range l.home {
		l.home[i] = l.around(0, i)
	}
	return l
}

// around returns the first limit, from one on, that holds a class.
func (l *Limits) around(from, class int) int {
	for from < len(l.limits) && !slices.Contains(l.limits[from].Classes, class) {
		from++
	}
	return from
}

// Busy returns how many servers x_i jobs of each class hold, in whatever order they came: of each set, the least of its
// bound and the sum over the largest sets in it and the classes of it in none of these.
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
