package fluid

import (
	"context"
	"math"
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// A filling performs progressive filling in float64: the dominant share of each active job of row i
// is level · speed_i, and the level rises from 0. With the counts n_i, and b_ij = a_ij/d_i,
// resource j is used at
//
//	frozen_j + level rate_j,  rate_j = Σ_{i active} n_i speed_i b_ij,  frozen_j = Σ_{i not active} n_i s_i b_ij.
//
// A round raises the level to the smallest (1 - frozen_j)/rate_j. All jobs with b_ij > 0 for a
// resource that becomes saturated stop. There are at most as many rounds as resources, since no
// active job needs a saturated resource. A round takes O(1) for each active row and each resource
// in play.
//
// Rounding. frozen_j and rate_j are separate sums of terms >= 0, never differences, so their
// relative errors are at most 2^-53 times the number of roundings of a term, for terms of any size.
// The only subtraction is 1 - frozen_j, and its error acts like an error of the capacity. A
// resource with at most tie left counts as saturated: two resources saturated at the same level
// differ only by rounding, and a job of small speed that continued because of that could multiply
// its share. If the levels do differ, less than tie remains unused. Either way, up to one rounding
// each, the shares belong to a pool whose capacities differ by factors within 1 ± 2 tie. Their
// distance from the shares of the given pool depends on the pool: a job that uses what others leave
// of a resource, 1 - frozen_j, gets it with an absolute error of the order of tie.
type filling struct {
	need   [][]float64 // b_ij at [j][i]
	speed  []float64   // scaled by a power of two, which only changes the unit of the level
	limit  []float64   // largest dominant share of each row; nil if there are no limits
	stops  []float64   // levels at which these limits are reached
	tie    float64     // fraction of a capacity below which the remainder is rounding
	row    []int       // active rows
	keep   []int       // positions in row of the rows that continue
	stop   []int       // positions in row of the rows that stop
	flow   []float64   // n_i speed_i of the active rows; later scratch for the terms of the rows that stop
	part   [][]float64 // n_i speed_i b_ij at [j], in the order of row
	rate   []float64   // rate_j
	frozen []float64   // frozen_j
	open   []int       // resources that active rows need
	sated  []int       // resources that become saturated in this round
}

// newFilling returns the kernel in which dominant shares grow at these speeds > 0: the weights for
// dominant resource fairness, weights times d_i for max-min fairness.
func newFilling(p *problem, speed []float64) kernel {
	f := &filling{
		need: p.need, speed: make([]float64, p.rows), row: make([]int, p.rows), keep: make([]int, p.rows),
		stop: make([]int, p.rows),
		flow: make([]float64, p.rows), part: make([][]float64, p.resources),
		rate: make([]float64, p.resources), frozen: make([]float64, p.resources),
		open: make([]int, p.resources), sated: make([]int, p.resources),
	}
	flat := make([]float64, p.rows*p.resources)
	for j := range f.part {
		f.part[j] = flat[j*p.rows : (j+1)*p.rows : (j+1)*p.rows]
	}
	least, most := math.MaxInt, math.MinInt
	for _, s := range speed {
		least, most = min(least, math.Ilogb(s)), max(most, math.Ilogb(s))
	}
	for i, s := range speed {
		f.speed[i] = math.Ldexp(s, -(least+most)/2)
	}
	if p.limit != nil {
		f.limit, f.stops = p.limit, make([]float64, p.rows)
		for i, l := range p.limit {
			f.stops[i] = l / f.speed[i]
		}
	}
	// A term is rounded 4 times before it is added: the need, the speed, n_i speed_i, the product.
	// [num.PairwiseSum] rounds it at most num.PairwiseBlock/4 + 2 + log2(rows) times, and frozen_j
	// once per round and twice for the level. Both sides of a tie have these errors.
	roundings := 4 + num.PairwiseBlock/4 + 2 + math.Log2(float64(p.rows)) + float64(p.resources) + 2
	f.tie = 2 * math.Ceil(roundings) * 0x1p-53
	return f
}

func (f *filling) Forget() {}

// Beyond these numbers digits could be lost to underflow or overflow.
const leastRate, mostRate, leastShare = 1e-290, 1e290, 1e-300

// Shares fills the resources. The error is an *[num.InputError] for numbers that differ too much
// for float64, such as counts above about 1e9 together with speeds that differ by hundreds of
// orders of magnitude.
func (f *filling) Shares(ctx context.Context, count, share []float64) error {
	f.start(count, share)
	for level := 0.0; len(f.open) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, first := math.MaxFloat64, -1
		for _, j := range f.open {
			// Levels never decrease except by rounding. The negated comparison also catches NaN,
			// which the range check then rejects.
			at := (1 - f.frozen[j]) / f.rate[j]
			if at < level {
				at = level
			}
			if first < 0 || !(at >= next) {
				next, first = at, j
			}
		}
		if r := f.rate[first]; !(r >= leastRate && r <= mostRate) {
			return errRate(r)
		}
		at := next // level at which the resource is saturated
		if f.stops != nil {
			for _, i := range f.row {
				next = min(next, f.stops[i])
			}
			next = max(next, level)
		}
		level = next
		f.sated = f.sated[:0]
		for _, j := range f.open {
			if j == first && level == at || f.frozen[j]+level*f.rate[j] >= 1-f.tie {
				f.sated = append(f.sated, j)
			}
		}
		if least := f.split(level, share); least < leastShare {
			return input.Errorf("count", least, "counts and speeds with dominant shares of %g or more", leastShare)
		}
		f.advance(level)
	}
	if len(f.row) > 0 { // the terms of these rows underflow
		return errRate(0)
	}
	return nil
}

func errRate(rate float64) error {
	return input.Errorf("count", rate, "counts and speeds with Σ_i count_i speed_i in [%g, %g] for each resource",
		leastRate, mostRate)
}

// start makes the rows with jobs active.
func (f *filling) start(count, share []float64) {
	m, row, flow := 0, f.row[:len(count)], f.flow[:len(count)]
	for i, n := range count {
		share[i] = 0
		if n > 0 {
			row[m], flow[m] = i, n*f.speed[i]
			m++
		}
	}
	f.row, flow = row[:m], flow[:m]
	f.open = f.open[:0]
	for j, need := range f.need {
		part := f.part[j][:m]
		if m == len(need) {
			for k, v := range flow {
				part[k] = v * need[k]
			}
		} else {
			for k, v := range flow {
				part[k] = v * need[f.row[k]]
			}
		}
		f.frozen[j], f.rate[j] = 0, num.PairwiseSum(part)
		if f.rate[j] != 0 {
			f.open = append(f.open, j)
		}
	}
}

// split stops the rows that need a saturated resource or reach their limits, with their shares at
// this level, and returns the smallest share.
func (f *filling) split(level float64, share []float64) float64 {
	keep, stop := f.keep[:cap(f.keep)], f.stop[:cap(f.stop)]
	kept, stopped, least := 0, 0, math.MaxFloat64
	for k, i := range f.row {
		if f.mustStop(i, level) {
			stop[stopped] = k
			stopped++
			share[i] = level * f.speed[i]
			least = min(least, share[i])
		} else {
			keep[kept] = k
			kept++
		}
	}
	f.keep, f.stop = keep[:kept], stop[:stopped]
	if f.stops != nil {
		for _, k := range f.stop {
			if i := f.row[k]; f.isAtLimit(i, level) {
				share[i] = f.limit[i]
			}
		}
	}
	for to, k := range f.keep {
		f.row[to] = f.row[k]
	}
	f.row = f.row[:kept]
	return least
}

// mustStop reports whether row i needs a saturated resource or reaches its limit.
func (f *filling) mustStop(i int, level float64) bool {
	for _, j := range f.sated {
		if f.need[j][i] > 0 {
			return true
		}
	}
	return f.stops != nil && f.isAtLimit(i, level)
}

// isAtLimit reports whether row i has reached its limit, up to rounding.
func (f *filling) isAtLimit(i int, level float64) bool { return f.stops[i] <= level*(1+f.tie) }

// advance moves the terms of the stopped rows from the rates to frozen.
func (f *filling) advance(level float64) {
	if len(f.row) == 0 {
		f.open = f.open[:0]
		return
	}
	for _, j := range f.sated {
		f.rate[j] = 0
	}
	open := f.open[:0]
	for _, j := range f.open {
		if f.rate[j] == 0 {
			continue
		}
		part, gone := f.part[j], f.flow[:len(f.stop)]
		for to, k := range f.stop {
			gone[to] = part[k]
		}
		for to, k := range f.keep { // to <= k
			part[to] = part[k]
		}
		f.frozen[j] += level * num.PairwiseSum(gone)
		f.rate[j] = num.PairwiseSum(part[:len(f.keep)])
		if f.rate[j] != 0 {
			open = append(open, j)
		}
	}
	f.open = open
}

// fill returns the dominant share of one job of each row, by progressive filling in fractions, with
// the same letters as [filling]. Sums are balanced trees, because denominators grow: most additions
// are then of short fractions. Without limits it takes at most J rounds, with O(n J) additions and
// multiplications in total and O(J) divisions per round.
func (e *Profiles) fill(ctx context.Context, speed []*big.Rat) ([]*big.Rat, error) {
	n, resources := len(e.Need), len(e.Need[0])
	share := make([]*big.Rat, n)
	active := make([]int, n)
	rate, frozen := make([]*big.Rat, resources), make([]*big.Rat, resources)
	part := make([][]*big.Rat, n) // n_i speed_i b_ij
	limits := make([]*big.Rat, n) // levels at which rows stop because of their limits
	for i := range n {
		active[i] = i
		if l := e.limitOf(i); l != nil {
			limits[i] = new(big.Rat).Quo(l, speed[i])
		}
		flow := new(big.Rat).Mul(e.Count[i], speed[i])
		part[i] = make([]*big.Rat, resources)
		for j, b := range e.Need[i] {
			part[i][j] = new(big.Rat).Mul(flow, b)
		}
	}
	for j := range resources {
		rate[j], frozen[j] = columnSum(part, active, j), new(big.Rat)
	}
	one := big.NewRat(1, 1)
	for len(active) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var level *big.Rat
		sated := -1
		for j := range resources {
			if rate[j].Sign() == 0 {
				continue
			}
			at := new(big.Rat).Sub(one, frozen[j])
			if at.Quo(at, rate[j]); level == nil || at.Cmp(level) < 0 {
				level, sated = at, j // another resource at this level follows in the next round
			}
		}
		for _, i := range active {
			if l := limits[i]; l != nil && l.Cmp(level) <= 0 {
				level, sated = l, -1 // other limits at this level stop with it; resources follow in the next round
			}
		}
		var keep, stop []int
		for _, i := range active {
			if sated >= 0 && e.Need[i][sated].Sign() == 0 ||
				sated < 0 && (limits[i] == nil || limits[i].Cmp(level) != 0) {
				keep = append(keep, i)
				continue
			}
			stop = append(stop, i)
			share[i] = new(big.Rat).Mul(level, speed[i])
		}
		active = keep
		if len(active) == 0 {
			break
		}
		for j := range resources {
			if rate[j].Sign() == 0 {
				continue
			}
			gone := columnSum(part, stop, j)
			rate[j].Sub(rate[j], gone)
			frozen[j].Add(frozen[j], gone.Mul(gone, level))
		}
	}
	return share, nil
}

// columnSum returns Σ x_ij over the rows i.
func columnSum(x [][]*big.Rat, rows []int, j int) *big.Rat {
	terms := make([]*big.Rat, len(rows))
	for k, i := range rows {
		terms[k] = x[i][j]
	}
	return num.SumRats(terms)
}
