package tags

import (
	"math"

	"productform/num"
	"productform/tags/internal/path"
)

// A sitaCost computes the cost of hosts that get the jobs of sizes in (a, b]: w(a, b) W(a, b), with
// the weight w(a, b) = E[o.Slowdown/X + o.Waiting; a < X <= b]. Like all its factors, it falls in a
// and grows in b.
type sitaCost struct{ *tagsCost }

// sita returns the cost of hosts that get the sizes between two cutoffs.
func (f *tagsCost) sita() sitaCost {
	g := *f
	g.kills = false
	return sitaCost{&g}
}

// search returns the search for the best cutoffs in the ranges.
func (f sitaCost) search(low, high []float64) *path.Search {
	s := newSearch(f.tagsCost, low, high)
	s.HostCost = f
	return s
}

// difference returns the part of a quantity between two points, given the parts below and above
// each point. It uses the smaller numbers, and also returns their size.
func difference(below, belowNext, above, aboveNext float64) (part, size float64) {
	if belowNext < above {
		return belowNext - below, belowNext
	}
	return above - aboveNext, above
}

// larger returns E[X; X > x].
func larger(p *path.Point) float64 {
	if p.Tail == 0 {
		return 0
	}
	return p.Above + p.X*p.Tail
}

// weight returns w(a, b), and the size of the numbers whose difference it is.
func (f sitaCost) weight(a, b *path.Point) (w, size float64) {
	if f.o.Waiting > 0 {
		p, s := difference(a.Number, b.Number, a.Tail, b.Tail)
		w, size = f.o.Waiting*p, f.o.Waiting*s
	}
	if f.o.Slowdown > 0 {
		w += f.o.Slowdown * (a.Inverse - b.Inverse)
		size += f.o.Slowdown * a.Inverse
	}
	return w, size
}

// Cost returns 0 for a host that gets no jobs.
func (f sitaCost) Cost(i int, a, b *path.Point) float64 {
	if a.X > b.X {
		return math.Inf(1)
	}
	if a.X == b.X || a.Tail == 0 {
		return 0
	}
	slack, _ := f.slack(i, a, b)
	if !(slack > 0) {
		return math.Inf(1)
	}
	m2, _ := difference(a.Second, b.Second, a.Beyond, b.Beyond)
	w, _ := f.weight(a, b)
	v := f.speed[i]
	return max(0, w) * f.rate * max(0, m2) / (2 * v * v * slack)
}

// Slope uses the derivatives of the cost w W, where W = λ M_2/(2 v² σ) and σ is the slack:
//
//	∂/∂b = f(b) (W ω(b) + w λ/(vσ) (b²/(2v) + b W)),  -∂/∂a = f(a) (W ω(a) + w λ/(vσ) (a²/(2v) + a W)).
//
// Here ω(x) = o.Slowdown/x + o.Waiting, and w, W and 1/σ are smallest for the largest a and the
// smallest b.
func (f sitaCost) Slope(i int, a, b *path.Cell) (path.Slope, bool) {
	if a.Low.X > b.High.X {
		return path.Slope{}, false
	}
	if a.High.X >= b.Low.X || a.High.Tail == 0 { // the host may be idle
		return path.Slope{}, true
	}
	v := f.speed[i]
	slack, off := f.slack(i, &a.High, &b.Low)
	slack += off
	if !(slack > 0) {
		return path.Slope{}, false
	}
	m2, size := difference(a.High.Second, b.Low.Second, a.High.Beyond, b.Low.Beyond)
	wait := f.rate * max(0, m2-momentTol*size) / (2 * v * v * slack)
	w, size := f.weight(&a.High, &b.Low)
	w = max(0, w-momentTol*size)
	push := w * f.rate / (v * slack)
	grow := func(low, high *path.Point) float64 {
		density := min(low.Density, high.Density)
		if !(density > 0) {
			return 0
		}
		return density * (wait*(f.o.Slowdown/high.X+f.o.Waiting) + push*low.X*(low.X/(2*v)+wait))
	}
	return path.Slope{Cost: w * wait, After: grow(&a.Low, &a.High), Before: grow(&b.Low, &b.High)}, true
}

// ranges returns bounds on the cutoffs that keep every host below load 1, or false if there are
// none. For the largest cutoffs each host in turn, from the first to the last, does as much as it
// can; for the smallest, in reverse. Unlike hosts that kill, these may be idle, at equal cutoffs.
func (f sitaCost) ranges() (low, high []float64, ok bool) {
	high, b, slack := f.reach()
	if !(slack > 0) {
		return nil, nil, false
	}
	n := len(high)
	low = make([]float64, n)
	fits := func(i int, a, b path.Point) bool { slack, _ := f.slack(i, &a, &b); return slack > 0 }
	least := f.l.low
	if f.atoms != nil {
		least = 0
	}
	for j := n - 1; j >= 0; j-- {
		low[j] = num.FirstGood(least, high[j], func(x float64) bool { return fits(j+1, f.work(x), b) })
		b = f.work(low[j])
	}
	return low, high, true
}

// reach returns the largest cutoffs, the point of the end of the sizes, and the slack that the last
// host then has.
func (f sitaCost) reach() (high []float64, end path.Point, slack float64) {
	top := f.top()
	a := f.work(0)
	for j := range len(f.speed) - 1 {
		x := num.LastPositive(a.X, f.l.high, func(x float64) float64 {
			b := f.work(x)
			slack, _ := f.slack(j, &a, &b)
			return slack
		})
		a = f.work(x)
		if x > top {
			x = f.l.high
		}
		high = append(high, x)
	}
	end = f.work(math.Inf(1))
	slack, _ = f.slack(len(high), &a, &end)
	return high, end, slack
}
