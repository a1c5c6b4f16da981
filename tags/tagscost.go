package tags

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"productform/num"
	"productform/sizes"
	"productform/tags/internal/path"
)

// A tagsCost computes the cost of TAGS hosts: host i between cutoffs a and b costs w(a) V(a, b),
// with the weight w(a) = E[o.Slowdown/X + o.Waiting; X > a].
type tagsCost struct {
	m          Model
	l          *moments
	o          Objective
	rate       float64                 // λ
	speed      []float64               // v_i
	push       []float64               // λ/v_i
	spare      []float64               // 1 - λE[X]/v_i
	kills      bool                    // whether hosts kill jobs, or only get the sizes between two cutoffs
	speedError []float64               // bound on the effect of rounding the ratio of speeds in spare
	density    func(x float64) float64 // nil if the distribution is not unimodal
	atoms      []float64               // 0 and the atoms, if they are the only cutoffs that matter
	kinks      []float64               // 0 and the atoms, if others also matter: the cost drops there
}

// cancellationLimit is the spare slack below which the slack of a host is computed from its load.
// Then 1 - ρ_i has an error of about 1e-16, while the sum of the spare slack and the work that the
// host is spared would have an error of |spare| 1e-16.
const cancellationLimit = -64

// momentTol is the rounding allowance of a bound, as a fraction of the largest of its terms. There
// are at most three terms, each with the error 1e-14 that [sizes] states for its moments.
const momentTol = 4e-14

// nearZeroTol is the fraction of its terms below which the slack of a host is computed in
// fractions, which takes a few microseconds. Above it, rounding leaves ten digits.
const nearZeroTol = 1e-4

// newTAGSCost returns the farm with the quantities of the distribution that a search needs.
func newTAGSCost(m Model, l *moments, o Objective) *tagsCost {
	f := hostsOf(m, l, o)
	if d, ok := m.Sizes.(sizes.Unimodal); ok {
		f.density = d.Density
	}
	if f.atoms = atomsFromZero(l); !m.Resume.restarts() {
		f.atoms, f.kinks = nil, f.atoms
	}
	return f
}

// hostsOf returns the farm for given cutoffs.
func hostsOf(m Model, l *moments, o Objective) *tagsCost {
	most := max(o.Slowdown, o.Waiting) // keeps every cost within float64, whatever its unit
	f := &tagsCost{
		m:     m,
		l:     l,
		o:     Objective{Slowdown: o.Slowdown / most, Waiting: o.Waiting / most},
		kills: true,
		rate:  m.rate(l),
	}
	h, all := m.Hosts, make([]float64, 4*m.Hosts)
	f.speed, f.push, f.spare, f.speedError = all[:h:h], all[h:2*h:2*h], all[2*h:3*h:3*h], all[3*h:]
	for i := range h {
		v := m.speed(i)
		f.speed[i], f.push[i], f.spare[i] = v, f.rate/v, math.FMA(-m.Load, m.capacity()/v, 1)
		if m.Speeds != nil && f.spare[i] >= cancellationLimit {
			f.speedError[i] = 1e-14 * m.Load * m.capacity() / v
		}
	}
	return f
}

// at returns the point of cutoff x.
func (f *tagsCost) at(x float64) path.Point {
	l := f.l
	p := path.Point{X: x, Tail: l.tail(x), Above: l.partialExcess(x), Beyond: l.partial(2, x, math.Inf(1))}
	p.Redone, p.Offset = f.m.Resume.Redone(x), f.m.Resume.offset(x)
	if x > 0 {
		p.First, p.Second, p.Number = l.partial(1, 0, x), l.partial(2, 0, x), l.partial(0, 0, x)
	}
	if f.o.Slowdown > 0 {
		p.Inverse = l.partial(-1, x, math.Inf(1))
	}
	switch {
	case !(x > 0 && x <= l.high) || f.l.list != nil:
	case f.density != nil:
		p.Density = f.density(x)
	default: // accurate to 1e-10 of its scale, for the local search
		p.Density = l.partial(0, x*(1-1e-5), x*(1+1e-5)) / (2e-5 * x)
	}
	return p
}

func (f *tagsCost) weight(a *path.Point) float64 {
	return f.o.Slowdown*a.Inverse + f.o.Waiting*a.Tail
}

// slack returns 1 - ρ_i, and a bound on its rounding error. It starts from the work that the host
// does not get, below a and above b: unless λE[X]/v_i exceeds 1, nothing cancels. If it is far
// above 1, slack subtracts the load itself. For a list of sizes, values near 0 are computed in
// fractions.
func (f *tagsCost) slack(i int, a, b *path.Point) (slack, off float64) {
	limit, above := 0.0, 0.0
	switch {
	case a.Tail == 0, f.kills && b.X == 0, !f.kills && a.X == b.X: // idle
		return 1, 0
	case f.kills:
		limit, above = cancellationLimit, b.Above
	default:
		above = larger(b)
	}
	var size float64 // largest of the terms
	if f.spare[i] >= limit {
		slack = f.spareSlack(i, a.First+a.Offset*a.Tail, above)
		if size = slack; f.kills {
			size += 2 * math.Abs(f.spare[i])
		}
	} else {
		done := b.First
		if f.kills && b.Tail > 0 { // E[min(X, b)]
			done += b.X * b.Tail
		}
		m1, m1Size := difference(a.First, done, larger(a), above)
		slack, size = 1-f.push[i]*(m1-a.Offset*a.Tail), 1+f.push[i]*m1Size
	}
	if f.l.list != nil && math.Abs(slack) < nearZeroTol*max(1, size) {
		slack = f.l.list.slack(f.m.pace(i), a.X, b.X, f.kills, f.m.exactResume())
		return slack, 0x1p-52 * math.Abs(slack)
	}
	return slack, momentTol*size + f.speedError[i]
}

// spareSlack returns 1 - ρ_i of a host, given the fractions of E[X] below and above its cutoffs.
func (f *tagsCost) spareSlack(i int, below, above float64) float64 {
	return f.spare[i] + f.push[i]*(below+above)
}

// first returns M_1 = ∫_a^b P(X > t) dt + d P(X > a), and the size of the terms that it is computed
// from.
func first(a, b *path.Point) (m1, size float64) {
	limited := func(p *path.Point) float64 { // E[min(X, p)]
		if p.Tail == 0 {
			return p.First
		}
		return p.First + p.X*p.Tail
	}
	m1, size = difference(limited(a), limited(b), a.Above, b.Above)
	return m1 + a.Redone*a.Tail, size + a.Redone*a.Tail
}

// square returns M_2 = E[(min(X, b) - o)²; X > a], o = a - d, and the size of the terms that it is
// computed from. It is E[min(X, b)²; X > a] - o (E[min(X, b); X > a] + M_1).
func square(a, b *path.Point) (m2, size float64) {
	m2, size = squareWhole(a, b)
	if a.Offset == 0 {
		return m2, size
	}
	m1, m1Size := first(a, b)
	extra := a.Offset * a.Tail
	m2 -= a.Offset * (2*m1 + extra)
	return max(m2, 0), size + math.Abs(a.Offset)*(2*m1Size+math.Abs(extra))
}

// squareWhole returns E[min(X, b)²; X > a] as the difference of numbers that are as small as
// possible, and the smaller of them.
func squareWhole(a, b *path.Point) (m2, size float64) {
	capped, over := b.Second, b.Beyond // E[min(X, b)²] and E[X² - b²; X > b]
	if b.Tail > 0 {
		capped += b.X * b.X * b.Tail
		over -= b.X * b.X * b.Tail
	}
	if capped < a.Beyond {
		return capped - a.Second, capped
	}
	return a.Beyond - over, a.Beyond
}

func (f *tagsCost) Cost(i int, a, b *path.Point) float64 {
	if a.X > b.X {
		return math.Inf(1)
	}
	if a.Tail == 0 {
		return 0
	}
	slack, _ := f.slack(i, a, b)
	if !(slack > 0) {
		return math.Inf(1)
	}
	v := f.speed[i]
	m2, _ := square(a, b)
	return f.weight(a) * f.rate * m2 / (2 * v * v * slack)
}

// Slope uses the derivatives of the waiting time V = λ M_2/(2 v² σ), where σ is the slack:
//
//	∂V/∂b = λ P(X > b)/(vσ) ((b-a+d)/v + V),  -w'(a) = f(a) (o.Slowdown/a + o.Waiting),
//	-∂V/∂a = f(a) λ/(vσ) (d²/(2v) + d V) + (1-d') λ/(vσ) (M_1/v + P(X > a) V).
//
// V, 1/σ and b - a + d are smallest for the largest a and the smallest b. If d drops, V also drops,
// which can only raise the cost at smaller a.
func (f *tagsCost) Slope(i int, a, b *path.Cell) (path.Slope, bool) {
	v, weight := f.speed[i], f.weight(&a.High)
	if a.Low.X > b.High.X {
		return path.Slope{}, false
	}
	if a.High.Tail == 0 {
		return path.Slope{}, true
	}
	if a.High.X > b.Low.X { // V(t, t) for all t in both, of M_1 = d P(X > t)
		d := f.m.Resume.leastRedone(b.Low.X, a.High.X)
		m1 := d * a.High.Tail
		slack := 1 - f.rate*m1/v + 2*momentTol
		if !(slack > 0) {
			return path.Slope{}, false
		}
		return path.Slope{Cost: weight * f.rate * m1 * d / (2 * v * v * slack)}, true
	}
	slack, off := f.slack(i, &a.High, &b.Low)
	slack += off
	if !(slack > 0) {
		return path.Slope{}, false
	}
	m2, size := square(&a.High, &b.Low)
	m2 = max(m2-momentTol*size, 0)
	wait := f.rate * m2 / (2 * v * v * slack)
	s := path.Slope{Cost: weight * wait}
	push := f.rate / (v * slack)
	if b.High.Tail > 0 {
		s.Before = weight * push * b.High.Tail * (runLength(&a.High, &b.Low)/v + wait)
	}
	if density := min(a.Low.Density, a.High.Density); density > 0 {
		x := f.m.Resume.leastRedone(a.Low.X, a.High.X)
		s.After = density * (wait*(f.o.Slowdown/a.High.X+f.o.Waiting) + weight*push*(x*x/(2*v)+x*wait))
	}
	if grows := 1 - f.m.Resume.growth(); grows > 0 && a.High.X > 0 {
		m1, size := first(&a.High, &b.Low)
		s.After += grows * weight * push * (max(m1-momentTol*size, 0)/v + a.High.Tail*wait)
	}
	return s, true
}

// ranges returns bounds on the cutoffs that keep every host below load 1. It returns false if there
// are none, that is, if host h is overloaded even though every host before it does as much as it
// can. A larger s_{i-1} means less work for host i, so the largest cutoffs follow one by one from
// the first host to the last, and the smallest in reverse. A slow host may be overloaded at all
// cutoffs above the largest cutoff of the previous host. Then its own cutoff is below that, and
// here an upper bound suffices. A largest cutoff of 0 means that the host and all hosts before it
// cannot take any jobs. The smallest cutoffs are for hosts that follow a host with jobs: the first
// hosts may always have a cutoff of 0, see [path.Search].
func (f *tagsCost) ranges() (low, high []float64, ok bool) {
	if f.atoms != nil {
		return f.atomRanges()
	}
	low, high = make([]float64, len(f.speed)-1), make([]float64, len(f.speed)-1)
	most, slack := f.reach(func(before []path.Point) float64 { return before[len(before)-1].X })
	if !(slack > 0) {
		return nil, nil, false
	}
	for j, p := range most {
		high[j] = p.X
	}
	b := f.work(math.Inf(1))
	for j := len(low) - 1; j >= 0; j-- {
		least := num.FirstGood(f.smallestCutoff(), high[j], func(x float64) bool {
			return f.isBelowOne(j+1, f.work(x), b)
		})
		low[j] = min(least, high[j]) // rounding, or a slow host, may leave an empty range
		b = f.work(low[j])
	}
	return low, high, true
}

// atomRanges is the version of ranges for a list of sizes, with 0 and the sizes as cutoffs. Cutoff
// j can be a size if the hosts up to j stay below load 1 with some cutoffs before it, and the other
// hosts with some cutoffs after it. The largest cutoffs before it and the smallest after it are
// best.
func (f *tagsCost) atomRanges() (low, high []float64, ok bool) {
	n, top := len(f.speed)-1, len(f.atoms)-1
	if f.l.atomWork == nil {
		f.l.atomWork = make([]path.Point, 0, len(f.atoms))
		for _, x := range f.atoms {
			f.l.atomWork = append(f.l.atomWork, f.work(x))
		}
	}
	points := f.l.atomWork
	starts := make([][]bool, n+1) // whether cutoff j can be atom k, judging by the hosts up to j
	starts[0] = make([]bool, len(points))
	starts[0][0] = true
	for j := range n {
		if f.l.stopped() {
			return nil, nil, false
		}
		starts[j+1] = make([]bool, len(points))
		last := -1
		for k := range points {
			if starts[j][k] {
				last = k
			}
			starts[j+1][k] = last >= 0 && f.isBelowOne(j, points[last], points[k])
		}
	}
	low, high = make([]float64, n), make([]float64, n)
	ends := make([]bool, len(points)) // whether it can, judging by the hosts after j
	ends[top] = true
	for j := n; j >= 0; j-- {
		if f.l.stopped() {
			return nil, nil, false
		}
		next := -1
		first, last := -1, -1
		for k := top; k >= 0; k-- {
			if ends[k] {
				next = k
			}
			ends[k] = next >= 0 && f.isBelowOne(j, points[k], points[next])
			if ends[k] && starts[j][k] {
				first, last = k, max(last, k)
			}
		}
		if first < 0 {
			return nil, nil, false
		}
		if !f.mayIdleFirst() {
			first = max(first, 1)
		}
		if j > 0 {
			low[j-1], high[j-1] = f.atoms[first], f.atoms[last]
		}
	}
	return low, high, true
}

// margin returns a number that is positive if and only if some cutoffs keep every host below load
// 1: the slack of the last host when all hosts before it do as much as they can or, for a list of
// sizes, only 1 or -1. If host j is overloaded at every cutoff above the largest one before it, its
// own cutoff is the largest lower one that the hosts before it can also have. All work above that
// cutoff then remains, and host j has load λ s P(X > s)/v.
func (f *tagsCost) margin() float64 {
	if !f.startsLate() {
		return f.marginFromFirst()
	}
	most := math.Inf(-1)
	for idle := 0; idle < f.m.Hosts && !(most > 0); idle++ {
		if g, possible := f.dropHosts(idle); possible {
			most = max(most, g.marginFromFirst())
		}
	}
	return most
}

func (f *tagsCost) marginFromFirst() float64 {
	if f.atoms != nil {
		if _, _, ok := f.atomRanges(); !ok {
			return -1
		}
		return 1
	}
	none := f.work(0)
	_, slack := f.reach(func(most []path.Point) float64 {
		var can func(j int, p *path.Point) bool // whether cutoff j can be p
		can = func(j int, p *path.Point) bool {
			switch {
			case j == 0:
				return f.isBelowOne(0, none, *p)
			case p.X >= most[j-1].X:
				return f.isBelowOne(j, most[j-1], *p)
			}
			return can(j-1, p) && f.isBelowOne(j, *p, *p)
		}
		return f.stop(most[len(most)-1].X, func(x float64) bool {
			p := f.work(x)
			return can(len(most), &p)
		})
	})
	return slack
}

// reach returns the points of the largest cutoffs. They are 0 if even the smallest size overloads
// all hosts so far. If a host is overloaded at every cutoff above the largest of the hosts before
// it, slow provides its cutoff and theirs. reach also returns the slack that the last host then has.
func (f *tagsCost) reach(slow func(before []path.Point) float64) (high []path.Point, slack float64) {
	a := f.work(0)
	for j := range len(f.speed) - 1 {
		from, most := max(a.X, f.smallestCutoff()), 0.0
		switch {
		case f.isBelowOne(j, a, f.work(from)):
			most = f.last(from, func(x float64) float64 {
				b := f.workUpTo(j, x)
				slack, _ := f.slack(j, &a, &b)
				return slack
			})
		case a.X > 0:
			most = slow(high)
		}
		a = f.work(most)
		high = append(high, a)
	}
	all := f.work(math.Inf(1))
	slack, _ = f.slack(len(high), &a, &all)
	return high, slack
}

// mayIdleFirst reports whether it can pay to leave the first hosts idle. If no host is faster than
// one before it, it never does: idling the last ones is better.
func (f *tagsCost) mayIdleFirst() bool {
	return !slices.IsSortedFunc(f.speed, func(a, b float64) int { return cmp.Compare(b, a) })
}

// startsLate reports whether the host at which jobs start is a separate choice: jobs that it stops
// cost overhead, but not those that start there, so a cutoff of 0 differs from a small one.
func (f *tagsCost) startsLate() bool { return !f.m.Resume.restarts() && f.mayIdleFirst() }

// dropHosts returns the farm without its first hosts, at the same arrival rate, or false if the
// others cannot do all work.
func (f *tagsCost) dropHosts(first int) (*tagsCost, bool) {
	rest := f.m.withLoad(f.m.Load)
	rest.Hosts -= first
	rest.Speeds = rest.Speeds[first:]
	if rest.Fractions != nil && rest.Fractions.Speeds != nil {
		rest.Fractions.Speeds = rest.Fractions.Speeds[first:]
	}
	if first > 0 {
		rest.Load *= f.m.capacity() / rest.capacity()
	}
	return newTAGSCost(rest, f.l, f.o), rest.Load < 1
}

// hasSlowerLater reports whether a host is slower than one before it.
func (f *tagsCost) hasSlowerLater() bool { return !slices.IsSorted(f.speed) }

// isBelowOne reports whether host i between cutoffs a and b is below load 1.
func (f *tagsCost) isBelowOne(i int, a, b path.Point) bool {
	slack, _ := f.slack(i, &a, &b)
	return slack > 0
}

// work returns the quantities of cutoff x that a load needs.
func (f *tagsCost) work(x float64) path.Point {
	p := path.Point{X: x, Tail: f.l.tail(x), Above: f.l.partialExcess(x)}
	p.Redone, p.Offset = f.m.Resume.Redone(x), f.m.Resume.offset(x)
	if x > 0 {
		p.First = f.l.partial(1, 0, x)
	}
	return p
}

// workUpTo is the version of work for a cutoff x after host i. If nothing cancels, slack needs only
// the work above it.
func (f *tagsCost) workUpTo(i int, x float64) path.Point {
	if !f.kills || f.spare[i] < cancellationLimit {
		return f.work(x)
	}
	return path.Point{X: x, Tail: f.l.tail(x), Above: f.l.partialExcess(x)}
}

// smallestCutoff returns the smallest cutoff that matters: below all sizes, a cutoff only helps
// jobs that do not restart from scratch.
func (f *tagsCost) smallestCutoff() float64 {
	if f.m.Resume.restarts() {
		return f.l.low
	}
	return 0
}

// runLength returns b - a + d: the work of a host between the cutoffs a and b on a job that it
// stops.
func runLength(a, b *path.Point) float64 {
	if a.Offset == 0 {
		return b.X
	}
	return b.X - a.X + a.Redone
}

// split returns where to halve a cell of cutoffs: where the cost has a kink or drops, if that is
// inside. These points are the smallest size, the sizes of a list, and checkpoints.
func (f *tagsCost) split(low, high, mid float64) float64 {
	if x := f.l.low; low < x && x < high {
		return x
	}
	if i := sort.SearchFloat64s(f.kinks, mid); f.kinks != nil {
		for _, k := range []int{i, i - 1} {
			if k >= 0 && k < len(f.kinks) && low < f.kinks[k] && f.kinks[k] < high {
				return f.kinks[k]
			}
		}
	}
	if tau := f.m.Resume.Every; tau > 0 {
		near := math.Round(mid / tau)
		for _, n := range []float64{near, near - 1, near + 1} {
			if x := n * tau; low < x && x < high {
				return x
			}
		}
	}
	return mid
}

// drop returns the largest cutoff below x, and whether the cost drops from there to x: at the sizes
// of a list, and at checkpoints.
func (f *tagsCost) drop(x float64) (below float64, drops bool) {
	below = math.Nextafter(x, 0)
	i := sort.SearchFloat64s(f.kinks, x)
	drops = x > 0 && i < len(f.kinks) && f.kinks[i] == x
	if r := f.m.Resume; r.Rule == ResumeEvery && !math.IsInf(x, 1) && r.checkpoint(x) == x && x > r.Every/2 {
		drops = true
		for below > 0 && r.checkpoint(below) == below { // it rounds to the same checkpoint
			below = math.Nextafter(below, 0)
		}
	}
	return below, drops
}

// top returns the high end of the sizes or, if they are unbounded, a size that almost no job
// exceeds: 1e-40 is far below the rounding error of any load, and the square of 1e150 is within
// float64.
func (f *tagsCost) top() float64 {
	x := f.l.high
	if math.IsInf(x, 1) {
		for x = f.l.mean; x < 1e150 && f.l.tail(x) > 1e-40; x *= 2 {
		}
	}
	return x
}

// last returns the largest x in the range of the sizes with a positive slack, which is positive
// from a up to some x.
func (f *tagsCost) last(a float64, slack func(x float64) float64) float64 {
	top := f.top()
	if a >= top || slack(top) > 0 {
		return f.l.high
	}
	return num.LastPositive(a, top, slack)
}

// stop returns the largest x below a for which good holds, or 0 if it holds nowhere on a fine grid
// with steps of 1 % over 20 decades.
func (f *tagsCost) stop(a float64, good func(x float64) bool) float64 {
	const points = 4096
	low := max(f.smallestCutoff(), min(a, f.l.mean)*1e-20)
	switch f.m.Resume.Rule {
	case ResumeCut: // at smaller cutoffs, d is the same and more jobs arrive
		return 0
	case ResumeEvery: // the same holds for cutoffs below the last checkpoint
		x := f.m.Resume.checkpoint(a)
		if x > 0 && x < a && good(x) {
			return num.LastGood(x, a, good)
		}
		low = max(low, x)
	}
	if !(low < a) {
		return 0
	}
	bad := a
	for k := points - 1; k >= 0; k-- {
		x := low * math.Pow(a/low, float64(k)/points)
		if good(x) {
			return num.LastGood(x, bad, good)
		}
		bad = x
	}
	return 0
}

// MaxLoad returns the largest ρ such that, under TAGS, cutoffs in the range of the sizes keep every
// host of m below load 1 at all system loads below ρ; it ignores the Load of m. At ρ, all hosts
// have load 1, or host 1 is overloaded by the smallest sizes alone. If a host is slower than one
// before it, or if jobs redo more work than they did before they were stopped, MaxLoad searches on
// a grid, and the result may be too small if x P(X > x) has several peaks. It takes about 0.6 ms
// per host. The error comes from [Evaluate].
func MaxLoad(ctx context.Context, m Model) (float64, error) {
	m = m.withLoad(0.5)
	if err := m.Validate(); err != nil {
		return 0, err
	}
	l, err := newMoments(ctx, m)
	if err != nil {
		return 0, err
	}
	most := m.maxLoad(l)
	if l.err != nil {
		return 0, l.err
	}
	return most, nil
}

func (m Model) maxLoad(l *moments) float64 {
	return m.greatestLoad(func(m Model) float64 {
		if l.stopped() {
			return 0
		}
		return newTAGSCost(m, l, Objective{Waiting: 1}).margin()
	})
}

// greatestLoad returns the largest load at which margin is positive, as it is at all lower loads.
func (m Model) greatestLoad(margin func(m Model) float64) float64 {
	at := func(load float64) float64 { return margin(m.withLoad(load)) }
	low, high := 0.5, math.Nextafter(1, 0)
	for low > 0 && !(at(low) > 0) {
		low, high = low/2, low
	}
	return num.LastPositive(low, high, at)
}
