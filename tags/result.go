package tags

import (
	"math/big"

	"productform/num"
)

// A Policy is the name of a way to assign jobs to hosts.
type Policy string

// The policies.
const (
	PolicyTAGS           Policy = "tags"                         // guesses sizes: the package comment
	PolicyRandom         Policy = "random"                       // see [Evaluate]
	PolicyRoundRobin     Policy = "round-robin"                  // likewise
	PolicyCentral        Policy = "least-work-remaining"         // one queue, an M/G/h queue
	PolicyCentralPrinted Policy = "least-work-remaining-printed" // as [HB02] prints it, twice as large
	PolicySITAE          Policy = "sita-e"                       // knows sizes: an interval of them for each host, of equal loads
	PolicySITA           Policy = "sita"                         // knows sizes: an interval of them for each host
)

// A Kind tells how far to trust a number.
type Kind string

// The kinds.
const (
	Exact         Kind = "exact"         // but for rounding
	Approximation Kind = "approximation" // of unknown error
	Bounds        Kind = "bounds"        // proved; the truth is between Low and High of each value
)

// A Host tells what host i sees of the jobs. Waiting, slowdown and delay are those of the jobs that end at it.
type Host struct {
	Load        num.Value // ρ_i
	Slack       num.Value // 1 - ρ_i, with its own digits
	SlackError  float64   // Slack is within so much of 1 - ρ_i; a slack that is not larger may be 0 in truth
	Visit       num.Value // the part of the jobs that come to it, P(X > s_{i-1}) under TAGS; 0 if it is left idle
	Final       num.Value // p_i = P(s_{i-1} < X <= s_i), the part that ends at it
	VisitMean   num.Value // mean work of a visit, E[min(X, s_i) | X > s_{i-1}] under TAGS; 0 if no job comes
	VisitSquare num.Value // mean square of that, work²; 0 if no job comes
	VisitWait   num.Value // V_i, seconds that a visit waits
	Waiting     num.Value // W_i, seconds: V_1 + ... + V_i under TAGS, V_i for hosts of their own sizes
	Slowdown    num.Value // E[S_i] = W_i E[1/X_i]; 0 if no job ends here, or E[1/X_i] is infinite
	Delay       num.Value // E[T_i], seconds from arrival to end, with the runs that were killed; 0 if no job ends here
}

// A Result holds the stationary means of a policy. Values that do not exist are 0.
type Result struct {
	Policy  Policy
	Kind    Kind      // of the means; at host 1, TAGS is exact whatever it says
	Cutoffs []float64 // s_1, ..., s_{h-1}, work; nil for the policies that do not know sizes

	ArrivalRate  num.Value // λ, jobs a second
	MeanWaiting  num.Value // E[W], seconds in queues, all visits of a job together
	MeanSlowdown num.Value // E[S] = E[W/X], seconds a unit of work; 0 if NoSlowdown
	MeanDelay    num.Value // E[T] = E[W] + E[work done for a job, lost runs too, each at the speed of its host], seconds
	MeanStretch  num.Value // E[T/X] = E[S] + E[time in service/X], lost runs too, seconds a unit of work; 0 if NoSlowdown
	Lost         num.Value // Σ_{i<h} s_i P(X > s_i), the mean work a job loses to kills
	Excess       num.Value // λ Σ_{i<h} s_i P(X > s_i)/v_i, the load that lost work adds: Σ_i ρ_i is that without kills and this
	NoSlowdown   bool      // E[1/X] is infinite, or beyond float64, and with it E[S], E[T/X] and E[S_1]
	Hosts        []Host    // nil for the policies that do not know sizes: there, every host has load ρ

	ExactCutoffs []*big.Rat // of [Enclose]: the cutoffs for which the bounds hold
	Width        float64    // of [Enclose]: relative width of the widest interval
	Precision    uint       // of [Enclose]: bits that it took

	Objective num.Value // of [Optimize]: the smallest value; for fairness the largest E[S_i]
	Gap       float64   // of [Optimize]: no cutoffs have a value below (1 - Gap) Objective; for fairness 1 - min E[S_i]/max E[S_i]
}
