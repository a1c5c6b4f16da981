package tags

import (
	"container/heap"
	"math"

	"productform/internal/shortestpath"
)

// A fairBox is a set of cutoffs, s_j between the points low[j] and high[j], with bounds of the slowdown S that all hosts
// can have in common there.
type fairBox struct {
	low, high   []shortestpath.Point
	least, most float64
	full        bool    // the load of a host is next to 1 everywhere in it
	tried       float64 // ln(most/least) of the last box around it from whose middle Newton's method was tried
	spread      float64 // Σ_i of the widths of the bounds of ln S_i, at most 50 each
}

// A boxQueue holds boxes, those of the least slowdown first.
type boxQueue []*fairBox

func (q boxQueue) Len() int           { return len(q) }
func (q boxQueue) Less(i, j int) bool { return q[i].least < q[j].least }
func (q boxQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *boxQueue) Push(x any)        { *q = append(*q, x.(*fairBox)) }
func (q *boxQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

const (
	mostBoxes   = 40000 // that a search looks at, a tenth for distributions that are not unimodal, whose moments are slow
	fullLoadTol = 1e-10 // slack below which a box is given up: cutoffs in double precision do not hold it
	wideBox     = 0.1   // ln of the ratio of the bounds of S up to which Newton's method is tried from the middle of a box
	roundingTol = 1e-11 // what bounds give away, a thousand times what rounding does
	boxTol      = 1e-12 // relative width of cutoffs at which a box is given up
)

// boxes looks for equal slowdowns by bisection of the cutoffs, in all dimensions at once: V_i falls in s_{i-1} and grows
// in s_i, and so does 1/E[1/X | s_{i-1} < X <= s_i] in both. That bounds the slowdown of each host in a box, and where
// the bounds have nothing in common, the box holds no solution. It returns the solution of Newton's method from the
// middle of a box, the one with the smallest S, nil if it finds none; how many boxes it looked at; and whether that proves that there is none.
func (f *fairCost) boxes() (x []float64, looked int, proved bool) {
	n := len(f.low)
	start := &fairBox{tried: 16 * wideBox}
	for j := range n {
		start.low = append(start.low, f.at(f.low[j]))
		start.high = append(start.high, f.at(f.high[j]))
	}
	var queue boxQueue
	proved = true
	add := func(b *fairBox) {
		f.bound(b)
		switch {
		case b.least <= b.most:
			heap.Push(&queue, b)
		case !(b.least > b.most): // a bound is no number
			proved = false
		}
	}
	add(start)
	looked = 1
	lead := make([]float64, n+1)
	most := mostBoxes
	if f.density == nil {
		most /= 10
	}
	for looked < most && len(queue) > 0 {
		if f.l.stopped() {
			return nil, looked, false
		}
		b := heap.Pop(&queue).(*fairBox)
		looked++
		if x != nil && b.least >= math.Exp(x[n])*(1-1e-9) {
			break // what is left has no smaller S
		}
		if x != nil && b.within(x, 1e-7) {
			continue // Newton's method has been here
		}
		if common := math.Log(b.most / b.least); common < b.tried/16 && !(x != nil && b.holds(x)) {
			b.tried = common
			y := make([]float64, n+1)
			for j := range n {
				y[j] = (math.Log(b.low[j].X) + math.Log(b.high[j].X)) / 2
			}
			y[n] = (math.Log(b.least) + math.Log(b.most)) / 2
			if f.newton(y, lead) && (x == nil || y[n] < x[n]) {
				x = y
			}
		}
		if b.full {
			proved = false
			continue
		}
		if first, second, ok := f.cut(b); ok {
			add(first)
			add(second)
		} else {
			proved = false
		}
	}
	return x, looked, proved && x == nil && len(queue) == 0
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

// within reports whether the whole box is next to the cutoffs of a solution, relatively.
func (b *fairBox) within(x []float64, part float64) bool {
	for j := range b.low {
		if s := math.Exp(x[j]); b.low[j].X < s*(1-part) || b.high[j].X > s*(1+part) {
			return false
		}
	}
	return true
}

// cut halves a box across the dimension that leaves the least in common, false if it is too small for that.
func (f *fairCost) cut(b *fairBox) (first, second *fairBox, ok bool) {
	best := math.Inf(1)
	for j := range b.low {
		from, to := b.low[j].X, b.high[j].X
		x := math.Sqrt(from) * math.Sqrt(to)
		if !(to > from*(1+boxTol)) || !(x > from && x < to) {
			continue
		}
		mid := f.at(x)
		lower := &fairBox{tried: b.tried, low: b.low, high: append([]shortestpath.Point{}, b.high...)}
		upper := &fairBox{tried: b.tried, low: append([]shortestpath.Point{}, b.low...), high: b.high}
		for k := 0; k <= j; k++ { // cutoffs do not fall
			if lower.high[k].X > x {
				lower.high[k] = mid
			}
		}
		for k := j; k < len(b.low); k++ {
			if upper.low[k].X < x {
				upper.low[k] = mid
			}
		}
		left := 0.0 // of the range of ln S
		for _, half := range []*fairBox{lower, upper} {
			if f.bound(half); half.least <= half.most {
				left += half.spread
			}
		}
		if left < best {
			first, second, best = lower, upper, left
		}
	}
	return first, second, first != nil
}

// bound sets the bounds of S: the largest of the least slowdowns W_i/H_i of the hosts, and the smallest of the largest
// ones, and likewise from V_i = S (H_i - H_{i-1}).
func (f *fairCost) bound(b *fairBox) {
	b.least, b.most, b.spread, b.full = 0, math.Inf(1), 0, false
	n := len(b.low)
	start, end := f.at0, f.atEnd
	var low, high float64                   // bounds of W_i
	var smallerBefore, largerBefore float64 // bounds of H_{i-1}
	for i := range n + 1 {
		a1, a2, b1, b2 := &start, &start, &end, &end // the box of s_{i-1}, and that of s_i
		if i > 0 {
			a1, a2 = &b.low[i-1], &b.high[i-1]
		}
		if i < n {
			b1, b2 = &b.low[i], &b.high[i]
		}
		if a1.X > b2.X {
			b.least, b.most = 1, 0
			return
		}
		if a2.X <= b1.X {
			slack, _ := f.slack(i, a2, b1)
			b.full = b.full || slack < fullLoadTol
		}
		leastWait, mostWait := f.leastWait(i, a2, b1), f.mostWait(i, a1, b2)
		if math.IsInf(leastWait, 1) { // overloaded everywhere in the box
			b.least, b.most = 1, 0
			return
		}
		low += leastWait
		high += mostWait
		smaller, larger := f.harmonicAbove(a1.X, b1.X), f.harmonicBelow(a2.X, b2.X)
		least, most := low/larger*(1-roundingTol), high/smaller*(1+roundingTol)
		b.spread += min(math.Log(most/least), 50)
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
func (f *fairCost) leastWait(i int, a, b *shortestpath.Point) float64 {
	v := f.speed[i]
	if a.X > b.X { // of the sizes above a, each is served for b or more
		return f.rate * b.X * b.X * a.Tail / (2 * v * v)
	}
	slack, off := f.slack(i, a, b)
	if slack+off <= 0 {
		return math.Inf(1)
	}
	m2, size := square(a, b)
	return f.rate * max(0, m2-momentTol*size) / (2 * v * v * (slack + off))
}

// mostWait bounds V_i from above for cutoffs s_{i-1} >= a and s_i <= b.
func (f *fairCost) mostWait(i int, a, b *shortestpath.Point) float64 {
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
