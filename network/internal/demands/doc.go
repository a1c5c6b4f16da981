// Package demands reduces a network for its solvers, after routing and open chains: which chains
// have which populations, and which demands do jobs bring to each station? It is independent of the
// model.
//
// On the lattice of the populations of closed chains a station is a series in z_1, ..., z_K: one in the single variable u = Σ_k D_k z_k if
// its total rate depends on the number of jobs ([Totals]), otherwise a table ([Shared]). All terms of either are positive.
package demands
