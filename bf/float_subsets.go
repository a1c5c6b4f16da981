package bf

import (
	"context"
	"errors"
)

// measures are the stationary measures of one component, as one engine knows them.
type measures struct {
	normalization value
	jobs          []value // E[X_i] of each class
	busy          []value // utilization of the servers of each group
}

// errUndecided says that the float engine cannot hold the denominators well enough.
var errUndecided = errors.New("bf: capacities and arrival rates whose differences take more digits than the float engine has: use auto, enclose or exact")

// blur is the relative error of a denominator above which the float engine gives up. It
// matters only to rates whose common denominator takes more than 62 bits.
const blur = 1e-14

// errRange says that intermediate values leave the range of float64.
var errRange = errors.New("bf: values outside the range of float64: use auto, enclose or exact")

// totalOf returns Σ x, the largest denominator if x are the capacities.
func totalOf(x []int64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// floatClasses sweeps the class lattice in float64: N 2^N additions in all, 8·2^N bytes.
// With G up the lattice and W its adjoint down,
//
//	E[X_i] = (Σ_{A∋i} G(A) + λ_i Σ_{A∋i} W(A) G(A)) / Z,
//
// the first sum by way of the weights (G(A) is Π_{i∈A} λ_i times a function of the
// denominators), the second by way of the denominators. Every term is positive.
func floatClasses(ctx context.Context, p *problem, workers int) (measures, error) {
	c, sums, e, err := sweepClasses(ctx, p, workers)
	if err != nil {
		return measures{}, err
	}
	sums.all.Add(1)
	m := measures{normalization: floatValue(sums.all.Value(), e.up)}
	for s := range p.groups {
		m.busy = append(m.busy, floatValue(sums.meet[s].Value(), e.up).quo(m.normalization))
	}
	down, err := c.down(ctx, workers)
	if err != nil {
		return measures{}, err
	}
	for i := range p.classes {
		direct := floatValue(sums.with[i].Value(), e.up)
		load := floatValue(c.weight[i], roundoff).mul(floatValue(down.with[i].Value(), e.product))
		m.jobs = append(m.jobs, direct.add(load).quo(m.normalization))
	}
	return m, nil
}

// sweepClasses sweeps up the class lattice; cube.value is G(A) then.
func sweepClasses(ctx context.Context, p *problem, workers int) (*cube, cubeSums, sweepError, error) {
	n := len(p.classes)
	capacity, rate, shift, slop := p.words()
	weights := make([]float64, n)
	for i, k := range p.classes {
		weights[i] = scaled(k.rate, shift)
	}
	c := newCube(weights, p.spare)
	c.every, c.meet = true, p.classMasks()
	c.den = newDenominators(pad(n, len(c.weight), capacity, c.meet, rate))
	if !c.inRange(totalOf(capacity)) {
		return nil, cubeSums{}, sweepError{}, errRange
	}
	sums, err := c.up(ctx, workers)
	if err != nil {
		return nil, sums, sweepError{}, err
	}
	least := float64(sums.min)
	switch {
	case least <= slop && slop == 0:
		return nil, sums, sweepError{}, p.overloaded(elements(c.den.smallest(sums.minBlock)))
	case slop > blur*(least-slop):
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
	v := d.from(b, 1).integers(b)
	at := b2i(b == 0)
	for l := at; l < blockSize; l++ {
		if v[l] < v[at] {
			at = l
		}
	}
	return b<<lowBits | at
}

// A sweepError bounds the relative errors of a sweep over the subsets of n elements. With u
// the unit roundoff and delta that of the denominators, a value on level k is a sum of at most k
// values (n-k and the seed on the way down) divided once, and a product of weights takes 2n+2 roundings:
//
//	H: e_k = e_{k-1} + (k+1)u + delta, e_0 = 0,   X = H Π: e_k + (2n+3)u,
//	V: g_k = g_{k+1} + (n-k+2)u + delta, g_{n+1} = (2n+2)u.
//
// Within a block a sum passes at most 40 additions; sums of blocks are compensated, which costs
// 4u more (see num.Sum).
type sweepError struct {
	value   float64 // of X
	up      float64 // of sums of X
	table   float64 // of WX
	product float64 // of sums of WX
}

func newSweepError(n int, delta float64) sweepError {
	const sums = 44 * roundoff
	e := make([]float64, n+1)
	for k := 1; k <= n; k++ {
		e[k] = e[k-1] + float64(k+1)*roundoff + delta
	}
	product := float64(2*n+3) * roundoff
	var s sweepError
	g := product
	for k := n; k >= 1; k-- {
		g += float64(n-k+2)*roundoff + delta
		s.table = max(s.table, e[k]+g+roundoff)
	}
	s.value = inflate(e[n] + product)
	s.up = inflate(e[n] + product + sums)
	s.product = inflate(s.table + sums)
	s.table = inflate(s.table)
	return s
}

// floatServers sweeps the lattice of all sets of servers in float64, with a table of
// denominators beside that of the values and one of integers they are made of: 24·2^S bytes. With Z up
// the lattice and W its adjoint down, E[X_i] = λ_i Σ_{K ⊇ S_i} W(K) Z(K) / Z, and server s is
// idle with probability Z(all but s)/Z.
func floatServers(ctx context.Context, p *problem, workers int) (measures, error) {
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
	addSubsets(ctx, den, workers)
	table := newTable(1 << size)
	smallest := 1
	inSlices(ctx, len(den), func(first, last int) {
		for a := first; a < last; a++ {
			d := den[a]
			if d < den[smallest] && a&(1<<n-1) != 0 {
				smallest = a
			}
			table[a] = float64(max(d, 1)) // 0 at sets of padding alone, whose values are 0 anyway
		}
	})
	if err := ctx.Err(); err != nil {
		return measures{}, err
	}
	switch least := float64(den[smallest]); {
	case least <= slop && slop == 0:
		return measures{}, p.overloaded(p.classesWithin(sets, smallest))
	case slop > blur*(least-slop):
		return measures{}, errUndecided
	}
	delta := roundoff + slop/(float64(den[smallest])-slop)
	weights := make([]float64, n)
	for s, g := range p.groups {
		weights[s] = scaled(g.capacity, shift)
	}
	c := newCube(weights, p.spare)
	c.den, c.y = &denominators{table: table}, table
	if !c.inRange(totalOf(capacity)) {
		return measures{}, errRange
	}
	if _, err := c.up(ctx, workers); err != nil {
		return measures{}, err
	}
	e := newSweepError(n, delta)
	z := floatValue(c.value(c.root), e.value)
	m := measures{normalization: z}
	for s := range p.groups {
		busy := floatValue(c.value(c.root&^(1<<s)), e.value).quo(z).oneMinus()
		if !(busy.double() > lowLoad) {
			c.light, c.integers, c.capacity = append(c.light, s), den, capacity
		}
		m.busy = append(m.busy, busy)
	}
	if c.light == nil {
		den = nil
	}
	sums, err := c.down(ctx, workers)
	if err != nil {
		return measures{}, err
	}
	for i, s := range c.light {
		// The rate that s brings is a sum of integers, each off by at most half.
		worst := 0.0
		for k := range p.classes {
			if slop > 0 && sets[k]>>s&1 == 1 {
				worst = max(worst, 0.5/max(0, float64(rate[k])-0.5))
			}
		}
		m.busy[s] = floatValue(sums.light[i].Value(), compound(e.table, roundings(blockSize+8), worst)).quo(z)
	}
	addSupersets(ctx, c.y, workers)
	if err := ctx.Err(); err != nil {
		return measures{}, err
	}
	for i, k := range p.classes {
		sum := floatValue(c.y[sets[i]], compound(e.table, roundings(float64(size)), 0))
		m.jobs = append(m.jobs, floatValue(scaled(k.rate, shift)*c.unit, roundoff).mul(sum).quo(z))
	}
	return m, nil
}

// lowLoad is the utilization below which 1 - P(idle) loses too many digits. Then, with W the
// adjoint, no path from the set of all servers to one that holds s having removed s,
//
//	Z(all) - Z(all∖{s}) = Σ_{K∋s} W(K) [λ(K) - λ(K∖{s})] Z(K∖{s}),
//
// a sum of positive terms: Z(K) - Z(K∖{s}) obeys the recursion for Z with these as its source.
const lowLoad = 1. / 16

func (p *problem) classesWithin(sets []int, servers int) []int32 {
	var l []int32
	for i, s := range sets {
		if s&^servers == 0 {
			l = append(l, int32(i))
		}
	}
	return l
}
