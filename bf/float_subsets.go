package bf

import (
	"errors"
	"math"
	"math/bits"

	"productform/num"
)

// measures are the stationary measures of one component, as one engine knows them.
type measures struct {
	normalization value
	jobs          []value // E[X_i] of each class
	busy          []value // utilization of the servers of each group
}

// errUndecided says that float64 cannot tell a component from an unstable one.
var errUndecided = errors.New("bf: too close to the stability boundary for the float engine: use auto, enclose or exact")

// errRange says that intermediate values leave the range of float64.
var errRange = errors.New("bf: values outside the range of float64: use auto, enclose or exact")

// inRange reports whether no value of a sweep underflows: each is at least the product of
// w_i/M over all elements of positive weight, M the largest denominator, divided once more by M < 2^63.
func inRange(weight []float64, n int, capacity []int64) bool {
	total := 0.0
	for _, c := range capacity {
		total += float64(c)
	}
	exponent := 0.0
	for _, w := range weight[:n] {
		if w > 0 {
			exponent += math.Log2(total / w)
		}
	}
	return exponent < 900
}

// floatClasses sweeps the class lattice in float64: N 2^N multiplications in all, 8·2^N bytes.
// With G up the lattice and W its adjoint down,
//
//	E[X_i] = (Σ_{A∋i} G(A) + λ_i Σ_{A∋i} W(A) G(A)) / Z,
//
// the first sum by way of the weights (G(A) is Π_{i∈A} λ_i times a function of the
// denominators), the second by way of the denominators. Every term is positive.
func floatClasses(p *problem, workers int) (measures, error) {
	c, sums, e, err := sweepClasses(p, workers)
	if err != nil {
		return measures{}, err
	}
	sums.all.Add(1)
	m := measures{normalization: floatValue(sums.all.Value(), e.up)}
	for _, mask := range p.classMasks() {
		m.busy = append(m.busy, busyProbability(c.x, mask, m.normalization, e.up))
	}
	down := c.down(workers)
	for i := range p.classes {
		direct := floatValue(sums.with[i].Value(), e.up)
		load := floatValue(c.weight[i], roundoff).mul(floatValue(down.with[i].Value(), e.product))
		m.jobs = append(m.jobs, direct.add(load).quo(m.normalization))
	}
	return m, nil
}

// sweepClasses sweeps up the class lattice. The cube has G(A) in x.
func sweepClasses(p *problem, workers int) (*cube, cubeSums, sweepError, error) {
	n := len(p.classes)
	capacity, rate, shift, slop := p.words()
	size := max(n, lowBits)
	c := &cube{weight: make([]float64, size), every: true, root: 1<<n - 1, x: make([]float64, 1<<size)}
	for i, k := range p.classes {
		c.weight[i] = scaled(k.rate, shift)
	}
	if !inRange(c.weight, n, capacity) {
		return nil, cubeSums{}, sweepError{}, errRange
	}
	c.den = newDenominators(pad(n, size, capacity, p.classMasks(), rate))
	sums := c.up(workers)
	least := float64(sums.min)
	switch {
	case least <= slop && slop == 0:
		return nil, sums, sweepError{}, p.overloaded(elements(c.den.smallest(sums.minBlock)))
	case least <= slop:
		return nil, sums, sweepError{}, errUndecided
	}
	return c, sums, newSweepError(n, roundoff+slop/(least-slop)), nil
}

// pad extends n classes to size by classes of rate 0 on one more server, which keeps their
// denominators positive; their weight is 0, and so is every value of a set that holds one.
func pad(n, size int, capacity []int64, masks []int, rate []int64) ([]int64, []int, []int64) {
	if n == size {
		return capacity, masks, rate
	}
	var total int64
	for _, c := range capacity {
		total += c
	}
	capacity = append(append([]int64(nil), capacity...), total)
	masks = append(append([]int(nil), masks...), 1<<size-1<<n)
	return capacity, masks, append(append([]int64(nil), rate...), make([]int64, size-n)...)
}

// smallest returns the set of the smallest denominator in block b.
func (d *denominators) smallest(b int) int {
	v := d.from(b).integers(b)
	at := b2i(b == 0)
	for l := at; l < blockSize; l++ {
		if v[l] < v[at] {
			at = l
		}
	}
	return b<<lowBits | at
}

// A sweepError bounds the relative errors of a sweep over the subsets of n elements. With u
// the unit roundoff and delta that of the denominators, a value on level k is a sum of k products
// (k-1 additions, one multiplication, a rounded weight) and a division:
//
//	up:   e_k = e_{k-1} + (k+2)u + delta,    e_0 = 0,
//	down: g_k = g_{k+1} + (n-k+3)u + delta,  g_n = u + delta.
//
// Within a block a sum passes at most 40 additions; sums of blocks are compensated, which costs
// 2u more (Ogita, Rump and Oishi 2005, Proposition 4.5).
type sweepError struct {
	value   float64 // of X
	up      float64 // of sums of X
	product float64 // of WX and of sums of WX
	table   float64 // of WX, not summed
}

func newSweepError(n int, delta float64) sweepError {
	const sums = 42
	e := make([]float64, n+1)
	for k := 1; k <= n; k++ {
		e[k] = e[k-1] + float64(k+2)*roundoff + delta
	}
	var s sweepError
	g := roundoff + delta
	for k := n; k >= 1; k-- {
		s.table = max(s.table, e[k]+g+roundoff)
		g += float64(n-(k-1)+3)*roundoff + delta
	}
	s.value = inflate(e[n])
	s.up = inflate(e[n] + sums*roundoff)
	s.product = inflate(s.table + sums*roundoff)
	s.table = inflate(s.table)
	return s
}

// busyProbability returns P(a class of mask is active), the sum of X over the sets that meet
// mask divided by that over all. The sets that do not are fewer, so they are added up; only if they
// are nearly all, a lightly loaded server, the subtraction is avoided.
func busyProbability(x []float64, mask int, total value, e float64) value {
	busy := floatValue(sumAvoiding(x, mask), compound(e, roundings(48), 0)).quo(total).oneMinus()
	if busy.f > 1./8 {
		return busy
	}
	return floatValue(sumMeeting(x, mask), compound(e, roundings(48), 0)).quo(total)
}

// lowSets lists the low subsets that meet mask, or those that avoid it.
func lowSets(mask int, meet bool) []uint8 {
	var l []uint8
	for a := range blockSize {
		if (a&mask != 0) == meet {
			l = append(l, uint8(a))
		}
	}
	return l
}

// sumAvoiding returns Σ x(A) over the sets A that avoid mask.
func sumAvoiding(x []float64, mask int) float64 {
	var sum num.Sum
	low := lowSets(mask, false)
	free := (len(x)>>lowBits - 1) &^ (mask >> lowBits)
	for b := 0; ; b = (b - free) & free { // the subsets of free, increasing
		sum.Add(sumOf((*block)(x[b<<lowBits:]), low))
		if b == free {
			return sum.Value()
		}
	}
}

// sumMeeting returns Σ x(A) over the sets A that meet mask.
func sumMeeting(x []float64, mask int) float64 {
	var sum num.Sum
	low, every := lowSets(mask, true), lowSets(0, false)
	for b := range len(x) >> lowBits {
		if b<<lowBits&mask != 0 {
			sum.Add(sumOf((*block)(x[b<<lowBits:]), every))
		} else {
			sum.Add(sumOf((*block)(x[b<<lowBits:]), low))
		}
	}
	return sum.Value()
}

// sumOf adds up some entries of a block, in four runs.
func sumOf(v *block, entries []uint8) float64 {
	var s0, s1, s2, s3 float64
	for len(entries) >= 4 {
		q := (*[4]uint8)(entries)
		s0 += v[q[0]]
		s1 += v[q[1]]
		s2 += v[q[2]]
		s3 += v[q[3]]
		entries = entries[4:]
	}
	for _, i := range entries {
		s0 += v[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// floatServers sweeps the lattice of all sets of servers in float64, with a table of
// denominators beside that of the values: 16·2^S bytes, and 8·2^S more while it is made. With Z up
// the lattice and W its adjoint down, E[X_i] = λ_i Σ_{K ⊇ S_i} W(K) Z(K) / Z, and server s is
// idle with probability Z(all but s)/Z.
func floatServers(p *problem, workers int) (measures, error) {
	n := len(p.groups)
	size := max(n, lowBits)
	capacity, rate, shift, slop := p.words()
	den := make([]int64, 1<<size)
	for s, c := range capacity {
		den[1<<s] += c
	}
	sets := make([]int, len(p.classes))
	for i, k := range p.classes {
		for _, c := range k.choose {
			sets[i] |= 1 << c.Server
		}
		den[sets[i]] -= rate[i]
	}
	subsetSums(den)
	table := make([]float64, 1<<size)
	smallest := 1
	for a, d := range den {
		if d < den[smallest] && a&(1<<n-1) != 0 {
			smallest = a
		}
		table[a] = float64(max(d, 1)) // 0 only at sets of padding, whose values are 0
	}
	if float64(den[smallest]) <= slop {
		if slop == 0 {
			return measures{}, p.overloaded(p.classesWithin(sets, smallest))
		}
		return measures{}, errUndecided
	}
	delta := roundoff + slop/(float64(den[smallest])-slop)
	c := &cube{weight: make([]float64, size), root: 1<<n - 1, den: &denominators{table: table},
		x: make([]float64, 1<<size), y: table}
	for s, g := range p.groups {
		c.weight[s] = scaled(g.capacity, shift)
	}
	if !inRange(c.weight, n, capacity) {
		return measures{}, errRange
	}
	c.up(workers)
	e := newSweepError(n, delta)
	z := floatValue(c.x[c.root], e.value)
	m := measures{normalization: z}
	for s := range p.groups {
		busy := floatValue(c.x[c.root&^(1<<s)], e.value).quo(z).oneMinus()
		if !(busy.f > lowLoad) {
			busy = floatValue(busyTable(c, den, capacity[s], s), compound(e.value, 4*roundoff, 0)).quo(z)
		}
		m.busy = append(m.busy, busy)
	}
	den = nil
	c.down(workers)
	supersetSums(c.y)
	for i, k := range p.classes {
		sum := floatValue(c.y[sets[i]], compound(e.table, roundings(float64(size)), 0))
		m.jobs = append(m.jobs, floatValue(scaled(k.rate, shift), roundoff).mul(sum).quo(z))
	}
	return m, nil
}

// lowLoad is the utilization below which 1 - P(idle) loses too many digits.
const lowLoad = 1. / 64

// busyTable returns D(root), where D(K) = Z(K) - Z(K∖{s}) without a subtraction: by the
// recursion for Z at K and at K∖{s},
//
//	D(K) = (Σ_{t≠s} C_t D(K∖{t}) + [λ(K) - λ(K∖{s})] Z(K∖{s})) / (M(K) - λ(K)).
func busyTable(c *cube, den []int64, capacity int64, s int) float64 {
	d := make([]float64, c.root+1)
	for k := range d {
		if k>>s&1 == 0 {
			continue
		}
		rest := k &^ (1 << s)
		sum := float64(capacity-(den[k]-den[rest])) * c.x[rest]
		for h := rest; h != 0; h &= h - 1 {
			t := bits.TrailingZeros(uint(h))
			sum += c.weight[t] * d[k&^(1<<t)]
		}
		d[k] = sum / float64(den[k])
	}
	return d[c.root]
}

func (p *problem) classesWithin(sets []int, servers int) []int32 {
	var l []int32
	for i, s := range sets {
		if s&^servers == 0 {
			l = append(l, int32(i))
		}
	}
	return l
}

const transformBits = 12 // 2^12 words stay in the first-level cache

// subsetSums replaces t(A) by Σ_{B⊆A} t(B), in n 2^(n-1) additions.
func subsetSums(t []int64) {
	n := bits.Len(uint(len(t))) - 1
	inner := min(n, transformBits)
	for start := 0; start < len(t); start += 1 << inner {
		for i := range inner {
			addHalves(t[start:start+1<<inner], 1<<i)
		}
	}
	for i := inner; i < n; i++ {
		addHalves(t, 1<<i)
	}
}

func addHalves(t []int64, half int) {
	for ; len(t) > 0; t = t[2*half:] {
		a, b := t[:half], t[half:2*half]
		for k, v := range a {
			b[k] += v
		}
	}
}

// supersetSums replaces t(A) by Σ_{B⊇A} t(B), each through n additions.
func supersetSums(t []float64) {
	n := bits.Len(uint(len(t))) - 1
	inner := min(n, transformBits)
	for start := 0; start < len(t); start += 1 << inner {
		for i := range inner {
			foldHalves(t[start:start+1<<inner], 1<<i)
		}
	}
	for i := inner; i < n; i++ {
		foldHalves(t, 1<<i)
	}
}

func foldHalves(t []float64, half int) {
	for ; len(t) > 0; t = t[2*half:] {
		a, b := t[:half], t[half:2*half]
		for k, v := range b {
			a[k] += v
		}
	}
}
