// Package doubles evaluates graphs of recursions in float64, with a proved bound on the relative error of every number: it counts the roundings
// on the way to it.
package doubles
