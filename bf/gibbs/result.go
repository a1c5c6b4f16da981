package gibbs

import "math/big"

// A Result holds estimated measures of a cluster. Its numbers depend on the model and on the settings but for Workers, to the last digit.
type Result struct {
	MeanJobs         Estimate
	MeanDelay        *Estimate // E[X] / Σ_i λ_i; nil if no jobs arrive
	EmptyProbability *Estimate // P(X = 0) = 1/Z; nil where the interval would hold 0
	Classes          []ClassResult
	Servers          []ServerResult
	JobsDistribution []Estimate // P(n jobs), n = 0..Settings.MaxJobs; nil unless asked
	Gradient         *Gradient  // nil unless asked

	Chains           int      // independent of each other
	Sweeps           int      // measured in each chain
	BurnIn           int      // sweeps of each chain before
	Autocorrelation  float64  // of E[X] given the order: the sweeps that are worth an independent one
	EffectiveSamples float64  // of E[X]: all sweeps over Autocorrelation
	RHat             float64  // split R-hat, the largest of all jobs and each class
	PrecisionMet     bool     // true with Settings.Sweeps
	Warnings         []string // reasons not to trust the numbers; empty for none
}

// A ClassResult holds the measures of one row of classes.
type ClassResult struct {
	ArrivalRate *big.Rat // λ_i
	MeanJobs    Estimate
	MeanDelay   *Estimate // E[X_i]/λ_i; nil if λ_i = 0
	ServiceRate *Estimate // λ_i σ_i / E[X_i], work per unit of time; nil if λ_i = 0

	JobsDistribution []Estimate // P(X_i = n), n = 0..Settings.MaxJobs; nil unless Settings.ByClass
}

// A ServerResult holds the measures of one server, or of each server of a group.
type ServerResult struct {
	Utilization Estimate // probability that a job it can serve is present
}

// A Gradient holds estimated derivatives of the mean number of jobs E[X], of all jobs.
type Gradient struct {
	ArrivalRates []*Estimate // ∂E[X]/∂λ_i of each row of classes; nil if λ_i = 0
	Capacities   []*Estimate // ∂E[X]/∂C_s of each row of servers, all servers of a group together; nil if C_s = 0
}
