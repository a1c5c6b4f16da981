package stability

import "math/big"

// A Result is a verdict with its margins and its proof. Sets of classes are lists of rows in
// increasing order; among the sets that attain a minimum the one reported has the fewest
// classes and, among these, the lexicographically first list of rows.
//
// In a cluster with groups the classes of Theorem 1 are the combinations of servers that jobs
// draw. A row stands for all its combinations in Bottleneck, and for those that fit in
// MarginServers in MarginSet.
type Result struct {
	Stable bool // Σ_{i∈A} λ_i < μ(A) for every non-empty A

	Margin        *big.Rat // min over non-empty A of μ(A) - Σ_{i∈A} λ_i, work per unit of time
	MarginSet     []int    // classes of an A that attains Margin
	MarginServers []int    // number of servers of each row that A uses; nil from [Rank]

	CriticalScale     *big.Rat // min_A μ(A) / Σ_{i∈A} λ_i; nil if no work arrives
	Bottleneck        []int    // classes of an A that attains CriticalScale; nil if no work arrives
	BottleneckServers []int    // number of servers of each row that A uses; nil from [Rank]
	Arrival           *big.Rat // Σ_{i∈A} λ_i of Bottleneck, work per unit of time; nil if no work arrives
	Capacity          *big.Rat // μ(A) of Bottleneck, work per unit of time; nil if no work arrives

	// Splitting[i] shares CriticalScale·λ_i, the work of class i at the critical scale, among its
	// servers, none of which gets more than its capacity. It exists if and only if no set is
	// overloaded at that scale, which proves the scale, hence the verdict. Set by [Cluster].
	Splitting [][]Share

	// Eta holds rates with λ_i < η_i and Σ_{i∈A} η_i < μ(A) for every non-empty A, which the
	// proof of Theorem 1 rests on. Set by [Rank] if the queue is stable.
	Eta []*big.Rat
}

// A Share is the work of a class that one row of servers takes.
type Share struct {
	Server int      // row of the model's servers
	Rate   *big.Rat // > 0, work per unit of time, over all servers of the row together
}
