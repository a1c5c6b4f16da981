package network

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/populations"
	"productform/network/internal/demands"
	"productform/num"
)

// A lattice plan is what of a system stands on the lattice of populations.
//
// Chains are its axes, the one with the most jobs last. A station that no closed chain visits is not in it: its jobs are independent of all others. Delays are put in
// first, together, as Σ_i D_ik/rate_i: their product has the coefficients Π_k D_k^n_k/n_k!.
type latticePlan struct {
	sys    *system
	order  []int // of the axes: places in system.closed
	most   []int // N, by axis
	points float64
	jobs   int // Σ N

	delays []int        // stations with Delay that closed chains visit
	own    [][]*big.Rat // D/rate of each of them, by axis
	think  []*big.Rat   // their sums
	groups []group      // all other stations that closed chains visit
	apart  []int        // stations that no closed chain visits
}

// A group is a number of stations whose series are equal.
type group struct {
	stations []int
	over     [][]*big.Rat // D_k/α'(j), for j = 1, ... by axis; nil of a shared station
	shared   *demands.Shared
}

// newPlan looks for equal stations.
func newPlan(sys *system) *latticePlan {
	p := &latticePlan{sys: sys, points: 1}
	for k := range sys.Closed {
		p.order = append(p.order, k)
	}
	population := func(k int) int { return sys.Chains[sys.Closed[k]].Population }
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(population(a), population(b)) })
	for _, k := range p.order {
		p.most = append(p.most, population(k))
		p.points *= float64(population(k)) + 1
		p.jobs += population(k)
		p.think = append(p.think, new(big.Rat))
	}
	if len(p.most) == 0 {
		p.most = []int{0}
		p.think = []*big.Rat{new(big.Rat)}
	}
	of := map[string]int{}
	for i := range sys.Stations {
		st := &sys.Stations[i]
		demand := p.demand(i)
		visited := slices.ContainsFunc(demand, func(d *big.Rat) bool { return d.Sign() > 0 })
		switch {
		case !visited:
			p.apart = append(p.apart, i)
		case st.Shared != nil:
			p.groups = append(p.groups, group{stations: []int{i}, shared: st.Shared})
		case st.Totals.Delay != nil:
			p.delays = append(p.delays, i)
			own, _ := overRates(demand, []*big.Rat{st.Totals.Delay})
			p.own = append(p.own, own[0])
			for k, x := range own[0] {
				p.think[k] = new(big.Rat).Add(p.think[k], x)
			}
		default:
			over, key := overRates(demand, st.Totals.Rates[:min(len(st.Totals.Rates), p.jobs+1)])
			g, ok := of[key]
			if !ok {
				g = len(p.groups)
				of[key] = g
				p.groups = append(p.groups, group{over: over})
			}
			p.groups[g].stations = append(p.groups[g].stations, i)
		}
	}
	// Shared stations come first, so that all but one of their products of tables are with few other stations.
	slices.SortStableFunc(p.groups, func(a, b group) int {
		switch {
		case a.shared != nil && b.shared == nil:
			return -1
		case a.shared == nil && b.shared != nil:
			return 1
		}
		return 0
	})
	return p
}

// demand returns the demands of station i by axis.
func (p *latticePlan) demand(i int) []*big.Rat {
	list := make([]*big.Rat, 0, len(p.most))
	for _, k := range p.order {
		list = append(list, p.sys.Stations[i].Demand[k])
	}
	if len(list) == 0 {
		list = append(list, new(big.Rat))
	}
	return list
}

// overRates returns D_k/α'(j), and a text that is the same for equal ones.
func overRates(demand, rates []*big.Rat) ([][]*big.Rat, string) {
	var over [][]*big.Rat
	var key []byte
	for _, r := range rates {
		var list []*big.Rat
		for _, d := range demand {
			x := new(big.Rat).Quo(d, r)
			list = append(list, x)
			key = append(append(key, x.RatString()...), ' ')
		}
		over = append(over, list)
	}
	return over, string(key)
}

// tables returns how many tables are held at a time: for each of two parts that are worked on side by side those on the way to a station by halving, G, and two to
// compute in.
func (p *latticePlan) tables() float64 {
	return 2 * (math.Ceil(math.Log2(float64(max(len(p.groups), 1)))) + 3)
}

// bytes estimates the memory of the tables of an engine. Integers of fractions have the digits of Π_k (scale_k Σ_i D_ik)^N_k at most, about.
func (p *latticePlan) bytes(engine num.Engine, prec uint) float64 {
	switch engine {
	case num.Enclose:
		return p.tables() * populations.EnclosedBytes(p.points, prec)
	case num.Exact:
		bits := 0.0
		for k, scale := range p.scales() {
			sum := new(big.Rat).Set(p.think[k])
			for _, g := range p.groups {
				for _, list := range g.over {
					sum.Add(sum, list[k])
				}
			}
			bits += float64(p.most[k]) * (float64(scale.BitLen()) + max(0, log2(sum)+1) + math.Log2(float64(p.most[k]+1)))
		}
		return p.tables() * p.points * (24 + bits/8)
	}
	return p.tables() * populations.FloatBytes(p.points, p.segment())
}

// check refuses a lattice that is too large.
func (p *latticePlan) check(engine num.Engine, prec uint, s Settings) error {
	need := p.bytes(engine, prec)
	if need <= float64(s.MaxBytes) && p.points < math.MaxInt32*64 {
		return nil
	}
	bad := input.Errorf("classes", fmtPopulations(p.most),
		"populations whose tables fit into %d MiB: %.4g numbers in each of %.0f tables of the engine %s take %.4g MiB; Bounds and simulation have no such limit",
		s.MaxBytes>>20, p.points, p.tables(), engine, math.Ceil(need/(1<<20)))
	return &num.TooLargeError{Input: bad, States: p.points, Bytes: need, Limit: s.MaxBytes}
}

// scales returns a multiple of the denominators of all D_ik/α'(j) of each axis.
func (p *latticePlan) scales() []*big.Int {
	var list []*big.Int
	for k := range p.most {
		scale := big.NewInt(1)
		take := func(d *big.Int) {
			common := new(big.Int).GCD(nil, nil, scale, d)
			scale.Mul(scale, common.Quo(d, common))
		}
		for _, g := range p.groups {
			for _, over := range g.over {
				take(over[k].Denom())
			}
		}
		for _, own := range p.own {
			take(own[k].Denom())
		}
		list = append(list, scale)
	}
	return list
}

// slopes returns the logarithms to base 2 of the least and the greatest ratio that numbers with one job more and less of a chain may have in
// the tables: of each station with many jobs, and of the delays with few and with many.
func (p *latticePlan) slopes(k int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	take := func(x *big.Rat) {
		if x.Sign() > 0 {
			least, most = min(least, log2(x)), max(most, log2(x))
		}
	}
	for _, g := range p.groups {
		if len(g.over) > 0 {
			take(g.over[0][k])
			take(g.over[len(g.over)-1][k])
		}
	}
	if x := p.think[k]; x.Sign() > 0 {
		take(x)
		take(new(big.Rat).Quo(x, big.NewRat(int64(max(p.most[k], 1)), 1)))
	}
	if math.IsInf(most, 0) {
		return 0, 0
	}
	return least, most
}

// tilt returns about the middle of the slopes of each axis.
func (p *latticePlan) tilt() []int {
	var list []int
	for k := range p.most {
		least, most := p.slopes(k)
		list = append(list, int((least+most)/2))
	}
	return list
}

// segment returns how many numbers are scaled together, so that they do not lie too far apart.
func (p *latticePlan) segment() int {
	least, most := p.slopes(len(p.most) - 1)
	segment := 64
	for segment > 1 && float64(segment)*(most-least+1) > 500 {
		segment /= 2
	}
	return segment
}

// log2 returns the logarithm of x > 0 to base 2, about.
func log2(x *big.Rat) float64 {
	m := new(big.Float)
	e := new(big.Float).SetPrec(64).SetRat(x).MantExp(m)
	f, _ := m.Float64()
	return float64(e) + math.Log2(f)
}

// numbersOf returns fractions in the arithmetic of one.
func numbersOf(list []*big.Rat, one arithmetic.Number) []arithmetic.Number {
	numbers := make([]arithmetic.Number, len(list))
	for i, x := range list {
		numbers[i] = one.Rational(x)
	}
	return numbers
}
