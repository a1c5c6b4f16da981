package sim

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"productform/sizes"
)

// An Estimate is a mean over replications with a Student confidence interval.
type Estimate struct {
	Mean       float64
	HalfWidth  float64 // of the interval Mean ± HalfWidth
	Confidence float64 // probability with which such intervals hold the true value, if replications are long
	StdError   float64 // standard error of Mean
	Runs       int     // replications it is from
}

// Z returns the number of standard errors that the estimate is above the exact value, brought to the standard normal
// law: if the mean of a replication is normal, (Mean - exact)/StdError has Student's law with Runs-1 degrees of
// freedom, and Z is the normal quantile of its probability, within ±38. It says nothing if StdError is 0, since then
// all replications gave the same, as they do for what none has seen.
func (e Estimate) Z(exact float64) float64 {
	d := e.Mean - exact
	if d == 0 {
		return 0
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(e.Runs - 1)}
	tail := t.CDF(-math.Abs(d) / e.StdError) // the smaller tail: no digits are lost
	z := 38.0
	if tail > 0 {
		z = min(z, -distuv.UnitNormal.Quantile(tail))
	}
	return math.Copysign(z, d)
}

// scaled returns the estimate of c times the quantity, c > 0.
func (e Estimate) scaled(c float64) *Estimate {
	e.Mean *= c
	e.HalfWidth *= c
	e.StdError *= c
	return &e
}

// inverse returns the estimate of c over the quantity, c > 0, whose error is that of the quantity to first order
// (delta method); nil if the quantity was never seen above 0.
func (e Estimate) inverse(c float64) *Estimate {
	if !(e.Mean > 0) {
		return nil
	}
	e.HalfWidth *= c / e.Mean / e.Mean
	e.StdError *= c / e.Mean / e.Mean
	e.Mean = c / e.Mean
	return &e
}

// estimate returns the mean of values, two at least.
func estimate(values []float64, confidence float64) Estimate {
	mean, se := meanStdError(values)
	n := float64(len(values))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return Estimate{Mean: mean, HalfWidth: t * se, Confidence: confidence, StdError: se, Runs: len(values)}
}

// meanStdError returns the mean of values and its standard error, as if they were independent.
func meanStdError(values []float64) (mean, se float64) {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	_, unit := math.Frexp(largest) // squares of values in units of 2^unit stay in the range of float64
	var square float64
	for k, v := range values { // Welford
		v = math.Ldexp(v, -unit)
		d := v - mean
		mean += d / float64(k+1)
		square += d * (v - mean)
	}
	n := float64(len(values))
	return math.Ldexp(mean, unit), math.Ldexp(math.Sqrt(square/(n-1)/n), unit)
}

// A Result holds what a run of replications estimates. It is trustworthy if Warnings is empty. Of a standing population
// of [Tasks], Distribution, EffectiveSamples, Truncation and Warnings tell of the number of tasks that run, not of
// jobs.
type Result struct {
	Method   string // how the system was simulated
	Runs     int
	Jumps    float64 // arrivals, ends of phases and interruptions observed in all, without warm-up
	Time     float64 // observed in each replication
	WarmUp   float64 // time before it
	MeanJobs Estimate
	// MeanDelay is the mean sojourn time of all jobs, by Little's law; nil if no jobs arrive, and over a horizon.
	MeanDelay *Estimate
	// MeasuredDelay is the mean sojourn time of the jobs that left; nil if some replication saw none.
	MeasuredDelay *Estimate
	MeanWaiting   *Estimate // of a farm: as in [ClassResult], of all jobs
	MeanSlowdown  *Estimate // of a farm: as in [ClassResult], of all jobs; nil if it is infinite

	Classes      []ClassResult
	Servers      []ServerResult
	Resources    []ResourceResult // of Tasks, else nil
	Distribution []Estimate       // P(n jobs) for n = 0..Settings.Distribution; nil unless asked

	EffectiveSamples float64 // independent observations of the number of jobs that would tell as much
	Truncation       float64 // time after which MSER-5 calls the mean number of jobs stationary
	PrecisionMet     bool    // whether Settings.Precision was reached; true if none was asked
	Warnings         []string
}

// A ClassResult holds the estimates of one class. Those that do not exist are nil.
type ClassResult struct {
	Name          string
	ArrivalRate   float64
	MeanJobs      Estimate
	MeanDelay     *Estimate // E[X_i]/λ_i, Little's law; nil if λ_i = 0, and over a horizon
	MeasuredDelay *Estimate // mean sojourn time of the jobs that left; nil if some replication saw none
	ServiceRate   *Estimate // γ_i = λ_i σ/E[X_i]; nil if λ_i = 0 or no job was seen, and over a horizon. In a standing population, tasks that a job runs

	RunningTasks *Estimate // of Tasks, else nil: mean number of tasks of the class that run at a time

	// Of a farm, else nil. They are those of the jobs that left; nil if some replication saw none.
	MeanWaiting  *Estimate // mean time in queues, all visits of a job together
	MeanSlowdown *Estimate // mean of the time in queues over the size, time per unit of work; nil if E[1/X] is infinite
}

// A ResourceResult holds the estimates of one resource of all machines.
type ResourceResult struct {
	Name        string
	Utilization Estimate // part of it that tasks hold
}

// A ServerResult holds the estimates of one server, or of each server of a group.
type ServerResult struct {
	Name        string
	Utilization Estimate // part of the time it has a job it can serve

	// Of a host of a farm, else nil; also nil if some replication saw too few visits.
	MeanWaiting     *Estimate // mean time in the queue of a visit
	InterarrivalSCV *Estimate // squared coefficient of variation of the times between arrivals; nil with a central queue
}

// summarize returns the estimates from samples of two replications or more.
func (p *Plan) summarize(samples []*Sample) *Result {
	column := func(value func(*Sample) float64) Estimate {
		values := make([]float64, len(samples))
		for k, s := range samples {
			values[k] = value(s)
		}
		return estimate(values, p.settings.Confidence)
	}
	r := &Result{Method: p.method, Runs: len(samples), Time: p.time, WarmUp: p.warmUp}
	for _, s := range samples {
		r.Jumps += s.Jumps
	}
	r.MeanJobs = column(func(s *Sample) float64 { return sum(s.Jobs) })
	var rate float64
	for i, c := range p.classes {
		rate += c.ArrivalRate
		row := ClassResult{Name: c.Name, ArrivalRate: c.ArrivalRate, MeanJobs: column(func(s *Sample) float64 { return s.Jobs[i] })}
		if c.ArrivalRate > 0 && p.settings.Horizon == 0 {
			row.MeanDelay = row.MeanJobs.scaled(1 / c.ArrivalRate)
			row.ServiceRate = row.MeanJobs.inverse(c.ArrivalRate * c.MeanSize)
		}
		if all(samples, func(s *Sample) bool { return s.Left[i] > 0 }) {
			e := column(func(s *Sample) float64 { return s.Sojourn[i] })
			row.MeasuredDelay = &e
		}
		r.Classes = append(r.Classes, row)
	}
	if rate > 0 && p.settings.Horizon == 0 {
		r.MeanDelay = r.MeanJobs.scaled(1 / rate)
	}
	for k, s := range p.servers {
		r.Servers = append(r.Servers, ServerResult{Name: s.Name, Utilization: column(func(s *Sample) float64 { return s.Busy[k] })})
	}
	if p.settings.Distribution > 0 {
		for n := range p.settings.Distribution + 1 {
			r.Distribution = append(r.Distribution, column(func(s *Sample) float64 { return s.Count[n] }))
		}
	}
	if all(samples, func(s *Sample) bool { return sum(s.Left) > 0 }) {
		e := column(func(s *Sample) float64 { return overJobs(s, s.Sojourn) })
		r.MeasuredDelay = &e
	}
	if p.slowdown != nil {
		p.summarizeFarm(r, samples, column)
	}
	if p.pool != nil {
		p.summarizeTasks(r, column)
	}
	p.judge(r, samples)
	return r
}

// judge finds out how far the result can be trusted.
func (p *Plan) judge(r *Result, samples []*Sample) {
	square := 0.0
	series := make([]float64, parts)
	for _, s := range samples {
		square += s.Square / float64(len(samples))
		for k, v := range s.Series {
			series[k] += v / float64(len(samples))
		}
	}
	number := p.number(samples)
	variance := max(0, square-number.Mean*number.Mean)
	if e := number.StdError; e > 0 {
		r.EffectiveSamples = variance / (e * e)
	}
	if p.unstable != "" {
		r.warn("the %s is unstable: its number of jobs grows with the horizon, and the estimates are those of this horizon only", p.unstable)
	}
	p.judgeSizes(r, samples)
	r.PrecisionMet = true
	if tol := p.settings.Precision; tol > 0 {
		for _, c := range r.Classes {
			e := &c.MeanJobs
			if p.standing() {
				e = c.RunningTasks
			}
			if (c.ArrivalRate > 0 || p.standing()) && !(e.Mean > 0 && e.HalfWidth <= tol*e.Mean) {
				r.PrecisionMet = false
			}
		}
		if !r.PrecisionMet {
			r.warn("the relative precision %g is not reached after %d runs", tol, r.Runs)
		}
	}
	if p.settings.Horizon > 0 {
		return // neither stationarity nor independence within a replication is claimed
	}
	counted := "jobs"
	if p.standing() {
		counted = "tasks that run"
		if variance <= 1e-9*square {
			return // the number is constant, but for rounding
		}
	}
	cut := mser5(series)
	if cut > 0 {
		r.Truncation = p.partEnd(cut - 1)
	}
	if early := p.early(samples, cut); early != nil && math.Abs(early.Z(0)) > clearlyEarly {
		r.warn("the warm-up looks too short: the number of %s is stationary from time %.3g on (MSER-5), observed from %.3g on", counted, r.Truncation, p.warmUp)
	}
	if perRun := r.EffectiveSamples / float64(r.Runs); perRun < fewSamples {
		r.warn("the runs are too short: each is worth %.2g independent observations of the number of %s, and intervals need %d", perRun, counted, fewSamples)
	}
}

// judgeSizes looks for what the run cannot have seen: classes with few jobs, and sizes that are rare but matter.
func (p *Plan) judgeSizes(r *Result, samples []*Sample) {
	var arrived float64
	for i, c := range p.classes {
		left := 0.0
		for _, s := range samples {
			left += s.Left[i]
		}
		if c.ArrivalRate > 0 && left < fewJobs {
			r.warn("class %s: only %g jobs were done in all runs, and intervals need %d", c.Name, left, fewJobs)
		}
		arrived += c.ArrivalRate * p.time * float64(r.Runs)
	}
	if p.pool != nil {
		arrived = p.jumpRate * p.time * float64(r.Runs) // durations are those of tasks
	}
	if p.settings.Horizon > 0 {
		return // of a given length
	}
	moment := "the mean size"
	if p.order == 2 {
		moment = "the mean square of the sizes"
	}
	for _, law := range p.laws {
		whole, err := law.Moment(p.order)
		if errors.Is(err, sizes.ErrInfinite) {
			r.warn("%s is infinite, and delays depend on it: do not trust means and intervals", moment)
			continue
		}
		once, quantileErr := law.Quantile(1 - 1/max(arrived, 2))
		rare, momentErr := law.PartialMoment(p.order, once, math.Inf(1))
		if err == nil && quantileErr == nil && momentErr == nil && rare > muchRare*whole {
			r.warn("more or longer runs are needed: sizes above %.3g, of which all runs together see about one, make up %.3g %% of %s, on which delays depend",
				once, 100*rare/whole, moment)
		}
		p.judgeSlowdown(r, law, arrived)
		r.judgeWaiting()
	}
}

const (
	fewJobs  = 100  // jobs of a class below which its means say little
	muchRare = 0.02 // part of a moment that a run may miss
)

// early estimates by how much the number of jobs between the warm-up and the cut is off from that after the cut; it
// returns nil if there is no time between them.
func (p *Plan) early(samples []*Sample, cut int) *Estimate {
	warm := 0
	for p.warmUp > p.partEnd(warm)*(1+1e-12) {
		warm++
	}
	if p.warmUp > 0 {
		warm++ // the part in which it ends
	}
	if cut <= warm {
		return nil
	}
	d := make([]float64, len(samples))
	for k, s := range samples {
		d[k] = sum(s.Series[warm:cut])/float64(cut-warm) - sum(s.Series[cut:])/float64(parts-cut)
	}
	e := estimate(d, p.settings.Confidence)
	return &e
}

// clearlyEarly is the |z| above which the start differs from the rest: by chance in 1 of 2000 runs. MSER-5 alone
// leaves out a part of many series that have no start to leave out.
const clearlyEarly = 3.5

// fewSamples is the number of independent observations in a replication below which its mean is far from normal.
const fewSamples = 10

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// mser5 returns the number of leading values to leave out so that the standard error of the mean of the others, taken
// as independent, is least, among 0..len/2 (K. P. White, "An effective truncation heuristic for bias reduction in
// simulation output", Simulation 69, 1997, 323–334). The values are the means of fives of MSER-5.
func mser5(values []float64) int {
	best, least := 0, math.Inf(1)
	for cut := 0; cut <= len(values)/2; cut++ {
		if _, se := meanStdError(values[cut:]); se < least {
			best, least = cut, se
		}
	}
	return best
}

func sum(values []float64) float64 {
	var s float64
	for _, v := range values {
		s += v
	}
	return s
}

// overJobs returns the mean over the jobs that left, of which one at least did, of means by class.
func overJobs(s *Sample, means []float64) float64 {
	var mean float64
	left := sum(s.Left)
	for i, n := range s.Left {
		mean += n / left * means[i]
	}
	return mean
}

func all(samples []*Sample, ok func(*Sample) bool) bool {
	for _, s := range samples {
		if !ok(s) {
			return false
		}
	}
	return true
}
