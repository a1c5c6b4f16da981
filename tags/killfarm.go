package tags

import (
	"math"

	"productform/dist"
)

// A killFarm tells what TAGS hosts cost: host i between cutoffs a and b costs w(a) V(a, b), with the weight
// w(a) = E[o.Slowdown/X + o.Waiting; X > a].
type killFarm struct {
	l       *law
	o       Objective
	rate    float64                 // λ
	speed   []float64               // v_i
	spare   []float64               // 1 - λE[X]/v_i
	fuzz    []float64               // bound of its rounding error
	density func(x float64) float64 // nil if the law is not unimodal
	atoms   []float64               // of the law, if it has them
}

// margin is what a bound gives away to rounding, as a part of the numbers that it adds up.
const margin = 2e-14

func newKillFarm(m Model, l *law, o Objective) *killFarm {
	f := &killFarm{l: l, o: o, rate: m.rate(l)}
	for i := range m.Hosts {
		v := m.speed(i)
		f.speed = append(f.speed, v)
		f.spare = append(f.spare, m.spare(i))
		fuzz := 0.0
		if m.Speeds != nil {
			fuzz = 1e-14 * m.Load * m.capacity() / v
		}
		f.fuzz = append(f.fuzz, fuzz)
	}
	if d, ok := m.Sizes.(dist.Unimodal); ok {
		f.density = d.Density
	}
	if d, ok := m.Sizes.(dist.Atomic); ok {
		f.atoms = d.Atoms()
	}
	return f
}

// at returns the point of cutoff x.
func (f *killFarm) at(x float64) point {
	l := f.l
	p := point{x: x, tail: l.tail(x), above: l.above(x), beyond: l.partial(2, x, math.Inf(1))}
	if x > 0 {
		p.first, p.second, p.number = l.partial(1, 0, x), l.partial(2, 0, x), l.partial(0, 0, x)
	}
	if f.o.Slowdown > 0 {
		p.inverse = l.partial(-1, x, math.Inf(1))
	}
	switch {
	case !(x > 0 && x <= l.high) || f.atoms != nil:
	case f.density != nil:
		p.density = f.density(x)
	default: // to 1e-10 of its scale, for the local search
		p.density = l.partial(0, x*(1-1e-5), x*(1+1e-5)) / (2e-5 * x)
	}
	return p
}

func (f *killFarm) weight(a *point) float64 { return f.o.Slowdown*a.inverse + f.o.Waiting*a.tail }

// slack returns 1 - ρ_i, to the same digits as [Analyze].
func (f *killFarm) slack(i int, a, b *point) float64 {
	return f.spare[i] + f.rate/f.speed[i]*(a.first+b.above)
}

// square returns E[min(X, b)²; X > a] as the difference of numbers as small as possible, and the smaller of them.
func square(a, b *point) (m2, size float64) {
	capped, over := b.second, b.beyond // E[min(X, b)²] and E[X² - b²; X > b]
	if b.tail > 0 {
		capped += b.x * b.x * b.tail
		over -= b.x * b.x * b.tail
	}
	if capped < a.beyond {
		return capped - a.second, capped
	}
	return a.beyond - over, a.beyond
}

func (f *killFarm) cost(i int, a, b *point) float64 {
	if a.tail == 0 {
		return 0
	}
	slack := f.slack(i, a, b)
	if !(slack > 0) || a.x > b.x {
		return math.Inf(1)
	}
	v := f.speed[i]
	m2, _ := square(a, b)
	return f.weight(a) * f.rate * m2 / (2 * v * v * slack)
}

// slope uses that the waiting V = λ M_2/(2 v² σ), σ the slack, has derivatives
//
//	∂V/∂b = λ P(X > b)/(vσ) (b/v + V),  -∂V/∂a = f(a) λ/(vσ) (a²/(2v) + a V),  -w'(a) = f(a) (o.Slowdown/a + o.Waiting),
//
// in which V and 1/σ are least for the largest a and the smallest b.
func (f *killFarm) slope(i int, a, b *cell) (slope, bool) {
	v, weight := f.speed[i], f.weight(&a.high)
	if a.low.x > b.high.x {
		return slope{}, false
	}
	if a.high.tail == 0 {
		return slope{}, true
	}
	if a.high.x > b.low.x { // V(t, t) for all t in both, of M_1 = t P(X > t)
		m1 := b.low.x * a.high.tail
		slack := 1 - f.rate*m1/v + 2*margin
		if !(slack > 0) {
			return slope{}, false
		}
		return slope{cost: weight * f.rate * m1 * b.low.x / (2 * v * v * slack)}, true
	}
	slack := f.slack(i, &a.high, &b.low)
	slack += margin*(slack+2*math.Abs(f.spare[i])) + f.fuzz[i]
	if !(slack > 0) {
		return slope{}, false
	}
	m2, size := square(&a.high, &b.low)
	m2 = max(m2-margin*size, 0)
	wait := f.rate * m2 / (2 * v * v * slack)
	s := slope{cost: weight * wait}
	push := f.rate / (v * slack)
	if b.high.tail > 0 {
		s.before = weight * push * b.high.tail * (b.low.x/v + wait)
	}
	if density := min(a.low.density, a.high.density); density > 0 {
		x := a.low.x
		s.after = density * (wait*(f.o.Slowdown/a.high.x+f.o.Waiting) + weight*push*(x*x/(2*v)+x*wait))
	}
	return s, true
}

// ranges returns bounds of the cutoffs that keep every host below load 1. It is false if there are none: if host h is
// overloaded though every host before it does all that it can. As host i does less the larger s_{i-1} is, the largest
// cutoffs come one by one from the first host on, and the least from the last host back. Only a host slower than one
// before it may have to stop below that one's largest cutoff; there the largest is looked for on a grid.
func (f *killFarm) ranges() (low, high []float64, ok bool) {
	n := len(f.speed) - 1
	low, high = make([]float64, n), make([]float64, n)
	a := f.at(0)
	for j := range n {
		spares := func(first, above float64) bool { return f.spare[j]+f.rate/f.speed[j]*(first+above) > 0 }
		from := max(a.x, f.l.low)
		switch {
		case spares(a.first, f.l.above(from)):
			high[j] = f.last(from, func(x float64) bool { return spares(a.first, f.l.above(x)) })
		case j > 0:
			high[j] = f.stop(from, func(x float64) bool { return spares(f.l.partial(1, 0, x), f.l.above(x)) })
		}
		if high[j] == 0 {
			return nil, nil, false
		}
		a = f.at(high[j])
	}
	end := f.at(math.Inf(1))
	if !(f.slack(n, &a, &end) > 0) {
		return nil, nil, false
	}
	b := end
	for j := n - 1; j >= 0; j-- {
		low[j] = f.first(high[j], func(x float64) bool {
			return f.spare[j+1]+f.rate/f.speed[j+1]*(f.l.partial(1, 0, x)+b.above) > 0
		})
		b = f.at(low[j])
	}
	return low, high, true
}

// top returns the high end of the sizes, or where they have none, a size that next to no job exceeds.
func (f *killFarm) top() float64 {
	x := f.l.high
	if math.IsInf(x, 1) {
		for x = f.l.mean; x < 1e150 && f.l.tail(x) > 1e-40; x *= 2 {
		}
	}
	return x
}

// last returns the largest x in the range of the sizes for which good holds, which is so from a up to some x.
func (f *killFarm) last(a float64, good func(x float64) bool) float64 {
	top := f.top()
	if a >= top || good(top) {
		return f.l.high
	}
	low, high := math.Float64bits(a), math.Float64bits(top)
	for high-low > 1 {
		if mid := low + (high-low)/2; good(math.Float64frombits(mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Float64frombits(low)
}

// stop returns the largest x below a on a fine grid for which good holds, 0 if it holds nowhere.
func (f *killFarm) stop(a float64, good func(x float64) bool) float64 {
	const points = 4096
	low := max(f.l.low, min(a, f.l.mean)*1e-6)
	for k := points - 1; k >= 0; k-- {
		if x := low * math.Pow(a/low, float64(k)/points); good(x) {
			return x
		}
	}
	return 0
}

// first returns the smallest x in the range of the sizes, up to b, for which good holds, which is so from some x on and
// for b.
func (f *killFarm) first(b float64, good func(x float64) bool) float64 {
	if good(f.l.low) {
		return f.l.low
	}
	low, high := math.Float64bits(f.l.low), math.Float64bits(b)
	for high-low > 1 {
		if mid := low + (high-low)/2; good(math.Float64frombits(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Float64frombits(high)
}

// MaxLoad returns the largest ρ such that cutoffs in the range of the sizes keep every host of m below load 1 at all
// system loads below it; the Load of m does not count. At it, all hosts have load 1, or host 1 is overloaded by the
// smallest sizes alone. Where a host is slower than one before it, it is found to some digits only. The error is that of
// [Analyze].
func MaxLoad(m Model) (float64, error) {
	m.Load = 0.5
	if err := m.Validate(); err != nil {
		return 0, err
	}
	l, err := newLaw(m)
	if err != nil {
		return 0, err
	}
	low, high := 0.0, 1.0
	for mid := 0.5; low < mid && mid < high; mid = (low + high) / 2 {
		m.Load = mid
		if _, _, ok := newKillFarm(m, l, Objective{Waiting: 1}).ranges(); ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low, l.err
}
