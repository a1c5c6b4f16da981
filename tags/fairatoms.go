package tags

import (
	"math"
	"sort"

	"productform/internal/shortestpath"
)

// A fairAtoms minimises the largest slowdown, of the hosts at which jobs end, over cutoffs at atoms, which are points 1
// to n, and at 0, point 0. A cutoff between two atoms is no better than the lower one, at which the same jobs end. As
// little waiting before a host as can be is best for it and all after it: so for any bound on the slowdowns, one pass from
// host to host finds the least waiting to each cutoff, and whether there is a path at all.
type fairAtoms struct {
	*fairCost
	points []shortestpath.Point
}

// A span is the points first to last.
type span struct{ first, last int }

func newFairAtoms(f *fairCost) *fairAtoms {
	s := &fairAtoms{f, make([]shortestpath.Point, 0, len(f.atoms))}
	for _, x := range f.atoms {
		s.points = append(s.points, f.at(x))
	}
	return s
}

// host returns the waiting time and the harmonic mean of host i between points a and b, for which S_i = W_i/mean; the
// mean is +Inf if no job ends there.
func (s *fairAtoms) host(i, a, b int) (wait, mean float64) {
	p, q := &s.points[a], &s.points[b]
	switch {
	case q.Tail == 0 && p.Tail == 0: // idle
		return 0, math.Inf(1)
	case a > b:
		return math.Inf(1), 0
	}
	slack, _ := s.slack(i, p, q)
	if !(slack > 0) {
		return math.Inf(1), 0
	}
	v := s.speed[i]
	m2, _ := square(p, q)
	mean = math.Inf(1)
	if a < b {
		mean = (p.Tail - q.Tail) / (p.Inverse - q.Inverse)
	}
	return s.rate * m2 / (2 * v * v * slack), mean
}

// bound returns a lower bound of the waiting time and an upper one of the mean for all points in two spans; both are
// exact for spans of one point.
func (s *fairAtoms) bound(i int, a, b span) (wait, mean float64) {
	n := len(s.points) - 1
	switch {
	case a.last == n && b.last == n:
		return 0, math.Inf(1)
	case a.first > b.last:
		return math.Inf(1), 0
	case a.last < b.first || a.first == a.last && a == b:
		if wait, mean = s.host(i, a.last, b.first); b.first == b.last {
			return wait, mean
		}
	default:
		x, v := s.points[b.first].X, s.speed[i]
		wait = s.rate * x * x * s.points[a.last].Tail / (2 * v * v)
	}
	if a.last >= b.first { // the cutoffs may be equal
		return wait, math.Inf(1)
	}
	p, q := &s.points[a.last], &s.points[b.last]
	return wait, (p.Tail - q.Tail) / (p.Inverse - q.Inverse)
}

// pass returns the last points of the spans on a path that keeps all slowdowns below the limit, nil if there is none,
// and the least waiting to each span.
func (s *fairAtoms) pass(stages [][]span, limit float64) ([]int, [][]float64) {
	n := len(stages) - 1
	least, from := make([][]float64, n+1), make([][]int, n+1)
	least[0] = []float64{0}
	for j := 1; j <= n; j++ {
		if s.l.stopped() {
			return nil, least
		}
		least[j], from[j] = make([]float64, len(stages[j])), make([]int, len(stages[j]))
		for k, b := range stages[j] {
			least[j][k] = math.Inf(1)
			for i, a := range stages[j-1] {
				if !(least[j-1][i] < least[j][k]) {
					continue
				}
				wait, mean := s.bound(j-1, a, b)
				if w := least[j-1][i] + wait; w < least[j][k] && w < limit*mean {
					least[j][k], from[j][k] = w, i
				}
			}
		}
	}
	if math.IsInf(least[n][0], 1) {
		return nil, least
	}
	path := make([]int, n-1)
	for j, k := n, 0; j > 1; j-- {
		k = from[j][k]
		path[j-2] = stages[j-1][k].last
	}
	return path, least
}

// prune drops the spans through which no path keeps all slowdowns below the limit: those with a least waiting above the
// most that the hosts to come allow.
func (s *fairAtoms) prune(stages [][]span, limit float64) {
	_, least := s.pass(stages, limit)
	if s.l.stopped() {
		return
	}
	n := len(stages) - 1
	most := []float64{math.Inf(1)}
	for j := n - 1; j > 0; j-- {
		var kept []span
		var allowed []float64
		for k, a := range stages[j] {
			best := math.Inf(-1)
			for i, b := range stages[j+1] {
				if wait, mean := s.bound(j, a, b); !math.IsInf(wait, 1) {
					best = max(best, min(limit*mean, most[i])-wait)
				}
			}
			if least[j][k] <= best {
				kept, allowed = append(kept, a), append(allowed, best)
			}
		}
		stages[j], most = kept, allowed
	}
}

// solve returns the cutoffs, nil if it finds none. It halves spans and drops those that cannot better the best path,
// until none is left.
func (s *fairAtoms) solve() []float64 {
	const pieces, pairs = 32, 1 << 25
	top := len(s.points) - 1
	stages := [][]span{{{0, 0}}}
	for j := range s.low {
		from := sort.SearchFloat64s(s.atoms, s.low[j])
		end := sort.Search(top+1, func(i int) bool { return s.atoms[i] > s.high[j] })
		var spans []span
		for k := range pieces {
			if i, j := from+(end-from)*k/pieces, from+(end-from)*(k+1)/pieces; i < j {
				spans = append(spans, span{i, j - 1})
			}
		}
		stages = append(stages, spans)
	}
	stages = append(stages, []span{{top, top}})
	var best []int
	worst := math.Inf(1)
	for {
		best, worst = s.descend(stages, best, worst)
		s.prune(stages, worst)
		if s.l.stopped() || !halve(stages, pairs) {
			break
		}
	}
	if best == nil {
		return nil
	}
	return s.raiseLeast(best, worst)
}

// halve cuts all spans in two. It returns false if there is nothing to cut, or too much, or no span left.
func halve(stages [][]span, pairs int) bool {
	cut, n := false, 0
	for j := 1; j < len(stages)-1; j++ {
		var next []span
		for _, c := range stages[j] {
			if c.first == c.last {
				next = append(next, c)
				continue
			}
			mid := (c.first + c.last) / 2
			next, cut = append(next, span{c.first, mid}, span{mid + 1, c.last}), true
		}
		if next == nil {
			return false
		}
		stages[j] = next
		n += len(stages[j-1]) * len(next)
	}
	return cut && n <= pairs
}

// descend returns the best path through the last points of the spans, if it is better than the one given.
func (s *fairAtoms) descend(stages [][]span, best []int, worst float64) ([]int, float64) {
	ends := make([][]span, len(stages))
	for j, spans := range stages {
		for _, c := range spans {
			ends[j] = append(ends[j], span{c.last, c.last})
		}
	}
	for low := 0.0; ; { // for the limit low no path was found
		if s.l.stopped() {
			return best, worst
		}
		limit := worst * (1 - 1e-13)
		switch {
		case low == 0:
			limit = worst / 4
		case worst > 1.001*low:
			limit = math.Sqrt(low) * math.Sqrt(worst)
		}
		if path, _ := s.pass(ends, limit); path != nil {
			best = path
			_, worst = s.slowdowns(path)
			continue
		}
		if low > 0 && worst <= 1.001*low || math.IsInf(worst, 1) {
			return best, worst
		}
		low = limit
	}
}

// slowdowns returns the least and the largest slowdown of a path.
func (s *fairAtoms) slowdowns(path []int) (least, largest float64) {
	least = math.Inf(1)
	waited, a := 0.0, 0
	for i := range len(path) + 1 {
		b := len(s.points) - 1
		if i < len(path) {
			b = path[i]
		}
		wait, mean := s.host(i, a, b)
		if waited += wait; !math.IsInf(mean, 1) {
			least, largest = min(least, waited/mean), max(largest, waited/mean)
		}
		a = b
	}
	return least, largest
}

// raiseLeast raises the least slowdown of a path by moves of one cutoff that do not raise the largest, and returns its
// cutoffs.
func (s *fairAtoms) raiseLeast(path []int, worst float64) []float64 {
	least, _ := s.slowdowns(path)
	for moved := true; moved && !s.l.stopped(); {
		moved = false
		for j := range path {
			at := path[j]
			for step := 1; step < len(s.points); step *= 2 {
				for _, to := range []int{at - step, at + step} {
					if to < 0 || to >= len(s.points) {
						continue
					}
					old := path[j]
					path[j] = to
					if l, w := s.slowdowns(path); w <= worst && l > least {
						least, moved = l, true
					} else {
						path[j] = old
					}
				}
			}
		}
	}
	cutoffs := make([]float64, len(path))
	for j, k := range path {
		cutoffs[j] = s.points[k].X
	}
	return cutoffs
}
