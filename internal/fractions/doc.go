// Package fractions evaluates the recursion for the normalization of a cluster under balanced fairness in fractions, given as a graph.
package fractions
