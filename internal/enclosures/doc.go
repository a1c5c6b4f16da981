// Package enclosures evaluates the recursion for the normalization of a cluster under balanced fairness between two bounds, given as a
// graph.
package enclosures
