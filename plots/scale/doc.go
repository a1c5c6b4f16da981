// Package scale draws how far exact answers and estimates reach: time and memory against the size of a model, for each
// lattice of package bf and for package gibbs, and one cluster that is too large for tables, up to the edge of stability.
package scale
