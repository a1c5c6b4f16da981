package gibbs

import "math/big"

// A Result holds estimated measures of a cluster. Its numbers depend on the model and all settings
// except Workers, to the last digit.
type Result struct {
	MeanJobs         Estimate  `json:"mean_jobs"`
	MeanDelay        *Estimate `json:"mean_delay"`        // E[X] / Σ_i λ_i; nil if no jobs arrive
	EmptyProbability *Estimate `json:"empty_probability"` // P(X = 0) = 1/Z; nil if the interval would contain 0

	Classes []ClassResult  `json:"classes"` // one for each row of the model's classes
	Servers []ServerResult `json:"servers"` // one for each row of the model's servers

	// JobsDistribution is P(n jobs), n = 0..Settings.MaxJobs; it and Gradient are nil unless the
	// settings request them.
	JobsDistribution []Estimate `json:"jobs_distribution,omitempty"`
	Gradient         *Gradient  `json:"-"`

	Chains           int      `json:"chains"`            // independent of each other
	Sweeps           int      `json:"sweeps"`            // measured in each chain
	BurnIn           int      `json:"burn_in"`           // sweeps of each chain before measuring
	Autocorrelation  float64  `json:"autocorrelation"`   // sweeps per independent sweep, for E[X] given the order
	EffectiveSamples float64  `json:"effective_samples"` // all sweeps divided by Autocorrelation, for E[X]
	RHat             float64  `json:"r_hat"`             // largest split R-hat of the total and the classes
	PrecisionMet     bool     `json:"precision_met"`     // true with Settings.Sweeps
	Warnings         []string `json:"warnings"`          // reasons not to trust the numbers; empty for none
}

// A ClassResult holds the measures of one row of classes.
type ClassResult struct {
	Name        string    `json:"name" title:"class"`  // as in the model
	ArrivalRate *big.Rat  `json:"arrival_rate"`        // λ_i
	MeanSize    *big.Rat  `json:"mean_size,omitempty"` // σ_i, work; nil unless a class has its own mean size
	MeanJobs    Estimate  `json:"mean_jobs"`
	MeanDelay   *Estimate `json:"mean_delay"`   // E[X_i]/λ_i; nil if λ_i = 0
	ServiceRate *Estimate `json:"service_rate"` // λ_i σ_i / E[X_i], work per unit of time; nil if λ_i = 0

	// JobsDistribution is P(X_i = n), n = 0..Settings.MaxJobs; nil unless Settings.ByClass.
	JobsDistribution []Estimate `json:"jobs_distribution,omitempty"`
}

// A ServerResult holds the measures of one server, or of each server of a group.
type ServerResult struct {
	Name        string   `json:"name" title:"server"` // as in the model
	Count       int      `json:"count,omitempty"`     // servers in the group; 0 for a single one
	Utilization Estimate `json:"utilization"`         // probability that a job it can serve is present
}

// A Gradient holds estimated derivatives of the mean number of jobs E[X], of all jobs.
type Gradient struct {
	ArrivalRates []*Estimate // ∂E[X]/∂λ_i of each row of classes; nil if λ_i = 0
	Capacities   []*Estimate // ∂E[X]/∂C_s of each row of servers, all servers of a group together; nil if C_s = 0
}
