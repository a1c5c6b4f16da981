package bf

import (
	"math/big"

	"productform/num"
)

// Settings tunes how a question is answered. The zero value asks for 1e-9 on the cheapest lattice in 16 GiB.
type Settings struct {
	Engine   num.Engine // "" means Auto
	Lattice  Lattice    // "" means AutoLattice
	RelTol   float64    // relative error asked of Auto and Enclose, in (0, 1); 0 means 1e-9
	MaxBytes int64      // memory the tables may take; 0 means 16 GiB, and at most 2 GiB count where an int has 32 bits
	MaxWork  float64    // operations of float64 that the means, the distribution of the number of all jobs, and what elimination gives may take, by an estimate made before; 1e9 take a second or so; 0 means no limit
}

// A Result holds the stationary measures of a cluster under balanced fairness. Every number is within
// RelativeErrorBound of the exact value for the model as written; a probability of a JobsDistribution below 2^-1022,
// where the spacing of float64 is 2^-1074, is within that much more.
type Result struct {
	Engine  num.Engine `json:"engine"`              // the engine that gave the numbers: Float, Enclose or Exact
	Lattice Lattice    `json:"lattice" zero:"null"` // of the part with most states; "" without classes
	States  int        `json:"states"`              // of all parts

	Normalization    *num.Value `json:"normalization"`     // Z = Σ_x Φ(x) Π_i λ_i^x_i; nil beyond the range of float64
	EmptyProbability *num.Value `json:"empty_probability"` // 1/Z; nil if Z is beyond the range of float64
	MeanJobs         num.Value  `json:"mean_jobs"`         // E[Σ_i X_i]
	MeanDelay        *num.Value `json:"mean_delay"`        // E[Σ_i X_i] / Σ_i λ_i; nil if no jobs arrive

	// RelativeErrorBound is proved. It is 0 if the numbers are exact fractions, of which Float is the nearest.
	RelativeErrorBound float64 `json:"relative_error_bound"`

	Classes []ClassResult  `json:"classes"` // one for each row of the model's classes
	Servers []ServerResult `json:"servers"` // one for each row of the model's servers

	// JobsDistribution is P(n jobs), n = 0..Question.MaxJobs. It is nil without MaxJobs, and if a part was
	// eliminated, which gives distributions by class only.
	JobsDistribution []num.Value `json:"jobs_distribution,omitempty"`

	Parts []Part `json:"parts"` // the components solved, and how

	// Delays says how good the quantiles, tails and moments of the classes are; nil if none are asked for.
	Delays *Precision `json:"-"`

	// Quantiles are those of the delay T of a job of any class, in the order of Question.Levels, with P(T > t) =
	// Σ_i λ_i P(T_i > t) / Σ_i λ_i; nil unless Question.OfAll, and if no jobs arrive. Each lies between Low and High, Settings.RelTol
	// apart, relatively, or less, unless the tails of the classes are not known well enough for that.
	Quantiles []num.Value `json:"-"`

	Gradient  *Gradient  `json:"-"` // nil unless Question.Gradient
	Gradients *Gradients `json:"-"` // nil unless Question.Gradients

	width float64 // relative width of the widest enclosure
}

// A Precision says how good numbers are that an engine of their own gave.
type Precision struct {
	Engine             num.Engine // Float, Enclose or Exact
	RelativeErrorBound float64    // proved; 0 if the numbers are exact fractions
}

// A Part says how one component of a model was solved.
type Part struct {
	Lattice Lattice `json:"lattice"`
	States  int     `json:"states"`          // entries of its table; of EliminationLattice pieces of its messages
	Width   int     `json:"width,omitempty"` // of EliminationLattice: the most neighbours of a server at its turn
	Why     string  `json:"why"`             // why this lattice
	Classes []int   `json:"-"`               // rows of the model's classes in this component
	Servers []int   `json:"-"`               // rows of the model's servers in this component

	bytes                float64 // estimate of the memory it took
	classesByElimination bool    // the distributions of the jobs of each class come from elimination
}

// A ClassResult holds the measures of one class.
type ClassResult struct {
	Name        string     `json:"name" title:"class"`  // as in the model
	ArrivalRate *big.Rat   `json:"arrival_rate"`        // λ_i, jobs per unit of time
	MeanSize    *big.Rat   `json:"mean_size,omitempty"` // σ_i, work; nil if no class has a mean size of its own
	Load        num.Value  `json:"load" below:"1"`      // ρ_i of [BC17]: λ_i σ_i over the capacity of all its servers
	MeanJobs    num.Value  `json:"mean_jobs"`           // E[X_i]
	MeanDelay   *num.Value `json:"mean_delay"`          // E[X_i]/λ_i, mean sojourn; nil if λ_i = 0
	ServiceRate *num.Value `json:"service_rate"`        // γ_i = λ_i σ_i / E[X_i], work per unit of time; nil if λ_i = 0

	ClassDelays `json:"-"` // what is asked of the delay of a job

	// JobsDistribution is P(X_i = n), n = 0..Question.MaxJobs; nil unless Question.ByClass.
	JobsDistribution []num.Value `json:"jobs_distribution,omitempty"`
}

// A ServerResult holds the measures of one server, or of each server of a group.
type ServerResult struct {
	Name        string    `json:"name" title:"server"`   // as in the model
	Count       int       `json:"count,omitempty"`       // servers in the group; 0 for a single one
	Utilization num.Value `json:"utilization" below:"1"` // probability that a job it can serve is present
}
