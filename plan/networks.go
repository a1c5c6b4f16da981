package plan

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/network"
	"productform/num"
	"productform/stability"
)

// solveNetwork solves a network. Each class has the measures of its chain.
func solveNetwork(ctx context.Context, m system, a ask) (*Solution, error) {
	r, err := network.Solve(ctx, m.network, network.Settings{Engine: a.engine, RelTol: a.relTol, MaxBytes: a.maxBytes})
	if err != nil {
		return nil, err
	}
	near := func(v *num.Value) *num.Value { return withBounds(v, r.RelativeErrorBound) }
	s := &Solution{
		Engine: r.Engine, RelativeErrorBound: r.RelativeErrorBound,
		Classes: make([]ClassSolution, len(m.network.Classes)),
	}
	for _, c := range r.Chains {
		of := ClassSolution{
			Throughput: near(&c.Throughput), MeanDelay: near(c.MeanDelay), ResponseTime: near(c.MeanResponseTime),
		}
		for _, row := range c.Classes {
			s.Classes[row] = of
			s.Classes[row].Name = m.network.Classes[row].Name
		}
		if len(r.Chains) == 1 {
			s.Throughput, s.MeanDelay, s.ResponseTime = of.Throughput, of.MeanDelay, of.ResponseTime
		}
	}
	for _, x := range r.Stations {
		s.Servers = append(s.Servers, ServerSolution{Name: x.Name, Utilization: near(x.Utilization)})
	}
	return s, nil
}

// stableNetwork decides whether the open chains of a network are stable.
func stableNetwork(ctx context.Context, m system) (bool, *stability.Result, error) {
	if !hasOpen(m.network) {
		return true, nil, nil
	}
	r, err := network.CheckStability(ctx, m.network)
	return err == nil && r.Stable, nil, err
}

// hasOpen reports whether a network has a chain with arrivals.
func hasOpen(m *network.Model) bool {
	return slices.ContainsFunc(m.Classes, func(c network.Class) bool { return c.ArrivalRate != nil })
}

// network returns the network with a plan.
func (in *instance) network(steps []int) *network.Model {
	m := *in.base.network
	m.Stations = slices.Clone(m.Stations)
	for k, o := range in.options {
		st := &m.Stations[o.server]
		switch {
		case steps[k] == 0:
		case o.count > 0:
			st.Servers = max(st.Servers, 1) + steps[k]*o.count
		default:
			more := big.NewRat(int64(steps[k]), 1)
			st.Rate = more.Add(more.Mul(more, o.capacity), num.OrOne(st.Rate))
		}
	}
	return &m
}

// chainOf returns the chain of a class of a network, or for -1 the only chain.
func chainOf(m *network.Model, class int) (c network.Chain, ok bool) {
	chains := m.Chains()
	if class < 0 {
		return chains[0], len(chains) == 1
	}
	k := slices.IndexFunc(chains, func(c network.Chain) bool { return slices.Contains(c.Classes, class) })
	return chains[k], true
}

// hasJobs reports whether a class of a network, or the only chain for -1, ever has jobs.
func hasJobs(m *network.Model, class int) bool {
	c, ok := chainOf(m, class)
	if c.Closed {
		return ok && c.Population > 0
	}
	return ok && slices.ContainsFunc(c.Classes, func(i int) bool {
		rate := m.Classes[i].ArrivalRate
		return rate != nil && rate.Sign() > 0
	})
}

// checkStationTarget checks the subject of a target on a network.
func (p *Problem) checkStationTarget(path string, t Target, f form) error {
	m := p.Network
	if f.about == "server" {
		row, err := p.server(path+".server", t.Server)
		if err == nil && !hasUtilization(m.Stations[row]) {
			err = input.Errorf(path+".server", input.Quote(t.Server), "a station that has a utilization")
		}
		return err
	}
	row := -1
	if t.Class != "" {
		var err error
		if row, err = p.arriving(path+".class", t.Class); err != nil {
			return err
		}
	}
	c, ok := chainOf(m, row)
	switch name := path + "." + f.field; {
	case !ok:
		return input.Errorf(path+".class", "", "a class, as the network has several chains")
	case row < 0 && !hasJobs(m, row):
		return input.Errorf(name, t.limitText(), "a chain with jobs")
	case t.Measure == Throughput && !c.Closed:
		return input.Errorf(name, t.limitText(), "a closed chain: the throughput of an open one is its arrival rate")
	case t.Measure == ResponseTime && !(c.Closed && p.visits(c, isDelay)):
		return input.Errorf(
			name, t.limitText(), "mean_delay: only closed chains with a station of discipline delay have "+
				"a separate response time",
		)
	case t.Measure == MeanDelay && c.Closed &&
		!p.visits(c, func(s network.Station) bool { return s.Discipline != network.LCFS }):
		return input.Errorf(name, t.limitText(), "throughput: with lcfs alone some jobs may never move")
	}
	return nil
}

func isDelay(s network.Station) bool { return s.Discipline == network.Delay }

// hasUtilization reports whether results have the utilization of a station.
func hasUtilization(s network.Station) bool {
	switch s.Discipline {
	case network.Delay:
		return false
	case network.Order, network.Balanced:
		return len(s.Limits) > 0
	}
	return true
}

// visits reports whether a chain visits a station that has a property.
func (p *Problem) visits(c network.Chain, has func(network.Station) bool) bool {
	for _, i := range c.Classes {
		for _, v := range p.Network.Classes[i].Visits {
			if has(p.Network.Stations[v.Station]) {
				return true
			}
		}
	}
	return false
}

// checkStationStep checks what a step of an upgrade adds to a station.
func (p *Problem) checkStationStep(path string, u Upgrade, row int) error {
	s := p.Network.Stations[row]
	shared := s.Discipline == network.Order || s.Discipline == network.Balanced
	switch name := input.Quote(s.Name); {
	case s.Rates != nil || shared && len(s.Limits) == 0:
		return input.Errorf(path+".server", name, "a station with servers and a rate")
	case u.Count > 0 && s.Discipline == network.Delay:
		return input.Errorf(path+".count", u.Count, "step: a station with discipline delay has a server for each job")
	case u.Count > 0:
		if most := (mostServers - max(s.Servers, 1)) / u.Count; u.Most > most {
			return input.Errorf(path+".most", u.Most, "an integer from 1 to %d, for at most %d servers at the station",
				most, mostServers)
		}
		m := *p.Network
		m.Stations = slices.Clone(m.Stations)
		m.Stations[row].Servers = max(s.Servers, 1) + u.Count
		if m.Check() != nil || m.CheckSizes() != nil {
			return input.Errorf(path+".count", u.Count, "step: with several servers, %s needs one mean size", name)
		}
	}
	return nil
}

// stationReason returns the reason why failures of a target on a network extend to all plans with
// fewer steps, or why they do not.
func (in *instance) stationReason(t target) string {
	m := in.base.network
	for _, s := range m.Stations {
		if !isFaster(s) {
			return ReasonSolved
		}
	}
	chains := m.Chains()
	isClosed := func(c network.Chain) bool { return c.Closed }
	switch thinks := slices.ContainsFunc(in.options, func(o option) bool { return isDelay(m.Stations[o.server]) }); {
	case !slices.ContainsFunc(chains, isClosed) && t.measure != Throughput:
		return ReasonOpen
	case len(chains) > 1 || t.measure == Utilization || t.measure == ResponseTime && thinks:
		return ReasonSolved
	}
	return ReasonClosed
}

// isFaster reports whether the total rate of a station depends only on the number of jobs, and does
// not fall if jobs join.
func isFaster(s network.Station) bool {
	return s.Discipline != network.Order && s.Discipline != network.Balanced &&
		slices.IsSortedFunc(s.Rates, (*big.Rat).Cmp)
}
