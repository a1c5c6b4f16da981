package stations

import (
	"slices"

	"productform/internal/ranktable"
)

// first gives the whole rate to the oldest job.
type first struct{ total func(n int) float64 }

// NewFirst returns a station that serves its oldest job at the rate total(n) with n jobs.
func NewFirst(total func(n int) float64, classes int) *Ordered {
	return newOrdered(first{total}, classes)
}

func (r first) share(q *Ordered) {
	if n := len(q.jobs) - q.head; n > 0 {
		q.give(q.head, r.total(n))
	}
}

// last gives the whole rate to the youngest job.
type last struct{ total func(n int) float64 }

// NewLast returns a station that serves its youngest job at the rate total(n) with n jobs.
// Interrupted jobs resume later.
func NewLast(total func(n int) float64, classes int) *Ordered {
	return newOrdered(last{total}, classes)
}

func (r last) share(q *Ordered) {
	if n := len(q.jobs) - q.head; n > 0 {
		q.give(len(q.jobs)-1, r.total(n))
	}
}

// lastServers each serve one of the youngest jobs.
type lastServers struct {
	servers int
	rate    float64
}

// NewLastServers returns a station whose servers, of equal rate, each serve one of the youngest
// jobs. Interrupted jobs resume later.
func NewLastServers(servers int, rate float64, classes int) *Ordered {
	return newOrdered(lastServers{servers, rate}, classes)
}

func (r lastServers) share(q *Ordered) {
	for k := len(q.jobs) - 1; k >= q.head && len(q.jobs)-k <= r.servers; k-- {
		q.give(k, r.rate)
	}
}

// The nodes each serve the oldest job that they can serve.
type nodes struct {
	of       [][]int   // by class: the nodes that can serve it
	capacity []float64 // by node
	round    int       // number of calls of share so far
	taken    []int     // by node: the last round in which it was taken
	seen     []int     // by class: the last round in which one of its jobs was seen; younger jobs find its nodes taken
}

// NewNodes returns a station whose nodes each serve the oldest job that they can serve; several
// nodes can serve a job together. of lists the nodes of each class.
func NewNodes(of [][]int, capacity []float64) *Ordered {
	return newOrdered(
		&nodes{of: of, capacity: capacity, taken: make([]int, len(capacity)), seen: make([]int, len(of))}, len(of),
	)
}

func (r *nodes) share(q *Ordered) {
	r.round++
	classes := 0
	for k := q.head; k < len(q.jobs) && classes < q.classes; k++ {
		class := q.jobs[k].Class
		if r.seen[class] == r.round {
			continue
		}
		r.seen[class] = r.round
		classes++
		var rate float64
		for _, n := range r.of[class] {
			if r.taken[n] < r.round {
				r.taken[n] = r.round
				rate += r.capacity[n]
			}
		}
		q.give(k, rate)
	}
}

// Together returns the total rate of the nodes that can serve at least one class of a bit mask.
func Together(of [][]int, capacity []float64, classes uint64) float64 {
	var sum float64
	for k, v := range capacity {
		for c, nodes := range of {
			if classes>>c&1 == 1 && slices.Contains(nodes, k) {
				sum += v
				break
			}
		}
	}
	return sum
}

// ranked assigns each job the rate that its class adds to the set of the classes of older jobs.
type ranked struct{ rank []float64 }

// NewRanked returns a station with total rate rank[A] while A is the set of classes present, as a
// bit mask. Each job, in order of arrival, gets the rate that its class adds to the set of classes
// of earlier jobs.
func NewRanked(rank []float64, classes int) *Ordered { return newOrdered(ranked{rank}, classes) }

func (r ranked) share(q *Ordered) {
	set, classes := 0, 0
	for k := q.head; k < len(q.jobs) && classes < q.classes; k++ {
		with := set | 1<<q.jobs[k].Class
		if with == set {
			continue
		}
		classes++
		q.give(k, r.rank[with]-r.rank[set])
		set = with
	}
}

// limited gives servers to jobs in order of arrival, subject to limits.
type limited struct {
	servers int
	rate    float64
	limits  []ranktable.Limit
	of      [][]int // by class: the limits on it
	used    []int   // by limit
	blocked []bool  // by class: whether a limit on it is used up
}

// NewLimited returns a station of equal servers, which jobs take in order of arrival. A job gets
// none if older jobs use all servers, or as many as a limit on its class allows (MSCCC).
func NewLimited(servers int, rate float64, limits []ranktable.Limit, classes int) *Ordered {
	r := &limited{
		servers: servers,
		rate:    rate,
		limits:  limits,
		of:      make([][]int, classes),
		used:    make([]int, len(limits)),
		blocked: make([]bool, classes),
	}
	for l, limit := range limits {
		for _, c := range limit.Classes {
			r.of[c] = append(r.of[c], l)
		}
	}
	return newOrdered(r, classes)
}

func (r *limited) share(q *Ordered) {
	clear(r.used)
	clear(r.blocked)
	free, open := r.servers, q.classes // free servers, and classes with jobs that no limit blocks
	for k := q.head; k < len(q.jobs) && free > 0 && open > 0; k++ {
		class := q.jobs[k].Class
		if r.blocked[class] {
			continue
		}
		q.give(k, r.rate)
		free--
		for _, l := range r.of[class] {
			if r.used[l]++; r.used[l] < r.limits[l].Most {
				continue
			}
			for _, c := range r.limits[l].Classes {
				if !r.blocked[c] {
					r.blocked[c] = true
					open -= min(1, q.x[c])
				}
			}
		}
	}
}
