// Package path answers: which cutoffs between hosts minimize the cost? It finds a shortest
// path by branch and prune, with a proof.
package path

import (
	"math"
	"slices"
	"sort"
)

// A Point is a cutoff with the quantities that determine the cost of a host.
type Point struct {
	X       float64 // the cutoff; may be +Inf
	Tail    float64 // P(X > x)
	First   float64 // E[X; X <= x]
	Above   float64 // E[X - x; X > x]
	Second  float64 // E[X²; X <= x]
	Beyond  float64 // E[X²; X > x]
	Inverse float64 // E[1/X; X > x]
	Number  float64 // P(X <= x)
	Density float64 // f(x); 0 if there is none
	Redone  float64 // d, work that the next host redoes for jobs stopped here, and overhead
	Offset  float64 // x - d, 0 if jobs restart from scratch
}

// A Cell is a range of cutoffs, with ends among the atoms if the sizes have atoms.
type Cell struct {
	Low, High   Point
	first, last int     // indices of the ends among the atoms
	slope       float64 // slope of the potential of the cell, see [Search]
	through     float64 // lower bound on the cost of all paths through it
}

func (c *Cell) width() float64 { return c.High.X - c.Low.X }

// A Slope bounds the cost of host i from below for all cutoffs a, b in two cells [a1, a2], [b1,
// b2]: it is at least Cost + After (a2 - a) + Before (b - b1). For cells of one point, these are
// the cost and its derivatives.
type Slope struct{ Cost, After, Before float64 }

// A HostCost computes the costs of hosts.
type HostCost interface {
	// Cost is the cost of host i between cutoffs a and b: +Inf if it is overloaded or a is above b.
	Cost(i int, a, b *Point) float64
	// Slope returns false if host i is overloaded, or b is below a, for all cutoffs of the cells.
	Slope(i int, a, b *Cell) (Slope, bool)
}

// A Search is the problem of choosing cutoffs s_1 <= ... <= s_n, n = h-1, that minimise Σ_i cost(i,
// s_{i-1}, s_i), where cost decreases in its first cutoff and increases in its second.
//
// Branch and prune: cells of cutoffs replace cutoffs. A host between two cells costs at least as
// much as between the upper end of the first and the lower end of the second. So the shortest path
// through cells is a lower bound on all paths through cutoffs. A cell is dropped if no path through
// it can beat the best one known; the others are halved. The remaining cells prove how good the
// best path is. The error of such a bound grows like the width w of a cell. With derivatives it
// grows like w²: an increase of s_i adds cost to host i and saves cost of host i+1, and
// at the best cutoffs the two are equal. For any number c, c (s_i - low) may be taken from the cost
// of host i and added to that of host i+1, since the sum over a path does not change. A cell uses
// as c, its slope, the smaller of the two derivatives on the best path through it; a cell without
// derivatives takes 0.
type Search struct {
	HostCost
	Stopped   func() bool // whether to return early, with any result
	At        func(x float64) Point
	Low, High []float64 // ranges of s_1, ..., s_n that contain all feasible cutoffs
	Start     Point     // s_0 = 0
	End       Point     // s_h = ∞
	Atoms     []float64 // sizes, if there are finitely many: then only they are candidates
	Shared    bool      // hosts may have equal cutoffs at the optimum
	IdleFirst bool      // the first cutoffs may be 0, which leaves their hosts idle
	buffers   [][]Slope // slopes between the cells, reused from round to round
	// Split returns where to halve the cell between low and high, given the default. It may be nil.
	Split func(low, high, mid float64) float64
	// Drop returns the largest cutoff below x, and whether the cost drops from there to x. Then x
	// is a cell, and the cell before it ends below x. It may be nil, for a continuous cost.
	Drop   func(x float64) (below float64, drops bool)
	Smooth bool             // the density at the ends of a cell bounds that inside from below
	points map[uint64]Point // some of those computed so far, by the bits of X: neighbouring cells share ends
}

// mostPoints limits the points that a search stores, to some megabytes.
const mostPoints = 1 << 16

// point returns the point of cutoff x.
func (s *Search) point(x float64) Point {
	key := math.Float64bits(x)
	p, isKnown := s.points[key]
	if !isKnown {
		if s.points == nil || len(s.points) >= mostPoints {
			s.points = make(map[uint64]Point)
		}
		p = s.At(x)
		s.points[key] = p
	}
	return p
}

// A Path holds the best path, its cost, and a proved bound: no path costs less than Least.
type Path struct {
	Cutoffs     []float64
	Cost, Least float64
}

// Gap returns the relative amount by which other paths could be better: 0 if there is no cutoff to
// choose.
func (o Path) Gap() float64 {
	if len(o.Cutoffs) == 0 || o.Cost == 0 {
		return 0
	}
	return max(0, 1-o.Least/o.Cost)
}

// GapTol is the relative gap at which a search ends: half of the documented 1e-10, and usually
// above rounding.
const GapTol = 5e-11

const (
	rounds  = 80 // enough to halve any range down to adjacent floats
	pieces  = 48 // initial pieces of the range of a cutoff, of equal ratio
	decades = 12 // decades of refinement towards its ends
)

// pairs returns the maximum number of pairs of cells of neighbouring hosts, 24 bytes each: fewer if
// the bound is only of first order, which does not justify long work.
func (s *Search) pairs() int {
	if s.Smooth || s.Atoms != nil {
		return 1 << 21
	}
	return 1 << 16
}

// improve searches around cutoffs.
func (s *Search) improve(cutoffs []float64, cost float64) ([]float64, float64) {
	if s.Atoms != nil {
		return s.improveLocally(cutoffs, cost)
	}
	return s.newton(cutoffs, cost)
}

// Run returns the best path; its cutoffs are nil if there is none. If the proof does not close, a
// search around the best path may find a better one, which allows more pruning.
func (s *Search) Run() Path {
	best := s.prune(Path{Cost: math.Inf(1)})
	for range 3 {
		if s.Stopped() || best.Cutoffs == nil || s.Atoms != nil || best.Least >= best.Cost*(1-2*GapTol) {
			break
		}
		cutoffs, cost := s.zoom(best.Cutoffs, best.Cost)
		better := cost < best.Cost*(1-1e-6)
		best.Cutoffs, best.Cost = cutoffs, cost
		if !better {
			break
		}
		best = s.prune(best)
	}
	return best
}

// prune halves and drops cells until the best path is proved optimal or no progress is possible; a
// good path may be given.
func (s *Search) prune(best Path) Path {
	stages := make([][]Cell, len(s.Low))
	for j := range stages {
		stages[j] = s.grid(j)
	}
	gap, stalled := math.Inf(1), 0
	for range rounds {
		if s.Stopped() {
			break
		}
		if cutoffs, cost := s.shortest(stages); cost < best.Cost {
			best.Cutoffs, best.Cost = s.improve(cutoffs, cost)
		}
		limit := best.Cost * (1 - GapTol)
		best.Least = min(s.bounds(stages), limit)
		if best.Least >= limit {
			break
		}
		if left := best.Cost - best.Least; left < 0.75*gap { // halving all cells should remove at least half of it
			gap, stalled = left, 0
		} else if stalled++; stalled > 3 {
			break // rounding or memory allows no further progress
		}
		if !s.refine(stages, best.Least, limit) {
			break
		}
	}
	return best
}

// refine drops the cells that cannot be on a path below the limit and halves the others, or only
// those on the shortest paths if there are too many. It returns false if there is nothing to halve,
// or too much.
func (s *Search) refine(stages [][]Cell, least, limit float64) bool {
	for j, cells := range stages {
		stages[j] = slices.DeleteFunc(cells, func(c Cell) bool { return c.through >= limit })
	}
	worst := limit
	for ; size(stages, worst) > s.pairs(); worst = least + (worst-least)/2 {
		if math.IsInf(limit, 1) || worst-least < 1e-3*(limit-least) {
			return false
		}
	}
	halved := false
	for j, cells := range stages {
		next := make([]Cell, 0, 2*len(cells))
		for _, c := range cells {
			ok := false
			if c.through < worst {
				next, ok = s.halve(next, &c)
				halved = halved || ok
			}
			if !ok {
				next = append(next, c)
			}
		}
		stages[j] = next
	}
	return halved
}

// size counts the pairs of cells after halving those below worst. The start and the end count as 64
// cells each, so two hosts also have a limit.
func size(stages [][]Cell, worst float64) int {
	n, before := 0, 64
	for _, cells := range stages {
		here := len(cells)
		for k := range cells {
			if cells[k].through < worst {
				here++
			}
		}
		n += here * before
		before = here
	}
	return n + 64*before
}

// halve appends the halves of a cell: by index among atoms, otherwise at equal ratios or, next to 0
// and ∞, equal distances. It returns false if the cell cannot be divided.
func (s *Search) halve(cells []Cell, c *Cell) ([]Cell, bool) {
	if s.Atoms != nil {
		if c.first == c.last {
			return cells, false
		}
		mid := (c.first + c.last) / 2
		return append(cells, s.atomCell(c.first, mid), s.atomCell(mid+1, c.last)), true
	}
	low, high := c.Low.X, c.High.X
	var x float64
	switch {
	case math.IsInf(high, 1):
		x = 4 * low
	case low == 0:
		x = high / 1024
	default:
		x = low * math.Sqrt(high/low)
	}
	if !(x > low && x < high) {
		return cells, false
	}
	if s.Split != nil {
		x = s.Split(low, high, x)
	}
	mid := s.point(x)
	return append(s.appendCells(cells, c.Low, mid), Cell{Low: mid, High: c.High}), true
}

// appendCells appends the cells between two points: one, or two if the cost drops at the second.
func (s *Search) appendCells(cells []Cell, low, high Point) []Cell {
	if s.Drop != nil {
		if below, drops := s.Drop(high.X); drops {
			return append(cells, Cell{Low: low, High: s.point(max(low.X, below))}, Cell{Low: high, High: high})
		}
	}
	return append(cells, Cell{Low: low, High: high})
}

func (s *Search) atomCell(first, last int) Cell {
	low := s.point(s.Atoms[first])
	if first == last {
		return Cell{Low: low, High: low, first: first, last: last}
	}
	return Cell{Low: low, High: s.point(s.Atoms[last]), first: first, last: last}
}

// grid returns the initial cells of cutoff j: of equal ratio, and increasingly fine towards both
// ends, where a host may be overloaded.
func (s *Search) grid(j int) []Cell {
	low, high := s.Low[j], s.High[j]
	if s.Atoms != nil {
		return s.atomGrid(low, high, 2*pieces)
	}
	xs := s.marks(j)
	if s.Shared { // so that adjacent hosts can have equal cutoffs
		for k := max(0, j-1); k < min(len(s.Low), j+2); k++ {
			if k != j {
				xs = append(xs, s.marks(k)...)
			}
		}
	}
	sort.Float64s(xs)
	cells := make([]Cell, 0, len(xs)+1)
	if s.IdleFirst {
		cells = append(cells, Cell{Low: s.Start, High: s.Start})
		if high == 0 {
			return cells
		}
	}
	first := len(cells)
	last := s.point(low)
	for _, x := range xs {
		if x > last.X && x <= high {
			next := s.point(x)
			cells = s.appendCells(cells, last, next)
			last = next
		}
	}
	if len(cells) == first { // the range is one point
		cells = append(cells, Cell{Low: last, High: last})
	}
	return cells
}

// marks returns the ends of the initial cells of cutoff j.
func (s *Search) marks(j int) []float64 {
	low, high := s.Low[j], s.High[j]
	xs := append(make([]float64, 0, 4+pieces+2*decades), low, high)
	from, to := low, high
	if math.IsInf(high, 1) {
		for to = max(low, 1e-300); s.point(to).Tail > 1e-18 && to < 1e290; to *= 2 {
		}
		xs = append(xs, to)
	}
	if low == 0 {
		for from = min(to, 1e300); s.point(from).Number > 1e-6 && from > 1e-290; from /= 2 {
		}
		if s.Split != nil && s.point(from).Number == 0 { // cutoffs below all sizes matter, too
			from /= 1000
		}
		xs = append(xs, from)
	}
	for k := range pieces {
		xs = append(xs, from*math.Pow(to/from, float64(k)/pieces))
	}
	for k := range decades {
		step := (to - from) * math.Pow10(-k-1)
		xs = append(xs, from+step, to-step)
	}
	return xs
}

// atomGrid returns cells that contain the atoms in [low, high].
func (s *Search) atomGrid(low, high float64, pieces int) []Cell {
	first := sort.SearchFloat64s(s.Atoms, low)
	end := sort.Search(len(s.Atoms), func(i int) bool { return s.Atoms[i] > high })
	cells := make([]Cell, 0, pieces)
	for k := range pieces {
		i, j := first+(end-first)*k/pieces, first+(end-first)*(k+1)/pieces
		if i < j {
			cells = append(cells, s.atomCell(i, j-1))
		}
	}
	return cells
}

// shortest returns the shortest path through the upper ends of the cells, and its cost.
func (s *Search) shortest(stages [][]Cell) ([]float64, float64) {
	n := len(stages)
	from := make([][]int32, n+1)
	cost := []float64{0}
	before := []*Point{&s.Start}
	for j := range n + 1 {
		here := []*Point{&s.End}
		if j < n {
			here = make([]*Point, 0, len(stages[j]))
			for k := range stages[j] {
				here = append(here, &stages[j][k].High)
			}
		}
		from[j] = make([]int32, len(here))
		next := make([]float64, len(here))
		for k, b := range here {
			next[k] = math.Inf(1)
			if s.Stopped() {
				continue
			}
			for i, a := range before {
				if cost[i] >= next[k] {
					continue
				}
				if c := cost[i] + s.Cost(j, a, b); c < next[k] {
					next[k], from[j][k] = c, int32(i)
				}
			}
		}
		cost, before = next, here
	}
	if math.IsInf(cost[0], 1) {
		return nil, cost[0]
	}
	cutoffs := make([]float64, n)
	for j, k := n-1, from[n][0]; j >= 0; j-- {
		cutoffs[j] = stages[j][k].High.X
		k = from[j][k]
	}
	return cutoffs, cost[0]
}

// bounds sets the lower bound for each cell and returns that for all paths: first with slopes of 0,
// which yields the best path through each cell, then with the derivatives on that path.
func (s *Search) bounds(stages [][]Cell) float64 {
	ends := make([][]Cell, 0, len(stages)+2)
	ends = append(ends, []Cell{{Low: s.Start, High: s.Start}})
	ends = append(ends, stages...)
	ends = append(ends, []Cell{{Low: s.End, High: s.End}})
	links := make([][]Slope, len(stages)+1)
	for i := range links {
		if len(s.buffers) <= i {
			s.buffers = append(s.buffers, nil)
		}
		s.buffers[i] = s.links(s.buffers[i][:0], i, ends[i], ends[i+1])
		links[i] = s.buffers[i]
	}
	for _, cells := range stages {
		for k := range cells {
			cells[k].slope, cells[k].through = 0, 0
		}
	}
	least := raiseBounds(ends, links, s.Smooth)
	if s.Smooth {
		least = max(least, raiseBounds(ends, links, false))
	}
	return least
}

// links appends the slopes of host i between all pairs of cells; the cost is +Inf where there is no
// path.
func (s *Search) links(links []Slope, i int, before, after []Cell) []Slope {
	links = slices.Grow(links, len(before)*len(after))
	for k := range before {
		if s.Stopped() {
			return append(links, make([]Slope, cap(links)-len(links))...)
		}
		for m := range after {
			l, ok := s.Slope(i, &before[k], &after[m])
			if !ok {
				l = Slope{Cost: math.Inf(1)}
			}
			links = append(links, l)
		}
	}
	return links
}

// raiseBounds raises the bounds of the cells to the lengths of the shortest paths through them,
// given the slopes of the cells, and returns the length of the shortest path. On request it sets
// the slopes for the next round.
func raiseBounds(ends [][]Cell, links [][]Slope, setSlopes bool) float64 {
	n := len(links)
	forward, back := make([][]float64, n+1), make([][]float64, n+1)
	forward[0], back[n] = []float64{0}, []float64{0}
	into, out := make([][]float64, n+1), make([][]float64, n+1) // derivatives on the best paths
	for i := range n {
		rows, columns := ends[i], ends[i+1]
		best, before := infinities(len(columns)), make([]float64, len(columns))
		for k := range rows {
			for m := range columns {
				l := &links[i][k*len(columns)+m]
				if c := forward[i][k] + l.Cost; c >= best[m] && columns[m].slope == 0 {
					continue
				} else if c += potentials(l, &rows[k], &columns[m]); c < best[m] {
					best[m], before[m] = c, l.Before
				}
			}
		}
		forward[i+1], into[i+1] = best, before
	}
	for i := n - 1; i >= 0; i-- {
		rows, columns := ends[i], ends[i+1]
		best, after := infinities(len(rows)), make([]float64, len(rows))
		for k := range rows {
			for m := range columns {
				l := &links[i][k*len(columns)+m]
				if c := back[i+1][m] + l.Cost; c >= best[k] && columns[m].slope == 0 {
					continue
				} else if c += potentials(l, &rows[k], &columns[m]); c < best[k] {
					best[k], after[k] = c, l.After
				}
			}
		}
		back[i], out[i] = best, after
	}
	for i := 1; i < n; i++ {
		for k := range ends[i] {
			c := &ends[i][k]
			c.through = max(c.through, forward[i][k]+back[i][k])
			if setSlopes && c.width() <= math.MaxFloat64 {
				c.slope = min(into[i][k], out[i][k])
			}
		}
	}
	return forward[n][0]
}

func infinities(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Inf(1)
	}
	return list
}

// potentials returns a lower bound on what the potentials of two cells add to the cost of the host
// between them.
func potentials(l *Slope, a, b *Cell) float64 {
	var c float64
	if a.slope > 0 {
		c = min(l.After, a.slope) * a.width()
	}
	if b.slope > l.Before {
		c -= (b.slope - l.Before) * b.width()
	}
	return c
}
