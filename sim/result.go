package sim

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a mean over replications with a Student confidence interval.
type Estimate struct {
	Mean       float64
	HalfWidth  float64 // of the interval Mean ± HalfWidth
	Confidence float64 // probability with which such intervals hold the true value, if replications are long
	StdError   float64 // standard error of Mean
	Runs       int     // replications it is from
}

// Z returns the number of standard errors that the estimate is above the exact value, brought to the standard normal law: if
// the mean of a replication is normal, (Mean - exact)/StdError has Student's law with Runs-1 degrees of freedom, and Z
// is the normal quantile of its probability. It is 0 if all replications gave exactly the exact value, and within ±38.
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
	n := float64(len(values))
	var mean, square float64
	for k, v := range values { // Welford
		d := v - mean
		mean += d / float64(k+1)
		square += d * (v - mean)
	}
	se := math.Sqrt(square / (n - 1) / n)
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return Estimate{Mean: mean, HalfWidth: t * se, Confidence: confidence, StdError: se, Runs: len(values)}
}

// A Result holds what a run of replications estimates. It is trustworthy if Warnings is empty.
type Result struct {
	Method   string // how the system was simulated
	Runs     int
	Jumps    float64 // arrivals, ends of phases and interruptions observed in all, without warm-up
	Time     float64 // observed in each replication
	WarmUp   float64 // time before it
	MeanJobs Estimate
	// MeanDelay is the mean sojourn time of all jobs, by Little's law; nil if no jobs arrive.
	MeanDelay *Estimate

	Classes      []ClassResult
	Servers      []ServerResult
	Distribution []Estimate // P(n jobs) for n = 0..Settings.Distribution; nil unless asked

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
	MeanDelay     *Estimate // E[X_i]/λ_i, Little's law; nil if λ_i = 0
	MeasuredDelay *Estimate // mean sojourn time of the jobs that left; nil if some replication saw none
	ServiceRate   *Estimate // γ_i = λ_i σ/E[X_i]; nil if λ_i = 0 or no job was seen
}

// A ServerResult holds the estimates of one server, or of each server of a group.
type ServerResult struct {
	Name        string
	Utilization Estimate // part of the time it has a job it can serve
}

// Summarize returns the estimates from samples of two replications or more.
func (p *Plan) Summarize(samples []*Sample) *Result {
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
		if c.ArrivalRate > 0 {
			row.MeanDelay = row.MeanJobs.scaled(1 / c.ArrivalRate)
			row.ServiceRate = row.MeanJobs.inverse(c.ArrivalRate * c.MeanSize)
		}
		if all(samples, func(s *Sample) bool { return s.Left[i] > 0 }) {
			e := column(func(s *Sample) float64 { return s.Sojourn[i] })
			row.MeasuredDelay = &e
		}
		r.Classes = append(r.Classes, row)
	}
	if rate > 0 {
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
	variance := max(0, square-r.MeanJobs.Mean*r.MeanJobs.Mean)
	if e := r.MeanJobs.StdError; e > 0 {
		r.EffectiveSamples = variance / (e * e)
	}
	if r.Jumps == 0 {
		r.warn("nothing happened in the time observed")
	}
	r.PrecisionMet = true
	if tol := p.settings.Precision; tol > 0 {
		for _, c := range r.Classes {
			if c.ArrivalRate > 0 && !(c.MeanJobs.HalfWidth <= tol*c.MeanJobs.Mean) {
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
	cut := mser5(series)
	r.Truncation = float64(cut) / parts * (p.warmUp + p.time)
	if early := p.early(samples, cut); early != nil && math.Abs(early.Z(0)) > clearlyEarly {
		r.warn("the warm-up looks too short: the number of jobs is stationary from time %.3g on (MSER-5), observed from %.3g on", r.Truncation, p.warmUp)
	}
	if perRun := r.EffectiveSamples / float64(r.Runs); perRun < fewSamples {
		r.warn("the runs are too short: each is worth %.2g independent observations of the number of jobs, and intervals need %d", perRun, fewSamples)
	}
}

// early estimates by how much the number of jobs between the warm-up and the cut is off from that after the cut; it returns nil
// if there is no time between them.
func (p *Plan) early(samples []*Sample, cut int) *Estimate {
	warm := p.warmParts()
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

// mser5 returns the number of leading values to leave out so that the standard error of the mean of the others, taken as
// independent, is least, among 0..len/2 (K. P. White, "An effective truncation heuristic for bias reduction in simulation
// output", Simulation 69, 1997, 323–334). The values are the means of fives of MSER-5.
func mser5(values []float64) int {
	best, least := 0, math.Inf(1)
	for cut := 0; cut <= len(values)/2; cut++ {
		e := estimate(values[cut:], 0.5)
		if e.StdError < least {
			best, least = cut, e.StdError
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

func all(samples []*Sample, ok func(*Sample) bool) bool {
	for _, s := range samples {
		if !ok(s) {
			return false
		}
	}
	return true
}
