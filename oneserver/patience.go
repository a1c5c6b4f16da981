package oneserver

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"strconv"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/num"
	"productform/sizes"
	"productform/stability"
)

// PatienceSettings tunes [SolvePatience]. The zero value means a tolerance of [num.DefaultRelTol]
// and tables of at most [num.DefaultMaxBytes].
type PatienceSettings struct {
	RelTol   float64    // bound on RelativeErrorBound or ErrorEstimate, in [1e-12, 1); 0 means [num.DefaultRelTol]
	MaxBytes int64      // limit on the memory for tables; 0 means [num.DefaultMaxBytes]
	MaxWork  float64    // limit on the states times the first steps in time, see [SolvePatience]; 0 means 5e7
	Times    []*big.Rat // times t >= 0 for the probabilities of waiting at most t
	Levels   []*big.Rat // levels in (0, 1) of percentiles of the waiting time
}

// A PatienceResult holds the stationary measures of a cluster in which each job runs on one server
// and waiting jobs may give up. The waiting of a job ends when it starts or gives up.
type PatienceResult struct {
	States int `json:"states"` // numbers of busy servers by group, of all parts

	// RelativeErrorBound is a proved bound on the relative error of every number. It is nil if the
	// cluster has a part that is not one pool; see [SolvePatience].
	RelativeErrorBound *float64 `json:"relative_error_bound"`

	// ErrorEstimate is nil if RelativeErrorBound is not. It is the largest difference, relative to
	// the number, to the same equations on steps twice as long, or between arriving jobs and those
	// that are served or give up, or served jobs and the work of the servers; at least 1e-13. It is
	// not a proved bound, but tests found no larger error: that of a step of length h falls like
	// h^12 in the end. For probabilities below 1e-12 it is relative to 1e-12, and for percentiles
	// below 1/1000 of the mean waiting time relative to that.
	ErrorEstimate *float64 `json:"error_estimate"`

	AbandonProbability *float64 `json:"abandon_probability"` // fraction of all jobs that give up; nil if no jobs arrive
	MeanWaiting        *float64 `json:"mean_waiting"`        // mean over all jobs; nil if no jobs arrive
	// mean time until a job departs or gives up; nil if no jobs arrive
	MeanDelay *float64 `json:"mean_delay"`
	MeanQueue float64  `json:"mean_queue"` // mean number of waiting jobs
	MeanJobs  float64  `json:"mean_jobs"`  // mean number of jobs, waiting or in service

	Classes []PatienceClass  `json:"classes"` // one per row of the model's classes
	Servers []PatienceServer `json:"servers"` // one per row of the model's servers
}

// A PatienceClass holds the measures of one class. Those of a class without arrivals are nil.
type PatienceClass struct {
	Name                 string   `json:"name" title:"class"`     // as in the model
	ArrivalRate          *big.Rat `json:"arrival_rate"`           // λ_i, jobs per unit of time
	WaitProbability      *float64 `json:"wait_probability"`       // probability that its jobs wait
	AbandonProbability   *float64 `json:"abandon_probability"`    // fraction of the jobs that give up
	MeanWaiting          *float64 `json:"mean_waiting"`           // mean time until a job starts or gives up
	MeanWaitingServed    *float64 `json:"mean_waiting_served"`    // mean over the jobs that are served
	MeanWaitingAbandoned *float64 `json:"mean_waiting_abandoned"` // mean over the jobs that give up; nil if none do
	MeanDelay            *float64 `json:"mean_delay"`             // mean time until a job departs or gives up
	MeanQueue            float64  `json:"mean_queue"`             // mean number of waiting jobs

	// ServedBy has a row for each row of servers that its jobs may use. Its shares are fractions of
	// all jobs: their sum is the fraction of jobs that do not give up.
	ServedBy []Serving `json:"served_by"`

	// Waiting holds percentiles of the waiting time of all jobs, in the order of
	// PatienceSettings.Levels: 0 if at least that fraction does not wait. WaitingServed holds those
	// over the jobs that are served.
	Waiting       []num.Value `json:"-"`
	WaitingServed []num.Value `json:"-"`

	Within []PatienceWithin `json:"within"` // in the order of PatienceSettings.Times
}

// A PatienceWithin holds the fractions of the jobs of a class that wait at most a given time.
type PatienceWithin struct {
	Time           *big.Rat `json:"time"`                   // t
	WaitWithin     float64  `json:"waiting" below:"1"`      // P(W <= t) over all jobs
	ServedWithin   float64  `json:"served" below:"1"`       // P(served and W <= t) over all jobs
	WithinIfServed float64  `json:"served_share" below:"1"` // P(W <= t) over served jobs
}

// A PatienceServer holds the measures of one server, or of each server of a group.
type PatienceServer struct {
	Name        string  `json:"name" title:"server"`   // as in the model
	Count       int     `json:"count,omitempty"`       // servers in the group; 0 for a single one
	Utilization float64 `json:"utilization" below:"1"` // probability that it is busy; 0 if no class uses it
}

// SolvePatience returns the stationary measures of a cluster in which each job runs on one server
// and gives up when its patience ends before it starts. Patience has any distribution of package
// sizes, by class; it does not include the time in service.
//
// With g_i(x) the probability that the patience of class i exceeds x, the busy servers are K with a
// probability proportional to F_K(0) H(K), where H is that of the package comment, and
//
//	F_K'(x) = (μ(K) - Σ_{i: S_i⊆K} λ_i g_i(x)) F_K(x) - Σ_{s∈K} F_{K∖s}(x),  F_∅ = 1,  F_K bounded.
//
// With V_i the time after which a job of class i would start if it did not give up, and a(x) the
// adjoint of F(x), a(0) = H, P(V_i > x) = Σ_{K⊇S_i} a_K(x) F_K(x) / Z. All measures are integrals
// of g_i, P(V_i > x) and its derivative over x. The equations are integrated from large x to 0 and
// back by a method of order 12 (Gauss) that preserves Z, on steps that are halved until the
// measures change by less than the tolerance: once to three times. A step takes about a microsecond
// per state, so the limit of 5e7 allows about five minutes.
//
// A part of the cluster that is one pool of equal servers, which all its classes use as a whole,
// is the queue M/M/n+M if all of them have the same exponential patience. It is solved by series of
// positive terms with proved bounds; see [productform/network/loss.ErlangA]. 100,000 servers take
// less than a second. The same holds for a pool without patience, and for patience 0, where jobs
// that find all servers busy are lost.
//
// The error is that of [Answer], a *[num.InputError] for an unknown distribution, or a
// *[num.TooLargeError] for models that need more than MaxWork states times steps. Patience may
// overload the servers. A cluster is unstable only if the classes that never give up overload it.
func SolvePatience(ctx context.Context, m *cluster.Model, s PatienceSettings) (*PatienceResult, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := cmp.Or(m.RequireService(cluster.OneServer), m.RequireNoTimeouts()); err != nil {
		return nil, err
	}
	size, err := oneMeanSize(m)
	if err != nil {
		return nil, err
	}
	if !(s.RelTol == 0 || s.RelTol >= 1e-12 && s.RelTol < 1) {
		return nil, input.Errorf("RelTol", s.RelTol, "a number in [1e-12, 1), or 0 for 1e-9")
	}
	if !(s.MaxWork >= 0 && s.MaxWork <= math.MaxFloat64) {
		return nil, input.Errorf("MaxWork", s.MaxWork, "a number > 0, or 0 for %g", maxWork)
	}
	q := Question{Levels: s.Levels, Times: s.Times}
	checked, err := q.check(Settings{RelTol: s.RelTol, MaxBytes: s.MaxBytes})
	if err != nil {
		return nil, err
	}
	s.RelTol, s.MaxBytes, s.MaxWork = checked.RelTol, checked.MaxBytes, cmp.Or(s.MaxWork, maxWork)
	byClass, err := patienceByClass(m)
	if err != nil {
		return nil, err
	}
	overload, err := stability.Overload(ctx, m.WithoutImpatient())
	if err != nil {
		return nil, err
	}
	if overload != nil {
		return nil, overload
	}
	parts := split(m, size)
	b := newPatienceBuilder(m, s)
	for _, p := range parts {
		if err := b.add(ctx, p, byClass); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// patienceByClass returns the patience of all classes.
func patienceByClass(m *cluster.Model) ([]patience, error) {
	byClass := make([]patience, len(m.Classes))
	for i := range m.Classes {
		mean, text := m.PatienceOf(i)
		if mean == nil {
			continue
		}
		path := patiencePath(m, i)
		f, _ := mean.Float64()
		if mean.Sign() == 0 {
			f = 1 // any distribution
		}
		if !(f >= 1e-90 && f <= 1e90) {
			return nil, input.Errorf(path+"mean_patience", mean.RatString(), "0 or a number in [1e-90, 1e90]")
		}
		d, err := sizes.Parse(text, f)
		if err != nil {
			var bad *input.Error
			want := err.Error()
			if errors.As(err, &bad) {
				want = bad.Want
			}
			return nil, input.Errorf(path+"patience", strconv.Quote(text), "%s", want)
		}
		if mean.Sign() == 0 {
			byClass[i] = patience{Distribution: noPatience{}, atoms: []float64{0}, chances: []float64{1}}
			continue
		}
		if byClass[i], err = newPatience(d, f); err != nil {
			return nil, input.Errorf(path+"patience", strconv.Quote(text), "a distribution with a median: %v", err)
		}
	}
	return byClass, nil
}

// patiencePath returns the path of the object whose patience the jobs of class i have.
func patiencePath(m *cluster.Model, i int) string {
	if m.Classes[i].MeanPatience != nil {
		return input.Index("classes", i) + "."
	}
	return ""
}

// A patienceBuilder makes a result from the measures of the parts.
type patienceBuilder struct {
	m        *cluster.Model
	settings PatienceSettings
	result   *PatienceResult

	bound               float64 // on the relative errors of the pools that series solve
	estimate            float64 // largest estimate of the errors of the other parts; 0 if there are none
	arrivals, abandoned float64
}

func newPatienceBuilder(m *cluster.Model, s PatienceSettings) *patienceBuilder {
	r := &PatienceResult{}
	for _, c := range m.Classes {
		r.Classes = append(r.Classes, PatienceClass{Name: c.Name, ArrivalRate: c.ArrivalRate})
	}
	for i := range m.Servers {
		r.Servers = append(r.Servers, PatienceServer{Name: m.Servers[i].Name, Count: m.Servers[i].GroupSize()})
	}
	return &patienceBuilder{m: m, settings: s, result: r}
}

// add solves a part and adds its measures.
func (b *patienceBuilder) add(ctx context.Context, p *part, all []patience) error {
	b.result.States += int(lattice.Size(p.limits()))
	byClass := make([]patience, len(p.classes))
	for i, c := range p.classes {
		byClass[i] = all[c.row]
	}
	if isErlangA(b.m, p, byClass) {
		return b.addPool(ctx, p)
	}
	return b.addEquations(ctx, p, byClass)
}

// addEquations solves the equations of a part, on finer steps until the measures are within the
// tolerance.
func (b *patienceBuilder) addEquations(ctx context.Context, p *part, byClass []patience) error {
	if err := p.checkRates(); err != nil {
		return err
	}
	limits := Settings{RelTol: b.settings.RelTol, MaxBytes: b.settings.MaxBytes}
	if err := checkSize([]*part{p}, limits, (*part).bytesOfRace); err != nil {
		return err
	}
	if err := p.checkSteps(4, b.settings.MaxWork); err != nil { // at least four steps are necessary
		return err
	}
	ask, err := b.question()
	if err != nil {
		return err
	}
	plan, err := newPace(ctx, p, byClass)
	if err != nil {
		return err
	}
	grid, err := plan.grid(ctx, ask.times, b.settings.MaxWork)
	if err != nil {
		return err
	}
	r, err := newRace(ctx, plan)
	if err != nil {
		return err
	}
	var last *patienceMeasures
	for level := 0; ; level++ {
		if level > mostHalvings {
			return &num.TooLargeError{States: float64(r.States), Input: input.Errorf("RelTol", b.settings.RelTol,
				"a tolerance that roundings do not exceed")}
		}
		if err := p.checkSteps(len(grid), 4*b.settings.MaxWork); err != nil { // after two halvings
			return err
		}
		m, err := r.measure(ctx, ask, grid, b.settings.MaxBytes)
		if err != nil {
			return err
		}
		off := max(m.difference(last), r.imbalance(m))
		if off <= b.settings.RelTol {
			b.estimate = max(b.estimate, off)
			b.addPart(p, m)
			return nil
		}
		last, grid = m, halve(grid)
	}
}

// checkRates rejects rates of arrivals and of service beyond the range of the equations in float64.
func (p *part) checkRates() error {
	const most = 1e150
	for _, c := range p.classes {
		if err := checkRate(c.rate, most); err != nil {
			return err
		}
	}
	for _, g := range p.groups {
		if err := checkRate(g.capacity, most); err != nil {
			return err
		}
	}
	return nil
}

// checkRate rejects a rate above most or below 1/most.
func checkRate(rate *big.Rat, most float64) error {
	if f := num.Nearest(rate); f >= 1/most && f <= most {
		return nil
	}
	jobs := new(big.Float).SetPrec(64).SetRat(rate).Text('g', 6)
	return input.Errorf("model", "a rate of "+jobs+" jobs per unit of time",
		"rates in [%g, %g]: count time in other units", 1/most, most)
}

// question returns the question in float64.
func (b *patienceBuilder) question() (ask patienceQuestion, err error) {
	for _, t := range b.settings.Times {
		ask.times = append(ask.times, num.Nearest(t))
	}
	for i, level := range b.settings.Levels {
		tail := num.Nearest(new(big.Rat).Sub(big.NewRat(1, 1), level))
		if tail < leastProbability {
			return ask, badRat(
				input.Index("Levels", i), level, "a number > 0 and < 1, at most 1 - 1e-12 if jobs give up",
			)
		}
		ask.tails = append(ask.tails, tail)
	}
	return ask, nil
}

// mostHalvings limits how often steps are halved: more than a few times only for a tolerance that
// roundings exceed.
const mostHalvings = 10

// leastProbability is the smallest probability with a relative error estimate, and leastTime is
// the shortest percentile in units of the mean.
const (
	leastProbability = 1e-12
	leastTime        = 1e-3
)

// difference returns the largest relative difference of two results, at least 1e-13. It is infinite
// for a nil one.
func (m *patienceMeasures) difference(other *patienceMeasures) float64 {
	if other == nil {
		return math.Inf(1)
	}
	worst := 1e-13
	compare := func(x, y, least float64) {
		if x != y {
			if off := math.Abs(x-y) / max(math.Abs(x), least); !(off <= worst) {
				worst = off
			}
		}
	}
	for g := range m.busy {
		compare(m.busy[g], other.busy[g], leastProbability)
	}
	for i := range m.classes {
		x, y := &m.classes[i], &other.classes[i]
		p, q := x.probabilities(), y.probabilities()
		for k := range p {
			compare(p[k], q[k], leastProbability)
		}
		for g := range x.servedBy {
			compare(x.servedBy[g], y.servedBy[g], leastProbability)
		}
		compare(x.waiting, y.waiting, 0)
		compare(x.waitingServed, y.waitingServed, 0)
		compare(x.waitingAbandoned, y.waitingAbandoned, 0)
		for k := range x.quantiles {
			compare(x.quantiles[k], y.quantiles[k], leastTime*x.waiting)
			compare(x.servedQuantiles[k], y.servedQuantiles[k], leastTime*x.waiting)
		}
	}
	if math.IsNaN(worst) {
		return math.Inf(1)
	}
	return worst
}

// imbalance returns the largest relative difference of numbers that are equal: the jobs that are
// served or give up and all jobs, their waiting times, the served jobs and those of each group, and
// the served jobs and the work of the servers.
func (r *race) imbalance(m *patienceMeasures) float64 {
	worst, served, done := 0.0, 0.0, 0.0
	own := make([]float64, len(r.groups))
	for i, c := range m.classes {
		worst = max(worst, math.Abs(c.served+c.abandoned-1))
		if c.waiting > 0 {
			worst = max(worst, math.Abs(c.waitingServed+c.waitingAbandoned-c.waiting)/c.waiting)
		}
		served += r.lambda[i] * c.served
		sum := 0.0
		for g, share := range c.servedBy {
			sum += share
			own[g] += r.lambda[i] * share
		}
		worst = max(worst, math.Abs(sum-c.served)/c.served)
	}
	for g, busy := range m.busy {
		work := r.mu[g] * float64(r.groups[g].n) * busy
		done += work
		worst = max(worst, math.Abs(own[g]-work)/max(work, leastProbability*served))
	}
	return max(worst, math.Abs(served-done)/done)
}

// addPart adds the measures of a part to the result.
func (b *patienceBuilder) addPart(p *part, m *patienceMeasures) {
	for g := range p.groups {
		b.addGroup(p, g, m.busy[g])
	}
	for i, x := range p.classes {
		c, own := &b.result.Classes[x.row], &m.classes[i]
		c.WaitProbability, c.AbandonProbability = pointer(own.wait), pointer(own.abandoned)
		c.MeanWaiting, c.MeanWaitingServed = pointer(own.waiting), pointer(own.waitingServed/own.served)
		if own.abandoned > 0 {
			c.MeanWaitingAbandoned = pointer(own.waitingAbandoned / own.abandoned)
		}
		delay := own.waiting
		for _, choice := range x.choices {
			share := own.servedBy[choice.group]
			delay += share / num.Nearest(p.groups[choice.group].capacity)
			b.addServing(c, p, choice.group, share)
		}
		c.MeanDelay = pointer(delay)
		for k, t := range b.settings.Times {
			c.Within = append(c.Within, PatienceWithin{t, min(own.within[k], 1), min(own.servedSoon[k], 1),
				min(own.servedSoon[k]/own.served, 1)})
		}
		for k := range own.quantiles {
			c.Waiting = append(c.Waiting, num.Value{Float: own.quantiles[k]})
			c.WaitingServed = append(c.WaitingServed, num.Value{Float: own.servedQuantiles[k]})
		}
		b.addClass(x)
	}
}

// addGroup adds the busy servers of a group.
func (b *patienceBuilder) addGroup(p *part, g int, busy float64) {
	for _, row := range p.groups[g].rows {
		b.result.Servers[row].Utilization = min(busy, 1)
	}
	b.result.MeanJobs += busy * float64(p.groups[g].n)
}

// addServing adds the rows of a group, which serves a share of the jobs of a class.
func (b *patienceBuilder) addServing(c *PatienceClass, p *part, g int, share float64) {
	rate := num.Nearest(c.ArrivalRate)
	for _, row := range p.groups[g].rows {
		s := b.m.Servers[row]
		own := share * float64(s.Size()) / float64(p.groups[g].n)
		c.ServedBy = append(c.ServedBy, Serving{s.Name, num.Value{Float: rate * own}, num.Value{Float: own}})
	}
}

// addClass adds a class, whose measures are set, to the totals.
func (b *patienceBuilder) addClass(x class) {
	c, rate := &b.result.Classes[x.row], num.Nearest(x.rate)
	c.MeanQueue = rate * *c.MeanWaiting
	b.result.MeanQueue += c.MeanQueue
	b.arrivals += rate
	b.abandoned += rate * *c.AbandonProbability
}

// finish returns the result.
func (b *patienceBuilder) finish() (*PatienceResult, error) {
	r := b.result
	for _, x := range []float64{r.MeanJobs, r.MeanQueue} {
		if !(x <= math.MaxFloat64) {
			return nil, arithmetic.BeyondFloat()
		}
	}
	r.MeanJobs += r.MeanQueue
	if b.arrivals > 0 {
		r.AbandonProbability, r.MeanWaiting = pointer(b.abandoned/b.arrivals), pointer(r.MeanQueue/b.arrivals)
		r.MeanDelay = pointer(r.MeanJobs / b.arrivals)
	}
	if b.estimate == 0 {
		sums := float64(2*len(r.Servers) + 2*len(r.Classes) + 8)
		r.RelativeErrorBound = pointer(arithmetic.Compound(b.bound, arithmetic.Roundings(sums), 0))
	} else {
		r.ErrorEstimate = pointer(max(b.estimate, b.bound))
	}
	return r, nil
}

func pointer(x float64) *float64 { return &x }
