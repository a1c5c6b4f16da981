package bf

import (
	"math"
	"math/big"

	"productform/internal/arithmetic"
	"productform/num"
)

// A Result holds the stationary measures of a cluster under balanced fairness. Every number is
// within RelativeErrorBound of the exact value for the model as written. A probability of a
// JobsDistribution below 2^-1022 may be off by another 2^-1074, the spacing of float64 there.
type Result struct {
	Engine  num.Engine `json:"engine"`              // engine that computed the numbers: Float, Enclose or Exact
	Lattice Lattice    `json:"lattice" zero:"null"` // lattice of the part with the most states; "" without classes
	States  int        `json:"states"`              // states of all parts

	Normalization    *num.Value `json:"normalization"`     // Z = Σ_x Φ(x) Π_i λ_i^x_i; nil beyond the range of float64
	EmptyProbability *num.Value `json:"empty_probability"` // 1/Z; nil if Z is beyond the range of float64
	MeanJobs         num.Value  `json:"mean_jobs"`         // E[Σ_i X_i]
	MeanDelay        *num.Value `json:"mean_delay"`        // E[Σ_i X_i] / Σ_i λ_i; nil if no jobs arrive

	// RelativeErrorBound is a proved bound. It is 0 if the numbers are exact fractions; Float is
	// then the nearest double.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	Classes []ClassResult  `json:"classes"` // one per row of the model's classes
	Servers []ServerResult `json:"servers"` // one per row of the model's servers

	// JobsDistribution is P(n jobs), n = 0..Question.MaxJobs. It is nil without MaxJobs, and if a
	// part was eliminated, since elimination gives distributions by class only.
	JobsDistribution []num.Value `json:"jobs_distribution,omitempty"`

	Parts []Part `json:"parts"` // components, and how each was solved

	// Delays gives the precision of the quantiles, tails and moments of the classes; nil if none
	// are requested.
	Delays *Precision `json:"-"`

	// Quantiles holds quantiles of the delay T of a job of any class, in the order of
	// Question.Levels. T has the tail P(T > t) = Σ_i λ_i P(T_i > t) / Σ_i λ_i. Each quantile lies
	// between Low and High, whose relative distance is at most Settings.RelTol unless the tails of
	// the classes are not known well enough. Quantiles is nil without Question.OfAll or without
	// arrivals.
	Quantiles []num.Value `json:"-"`

	Gradient  *Gradient  `json:"-"` // nil unless Question.Gradient
	Gradients *Gradients `json:"-"` // nil unless Question.Gradients

	width float64 // relative width of the widest enclosure; RelativeErrorBound in float64
}

// A Precision describes the precision of numbers that may have a separate engine.
type Precision struct {
	Engine             num.Engine // Float, Enclose or Exact
	RelativeErrorBound float64    // proved; 0 if the numbers are exact fractions
}

// A Part describes how one component of a model was solved.
type Part struct {
	Lattice Lattice `json:"lattice"`
	States  int     `json:"states"` // entries of its table; for EliminationLattice pieces of its messages

	// Width is the maximum number of neighbours of a server when it is eliminated, for
	// EliminationLattice.
	Width int `json:"width,omitempty"`

	Why         string   `json:"why"` // reason for this lattice
	ClassNames  []string `json:"-"`   // names of the classes in this component
	Classes     []int    `json:"-"`   // rows of these classes in the model
	ServerNames []string `json:"-"`   // names of the servers in this component
	Servers     []int    `json:"-"`   // rows of these servers in the model

	bytes      float64 // estimated memory
	eliminated bool    // elimination computed the measures, or only the distributions by class
}

// A ClassResult holds the measures of one class.
type ClassResult struct {
	Name        string     `json:"name" title:"class"`  // as in the model
	ArrivalRate *big.Rat   `json:"arrival_rate"`        // λ_i, jobs per unit of time
	MeanSize    *big.Rat   `json:"mean_size,omitempty"` // σ_i, work; nil if no class has its own mean size
	Load        num.Value  `json:"load" below:"1"`      // ρ_i of [BC17]: λ_i σ_i over the capacity of all its servers
	MeanJobs    num.Value  `json:"mean_jobs"`           // E[X_i]
	MeanDelay   *num.Value `json:"mean_delay"`          // E[X_i]/λ_i, mean sojourn; nil if λ_i = 0
	ServiceRate *num.Value `json:"service_rate"`        // γ_i = λ_i σ_i / E[X_i], work per unit of time; nil if λ_i = 0

	ClassDelays `json:"-"` // requested measures of the delay of a job

	// JobsDistribution is P(X_i = n), n = 0..Question.MaxJobs; nil unless Question.ByClass.
	JobsDistribution []num.Value `json:"jobs_distribution,omitempty"`
}

// A ServerResult holds the measures of one server, or of each server of a group.
type ServerResult struct {
	Name        string    `json:"name" title:"server"`   // as in the model
	Count       int       `json:"count,omitempty"`       // servers in the group; 0 for a single one
	Utilization num.Value `json:"utilization" below:"1"` // probability that a job it can serve is present
}

// result turns the measures into a Result.
func (t *rowMeasures) result(p *Prepared, g rung) (*Result, error) {
	m := p.model
	r := &Result{Engine: g.engine, Parts: t.parts}
	maxStates := -1
	for _, part := range t.parts {
		r.States += part.States
		if part.States > maxStates {
			r.Lattice, maxStates = part.Lattice, part.States
		}
	}
	inRange := true
	export := func(v arithmetic.Number) num.Value {
		x, ok := v.Value()
		inRange = inRange && ok
		r.RelativeErrorBound = max(r.RelativeErrorBound, v.RelativeError())
		r.width = max(r.width, v.Width())
		return x
	}
	pointer := func(v arithmetic.Number) *num.Value { x := export(v); return &x }
	if z := pointer(t.normalization); inRange {
		r.Normalization = z
	}
	if z := pointer(t.one.Quo(t.normalization)); inRange {
		r.EmptyProbability = z
	}
	inRange = true
	jobs := t.one.Rational(new(big.Rat))
	r.Classes, r.Servers = make([]ClassResult, 0, len(m.Classes)), make([]ServerResult, 0, len(m.Servers))
	ownSizes := m.HasOwnMeanSizes()
	for i, k := range m.Classes {
		jobs = jobs.Add(t.jobs[i])
		c := ClassResult{Name: k.Name, ArrivalRate: k.ArrivalRate, Load: export(t.one.Rational(p.loads[i])),
			MeanJobs: export(t.jobs[i])}
		if ownSizes {
			c.MeanSize = m.MeanSizeOf(i)
		}
		if k.ArrivalRate.Sign() > 0 {
			c.MeanDelay = pointer(t.jobs[i].Quo(t.one.Rational(k.ArrivalRate)))
			c.ServiceRate = pointer(t.one.Rational(m.Work(i)).Quo(t.jobs[i]))
		}
		r.Classes = append(r.Classes, c)
	}
	r.MeanJobs = export(jobs)
	if p.rate.Sign() > 0 {
		r.MeanDelay = pointer(jobs.Quo(t.one.Rational(p.rate)))
	}
	for i := range m.Servers {
		s := &m.Servers[i]
		r.Servers = append(r.Servers, ServerResult{s.Name, s.GroupSize(), export(t.busy[i])})
	}
	probability := func(p arithmetic.Number) num.Value {
		x, _ := p.Value() // the nearest double, even with a large relative error
		r.RelativeErrorBound = max(r.RelativeErrorBound, p.RelativeError())
		r.width = max(r.width, p.Width())
		return x
	}
	for _, z := range t.distribution {
		r.JobsDistribution = append(r.JobsDistribution, probability(z.Quo(t.normalization)))
	}
	for i, law := range t.byClass {
		for _, p := range law {
			r.Classes[i].JobsDistribution = append(r.Classes[i].JobsDistribution, probability(p))
		}
	}
	switch {
	case g.engine == num.Float && (!inRange || math.IsInf(r.RelativeErrorBound, 1)):
		return r, num.ErrFloatRange
	case g.engine == num.Enclose && r.width > g.s.RelTol: // more bits follow, and they decide
	case !inRange:
		return nil, arithmetic.BeyondFloat()
	}
	return r, nil
}
