package tags

import (
	"container/heap"
	"errors"
	"math"
	"slices"
	"sort"

	"productform/tags/internal/path"
)

// A fairSearch looks for fair cutoffs by bisection of boxes of cutoffs, in all dimensions at once.
// V_i falls in s_{i-1} and grows in s_i, and H_i grows in both, which bounds the slowdown of each
// host for all cutoffs of a box. A box is dropped if the slowdowns cannot be equal there, or if all
// exceed that of a known solution. Solutions come from Newton's method, started in the middle of
// boxes. For a list of sizes the search minimises the largest slowdown of the hosts at which jobs
// end. Then only lower bounds matter, and a local search from the corners of boxes finds solutions.
//
// There is no second method because no other one proves its answers and supports all distributions.
// Once no box is left, it is proved that there are no fair cutoffs, none with a smaller S, or, for
// a list, none with a smaller maximum. Shooting from host to host finds at most one solution and
// proves nothing if it fails. The same holds for continuation from other cutoffs. Dynamic
// programming over the atoms of a list minimises a maximum, but cannot impose equality.
type fairSearch struct {
	*fairCost
	points   []path.Point // points at 0 and the sizes of a list; nil for other distributions
	one      bool         // stop at the first solution
	queue    boxQueue
	solution []float64 // unknowns with the smallest S found so far, or nil; for a list its cutoffs
	limit    float64   // upper limit on S for a better solution
	most     int       // maximum number of boxes to examine
	looked   int       // number of boxes examined
	proved   bool      // no box that may hold a better solution was given up
}

// A fairBox is a set of cutoffs, s_j between the points low[j] and high[j]. The slowdown S that all
// hosts can have in common there is between least and most; for a list this holds for the largest
// slowdown.
type fairBox struct {
	low, high   []*path.Point
	least, most float64
	full        bool    // the load of a host is almost 1 everywhere in the box
	spread      float64 // Σ_i of the widths of the bounds on ln S_i, at most 50 each
	tried       float64 // spread of the last enclosing box from whose middle Newton's method was tried
}

// A boxQueue holds boxes by priority.
type boxQueue struct {
	boxes []*fairBox
	order func(b *fairBox) float64
}

func (q *boxQueue) Len() int           { return len(q.boxes) }
func (q *boxQueue) Less(i, j int) bool { return q.order(q.boxes[i]) < q.order(q.boxes[j]) }
func (q *boxQueue) Swap(i, j int)      { q.boxes[i], q.boxes[j] = q.boxes[j], q.boxes[i] }
func (q *boxQueue) Push(x any)         { q.boxes = append(q.boxes, x.(*fairBox)) }
func (q *boxQueue) Pop() any {
	last := len(q.boxes) - 1
	b := q.boxes[last]
	q.boxes[last], q.boxes = nil, q.boxes[:last]
	return b
}

const (
	mostBoxes   = 40000 // limit on boxes; a tenth of it if the distribution is not unimodal: its moments are slow
	listFactor  = 5     // factor on mostBoxes for a list, whose moments are fast
	fullLoadTol = 1e-10 // slack below which a box is given up: double-precision cutoffs cannot represent it
	roundingTol = 1e-11 // safety margin of bounds, a thousand times the rounding errors
	boxTol      = 1e-12 // relative width of cutoffs at which a box is given up
	sameTol     = 1e-9  // relative difference of S below which solutions are considered the same
	mostSpread  = 50    // width of the bounds on ln S_i above which they carry no information
)

// newFairSearch returns the search for f. In all known cases, hosts of one speed and sizes with a
// unimodal density have one solution.
func newFairSearch(f *fairCost) *fairSearch {
	s := &fairSearch{fairCost: f, limit: math.Inf(1), most: mostBoxes, proved: true}
	s.one = f.density != nil && slices.Min(f.speed) == slices.Max(f.speed)
	s.queue.order = func(b *fairBox) float64 { return b.spread }
	if f.atoms == nil {
		if f.density == nil {
			s.most /= 10
		}
		return s
	}
	s.most *= listFactor
	s.queue.order = func(b *fairBox) float64 { return b.least }
	for _, x := range f.atoms {
		s.points = append(s.points, f.at(x))
	}
	s.atEnd = s.points[len(s.points)-1]
	return s
}

// run examines boxes until none is left or the limit on their number is reached.
func (s *fairSearch) run() {
	start := &fairBox{tried: math.Inf(1)}
	for j := range s.low {
		start.low, start.high = append(start.low, s.pointAt(s.low[j])), append(start.high, s.pointAt(s.high[j]))
	}
	s.bound(start)
	s.add(start)
	for ; s.looked < s.most && len(s.queue.boxes) > 0; s.looked++ {
		if s.l.stopped() {
			return
		}
		b := heap.Pop(&s.queue).(*fairBox)
		if b.least > s.limit || s.atoms == nil && s.solution != nil && b.isWithin(s.solution, 1e-7) {
			continue // nothing better here, or Newton's method has been tried
		}
		s.solve(b)
		if s.one && s.solution != nil {
			return
		}
		if first, second, ok := s.cut(b); ok {
			s.add(first)
			s.add(second)
		} else { // a single point of a list is solved
			s.proved = s.proved && slices.Equal(b.low, b.high)
		}
	}
	s.proved = s.proved && len(s.queue.boxes) == 0
}

// answer returns the cutoffs found and the visits, or an error.
func (s *fairSearch) answer() ([]float64, []visit[double], error) {
	l := s.l
	switch list := s.atoms != nil; {
	case l.stopped():
		return nil, nil, l.err
	case list && !s.proved:
		return nil, nil, &UnfairError{Looked: s.looked, List: true}
	case list && s.solution == nil:
		return nil, nil, checkFinite(math.Inf(1)) // a slowdown is beyond float64
	case s.solution == nil:
		return nil, nil, errors.Join(&UnfairError{Looked: s.looked, Proved: s.proved}, l.err)
	case list:
		return s.solution, s.visits(s.solution), l.err
	}
	l.err = nil // a search may try cutoffs that overflow
	cutoffs, visits := s.result(s.solution)
	return cutoffs, visits, l.err
}

// pointAt returns the point of cutoff x, which is an atom of a list.
func (s *fairSearch) pointAt(x float64) *path.Point {
	if s.atoms != nil {
		return &s.points[sort.SearchFloat64s(s.atoms, x)]
	}
	p := s.at(x)
	return &p
}

// add queues a box if it may hold a better solution.
func (s *fairSearch) add(b *fairBox) {
	switch {
	case b.least <= b.most:
		heap.Push(&s.queue, b)
	case !(b.least > b.most): // a bound is NaN
		s.proved = false
	}
}

// solve looks for a better solution from the box.
func (s *fairSearch) solve(b *fairBox) {
	if s.atoms != nil {
		for _, corner := range [][]*path.Point{b.low, b.high} {
			if _, largest := s.slowdowns(corner); largest <= s.limit {
				s.improve(slices.Clone(corner))
			}
		}
		return
	}
	if b.spread > b.tried/2 || s.solution != nil && b.holds(s.solution) {
		return
	}
	b.tried = b.spread
	if x, last := s.middle(b), len(b.low); s.newton(x) && (s.solution == nil || x[last] < s.solution[last]) {
		s.solution, s.limit = x, math.Exp(x[last])*(1-sameTol)
	}
}

// holds reports whether the cutoffs of a solution are in the box.
func (b *fairBox) holds(x []float64) bool {
	for j := range b.low {
		if s := math.Exp(x[j]); s < b.low[j].X || s > b.high[j].X {
			return false
		}
	}
	return true
}

// isWithin reports whether the whole box is close to the cutoffs of a solution, in relative terms.
func (b *fairBox) isWithin(x []float64, part float64) bool {
	for j := range b.low {
		if s := math.Exp(x[j]); b.low[j].X < s*(1-part) || b.high[j].X > s*(1+part) {
			return false
		}
	}
	return true
}

// cut halves a box across the dimension that leaves the narrowest bounds on the slowdowns; for a
// list, the product of their width and the margin below the limit decides. It returns false if the
// box is too small or given up.
func (s *fairSearch) cut(b *fairBox) (first, second *fairBox, ok bool) {
	best := math.Inf(1)
	if b.full {
		return nil, nil, false
	}
	for j := range b.low {
		below, above, ok := s.halves(b.low[j], b.high[j])
		if !ok {
			continue
		}
		lower := &fairBox{tried: b.tried, low: b.low, high: slices.Clone(b.high)}
		upper := &fairBox{tried: b.tried, low: slices.Clone(b.low), high: b.high}
		for k := 0; k <= j; k++ { // cutoffs do not fall
			if lower.high[k].X > below.X {
				lower.high[k] = below
			}
		}
		for k := j; k < len(b.low); k++ {
			if upper.low[k].X < above.X {
				upper.low[k] = above
			}
		}
		left := 0.0
		for _, half := range []*fairBox{lower, upper} {
			if s.bound(half); half.least <= half.most {
				width := 1.0
				if s.atoms != nil {
					width = min(math.Log(half.most/half.least), mostSpread)
				}
				left += half.spread * width
			}
		}
		if left < best {
			first, second, best = lower, upper, left
		}
	}
	return first, second, first != nil
}

// halves returns the upper end of the lower half of a range of cutoffs and the lower end of the
// upper half. It returns false if the range is too small.
func (s *fairSearch) halves(low, high *path.Point) (below, above *path.Point, ok bool) {
	if s.atoms != nil {
		i, j := sort.SearchFloat64s(s.atoms, low.X), sort.SearchFloat64s(s.atoms, high.X)
		if i == j {
			return nil, nil, false
		}
		return &s.points[(i+j)/2], &s.points[(i+j)/2+1], true
	}
	x := math.Sqrt(low.X) * math.Sqrt(high.X)
	if !(high.X > low.X*(1+boxTol)) || !(x > low.X && x < high.X) {
		return nil, nil, false
	}
	below = s.pointAt(x)
	return below, below, true
}

// bound sets least and most: the largest of the lower bounds W_i/H_i on the slowdowns of the hosts,
// and the smallest of the upper bounds, and likewise from V_i = S (H_i - H_{i-1}). For a list,
// least is a lower bound on the largest slowdown, hosts at which no job may end are ignored, and
// most is the limit.
func (s *fairSearch) bound(b *fairBox) {
	b.least, b.most, b.spread, b.full = 0, s.limit, 0, false
	n := len(b.low)
	var low, high float64                   // bounds on W_i
	var smallerBefore, largerBefore float64 // bounds on H_{i-1}
	for i := range n + 1 {
		a1, a2, b1, b2 := &s.at0, &s.at0, &s.atEnd, &s.atEnd // the box of s_{i-1}, and that of s_i
		if i > 0 {
			a1, a2 = b.low[i-1], b.high[i-1]
		}
		if i < n {
			b1, b2 = b.low[i], b.high[i]
		}
		leastWait := s.leastWait(i, a2, b1)
		if a1.X > b2.X || math.IsInf(leastWait, 1) { // decreasing or overloaded everywhere in the box
			b.least, b.most = 1, 0
			return
		}
		mostWait := s.mostWait(i, a1, b2)
		low += leastWait
		high += mostWait
		if s.atoms != nil && a2.X >= b1.X {
			b.spread += mostSpread
			continue
		}
		smaller, larger := s.harmonicAbove(a1.X, b1.X), s.harmonicBelow(a2.X, b2.X)
		if s.atoms != nil {
			b.least = max(b.least, low/larger)
			b.spread += min(math.Log(high/smaller/(low/larger)), mostSpread)
			continue
		}
		if a2.X <= b1.X {
			slack, _ := s.slack(i, a2, b1)
			b.full = b.full || slack < fullLoadTol
		}
		least, most := low/larger*(1-roundingTol), high/smaller*(1+roundingTol)
		b.spread += min(math.Log(most/least), mostSpread)
		b.least, b.most = max(b.least, least), min(b.most, most)
		if gain := larger - smallerBefore; gain > 0 { // S (H_i - H_{i-1}) = V_i
			b.least = max(b.least, leastWait/(gain+roundingTol*larger))
		}
		if gain := smaller - largerBefore; gain > 2*roundingTol*smaller {
			b.most = min(b.most, mostWait/(gain-roundingTol*smaller))
		}
		smallerBefore, largerBefore = smaller, larger
	}
}

// leastWait bounds V_i from below for cutoffs s_{i-1} <= a and s_i >= b.
func (f *fairCost) leastWait(i int, a, b *path.Point) float64 {
	v := f.speed[i]
	if a.X > b.X { // each size above a gets at least the work that is redone, which is b for restarts
		d := f.m.Resume.leastRedone(b.X, a.X)
		return f.rate * d * d * a.Tail / (2 * v * v)
	}
	slack, off := f.slack(i, a, b)
	if slack+off <= 0 {
		return math.Inf(1)
	}
	m2, size := square(a, b)
	return f.rate * max(0, m2-momentTol*size) / (2 * v * v * (slack + off))
}

// mostWait bounds V_i from above for cutoffs s_{i-1} >= a and s_i <= b.
func (f *fairCost) mostWait(i int, a, b *path.Point) float64 {
	v := f.speed[i]
	slack, off := f.slack(i, a, b)
	if slack-off <= 0 {
		return math.Inf(1)
	}
	m2, size := square(a, b)
	return f.rate * (m2 + momentTol*size) / (2 * v * v * (slack - off))
}

// harmonicBelow bounds 1/E[1/X | s < X <= t] from above for s <= a and t <= b.
func (f *fairCost) harmonicBelow(a, b float64) float64 {
	if a >= b {
		return b
	}
	return f.harmonic(a, b)
}

// harmonicAbove bounds it from below for s >= a and t >= b.
func (f *fairCost) harmonicAbove(a, b float64) float64 {
	if a >= b {
		return max(a, f.l.low)
	}
	return f.harmonic(a, b)
}

// slowdowns returns the smallest and the largest slowdown of the hosts at which jobs of a list end,
// +Inf if one is overloaded.
func (s *fairSearch) slowdowns(cutoffs []*path.Point) (least, largest float64) {
	least = math.Inf(1)
	waited, a := 0.0, &s.at0
	for i := range len(cutoffs) + 1 {
		b := &s.atEnd
		if i < len(cutoffs) {
			b = cutoffs[i]
		}
		slack, _ := s.slack(i, a, b)
		if a.X > b.X || !(slack > 0) {
			return 0, math.Inf(1)
		}
		m2, _ := square(a, b)
		waited += s.rate * m2 / (2 * s.speed[i] * s.speed[i] * slack)
		if a.X < b.X {
			slowdown := waited / s.harmonic(a.X, b.X)
			least, largest = min(least, slowdown), max(largest, slowdown)
		}
		a = b
	}
	return least, largest
}

// improve moves one cutoff of a list at a time, as long as the largest slowdown falls, or stays the
// same while the smallest rises. It records the result as the solution.
func (s *fairSearch) improve(cutoffs []*path.Point) {
	least, largest := s.slowdowns(cutoffs)
	for moved := true; moved && !s.l.stopped(); {
		moved = false
		for j := range cutoffs {
			at := sort.SearchFloat64s(s.atoms, cutoffs[j].X)
			for step := 1; step < len(s.points); step *= 2 {
				for _, to := range []int{at - step, at + step} {
					if to < 0 || to >= len(s.points) {
						continue
					}
					old := cutoffs[j]
					cutoffs[j] = &s.points[to]
					if l, w := s.slowdowns(cutoffs); w < largest || w == largest && l > least {
						least, largest, moved = l, w, true
					} else {
						cutoffs[j] = old
					}
				}
			}
		}
	}
	s.solution = make([]float64, len(cutoffs))
	for j, p := range cutoffs {
		s.solution[j] = p.X
	}
	s.limit = largest * (1 - 1e-13)
}
