// Package recursion holds the recursions for the normalization of a cluster under balanced fairness as graphs. A
// [Problem] is a cluster in integers; [ClassGraph], [SymmetricGraph] and [ConnectedGraph] build the [Graph] of its
// lattices: only the builders know what the states mean. A [Sweep] computes the values of the states, and derivatives,
// in the arithmetic of a [Kernel]. [Enclose] and [Fractions] return the stationary measures by sweeps. Package bf
// chooses among the lattices.
//
// All functions that take a context stop soon after it ends. The error for a problem with more work than its servers can
// do is an [*Overload].
package recursion
