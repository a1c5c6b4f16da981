package network

import (
	"context"
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/network/internal/convolution"
	"productform/num"
)

// An answer assembles a Result.
type answer struct {
	problem
	one arithmetic.Number
	request
	measures *convolution.Result
	result   *Result
	x        []arithmetic.Number // throughput of closed chains, by index in System.Closed
	beyond   bool                // whether a number is beyond the range of float64
}

// A stationMeasure holds the measures of one station. Means are by row of station.visits.
type stationMeasure struct {
	empty arithmetic.Number
	some  *arithmetic.Number // P(some jobs present), with Rates
	jobs  []arithmetic.Number
	idle  []arithmetic.Number
	law   []arithmetic.Number // P(n jobs)
}

func (a *answer) fill(ctx context.Context) error {
	a.x = make([]arithmetic.Number, len(a.Order))
	for axis, k := range a.Order {
		a.x[k] = a.measures.Throughput[axis]
	}
	all := make([]stationMeasure, len(a.System.Stations))
	var err error
	for _, i := range a.Apart {
		if all[i], err = a.isolatedMeasure(ctx, i); err != nil {
			return err
		}
	}
	for n, i := range a.Delays {
		all[i] = a.delayMeasure(i, &a.measures.Delays[n])
	}
	for g := range a.Groups {
		for _, i := range a.Groups[g].Stations {
			if a.Groups[g].Shared != nil {
				all[i] = a.ofShared(i, &a.measures.Groups[g])
			} else {
				all[i] = a.ofTotals(i, &a.measures.Groups[g])
			}
		}
	}
	chains := make([]jobsOfChain, len(a.System.Chains))
	for k := range chains {
		chains[k] = jobsOfChain{a.one.Zero(), a.one.Zero(), false}
	}
	for i := range all {
		a.result.Stations = append(a.result.Stations, a.station(i, &all[i]))
		for row, v := range a.System.Stations[i].Visits {
			chains[v.Chain].add(all[i].jobs[row], a.model.Stations[i].Discipline == Delay)
		}
	}
	for k := range a.System.Chains {
		a.result.Chains = append(a.result.Chains, a.chain(k, chains[k]))
	}
	if a.request.States > 0 {
		if err := a.likely(ctx, all); err != nil {
			return err
		}
	}
	if a.beyond && !math.IsInf(a.result.RelativeErrorBound, 1) {
		return arithmetic.BeyondFloat()
	}
	return nil
}

// throughput returns the throughput of a visit.
func (a *answer) throughput(v *convolution.Visit) arithmetic.Number {
	x := a.one.Rational(v.Ratio)
	if v.K >= 0 {
		x = x.Mul(a.x[v.K])
	}
	return x
}

// ofTotals returns the measures of a station from the measures of its group.
func (a *answer) ofTotals(i int, m *convolution.Measure) stationMeasure {
	st := &a.System.Stations[i]
	first, scale := st.Totals.Rates[0], st.Totals.Scale
	s := stationMeasure{empty: m.Empty.Quo(a.one.Rational(scale))}
	axis := a.Axes()
	for r := range st.Visits {
		v := &st.Visits[r]
		of := m.Open
		if v.K >= 0 {
			of = m.Closed[axis[v.K]]
		}
		s.jobs = append(s.jobs, of.Mul(a.one.Rational(new(big.Rat).Quo(v.Work, first))))
	}
	if a.model.Stations[i].Rates != nil {
		rest := new(big.Rat).Inv(scale)
		rest.Sub(big.NewRat(1, 1), rest)
		some := m.Some.Add(m.Empty.Mul(a.one.Rational(rest)))
		s.some = &some
	}
	if a.request.MaxJobs > 0 {
		s.law = a.distributionOf(m.Powers, st.Load, first, st.Totals.Alone)
		for n := range s.law {
			s.law[n] = s.law[n].Quo(a.one.Rational(scale))
		}
	}
	return s
}

// distributionOf returns P(n jobs) f(ρ), n = 0..MaxJobs, given the powers s_j = [(u/a)^j H](N)/G(N): since
// (u + ρ)^n/n! = Σ_j u^j/j! ρ^(n-j)/(n-j)!,
//
//	P(n) f(ρ) = n!/Π_{i <= n} α(i) Σ_j s_j a^j/j! ρ^(n-j)/(n-j)!.
func (a *answer) distributionOf(
	powers []arithmetic.Number, load, first *big.Rat, alone []*big.Rat,
) []arithmetic.Number {
	integer := func(n int) arithmetic.Number { return a.one.Integer(n) }
	of, rho := a.one.Rational(first), a.one.Rational(load)
	closed, open := make([]arithmetic.Number, len(powers)), []arithmetic.Number{a.one}
	x := a.one
	for j, s := range powers {
		if j > 0 {
			x = x.Mul(of).Quo(integer(j))
		}
		closed[j] = s.Mul(x)
	}
	for n := 1; n <= a.request.MaxJobs && load.Sign() > 0; n++ {
		open = append(open, open[n-1].Mul(rho).Quo(integer(n)))
	}
	law := make([]arithmetic.Number, a.request.MaxJobs+1)
	before := a.one // n!/Π α(i)
	for n := range law {
		if n > 0 {
			before = before.Mul(integer(n)).Quo(a.one.Rational(alone[min(n, len(alone))-1]))
		}
		sum := a.one.Zero()
		for j := max(0, n-len(open)+1); j <= min(n, len(closed)-1); j++ {
			sum = sum.Add(closed[j].Mul(open[n-j]))
		}
		law[n] = sum.Mul(before)
	}
	return law
}

// delayMeasure returns the measures of a station with Delay.
func (a *answer) delayMeasure(i int, m *convolution.Measure) stationMeasure {
	st := &a.System.Stations[i]
	rate := st.Totals.Delay
	load := new(big.Rat).Quo(st.Load, rate)
	none := a.exponential(load)
	s := stationMeasure{empty: timesMixed(m.Empty, none)}
	for r := range st.Visits {
		v := &st.Visits[r]
		x := a.one.Rational(new(big.Rat).Quo(v.Work, rate))
		if v.K >= 0 {
			x = x.Mul(a.x[v.K])
		}
		s.jobs = append(s.jobs, x)
	}
	if a.request.MaxJobs > 0 {
		one := []*big.Rat{big.NewRat(1, 1)}
		for n := 2; n <= a.request.MaxJobs; n++ {
			one = append(one, big.NewRat(int64(n), 1))
		}
		for _, p := range a.distributionOf(m.Powers, load, one[0], one) {
			s.law = append(s.law, timesMixed(p, none))
		}
	}
	return s
}

// exponential returns e^-x. In fractions it returns an enclosure unless x is 0.
func (a *answer) exponential(x *big.Rat) arithmetic.Number {
	if x.Sign() == 0 {
		return a.one
	}
	prec := uint(arithmetic.FirstPrecision)
	if a.one.Interval.Low != nil {
		prec = a.one.Interval.Prec()
	}
	e, err := num.FromRat(new(big.Rat).Neg(x), prec+64).Exp()
	if err != nil { // smaller than e^-2e8
		e = num.FromInt(0, prec)
		e.High.SetMantExp(e.High.SetInt64(1), -1<<28)
	}
	n := arithmetic.Number{Interval: num.Interval{Low: num.Down(prec).Set(e.Low), High: num.Up(prec).Set(e.High)}}
	if a.one.Exact == nil && a.one.Interval.Low == nil {
		return arithmetic.FromWide(arithmetic.WideOf(n.Interval.Middle()), n.Width()+arithmetic.Roundoff)
	}
	return n
}

// timesMixed returns x y for a fraction x and a y that may be an enclosure.
func timesMixed(x, y arithmetic.Number) arithmetic.Number {
	if x.Exact != nil && y.Exact == nil {
		x = arithmetic.Number{Interval: num.FromRat(x.Exact, y.Interval.Prec())}
	}
	return x.Mul(y)
}

// ofShared returns the measures of a station with Order or Balanced.
func (a *answer) ofShared(i int, m *convolution.Measure) stationMeasure {
	st := &a.System.Stations[i]
	s := stationMeasure{empty: m.Empty, idle: m.Idle, jobs: make([]arithmetic.Number, len(st.Visits)), law: m.Powers}
	for len(s.law) < a.request.MaxJobs+1 && len(s.law) > 0 {
		s.law = append(s.law, a.one.Zero())
	}
	for c, k := range st.Shared.Kinds {
		for _, row := range k.Visits {
			if k.Work.Sign() == 0 {
				s.jobs[row] = a.one.Zero()
				continue
			}
			s.jobs[row] = m.Jobs[c].Mul(a.one.Rational(new(big.Rat).Quo(st.Visits[row].Work, k.Work)))
		}
	}
	return s
}

// isolatedMeasure returns the measures of a station that no closed chain visits.
func (a *answer) isolatedMeasure(ctx context.Context, i int) (stationMeasure, error) {
	st := &a.System.Stations[i]
	switch {
	case st.Shared != nil:
		m, err := a.isolatedShared(ctx, i)
		if err != nil {
			return stationMeasure{}, err
		}
		return a.ofShared(i, m), nil
	case st.Totals.Delay != nil:
		return a.delayMeasure(i, &convolution.Measure{Empty: a.one, Powers: []arithmetic.Number{a.one}}), nil
	case st.Totals.Pool != nil:
		return a.poolMeasure(ctx, i)
	}
	zero := a.one.Zero()
	return a.ofTotals(i, &convolution.Measure{
		Empty:  a.one,
		Some:   &zero,
		Open:   a.one,
		Powers: []arithmetic.Number{a.one},
	}), nil
}

// isolatedShared divides the sums of the shared station i by the sum over all its states.
func (a *answer) isolatedShared(ctx context.Context, i int) (*convolution.Measure, error) {
	sh := a.System.Stations[i].Shared
	t, err := sh.Tabulate(ctx, nil, nil, a.one)
	if err != nil {
		return nil, err
	}
	values, err := t.Values(ctx)
	if err != nil {
		return nil, err
	}
	m := &convolution.Measure{Empty: a.one.Quo(values[0])}
	add := func(to *[]arithmetic.Number, list convolution.Table, err error) error {
		if err == nil {
			*to = append(*to, list[0].Quo(values[0]))
		}
		return err
	}
	for c := range sh.Kinds {
		list, err := t.Jobs(ctx, c)
		if err := add(&m.Jobs, list, err); err != nil {
			return nil, err
		}
	}
	for n := range sh.Serves {
		list, err := t.Idle(ctx, n)
		if err := add(&m.Idle, list, err); err != nil {
			return nil, err
		}
	}
	if a.request.MaxJobs == 0 || !a.WantsLaw(i) {
		return m, nil
	}
	return m, t.ByJobs(ctx, a.request.MaxJobs, func(part convolution.Table) error { return add(&m.Powers, part, nil) })
}

// value converts a number; a probability below the range of float64 becomes 0.
func (a *answer) value(x arithmetic.Number, probability bool) num.Value {
	v, ok := x.Value()
	a.beyond = a.beyond || !ok && !probability
	a.result.RelativeErrorBound = max(a.result.RelativeErrorBound, x.RelativeError())
	a.result.width = max(a.result.width, x.Width())
	return v
}

func (a *answer) pointer(x arithmetic.Number) *num.Value {
	v := a.value(x, false)
	return &v
}

// ofEqualServers returns the work that a station with equal servers can do per unit of time, or nil
// for other stations. Each job uses one server at a time, so the work arriving per unit of time
// divided by this capacity is the mean fraction of busy servers.
func (s *Station) ofEqualServers(of *convolution.Station) *big.Rat {
	switch {
	case s.Limits != nil:
		return new(big.Rat).Mul(big.NewRat(int64(max(s.Servers, 1)), 1), num.OrOne(s.Rate))
	case of.Totals != nil && of.Totals.Delay == nil && s.Rates == nil:
		return of.Totals.Most
	}
	return nil
}

// station fills in the measures of one station.
func (a *answer) station(i int, m *stationMeasure) StationResult {
	of, st := &a.model.Stations[i], &a.System.Stations[i]
	r := StationResult{Name: of.Name, Discipline: of.Discipline, ProbEmpty: a.value(m.empty, true)}
	sum, busy := a.one.Zero(), a.one.Zero()
	most := of.ofEqualServers(st)
	for row := range st.Visits {
		v := &st.Visits[row]
		x := a.throughput(v)
		visit := VisitResult{Station: of.Name, Name: a.model.Classes[v.Class].Name, Class: v.Class, Visit: v.Visit,
			Throughput: a.value(x, false), MeanJobs: a.value(m.jobs[row], false)}
		if v.Ratio.Sign() > 0 && a.System.Chains[v.Chain].Population > 0 == (v.K >= 0) {
			visit.MeanDelay = a.pointer(a.movingJobs(v.Chain, m.jobs[row]).Quo(x))
		}
		sum = sum.Add(m.jobs[row])
		if most != nil {
			part := a.one.Rational(new(big.Rat).Quo(v.Work, most))
			if v.K >= 0 {
				part = part.Mul(a.x[v.K])
			}
			busy = busy.Add(part)
			visit.Utilization = a.pointer(part)
		}
		r.Visits = append(r.Visits, visit)
	}
	r.MeanJobs = a.value(sum, false)
	switch {
	case most != nil:
		r.Utilization = a.pointer(busy)
	case m.some != nil:
		r.Utilization = a.pointer(*m.some)
	}
	for n, x := range m.idle {
		r.Nodes = append(r.Nodes, NodeResult{Station: of.Name, Name: of.Nodes[n].Name, ProbIdle: a.value(x, true)})
	}
	for _, p := range m.law {
		r.JobsDistribution = append(r.JobsDistribution, a.value(p, true))
	}
	return r
}

// movingJobs returns the mean number of jobs of a chain that count in its delays, given the mean
// number of all its jobs.
func (a *answer) movingJobs(chain int, jobs arithmetic.Number) arithmetic.Number {
	c := &a.System.Chains[chain]
	if moving := a.model.moving(c.Classes, c.Population); c.Closed && moving < c.Population {
		return a.one.Integer(moving) // the jobs at the only station of the chain
	}
	return jobs
}

// jobsOfChain holds the mean numbers of jobs of a chain at all stations, and at those that do not
// just delay them.
type jobsOfChain struct {
	all, served arithmetic.Number
	delayed     bool // whether the chain visits a station with Delay
}

func (j *jobsOfChain) add(jobs arithmetic.Number, delay bool) {
	j.all = j.all.Add(jobs)
	if delay {
		j.delayed = true
	} else {
		j.served = j.served.Add(jobs)
	}
}

// chain fills in the measures of one chain, given the mean numbers of its jobs.
func (a *answer) chain(k int, j jobsOfChain) ChainResult {
	jobs := j.all
	c := &a.System.Chains[k]
	r := ChainResult{Names: a.model.names(c.Classes), Classes: c.Classes, Closed: c.Closed, Population: c.Population}
	x := a.one.Zero()
	if c.Closed {
		for place, of := range a.System.Closed {
			if of == k {
				x = a.x[place]
			}
		}
		jobs = a.one.Integer(c.Population)
		r.MovingJobs = a.model.moving(c.Classes, c.Population)
	} else {
		x = a.one.Rational(c.ArrivalRate)
	}
	r.Throughput, r.MeanJobs = a.value(x, false), a.value(jobs, false)
	if c.Closed && c.Population > 0 || !c.Closed && c.ArrivalRate.Sign() > 0 {
		r.MeanDelay = a.pointer(a.movingJobs(k, jobs).Quo(x))
		if c.Closed && j.delayed {
			r.MeanResponseTime = a.pointer(j.served.Quo(x))
		}
	}
	return r
}
