package sim

import (
	"cmp"
	"context"
	"slices"
)

// A Result holds what a run of replications estimates. It is trustworthy if Warnings is empty. Of a system that counts
// something else than jobs, Distribution, EffectiveSamples, Truncation and Warnings tell of what it counts.
type Result struct {
	Method   string    // how the system was simulated
	Runs     int       // replications
	Jumps    float64   // arrivals, ends of phases and interruptions observed in all, without warm-up
	Time     float64   // observed in each replication
	WarmUp   float64   // time before it
	Classes  []Class   // of the system
	Visits   []Class   // of the system
	Servers  []Server  // of the system
	Measures []Measure // in the order of their kinds and indices

	Distribution []Estimate // P(n jobs) for n = 0..Settings.Distribution; nil unless asked
	Quantiles    []Quantile // of the delays of all jobs, of each class and of each visit, in the order of Settings.Levels; nil unless asked. One with too few jobs is left out

	EffectiveSamples float64  // independent observations of the number of jobs that would tell as much
	Truncation       float64  // time after which MSER-5 calls the mean number of jobs stationary
	PrecisionMet     bool     // whether Settings.Precision was reached; true if none was asked
	Warnings         []string // reasons not to trust it
}

// All returns a measure of the system as a whole, as [Result.Estimate] does.
func (r *Result) All(name string) *Estimate { return r.Estimate(OfAll, 0, name) }

// Class returns a measure of a class, as [Result.Estimate] does.
func (r *Result) Class(i int, name string) *Estimate { return r.Estimate(OfClass, i, name) }

// Server returns a measure of a row of servers, as [Result.Estimate] does.
func (r *Result) Server(k int, name string) *Estimate { return r.Estimate(OfServer, k, name) }

// Estimate returns the estimate of a measure, nil if there is none.
func (r *Result) Estimate(kind Kind, index int, name string) *Estimate {
	at, _ := slices.BinarySearchFunc(r.Measures, Measure{Kind: kind, Index: index}, inOrder)
	for ; at < len(r.Measures) && r.Measures[at].Kind == kind && r.Measures[at].Index == index; at++ {
		if r.Measures[at].Name == name {
			return r.Measures[at].Estimate
		}
	}
	return nil
}

// Quantile returns a quantile of the delays of all jobs or of a class, nil if there is none.
func (r *Result) Quantile(kind Kind, index int, level float64) *Quantile {
	for k := range r.Quantiles {
		if q := &r.Quantiles[k]; q.Kind == kind && q.Index == index && q.Level == level {
			return q
		}
	}
	return nil
}

// inOrder compares measures by kind and index.
func inOrder(a, b Measure) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Index, b.Index))
}

// result returns the estimates from samples of two replications or more.
func (p *Plan) result(ctx context.Context, samples []*Sample) (*Result, error) {
	r := &Result{Method: p.Method, Runs: len(samples), Time: p.time, WarmUp: p.warmUp, Classes: p.Classes, Visits: p.Visits, Servers: p.Servers}
	for _, s := range samples {
		r.Jumps += s.Jumps
	}
	all := &Samples{p, samples}
	if p.Measures != nil {
		r.Measures = p.Measures(all)
	} else {
		r.Measures = append(all.Jobs(), all.Utilizations(OfServer)...)
	}
	slices.SortStableFunc(r.Measures, inOrder)
	if p.settings.Distribution > 0 {
		for n := range p.settings.Distribution + 1 {
			r.Distribution = append(r.Distribution, *all.Estimate(func(s *Sample) float64 { return s.Count[n] }))
		}
	}
	p.judge(r, samples)
	if err := p.quantiles(ctx, r, samples); err != nil {
		return nil, err
	}
	return r, nil
}

// number returns the time average of the number n in a sample.
func (p *Plan) number(s *Sample) float64 {
	if p.Counted.List == "" {
		return Sum(s.Jobs[:len(p.Classes)])
	}
	var number float64
	for _, v := range s.Own[p.Counted.List] {
		number += *v
	}
	return number
}
