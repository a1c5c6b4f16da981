// Package recursion answers: how is the normalization of a cluster under balanced fairness computed
// by a recursion, in any arithmetic? It represents the recursions as graphs. They sum Φ(x) Π_i
// λ_i^x_i over states x, with the balance function Φ(x) = Σ_i Φ(x - e_i)/μ(x) (Bonald and Comte,
// 2017, equation (4)), by sets of classes or of servers; the comment of package bf has the
// formulas. A [Problem] is a cluster in integers; [ClassGraph], [SymmetricGraph] and
// [ConnectedGraph] build the [Graph] of its lattices: only the builders know what the states mean.
// A [Sweep] computes the values of the states, and derivatives, in the arithmetic of a [Kernel].
// [Enclose] and [Fractions] return the stationary measures by sweeps. Package bf chooses among the
// lattices.
//
// All functions that take a context return promptly after cancellation. The error for a problem
// with more work than its servers can do is an [*Overload].
package recursion
