package network

import (
	"context"
	"math"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/network/internal/demands"
	"productform/num"
)

// A DelayQuestion asks about the delays of visits to one station, which serves in order of arrival (FCFS) with equal servers.
type DelayQuestion struct {
	Station int
	Levels  []*big.Rat // quantiles, each in (0, 1): 99/100 for the 99th percentile
	Times   []*big.Rat // times t >= 0 at which P(T > t) is asked
}

// VisitDelays holds what was asked of one visit. Each number lies between Low and High.
type VisitDelays struct {
	Class, Visit     int
	Quantiles, Tails []num.Value // in the order of the question
}

// Delays returns quantiles and tails of the delays, from arrival to end, of the visits to a station: one visit of each class that comes there. Sizes there are exponential, of
// one mean σ, so that each of m servers ends jobs at rate ν = rate/σ. A job that finds n jobs ends its delay after
//
//	an exponential time of rate ν if n < m, or n - m + 1 such times of rate m ν and one of rate ν.
//
// It finds n jobs with the probability of n in the network with one job of its chain less (arrival theorem), or, of an open chain, in the network as it is. In the first
// k steps and the last,
//
//	P(E_k + S > t) = P(Poisson(mνt) < k) + e^(-νt) (m/(m-1))^k P(Poisson((m-1)νt) >= k),   for m = 1 P(Poisson(νt) <= k),
//
// of which the second term is the density of E_k times e^(-ν(t-s)), integrated over s. Where no closed chain comes, jobs wait with Erlang's probability C for an exponential time. All sums are of positive terms in intervals of 128 bits. Where open chains leave no last n,
// P(more than n) is added to the upper bound of a tail. A quantile is bracketed by times whose tails are on both sides for sure.
//
// It takes one solution of the network with the distribution of the jobs at the station, and for each time or step of a bisection as many operations as there are n.
// The error is that of [Solve], or an *[num.InputError] for a question out of range.
func Delays(ctx context.Context, m *Model, q DelayQuestion, s Settings) ([]VisitDelays, error) {
	s, err := s.checked()
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
	p, err := newProblem(sys, s)
	if err != nil {
		return nil, err
	}
	d := &delays{ctx: ctx, sys: sys, problem: p, question: q, settings: s}
	st := &m.Stations[q.Station]
	d.servers = max(st.Servers, 1)
	var all []VisitDelays
	known := map[int]*VisitDelays{} // by chain of closed classes, -1 for open ones
	for r := range sys.Stations[q.Station].Visits {
		v := &sys.Stations[q.Station].Visits[r]
		if d.rate == nil {
			d.rate = new(big.Rat).Quo(num.OrOne(st.Rate), m.Classes[v.Class].Visits[v.Visit].size())
		}
		if known[v.K] == nil {
			if known[v.K], err = d.ofChain(v.K); err != nil {
				return nil, err
			}
		}
		of := *known[v.K]
		of.Class, of.Visit = v.Class, v.Visit
		all = append(all, of)
	}
	return all, nil
}

// checkDelays refuses a question out of range.
func (m *Model) checkDelays(q DelayQuestion) error {
	if q.Station < 0 || q.Station >= len(m.Stations) {
		return input.Errorf("station", q.Station, "a row of the %d stations", len(m.Stations))
	}
	if st := &m.Stations[q.Station]; st.Discipline != FCFS || st.Rates != nil {
		return input.Errorf("station", input.Quote(st.Name), "a station with discipline fcfs and equal servers: delays are known of no others")
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

// A delays is a question being answered.
type delays struct {
	ctx      context.Context
	sys      *system
	problem  problem
	question DelayQuestion
	settings Settings
	servers  int
	rate     *big.Rat // ν

	seen []num.Interval // P(a job finds n jobs)
	rest *big.Float     // upper bound of P(it finds more)
	wait *num.Interval  // P(a job waits), where no closed chain comes: then for an exponential time of rate θ; nil elsewhere
	free *big.Rat       // θ = mν - λ
}

const delayPrecision = 128

// restTol is how probable it may be that a job finds more jobs than are looked at, if there can be any number.
const restTol = 0x1p-70

// ofChain returns the answers for the visits of one closed chain, or of the open ones if k is -1.
func (d *delays) ofChain(k int) (*VisitDelays, error) {
	d.wait = nil
	if err := d.find(k); err != nil {
		return nil, err
	}
	r := &VisitDelays{}
	for _, t := range d.question.Times {
		tail, err := d.tail(t)
		if err != nil {
			return nil, err
		}
		x, _ := tail.Float64()
		r.Tails = append(r.Tails, num.Value{Float: x, Low: tail.Low, High: tail.High})
	}
	for _, p := range d.question.Levels {
		x, err := d.quantile(new(big.Rat).Sub(big.NewRat(1, 1), p))
		if err != nil {
			return nil, err
		}
		r.Quantiles = append(r.Quantiles, x)
	}
	return r, nil
}

// find sets what a job of the chain finds.
func (d *delays) find(k int) error {
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
	if jobs == 0 && open && d.isOpen(st) {
		return d.findOpen(p, at, st)
	}
	for more := max(jobs, 64); ; more *= 4 {
		s := d.settings
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
		d.seen = nil
		sum := num.FromInt(0, delayPrecision)
		for _, x := range r.Stations[d.question.Station].JobsDistribution {
			e := enclosure(x, r.RelativeErrorBound)
			d.seen = append(d.seen, e)
			sum = sum.Add(e)
		}
		d.rest = new(big.Float)
		if !open {
			return nil
		}
		d.rest = num.Up(delayPrecision).Sub(big.NewFloat(1), sum.Low)
		if rest, _ := d.rest.Float64(); rest < max(restTol, 4*r.RelativeErrorBound) {
			return nil
		}
		if more > 1<<24 {
			return input.Errorf("station", d.problem.model.Stations[d.question.Station].Name, "a load of open chains at which %d jobs are all that matter", more)
		}
	}
}

// isOpen reports whether no closed chain comes, and θ is not so near to ν that their difference would cost digits.
func (d *delays) isOpen(st *demands.Station) bool {
	if slices.ContainsFunc(st.Demand, func(x *big.Rat) bool { return x.Sign() > 0 }) {
		return false
	}
	busy := new(big.Rat).Quo(st.Load, st.Totals.Most)
	d.free = busy.Sub(big.NewRat(1, 1), busy) // 1 - λ/(mν)
	d.free.Mul(d.free, d.rate).Mul(d.free, big.NewRat(int64(d.servers), 1))
	gap := new(big.Rat).Quo(d.free, d.rate)
	gap.Sub(gap, big.NewRat(1, 1))
	return gap.Abs(gap).Cmp(big.NewRat(1, 1<<40)) > 0
}

// findOpen sets what jobs find at a queue M/M/m: P(n >= m) = P(m)/(1 - λ/(mν)).
func (d *delays) findOpen(p problem, at []int, st *demands.Station) error {
	s := d.settings
	s.MaxJobs = d.servers
	list, err := p.solve(d.ctx, s, [][]int{at})
	if err != nil {
		return err
	}
	d.seen, d.rest = nil, new(big.Float)
	for _, x := range list[0].Stations[d.question.Station].JobsDistribution {
		d.seen = append(d.seen, enclosure(x, list[0].RelativeErrorBound))
	}
	left := new(big.Rat).Sub(st.Totals.Most, st.Load)
	wait := d.seen[d.servers].Mul(num.FromRat(left.Quo(st.Totals.Most, left), delayPrecision))
	d.wait, d.seen = &wait, d.seen[:d.servers]
	return nil
}

// waited encloses P(W + S > t), W exponential of rate θ and S of rate ν: e^(-νt) + ν (e^(-θt) - e^(-νt))/(ν - θ), given x = νt and e^-x.
func (d *delays) waited(x *big.Rat, alone num.Interval) (num.Interval, error) {
	ratio := new(big.Rat).Quo(d.free, d.rate)
	e, err := num.FromRat(new(big.Rat).Neg(new(big.Rat).Mul(x, ratio)), delayPrecision).Exp()
	if err != nil {
		return num.Interval{}, input.Errorf("times", x.RatString(), "times t with e^(-θt) in range")
	}
	gap := num.FromRat(new(big.Rat).Sub(big.NewRat(1, 1), ratio), delayPrecision)
	return alone.Add(e.Sub(alone).Quo(gap)), nil
}

// enclosure returns bounds of a value that are within its relative error.
func enclosure(x num.Value, bound float64) num.Interval {
	switch e, ok := x.Interval(); {
	case x.Exact != nil:
		return num.FromRat(x.Exact, delayPrecision)
	case ok:
		return num.Interval{Low: num.Down(delayPrecision).Set(e.Low), High: num.Up(delayPrecision).Set(e.High)}
	}
	f := num.FromFloat64(x.Float, delayPrecision)
	if x.Float < 0x1p-1000 { // may be off by the spacing of float64 there
		spacing := big.NewFloat(0x1p-1074)
		f.High.Add(f.High, spacing)
		if f.Low.Sub(f.Low, spacing).Sign() < 0 {
			f.Low.SetInt64(0)
		}
	}
	off := new(big.Float).SetPrec(delayPrecision).SetFloat64(bound * (1 + 0x1p-40)) // |x - v| <= e v gives v in x/(1 ± e)
	one := big.NewFloat(1)
	return f.Quo(num.Interval{Low: num.Down(delayPrecision).Sub(one, off), High: num.Up(delayPrecision).Add(one, off)})
}

// tail encloses P(T > t).
func (d *delays) tail(t *big.Rat) (num.Interval, error) {
	x := new(big.Rat).Mul(d.rate, t)
	alone, err := num.FromRat(new(big.Rat).Neg(x), delayPrecision).Exp() // e^(-νt)
	if err != nil {
		return num.Interval{}, input.Errorf("times", t.RatString(), "times t with e^(-νt) in range")
	}
	steps := len(d.seen) - d.servers // of the last n
	busy := num.FromInt(0, delayPrecision)
	if steps > 0 {
		var waits []num.Interval // P(E_k + S > t), k = 1, ...
		if d.servers == 1 {
			waits, err = d.poisson(x, steps+1)
			waits = waits[1:]
		} else {
			waits, err = d.waits(x, alone, steps)
		}
		if err != nil {
			return num.Interval{}, err
		}
		for k, w := range waits[:steps] {
			busy = busy.Add(d.seen[d.servers+k].Mul(w))
		}
	}
	free := num.FromInt(0, delayPrecision)
	for _, p := range d.seen[:min(d.servers, len(d.seen))] {
		free = free.Add(p)
	}
	if d.wait != nil {
		w, err := d.waited(x, alone)
		if err != nil {
			return num.Interval{}, err
		}
		busy = d.wait.Mul(w)
	}
	tail := busy.Add(free.Mul(alone))
	tail.High.Add(tail.High, d.rest)
	if one := big.NewFloat(1); tail.High.Cmp(one) > 0 {
		tail.High.Set(one)
	}
	return tail, nil
}

// poisson encloses P(Poisson(x) < k) for k = 1, ..., n.
func (d *delays) poisson(x *big.Rat, n int) ([]num.Interval, error) {
	terms, err := d.poissonTerms(x, n-1)
	if err != nil {
		return nil, err
	}
	list := terms[:n]
	for k := 1; k < n; k++ {
		list[k] = list[k].Add(list[k-1])
	}
	return list, nil
}

// waits encloses P(E_k + S > t) for k = 1, ..., n and several servers, given x = νt and e^-x. P(Poisson(y) >= k) is summed from its far end on, where each term is at most half
// of the one before, so that what is left out is at most the last.
func (d *delays) waits(x *big.Rat, alone num.Interval, n int) ([]num.Interval, error) {
	few, err := d.poisson(new(big.Rat).Mul(x, big.NewRat(int64(d.servers), 1)), n)
	if err != nil {
		return nil, err
	}
	y := new(big.Rat).Mul(x, big.NewRat(int64(d.servers-1), 1))
	terms, err := d.poissonTerms(y, n+delayPrecision)
	if err != nil {
		return nil, err
	}
	last := len(terms) - 1
	many := num.Interval{Low: num.Down(delayPrecision), High: num.Up(delayPrecision).Set(terms[last].High)}
	for k := last; k > n; k-- {
		many = many.Add(terms[k])
	}
	factor := num.FromRat(big.NewRat(int64(d.servers), int64(d.servers-1)), delayPrecision)
	powers := []num.Interval{alone.Mul(factor)}
	for k := 1; k < n; k++ {
		powers = append(powers, powers[k-1].Mul(factor))
	}
	for k := n; k >= 1; k-- {
		many = many.Add(terms[k])
		few[k-1] = few[k-1].Add(powers[k-1].Mul(many))
	}
	return few, nil
}

// poissonTerms encloses P(Poisson(y) = k) for k = 0, ..., n or more, until terms are at most half of those before.
func (d *delays) poissonTerms(y *big.Rat, n int) ([]num.Interval, error) {
	mean := num.FromRat(y, delayPrecision)
	term, err := num.FromRat(new(big.Rat).Neg(y), delayPrecision).Exp()
	if err != nil {
		return nil, input.Errorf("times", y.RatString(), "times t with e^(-mνt) in range")
	}
	twice, _ := y.Float64()
	terms := []num.Interval{term}
	for k := 1; k <= n || float64(k) <= 2*twice+1; k++ {
		if err := d.ctx.Err(); err != nil {
			return nil, err
		}
		term = term.Mul(mean).Quo(num.FromInt(int64(k), delayPrecision))
		terms = append(terms, term)
	}
	return terms, nil
}

// quantile brackets the t with P(T > t) = share.
func (d *delays) quantile(share *big.Rat) (num.Value, error) {
	want := num.FromRat(share, delayPrecision)
	side := func(t float64) (int, error) { // of t: -1 below, 1 above, 0 not known
		x, err := d.tail(new(big.Rat).SetFloat64(t))
		switch {
		case err != nil:
			return 0, err
		case x.Low.Cmp(want.High) > 0:
			return -1, nil
		case x.High.Cmp(want.Low) < 0:
			return 1, nil
		}
		return 0, nil
	}
	rate, _ := d.rate.Float64()
	low, high := 0.0, 1/rate
	for {
		at, err := side(high)
		if err != nil {
			return num.Value{}, err
		}
		if at > 0 {
			break
		}
		if at < 0 {
			low = high
		}
		if high *= 2; high > math.MaxFloat64/4 {
			return num.Value{}, input.Errorf("levels", share.RatString(), "a quantile within the range of float64")
		}
	}
	for high-low > d.settings.RelTol/4*high {
		middle := low + (high-low)/2
		at, err := side(middle)
		if err != nil {
			return num.Value{}, err
		}
		switch {
		case at < 0:
			low = middle
		case at > 0:
			high = middle
		default:
			return d.narrow(low, middle, high, side)
		}
	}
	return bracket(low, high), nil
}

// narrow closes in from both sides on the times around middle whose side is not known.
func (d *delays) narrow(low, middle, high float64, side func(float64) (int, error)) (num.Value, error) {
	inLow, inHigh := middle, middle
	for inLow-low > d.settings.RelTol/8*high || high-inHigh > d.settings.RelTol/8*high {
		for _, end := range []struct {
			known, open *float64
			want        int
		}{{&low, &inLow, -1}, {&high, &inHigh, 1}} {
			t := *end.known + (*end.open-*end.known)/2
			if t == *end.known || t == *end.open {
				continue
			}
			at, err := side(t)
			if err != nil {
				return num.Value{}, err
			}
			if at == end.want {
				*end.known = t
			} else {
				*end.open = t
			}
		}
	}
	return bracket(low, high), nil
}

func bracket(low, high float64) num.Value {
	return num.Value{Float: low + (high-low)/2, Low: big.NewFloat(low), High: big.NewFloat(high)}
}
