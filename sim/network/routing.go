package network

import (
	"context"
	"math"

	"productform/internal/input"
	"productform/network"
	"productform/sizes"
)

// visitsInAll returns the total number of visits of a class.
func visitsInAll(class *network.Class) float64 {
	var sum float64
	for _, v := range class.Visits {
		count, _ := v.Count.Float64()
		sum += count
	}
	return sum
}

// ways returns the distribution of the step after visit v of class c; first lists the first visit
// of each class.
func (s *system) ways(m *network.Model, c, v int, first []int, chain *chain) sizes.AliasTable {
	var weights []float64
	var codes []uint32
	add := func(code uint32, weight float64) {
		weights, codes = append(weights, weight), append(codes, code)
	}
	class := &m.Classes[c]
	if class.Visits[v].Count != nil {
		// with less than one visit per cycle, a visit does not by itself end the cycle
		all, last := visitsInAll(class), 0.0
		if all >= 1 {
			last = 1 / all
		}
		for k, other := range class.Visits {
			count, _ := other.Count.Float64()
			code := uint32(first[c] + k)
			add(code, count/all*(1-last))
			if chain.closed {
				add(code|newCycle, count/all*last)
			}
		}
		if !chain.closed {
			add(leaves, last)
		}
		return sizes.NewAliasTable(weights, codes)
	}
	for _, b := range class.Visits[v].Next {
		p, _ := b.Probability.Float64()
		if b.Class == network.Leaves {
			add(leaves, p)
			continue
		}
		code := uint32(first[b.Class] + b.Visit)
		if chain.closed && code == uint32(chain.reference) {
			code |= newCycle
		}
		add(code, p)
	}
	return sizes.NewAliasTable(weights, codes)
}

// addArrivals reads the arrivals from outside, and rejects a network without jobs.
func (s *system) addArrivals(m *network.Model, first []int) error {
	var weights []float64
	var codes []uint32
	add := func(visit int, rate float64) {
		weights, codes = append(weights, rate), append(codes, uint32(visit))
		s.visits[visit].outside += rate
		s.rate += rate
	}
	for c := range m.Classes {
		class := &m.Classes[c]
		if class.ArrivalRate == nil {
			continue
		}
		rate, _ := class.ArrivalRate.Float64()
		switch {
		case class.Arrives != nil:
			for _, b := range class.Arrives {
				p, _ := b.Probability.Float64()
				add(first[c]+b.Visit, rate*p)
			}
		case class.Visits[0].Count != nil:
			all := visitsInAll(class)
			for k, v := range class.Visits {
				count, _ := v.Count.Float64()
				add(first[c]+k, rate*count/all)
			}
		default:
			add(first[c], rate)
		}
	}
	if s.rate > 0 {
		s.arrivals = sizes.NewAliasTable(weights, codes)
		return nil
	}
	for _, k := range s.chains {
		if k.population > 0 {
			return nil
		}
	}
	return input.Errorf("classes", "arrival rates that are all 0", "jobs to simulate")
}

// mostSweeps is the maximum number of sweeps over the traffic equations, each of which reduces the
// error by the fraction of traffic that leaves.
const mostSweeps = 100_000

// solveFlows computes the rates of the visits of open chains to about 1e-9: it solves v_b = a_b +
// Σ_a v_a P_ab by sweeps that start at v = 0 and increase v. Only the length of a run and warnings
// depend on these rates.
func (s *system) solveFlows(ctx context.Context) error {
	type edge struct {
		from int
		p    float64
	}
	into := make([][]edge, len(s.visits))
	var open []int
	for a, v := range s.visits {
		if s.chains[v.chain].closed {
			continue
		}
		open = append(open, a)
		for _, c := range v.next {
			cut := math.Ldexp(float64(c.Cut), -64)
			for _, part := range []struct {
				code uint32
				p    float64
			}{{c.Codes[1], cut}, {c.Codes[0], 1 - cut}} {
				if part.code != leaves && part.p > 0 {
					into[part.code] = append(into[part.code], edge{a, part.p / float64(len(v.next))})
				}
			}
		}
	}
	for range mostSweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		grows := false
		for _, b := range open {
			v := &s.visits[b]
			rate := v.outside
			for _, e := range into[b] {
				rate += s.visits[e.from].rate * e.p
			}
			grows = grows || rate > v.rate*(1+1e-12)
			v.rate = max(v.rate, rate)
		}
		if !grows {
			break
		}
	}
	return nil
}
