package sim

import (
	"cmp"
	"context"
	"slices"
)

// A Result holds the estimates of a run. It is trustworthy if Warnings is empty. For a system that
// counts something other than jobs, Distribution, EffectiveSamples, Truncation and Warnings refer
// to the counted items.
type Result struct {
	Method   string    `json:"method"`  // how the system was simulated
	Runs     int       `json:"runs"`    // number of replications
	Jumps    float64   `json:"jumps"`   // arrivals, ends of phases and interruptions observed in all runs
	Time     float64   `json:"time"`    // observed time of each replication
	WarmUp   float64   `json:"warm_up"` // warm-up time before that
	Classes  []Class   `json:"-"`       // classes of the system
	Visits   []Class   `json:"-"`       // visits of the system
	Servers  []Server  `json:"-"`       // servers of the system
	Measures []Measure `json:"-"`       // in the order of their kinds and indices

	// Distribution is P(n jobs) for n = 0..Settings.Distribution. Quantiles are quantiles of the
	// delays of all jobs, of each class and of each visit, in the order of Settings.Levels;
	// quantiles with too few jobs are omitted. Both are nil unless the settings request them.
	Distribution []Estimate `json:"-"`
	Quantiles    []Quantile `json:"-"`

	// equivalent number of independent observations of the number of jobs
	EffectiveSamples float64 `json:"effective_samples"`
	// time after which the number of jobs is stationary according to MSER-5
	Truncation   float64  `json:"-"`
	PrecisionMet bool     `json:"-"`        // whether Settings.Precision was reached; true if it is 0
	Warnings     []string `json:"warnings"` // reasons not to trust the result; empty for none
}

// All returns a measure of the system as a whole; see [Result.Estimate].
func (r *Result) All(name string) *Estimate { return r.Estimate(OfAll, 0, name) }

// Class returns a measure of a class; see [Result.Estimate].
func (r *Result) Class(i int, name string) *Estimate { return r.Estimate(OfClass, i, name) }

// Server returns a measure of a group of servers; see [Result.Estimate].
func (r *Result) Server(k int, name string) *Estimate { return r.Estimate(OfServer, k, name) }

// Estimate returns the estimate of a measure, or nil if there is none.
func (r *Result) Estimate(kind Kind, index int, name string) *Estimate {
	at, _ := slices.BinarySearchFunc(r.Measures, Measure{Kind: kind, Index: index}, inOrder)
	for ; at < len(r.Measures) && r.Measures[at].Kind == kind && r.Measures[at].Index == index; at++ {
		if r.Measures[at].Name == name {
			return r.Measures[at].Estimate
		}
	}
	return nil
}

// Quantile returns a quantile of the delays of all jobs, of a class or of a visit, or nil if there
// is none.
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

// result returns the estimates from the samples of at least two replications.
func (p *Plan) result(ctx context.Context, samples []*Sample) (*Result, error) {
	r := &Result{Method: p.Method, Runs: len(samples), Time: p.time, WarmUp: p.warmUp,
		Classes: p.Classes, Visits: p.Visits, Servers: p.Servers, Warnings: []string{}}
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
