package stability

import "math/big"

// A Result is a verdict with its margins and its proof. Sets of classes are lists of rows in
// increasing order; of the sets that attain a minimum, the result has one with the fewest classes
// and, among these, the lexicographically first list of rows.
//
// In a cluster with groups the classes of Theorem 1 are the combinations of servers that jobs
// draw. A row stands for all its combinations in Bottleneck, and for those that fit in
// MarginServers in MarginSet.
type Result struct {
	Stable bool `json:"stable"` // Σ_{i∈A} λ_i < μ(A) for every non-empty A

	// Margin is the minimum over non-empty A of μ(A) - Σ_{i∈A} λ_i, work per unit of time.
	Margin        *big.Rat `json:"margin" beside:"0"`
	MarginSet     []int    `json:"margin_set"` // classes of an A that attains Margin
	MarginServers []int    `json:"-"`          // number of servers of each row that A uses; nil from [Rank]

	// CriticalScale is min_A μ(A) / Σ_{i∈A} λ_i. It and the following fields are nil if no work
	// arrives.
	CriticalScale *big.Rat `json:"critical_scale" beside:"1"`
	Bottleneck    []int    `json:"bottleneck"` // classes of an A that attains CriticalScale
	// number of servers of each row that A uses; nil from [Rank]
	BottleneckServers []int    `json:"-"`
	Arrival           *big.Rat `json:"bottleneck_work"`     // Σ_{i∈A} λ_i of Bottleneck, work per unit of time
	Capacity          *big.Rat `json:"bottleneck_capacity"` // μ(A) of Bottleneck, work per unit of time

	// HeavyTraffic[i] is the limit of (1-ρ) E[X_i] as ρ goes to 1 if the arrival rates are multiplied
	// by ρ CriticalScale: the fraction of Arrival that class i brings, 0 outside the bottleneck. It
	// holds for balanced fairness and, if all mean sizes are equal, for first come, first served
	// with exponential sizes, with either service. It is nil unless Bottleneck is the only set of
	// classes with arrivals that attains CriticalScale, where every combination of servers that jobs
	// draw is a class, and with [cluster.OneServer] unless all mean sizes are equal and all servers
	// have capacity. [Cluster] sets it.
	HeavyTraffic []*big.Rat `json:"-"`

	// Splitting[i] divides CriticalScale·λ_i, the work of class i at the critical scale, among its
	// servers, none of which gets more than its capacity. It exists if and only if no set is
	// overloaded at that scale, so it proves the scale and thus the verdict. [Cluster] sets it.
	Splitting [][]Share `json:"-"`

	// Eta holds rates with λ_i < η_i and Σ_{i∈A} η_i < μ(A) for every non-empty A, on which the
	// proof of Theorem 1 is based. [Rank] sets it if the queue is stable.
	Eta []*big.Rat `json:"-"`
}

// A Share is the work of a class that one row of servers does.
type Share struct {
	Name   string   // name of the row, as in the model
	Server int      // row of the model's servers
	Rate   *big.Rat // > 0, total work per unit of time of all servers of the row
}
