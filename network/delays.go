package network

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/network/internal/convolution"
	"productform/num"
)

// A DelayQuestion asks about the delays of visits to one station, which must be Order, or FCFS with
// equal servers.
type DelayQuestion struct {
	Station int        // row of the model's stations
	Levels  []*big.Rat // quantiles, each in (0, 1): 99/100 for the 99th percentile
	Times   []*big.Rat // times t >= 0 at which P(T > t) is requested
}

// VisitDelays holds the requested numbers for one visit. Each number lies between Low and High.
type VisitDelays struct {
	Name             string      // name of the class
	Class, Visit     int         // rows of the model's classes, and of the visits of that class
	Quantiles, Tails []num.Value // in the order of the question
	Waiting          Waiting     // until service begins
}

// Waiting holds the requested numbers for the waiting time W of a visit, from arrival until service
// begins: at a station with Order, until the job is first served. A quantile is 0 if at least that
// fraction of the jobs does not wait.
type Waiting struct {
	Probability      num.Value   // P(W > 0)
	Mean             *num.Value  // E[W]; nil if open and closed chains share the station
	Quantiles, Tails []num.Value // in the order of the question
}

// Delays returns quantiles and tails of the delays, from arrival to departure, and of the waiting
// times of the visits to a station: one visit of each class that visits it. Sizes there are
// exponential with one mean σ. At a station with FCFS each of m servers thus completes jobs at rate
// ν = rate/σ, and the delay of a job that finds n jobs is
//
//	an exponential time of rate ν if n < m, or n - m + 1 such times of rate m ν and one of rate ν.
//
// A job of a closed chain finds n jobs with the probability of n in the network with one fewer job
// of its chain (arrival theorem); for a job of an open chain it is the probability in the network
// itself. Tails are sums of positive terms over n, in intervals of 128 bits. At a station without
// closed chains, jobs wait with Erlang's probability C for an exponential time. If open and closed
// chains share the station, the probability of more jobs than the sum covers is added to the upper
// bound. A quantile is bracketed by two times whose tails are proved to be on either side.
//
// The network is solved once for the distribution of the jobs at the station. Each time and each
// step of a bisection then takes as many operations as there are values of n.
//
// At a station with Order, jobs ahead of a job determine its rate, and later jobs do not affect it.
// Its times follow from sums over the orders of the jobs that it finds; see sojourn.go in
// network/internal/convolution. The sums are in float64 with proved bounds. A time t takes about
// μ t/σ steps, each over the numbers of jobs that the station distinguishes and the populations of
// the closed chains there.
//
// Delays returns the errors of [Solve], and an *[num.InputError] for a question out of range or a
// tolerance that float64 misses.
func Delays(ctx context.Context, m *Model, q DelayQuestion, s Settings) ([]VisitDelays, error) {
	ask, err := newRequest(Question{}, s)
	if err != nil {
		return nil, err
	}
	sys, err := newSystem(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := m.checkDelays(q); err != nil {
		return nil, err
	}
	p, err := newProblem(sys, ask.Settings)
	if err != nil {
		return nil, err
	}
	d := &delaySolver{ctx: ctx, sys: sys, problem: p, question: q, request: ask}
	st := &m.Stations[q.Station]
	d.queue.Servers = max(st.Servers, 1)
	if len(sys.Stations[q.Station].Visits) == 0 {
		return nil, nil
	}
	if st.Discipline == Order {
		return d.orderDelays()
	}
	first := &sys.Stations[q.Station].Visits[0]
	d.queue.Rate = new(big.Rat).Quo(num.OrOne(st.Rate), m.Classes[first.Class].Visits[first.Visit].size())
	for i, t := range q.Times {
		if work := new(big.Rat).Mul(d.queue.Rate, t); work.Mul(work, big.NewRat(int64(d.queue.Servers), 1)).
			Cmp(big.NewRat(mostEnds, 1)) > 0 {
			return nil, input.Errorf(input.Index("times", i), t.RatString(),
				"a time in which the servers end at most %d jobs on average",
				int64(mostEnds))
		}
	}
	var all []VisitDelays
	known := map[int]*VisitDelays{} // by chain of closed classes, -1 for open ones
	for r := range sys.Stations[q.Station].Visits {
		v := &sys.Stations[q.Station].Visits[r]
		if known[v.K] == nil {
			if known[v.K], err = d.chainDelays(v.K); err != nil {
				return nil, err
			}
		}
		of := *known[v.K]
		of.Name, of.Class, of.Visit = m.Classes[v.Class].Name, v.Class, v.Visit
		all = append(all, of)
	}
	return all, nil
}

// KnowsDelays reports whether the distributions of waiting times and delays at the station are known.
func (s *Station) KnowsDelays() bool {
	return s.Discipline == Order || s.Discipline == FCFS && s.Rates == nil
}

// checkDelays rejects a question out of range.
func (m *Model) checkDelays(q DelayQuestion) error {
	if q.Station < 0 || q.Station >= len(m.Stations) {
		return input.Errorf("station", q.Station, "a row of the %d stations", len(m.Stations))
	}
	if st := &m.Stations[q.Station]; !st.KnowsDelays() {
		return input.Errorf(
			"station", input.Quote(st.Name),
			"a station with discipline order, or with fcfs and equal servers: delays are known of no others",
		)
	}
	for i, p := range q.Levels {
		if p == nil || p.Sign() <= 0 || p.Cmp(big.NewRat(1, 1)) >= 0 {
			return input.Errorf(input.Index("levels", i), p, "a level in (0, 1)")
		}
	}
	for i, t := range q.Times {
		if err := input.CheckNumber(input.Index("times", i), t, input.Nonnegative); err != nil {
			return err
		}
	}
	return nil
}

// A delaySolver evaluates a question.
type delaySolver struct {
	ctx      context.Context
	sys      *system
	problem  problem
	question DelayQuestion
	request  request
	queue    waitingQueue
}

// mostEnds is the maximum exponent of e.
const mostEnds = 100_000_000

// restTol is the largest allowed probability that a job finds more jobs than the sum covers, if
// their number is unbounded.
const restTol = 0x1p-70

// chainDelays returns the answers for the visits of one closed chain, or of the open chains if k is
// -1.
func (d *delaySolver) chainDelays(k int) (*VisitDelays, error) {
	d.queue.Wait = nil
	if err := d.find(k); err != nil {
		return nil, err
	}
	r := &VisitDelays{}
	var err error
	if r.Quantiles, r.Tails, err = d.times(); err != nil {
		return nil, err
	}
	d.queue.BeforeService = true
	defer func() { d.queue.BeforeService = false }()
	if r.Waiting.Quantiles, r.Waiting.Tails, err = d.times(); err != nil {
		return nil, err
	}
	waits, err := d.queue.waitingTail(d.ctx, new(big.Rat))
	if err != nil {
		return nil, err
	}
	r.Waiting.Probability = waits.Value()
	if d.queue.Rest.Sign() == 0 {
		mean := d.queue.meanWaiting().Value()
		r.Waiting.Mean = &mean
	}
	return r, nil
}

// times returns the requested quantiles and tails of the delay, or of the waiting time.
func (d *delaySolver) times() (quantiles, tails []num.Value, err error) {
	for _, t := range d.question.Times {
		tail, err := d.queue.Tail(d.ctx, t)
		if err != nil {
			return nil, nil, err
		}
		tails = append(tails, tail.Value())
	}
	for _, p := range d.question.Levels {
		x, err := d.queue.Quantile(d.ctx, new(big.Rat).Sub(big.NewRat(1, 1), p), d.request.RelTol)
		if err != nil {
			return nil, nil, err
		}
		quantiles = append(quantiles, x)
	}
	return quantiles, tails, nil
}

// find computes the state that a job of the chain finds.
func (d *delaySolver) find(k int) error {
	plan := *d.problem.Plan
	plan.LawsOf = []int{d.question.Station}
	p := problem{&plan, d.problem.model}
	at := slices.Clone(p.Most)
	jobs := 0
	st := &d.sys.Stations[d.question.Station]
	for axis, place := range p.Order {
		if place == k {
			at[axis]--
		}
		if st.Demand[place].Sign() > 0 {
			jobs += at[axis]
		}
	}
	open := st.Load.Sign() > 0
	isOpen := jobs == 0 && open && d.isOpen(st)
	switch {
	case st.Totals.Pool != nil:
		return d.findPool(st)
	case isOpen:
		return d.findOpen(p, at, st)
	}
	for more := max(jobs, 64); ; more *= 4 {
		s := d.request
		s.MaxJobs = jobs
		if open {
			s.MaxJobs = more
		}
		s.MaxJobs = max(s.MaxJobs, 1)
		list, err := p.solve(d.ctx, s, [][]int{at})
		if err != nil {
			return err
		}
		r := list[0]
		d.queue.Seen = nil
		sum := num.FromInt(0, waitingPrecision)
		for _, x := range r.Stations[d.question.Station].JobsDistribution {
			e := enclosure(x, r.RelativeErrorBound)
			d.queue.Seen = append(d.queue.Seen, e)
			sum = sum.Add(e)
		}
		d.queue.Rest = new(big.Float)
		if !open {
			return nil
		}
		d.queue.Rest = num.Up(waitingPrecision).Sub(big.NewFloat(1), sum.Low)
		if rest, _ := d.queue.Rest.Float64(); rest < max(restTol, 4*r.RelativeErrorBound) {
			return nil
		}
		if more > 1<<24 {
			return input.Errorf("station", d.problem.model.Stations[d.question.Station].Name,
				"a load of open chains at which more than %d jobs are negligible",
				more)
		}
	}
}

// isOpen reports whether no closed chain visits the station. Then it sets θ.
func (d *delaySolver) isOpen(st *convolution.Station) bool {
	if slices.ContainsFunc(st.Demand, func(x *big.Rat) bool { return x.Sign() > 0 }) {
		return false
	}
	busy := new(big.Rat).Quo(st.Load, st.Totals.Most)
	d.queue.Free = busy.Sub(big.NewRat(1, 1), busy) // 1 - λ/(mν)
	d.queue.Free.Mul(d.queue.Free, d.queue.Rate).Mul(d.queue.Free, big.NewRat(int64(d.queue.Servers), 1))
	return true
}

// findOpen sets the distribution that jobs find at an M/M/m queue: P(n >= m) = P(m)/(1 - λ/(mν)).
func (d *delaySolver) findOpen(p problem, at []int, st *convolution.Station) error {
	s := d.request
	s.MaxJobs = d.queue.Servers
	list, err := p.solve(d.ctx, s, [][]int{at})
	if err != nil {
		return err
	}
	d.queue.Seen, d.queue.Rest = nil, new(big.Float)
	for _, x := range list[0].Stations[d.question.Station].JobsDistribution {
		d.queue.Seen = append(d.queue.Seen, enclosure(x, list[0].RelativeErrorBound))
	}
	left := new(big.Rat).Sub(st.Totals.Most, st.Load)
	wait := d.queue.Seen[d.queue.Servers].Mul(num.FromRat(left.Quo(st.Totals.Most, left), waitingPrecision))
	d.queue.Wait, d.queue.Seen = &wait, d.queue.Seen[:d.queue.Servers]
	return nil
}

// enclosure returns bounds on a value from its relative error.
func enclosure(x num.Value, bound float64) num.Interval {
	switch e, ok := x.Interval(); {
	case x.Exact != nil:
		return num.FromRat(x.Exact, waitingPrecision)
	case ok:
		return num.Interval{Low: num.Down(waitingPrecision).Set(e.Low), High: num.Up(waitingPrecision).Set(e.High)}
	}
	f := num.FromFloat64(x.Float, waitingPrecision)
	if x.Float < 0x1p-1000 { // there, the error may be as large as the spacing of float64
		spacing := big.NewFloat(0x1p-1074)
		f.High.Add(f.High, spacing)
		if f.Low.Sub(f.Low, spacing).Sign() < 0 {
			f.Low.SetInt64(0)
		}
	}
	// |x - v| <= e v gives v in x/(1 ± e)
	off := new(big.Float).SetPrec(waitingPrecision).SetFloat64(bound * (1 + 0x1p-40))
	one := big.NewFloat(1)
	return f.Quo(num.Interval{
		Low:  num.Down(waitingPrecision).Sub(one, off),
		High: num.Up(waitingPrecision).Add(one, off),
	})
}
