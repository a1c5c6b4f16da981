// Package recursion holds the recursions for the normalization of a cluster under balanced fairness as graphs. A
// [Problem] is a cluster in integers; [ClassGraph], [SymmetricGraph] and [ConnectedGraph] build the [Graph] of its
// lattices, whose states each engine then evaluates: only the builders know what the states mean. Package bf chooses
// among them.
//
// Builders stop soon after their context ends. The error for a problem with more work than its servers can do is an
// [*Overload].
package recursion
