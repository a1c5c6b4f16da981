// Package doubles answers: what are the values of a graph of recursions in float64, with a proved
// bound on the relative error of every number? It counts the roundings of each number.
package doubles
