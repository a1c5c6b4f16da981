// Package demands holds what routing and open chains leave of a network for its solvers: chains with their populations, and stations by what
// jobs bring to them. It knows no model.
//
// On the lattice of the populations of closed chains a station is a series in z_1, ..., z_K: one in the single variable u = Σ_k D_k z_k if
// its total rate depends on the number of jobs ([Totals]), else a table ([Shared]). All terms of either are positive.
package demands
