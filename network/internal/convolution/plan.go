package convolution

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// A Plan is the part of a system that is computed on the lattice of populations.
//
// Its axes are Chains, with the chain with the most jobs last. A station that no closed chain
// visits is omitted, since its jobs are independent of all others. The first factor is all delays
// together, with Σ_i D_ik/rate_i: their product has the coefficients Π_k D_k^n_k/n_k!.
type Plan struct {
	System *System
	Order  []int // index of each axis in System.Closed
	Most   []int // N, by axis
	Points float64
	Jobs   int // Σ N

	Delays []int        // stations with Delay that closed chains visit
	own    [][]*big.Rat // D/rate of each delay, by axis
	think  []*big.Rat   // sums over the delays, by axis
	Groups []Group      // all other stations that closed chains visit
	Apart  []int        // stations that no closed chain visits

	LawsOf []int // stations whose distributions of the number of jobs are required; nil for all
}

// A Group is a number of stations whose series are equal.
type Group struct {
	Stations []int
	over     [][]*big.Rat // D_k/α'(j), for j = 1, ... by axis; nil for a shared station
	Shared   *Shared
}

// Refuse rejects a system whose tables are too large even if there are few of them, unless all
// stations are equal. It is fast, whereas [New] takes long for a large network.
func Refuse(sys *System, maxBytes int64) error {
	points := 1.0
	for _, k := range sys.Closed {
		points = min(points*(float64(sys.Chains[k].Population)+1), 1e300)
	}
	if 8*points <= float64(maxBytes) || mayBeEqual(sys) {
		return nil
	}
	bad := input.Errorf("classes", fmt.Sprintf("%d closed chains", len(sys.Closed)),
		"populations whose tables fit into %d MiB: one of %.4g numbers or more takes %.4g MiB", maxBytes>>20,
		points, math.Ceil(points/(1<<17)))
	return &num.TooLargeError{Input: bad, States: points, Bytes: 8 * points, Limit: maxBytes, Instead: noLimit()}
}

// noLimit names the commands that handle networks too large for tables.
func noLimit() []num.Remedy { return []num.Remedy{num.Bounds, num.Simulation} }

// mayBeEqual reports whether all stations that closed chains visit have one rate each and the same
// demands relative to it.
func mayBeEqual(sys *System) bool {
	var first *Station
	for i := range sys.Stations {
		st := &sys.Stations[i]
		if !slices.ContainsFunc(st.Demand, func(d *big.Rat) bool { return d.Sign() > 0 }) {
			continue
		}
		if st.Shared != nil || len(st.Totals.Rates) != 1 {
			return false
		}
		if first == nil {
			first = st
		}
		of, by := first.Totals.Rates[0], st.Totals.Rates[0]
		if !slices.EqualFunc(st.Demand, first.Demand, func(a, b *big.Rat) bool {
			return a.Sign() == 0 && b.Sign() == 0 || new(big.Rat).Mul(a, of).Cmp(new(big.Rat).Mul(b, by)) == 0
		}) {
			return false
		}
	}
	return true
}

// New looks for equal stations.
func New(sys *System) *Plan {
	p := &Plan{System: sys, Points: 1}
	for k := range sys.Closed {
		p.Order = append(p.Order, k)
	}
	population := func(k int) int { return sys.Chains[sys.Closed[k]].Population }
	slices.SortStableFunc(p.Order, func(a, b int) int { return cmp.Compare(population(a), population(b)) })
	for _, k := range p.Order {
		p.Most = append(p.Most, population(k))
		p.Points *= float64(population(k)) + 1
		p.Jobs += population(k)
		p.think = append(p.think, new(big.Rat))
	}
	if len(p.Most) == 0 {
		p.Most = []int{0}
		p.think = []*big.Rat{new(big.Rat)}
	}
	of := map[string]int{}
	for i := range sys.Stations {
		st := &sys.Stations[i]
		demand := p.demand(i)
		visited := slices.ContainsFunc(demand, func(d *big.Rat) bool { return d.Sign() > 0 })
		switch {
		case !visited:
			p.Apart = append(p.Apart, i)
		case st.Shared != nil:
			p.Groups = append(p.Groups, Group{Stations: []int{i}, Shared: st.Shared})
		case st.Totals.Delay != nil:
			p.Delays = append(p.Delays, i)
			own, _ := overRates(demand, []*big.Rat{st.Totals.Delay})
			p.own = append(p.own, own[0])
			for k, x := range own[0] {
				p.think[k] = new(big.Rat).Add(p.think[k], x)
			}
		default:
			over, key := overRates(demand, st.Totals.Rates[:min(len(st.Totals.Rates), p.Jobs+1)])
			g, ok := of[key]
			if !ok {
				g = len(p.Groups)
				of[key] = g
				p.Groups = append(p.Groups, Group{over: over})
			}
			p.Groups[g].Stations = append(p.Groups[g].Stations, i)
		}
	}
	// Shared stations come first, so all but one of their products of tables involve few other
	// stations.
	slices.SortStableFunc(p.Groups, func(a, b Group) int {
		switch {
		case a.Shared != nil && b.Shared == nil:
			return -1
		case a.Shared == nil && b.Shared != nil:
			return 1
		}
		return 0
	})
	return p
}

// demand returns the demands of station i by axis.
func (p *Plan) demand(i int) []*big.Rat {
	list := make([]*big.Rat, 0, len(p.Most))
	for _, k := range p.Order {
		list = append(list, p.System.Stations[i].Demand[k])
	}
	if len(list) == 0 {
		list = append(list, new(big.Rat))
	}
	return list
}

// overRates returns D_k/α'(j), and a text that identifies these numbers.
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

// levels returns the number of halvings until a part is one station; shared stations are split off
// one by one.
func (p *Plan) levels() float64 {
	shared := 0
	for _, g := range p.Groups {
		if g.Shared != nil {
			shared++
		}
	}
	return float64(shared) + math.Ceil(math.Log2(float64(max(len(p.Groups)-shared, 1))))
}

// tables returns the number of tables held at a time: for each of two parts computed in parallel,
// the tables on the way to a station by halving, G, and two scratch tables.
func (p *Plan) tables() float64 { return 2 * (p.levels() + 3) }

// steps estimates the number of products: a sweep for each rate of a station and level, and for
// each pair of shared stations the convolution of their tables.
func (p *Plan) steps() float64 {
	sweeps, pairs := 0.0, -1.0
	for _, g := range p.Groups {
		if g.Shared != nil {
			pairs++
			sweeps += float64(p.Jobs)
			continue
		}
		leaf := 3 * float64(len(g.over))
		if len(p.Most) == 1 {
			leaf = min(leaf, 20)
		}
		sweeps += leaf + float64(len(g.over))*(p.levels()*float64(len(g.Stations))+float64(len(g.Stations)-1))
	}
	steps := sweeps * p.Points * float64(len(p.Most))
	return steps + max(pairs, 0)*p.Points*p.Points/math.Pow(2, float64(len(p.Most)))
}

// maxSteps takes a few hours in float64; other engines take hundreds of times as long per step.
const maxSteps = 1e13

// Bytes estimates the memory of the tables of an engine, the tables of shared stations, and lists.
// The integers of fractions have at most about as many digits as Π_k (scale_k Σ_i D_ik)^N_k.
func (p *Plan) Bytes(engine num.Engine, prec uint) float64 {
	const number = 48 // bytes of an arithmetic.Number, without the memory that it points to
	switch engine {
	case num.Enclose:
		return p.tables()*EnclosedBytes(p.Points, prec) + (p.shared()+p.listed())*(number+EnclosedBytes(1, prec))
	case num.Exact:
		bits := 0.0
		for k, scale := range p.scales() {
			sum := new(big.Rat).Set(p.think[k])
			for _, g := range p.Groups {
				for _, list := range g.over {
					sum.Add(sum, list[k])
				}
			}
			bits += float64(p.Most[k]) * (float64(scale.BitLen()) + max(0, log2(sum)+1) +
				math.Log2(float64(p.Most[k]+1)))
		}
		return p.tables()*p.Points*(24+bits/8) + (p.shared()+p.listed())*(number+64+bits/4)
	}
	return p.tables()*FloatBytes(p.Points, p.segment()) + (p.shared()+p.listed())*number
}

// listed returns the numbers in lists by chain.
func (p *Plan) listed() float64 { return 6 * float64(p.Jobs) }

// shared returns the numbers in tables of shared stations: twice those of each, while jobs are
// counted.
func (p *Plan) shared() float64 {
	sum := 0.0
	for _, g := range p.Groups {
		if g.Shared != nil {
			sum += 2 * g.Shared.States(p.Order, p.Most)
		}
	}
	return sum
}

// Check rejects a lattice that is too large.
func (p *Plan) Check(engine num.Engine, prec uint, maxBytes int64) error {
	need, steps := p.Bytes(engine, prec), p.steps()
	if engine != num.Float {
		steps *= 200
	}
	if steps > maxSteps && need <= float64(maxBytes) {
		bad := input.Errorf("classes", fmtPopulations(p.Most),
			"populations, stations and servers that take at most %.1g products of float64; these take about %.2g "+
				"with the engine %s",
			maxSteps, steps, engine)
		return &num.TooLargeError{Input: bad, States: p.Points, Bytes: need, Limit: maxBytes, Instead: noLimit()}
	}
	if need <= float64(maxBytes) && p.Points < math.MaxInt32*64 {
		return nil
	}
	bad := input.Errorf("classes", fmtPopulations(p.Most),
		"populations whose tables fit into %d MiB: %.0f tables of the engine %s with %.4g numbers each, "+
			"and %.4g numbers for stations that share by class, take %.4g MiB",
		maxBytes>>20, p.tables(), engine, p.Points, p.shared(), math.Ceil(need/(1<<20)))
	return &num.TooLargeError{Input: bad, States: p.Points, Bytes: need, Limit: maxBytes, Instead: noLimit()}
}

// scales returns, for each axis, a multiple of the denominators of all D_ik/α'(j).
func (p *Plan) scales() []*big.Int {
	var list []*big.Int
	for k := range p.Most {
		scale := big.NewInt(1)
		for _, g := range p.Groups {
			for _, over := range g.over {
				num.JoinDenominator(scale, over[k])
			}
		}
		for _, own := range p.own {
			num.JoinDenominator(scale, own[k])
		}
		list = append(list, scale)
	}
	return list
}

// slopes returns log2 of the smallest and the largest ratio that neighbouring numbers along a chain
// may have in the tables: of each station with many jobs, and of the delays with few and with many.
func (p *Plan) slopes(k int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	take := func(x *big.Rat) {
		if x.Sign() > 0 {
			least, most = min(least, log2(x)), max(most, log2(x))
		}
	}
	for _, g := range p.Groups {
		if len(g.over) > 0 {
			take(g.over[0][k])
			take(g.over[len(g.over)-1][k])
		}
	}
	if x := p.think[k]; x.Sign() > 0 {
		take(x)
		take(new(big.Rat).Quo(x, big.NewRat(int64(max(p.Most[k], 1)), 1)))
	}
	if math.IsInf(most, 0) {
		return 0, 0
	}
	return least, most
}

// tilt returns approximately the middle of the slopes of each axis.
func (p *Plan) tilt() []int {
	var list []int
	for k := range p.Most {
		least, most := p.slopes(k)
		list = append(list, int((least+most)/2))
	}
	return list
}

// segment returns how many numbers can be scaled together, given how much they can differ in size.
func (p *Plan) segment() int {
	least, most := p.slopes(len(p.Most) - 1)
	segment := 64
	for segment > 1 && float64(segment)*(most-least+1) > 500 {
		segment /= 2
	}
	return segment
}

// log2 returns approximately the logarithm of x > 0 to base 2.
func log2(x *big.Rat) float64 { return arithmetic.Number{Exact: x}.Log2() }

// numbersOf converts fractions to the arithmetic of one.
func numbersOf(list []*big.Rat, one arithmetic.Number) []arithmetic.Number {
	numbers := make([]arithmetic.Number, len(list))
	for i, x := range list {
		numbers[i] = one.Rational(x)
	}
	return numbers
}

// Axes returns the axis of each index of System.Closed.
func (p *Plan) Axes() []int {
	axis := make([]int, len(p.Order))
	for x, k := range p.Order {
		axis[k] = x
	}
	return axis
}

// With returns the plan with other populations; it can only be used for answers.
func (p *Plan) With(most []int) *Plan {
	if slices.Equal(most, p.Most) {
		return p
	}
	q, sys := *p, *p.System
	sys.Chains = slices.Clone(sys.Chains)
	q.Most, q.Jobs, q.System = most, 0, &sys
	for axis, k := range p.Order {
		sys.Chains[sys.Closed[k]].Population = most[axis]
		q.Jobs += most[axis]
	}
	return &q
}

func fmtPopulations(most []int) string { return fmt.Sprint("populations ", most) }
