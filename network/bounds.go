package network

import (
	"context"
	"math/big"

	"productform/internal/input"
	"productform/network/internal/convolution"
)

// ChainBounds encloses the throughput and the mean delay of a closed chain, for networks of any
// size.
type ChainBounds struct {
	Names      []string `json:"classes" title:"chain"` // names of its classes
	Classes    []int    `json:"-"`                     // rows of the model's classes
	Population int      `json:"population"`            // jobs of the chain
	Throughput Between  `json:"throughput"`            // cycles per unit of time
	MeanDelay  Between  `json:"mean_delay"`            // mean time of a cycle, N/X

	// Bottleneck is the station that bounds the throughput at every population; -1 if there is
	// none.
	Bottleneck     int      `json:"-"`
	MostThroughput *big.Rat `json:"-"` // throughput at the bottleneck's capacity; nil without a bottleneck
	// throughput of a single job of the chain, alone: 1/(Z + Σ D_i/α_i(1))
	EmptyThroughput *big.Rat `json:"throughput_of_one"`
}

// A Between encloses a number.
type Between struct {
	Low  *big.Rat `json:"low"`  // at most the number
	High *big.Rat `json:"high"` // at least the number
}

// Bounds encloses the throughputs of the closed chains of a network in fractions. Its time is
// linear in stations, chains and servers and independent of the populations, so it also handles
// networks that are too large to solve. All stations but those with Order and Balanced are allowed;
// open chains are folded in. It lists only the closed chains.
//
// Z is the time at delays, D_i the demand of the chain at station i, α_i its total rate, |N| the
// jobs of all closed chains, and Q_i the mean number of jobs. Each chain gets its share of the rate
// of a station, X_k D_ik = E[α_i(x_i) x_ik/x_i], which gives
//
//	Σ_k X_k D_ik <= max_n α_i(n),   X_k <= N_k/(Z_k + Σ_i D_ik min_n n/α_i(n)),   1 <= n <= |N|,
//
// and the arrival theorem, that the time at station i is R_ik = D_ik E[(x_i+1)/α_i(x_i+1)] with one
// fewer job of the chain, with n/α_i(n) <= 1/α_i(1) + b_i (n-1),
//
//	R_k <= Σ_i D_ik/α_i(1) + max_i D_ik b_i Σ_i Q_i,   Σ_i Q_i <= |N| - 1,
//
// where one chain alone has Σ_i Q_i = (N-1) R/(R + Z) with at most R = Σ_i D_i max_n n/α_i(n).
// These contain the asymptotic bounds. If there is one chain and all stations have one server, R =
// Σ_i D_i (1 + Q_i), the Q_i are ordered as the D_i, and by Chebyshev's inequality
//
//	R >= D + (D/M) (N-1) R'/(R' + Z),  D = Σ_i D_i, M stations, R' >= D,
//
// the bound for balanced networks (Zahorjan, Sevcik, Eager and Galler, "Balanced job bound analysis
// of queueing networks", Communications of the ACM 25(2), 1982).
//
// It returns the errors of [Model.Check] and of the context, an [*UnstableError], a
// [*num.TooLargeError], and an *[num.InputError] for a station with Order or Balanced.
func Bounds(ctx context.Context, m *Model) ([]ChainBounds, error) {
	sys, err := newSystem(ctx, m)
	if err != nil {
		return nil, err
	}
	total := 0
	for i := range sys.Stations {
		if sys.Stations[i].Shared != nil {
			return nil, input.Errorf(input.Index("stations", i)+".discipline", m.Stations[i].Discipline,
				"sharing, fcfs, lcfs or delay: no bounds are known for order and balanced, "+
					"whose rates depend on the classes present")
		}
	}
	for _, k := range sys.Closed {
		total += sys.Chains[k].Population
	}
	at := make([]stationBound, len(sys.Stations))
	for i := range at {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at[i] = boundOf(sys.Stations[i].Totals, total)
	}
	var all []ChainBounds
	for k := range sys.Closed {
		all = append(all, sys.bounds(k, total, at))
	}
	return all, nil
}

// A stationBound holds the properties of the rates α(1), ..., α(n) that bounds need, with n the
// jobs of all closed chains.
type stationBound struct {
	delay       *big.Rat // time of a unit of work with Delay, otherwise nil
	most        *big.Rat // max α
	fast, slow  *big.Rat // min and max of n/α(n)
	alone, rise *big.Rat // 1/α(1), and b >= 0
	single      bool     // whether there is only one rate
}

func boundOf(t *convolution.Totals, total int) stationBound {
	switch {
	case t.Delay != nil:
		return stationBound{delay: new(big.Rat).Inv(t.Delay)}
	case t.Pool != nil: // no closed chain visits it
		return stationBound{}
	}
	b := stationBound{alone: new(big.Rat).Inv(t.Rates[0]), rise: new(big.Rat), single: len(t.Rates) == 1}
	take := func(n int, alpha *big.Rat) {
		time := new(big.Rat).Quo(big.NewRat(int64(n), 1), alpha)
		if n == 1 || alpha.Cmp(b.most) > 0 {
			b.most = alpha
		}
		if n == 1 || time.Cmp(b.fast) < 0 {
			b.fast = time
		}
		if n == 1 || time.Cmp(b.slow) > 0 {
			b.slow = time
		}
		if n > 1 {
			slope := new(big.Rat).Sub(time, b.alone)
			if slope.Quo(slope, big.NewRat(int64(n-1), 1)); slope.Cmp(b.rise) > 0 {
				b.rise = slope
			}
		}
	}
	for j, alpha := range t.Rates[:min(len(t.Rates), total)] {
		take(j+1, alpha)
	}
	if total > len(t.Rates) { // between the last rate and the maximum number of jobs, n/α(n) and the slope are monotone
		take(len(t.Rates)+1, t.Rates[len(t.Rates)-1])
		take(total, t.Rates[len(t.Rates)-1])
	}
	return b
}

// bounds returns the bounds for the closed chain with index k.
func (s *system) bounds(k, total int, at []stationBound) ChainBounds {
	c := &s.Chains[s.Closed[k]]
	r := ChainBounds{Names: s.model.names(c.Classes), Classes: c.Classes, Population: c.Population, Bottleneck: -1}
	think, first, fast, slow, rise := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	stations, single := int64(0), len(s.Closed) == 1
	for i := range s.Stations {
		d := s.Stations[i].Demand[k]
		if d.Sign() == 0 {
			continue
		}
		b := &at[i]
		times := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(d, x) }
		if b.delay != nil {
			think.Add(think, times(b.delay))
			continue
		}
		stations++
		single = single && b.single
		first.Add(first, times(b.alone))
		fast.Add(fast, times(b.fast))
		slow.Add(slow, times(b.slow))
		if x := times(b.rise); x.Cmp(rise) > 0 {
			rise = x
		}
		if x := new(big.Rat).Quo(b.most, d); r.MostThroughput == nil || x.Cmp(r.MostThroughput) < 0 {
			r.MostThroughput, r.Bottleneck = x, i
		}
	}
	n := big.NewRat(int64(c.Population), 1)
	others := big.NewRat(int64(total-1), 1)
	queued := others
	if len(s.Closed) == 1 {
		queued = inQueues(others, slow, think)
	}
	long := rise.Mul(rise, queued)
	long.Add(long, first)
	if long.Cmp(slow) > 0 { // from the arrival theorem with max n/α(n): the asymptotic bound
		long = slow
	}
	short := fast
	if single && stations > 0 {
		more := inQueues(others, first, think)
		more.Mul(more, first).Quo(more, big.NewRat(stations, 1))
		short = more.Add(more, first)
	}
	r.MeanDelay = Between{new(big.Rat).Add(think, short), long.Add(long, think)}
	r.Throughput = Between{new(big.Rat).Quo(n, r.MeanDelay.High), new(big.Rat).Quo(n, r.MeanDelay.Low)}
	if r.MostThroughput != nil && r.MostThroughput.Cmp(r.Throughput.High) < 0 {
		r.Throughput.High = r.MostThroughput
		r.MeanDelay.Low = new(big.Rat).Quo(n, r.MostThroughput)
	}
	if moving := s.model.moving(c.Classes, c.Population); moving < c.Population {
		part := big.NewRat(int64(moving), int64(c.Population))
		r.MeanDelay = Between{new(big.Rat).Mul(r.MeanDelay.Low, part), new(big.Rat).Mul(r.MeanDelay.High, part)}
	}
	r.EmptyThroughput = first.Add(first, think).Inv(first)
	return r
}

// inQueues returns n R/(R + Z), the number of n jobs of one chain that are not at delays if a cycle
// takes R in addition to Z.
func inQueues(n, r, z *big.Rat) *big.Rat {
	all := new(big.Rat).Add(r, z)
	if all.Sign() == 0 {
		return new(big.Rat)
	}
	x := new(big.Rat).Mul(n, r)
	return x.Quo(x, all)
}
