package network

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/network/internal/convolution"
	"productform/num"
)

// A system is a network as the solvers see it, with routing and open chains resolved. Its numbers
// must not be modified.
type system struct {
	convolution.System
	model *Model
}

// newSystem checks a model and prepares it for the solvers. It returns the errors of [Model.Check]
// and [Model.CheckSizes], an [*UnstableError], a [*TableError], a [*num.TooLargeError], and
// ctx.Err() promptly after ctx is done.
func newSystem(ctx context.Context, m *Model) (*system, error) {
	s, err := newDemands(ctx, m)
	if err == nil {
		err = m.CheckSizes()
	}
	if err != nil {
		return nil, err
	}
	for i := range s.Stations {
		if err := s.checkStable(ctx, i); err != nil {
			return nil, err
		}
		if t := s.Stations[i].Totals; t != nil {
			// means of open jobs need one more coefficient
			if err := t.Fold(ctx, input.Index("stations", i), s.Stations[i].Load, s.Visiting(i)+1); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// newDemands does everything that newSystem does, except for checking stability and folding open
// chains.
func newDemands(ctx context.Context, m *Model) (*system, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	s := &system{model: m, System: convolution.System{Stations: make([]convolution.Station, len(m.Stations))}}
	k := m.components()
	for i, classes := range k.classes {
		c := convolution.Chain{Classes: classes, Closed: k.open[i] < 0, Population: k.population[i]}
		if c.Closed {
			s.Closed = append(s.Closed, i)
		} else {
			c.ArrivalRate = new(big.Rat)
			for _, a := range classes {
				if rate := m.Classes[a].ArrivalRate; rate != nil {
					c.ArrivalRate.Add(c.ArrivalRate, rate)
				}
			}
		}
		s.Chains = append(s.Chains, c)
	}
	zero := new(big.Rat)
	for i := range s.Stations {
		s.Stations[i].Load = new(big.Rat)
		s.Stations[i].Demand = slices.Repeat([]*big.Rat{zero}, len(s.Closed))
	}
	place := 0
	for i, c := range s.Chains {
		k := -1
		if c.Closed {
			k = place
			place++
		}
		if err := s.addVisits(ctx, i, k); err != nil {
			return nil, err
		}
	}
	for i := range s.Stations {
		slices.SortFunc(s.Stations[i].Visits, func(a, b convolution.Visit) int { return a.Class - b.Class })
		if err := s.describe(ctx, i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addVisits adds the visits of a chain to their stations.
func (s *system) addVisits(ctx context.Context, chain, k int) error {
	ratios, err := s.model.ratios(ctx, s.Chains[chain].Classes, k >= 0)
	if err != nil {
		return err
	}
	for _, c := range s.Chains[chain].Classes {
		for v := range s.model.Classes[c].Visits {
			of := &s.model.Classes[c].Visits[v]
			st := &s.Stations[of.Station]
			x := convolution.Visit{Class: c, Visit: v, Chain: chain, K: k, Ratio: ratios[c][v]}
			x.Work = new(big.Rat).Mul(x.Ratio, of.size())
			st.Visits = append(st.Visits, x)
			if k >= 0 {
				st.Demand[k] = new(big.Rat).Add(st.Demand[k], x.Work)
			} else {
				st.Load.Add(st.Load, x.Work)
			}
		}
	}
	return nil
}

// describe sets the service of station i.
func (s *system) describe(ctx context.Context, i int) (err error) {
	of, st := &s.model.Stations[i], &s.Stations[i]
	switch of.Discipline {
	case Delay:
		st.Totals = &convolution.Totals{Delay: num.OrOne(of.Rate)}
	case Order, Balanced:
		if st.Shared, err = s.newShared(ctx, i); err != nil {
			return err
		}
	default:
		st.Totals = &convolution.Totals{Alone: of.Rates, Listed: of.Rates != nil}
		if of.Rates == nil {
			r := num.OrOne(of.Rate)
			n := max(of.Servers, 1)
			if st.Load.Sign() == 0 { // more servers are never busy
				n = min(n, s.Visiting(i)+1)
			}
			if n >= convolution.ManyServers && s.Visiting(i) == 0 {
				st.Totals.Pool = &convolution.Pool{Servers: n, Rate: r}
				n = 0
			}
			for j := range n {
				st.Totals.Alone = append(st.Totals.Alone, new(big.Rat).Mul(big.NewRat(int64(j)+1, 1), r))
			}
			st.Totals.Most = new(big.Rat).Mul(big.NewRat(int64(max(of.Servers, 1)), 1), r)
		} else {
			st.Totals.Most = of.Rates[len(of.Rates)-1]
		}
	}
	return nil
}
