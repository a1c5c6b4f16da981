package tags

import (
	"math/big"

	"productform/num"
)

// A Policy names a way to assign jobs to hosts.
type Policy string

// The policies.
const (
	PolicyTAGS           Policy = "tags"                         // guesses sizes: see the package comment
	PolicyRandom         Policy = "random"                       // see [Evaluate]
	PolicyRoundRobin     Policy = "round-robin"                  // see [Evaluate]
	PolicyCentral        Policy = "least-work-remaining"         // one queue, an M/G/h queue
	PolicyCentralPrinted Policy = "least-work-remaining-printed" // as printed in [HB02], twice as large
	PolicySITAE          Policy = "sita-e"                       // knows sizes: as PolicySITA, with equal loads
	PolicySITA           Policy = "sita"                         // knows sizes: an interval of them for each host
	PolicyFB             Policy = "fb"                           // one host of all speeds, least attained service first
	PolicySRPT           Policy = "srpt"                         // one host of all speeds, least remaining work first
)

// A Kind is the accuracy of a number.
type Kind string

// The kinds.
const (
	Exact         Kind = "exact"         // exact up to rounding
	Approximation Kind = "approximation" // the error is unknown
	Bounds        Kind = "bounds"        // proved; the truth is between Low and High of each value
)

// A Host holds the measures of host i. Waiting, slowdown and delay are those of the jobs that
// complete there.
type Host struct {
	Load  num.Value `json:"load"`  // ρ_i
	Slack num.Value `json:"slack"` // 1 - ρ_i, computed to its full precision

	// SlackError bounds the error of Slack. If Slack is not larger than SlackError, the true slack
	// may be 0.
	SlackError float64 `json:"-"`

	// Visit is the fraction of the jobs that visit the host, P(X > s_{i-1}) under TAGS; 0 if it is
	// idle.
	Visit num.Value `json:"visit_fraction"`

	Final       num.Value `json:"final_fraction"` // p_i = P(s_{i-1} < X <= s_i), the jobs that end here
	VisitMean   num.Value `json:"-"`              // E[min(X, s_i) | X > s_{i-1}] under TAGS; 0 if no job arrives
	VisitSquare num.Value `json:"-"`              // mean square of the same work; 0 if no job arrives
	// NoWait reports that no job ever waits here, path by path, although the formula for VisitWait
	// is positive; see [Resume].
	NoWait    bool      `json:"-"`
	VisitWait num.Value `json:"visit_waiting"` // V_i, waiting time of a visit in seconds
	Waiting   num.Value `json:"waiting"`       // W_i, seconds: V_1 + ... + V_i under TAGS, otherwise V_i

	Slowdown num.Value `json:"slowdown"` // E[S_i] = W_i E[1/X_i]; 0 if no job ends here, or E[1/X_i] is infinite

	// Delay is E[T_i], seconds from arrival to completion, including killed runs; 0 if no job
	// completes here.
	Delay num.Value `json:"delay"`
}

// A Result holds the stationary means of a policy. Values that do not exist are 0.
type Result struct {
	Policy  Policy    `json:"name" title:"policy"`
	Kind    Kind      `json:"accuracy"` // accuracy of the means; TAGS is always exact at host 1
	Cutoffs []float64 `json:"cutoffs"`  // s_1, ..., s_{h-1}, work; nil for the policies that do not know sizes

	ArrivalRate  num.Value `json:"arrival_rate"`  // λ, jobs per second
	MeanWaiting  num.Value `json:"mean_waiting"`  // E[W], seconds in queues over all visits of a job
	MeanSlowdown num.Value `json:"mean_slowdown"` // E[S] = E[W/X], seconds per unit of work; 0 if NoSlowdown

	// MeanDelay is E[T], seconds: E[W] plus the mean time in service, including killed runs.
	MeanDelay num.Value `json:"mean_delay"`

	// MeanStretch is E[T/X], seconds per unit of work: E[S] and E[time in service/X]; 0 if
	// NoSlowdown.
	MeanStretch num.Value `json:"mean_stretch"`

	// Lost is the mean work per job lost by stopping jobs: Σ_{i<h} s_i P(X > s_i), the work lost to
	// kills, or with checkpoints Σ_{i>1} d_i P(X > s_{i-1}), redone work and overhead.
	Lost num.Value `json:"lost_work"`

	// Excess is the load that lost work adds to Σ_i ρ_i: λ Σ_{i<h} s_i P(X > s_i)/v_i, or with
	// checkpoints λ Σ_{i>1} d_i P(X > s_{i-1})/v_i.
	Excess num.Value `json:"excess"`

	NoSlowdown bool   `json:"-"`     // E[1/X] is infinite or beyond float64, and so are E[S], E[T/X] and E[S_1]
	Hosts      []Host `json:"hosts"` // nil for the policies that do not know sizes, whose hosts all have load ρ

	ExactCutoffs []*big.Rat `json:"-"` // only from [Enclose]: the cutoffs for which the bounds hold
	Width        float64    `json:"-"` // only from [Enclose]: relative width of the widest interval
	Precision    uint       `json:"-"` // only from [Enclose]: bits needed

	Objective num.Value `json:"objective_value"` // from [Optimize]: the smallest value; for fairness the largest E[S_i]

	// Gap is only set by [Optimize]: no cutoffs have a value below (1 - Gap) Objective. For
	// fairness it is 1 - min E[S_i]/max E[S_i].
	Gap float64 `json:"optimality_gap"`
}
