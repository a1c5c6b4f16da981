// Package markov answers: what is the stationary distribution of a Markov chain on points of a box
// in a lattice, 0 <= x_k < size_k, that moves by one in one coordinate at a time ([Region])?
// [Chain.Eliminate] uses GTH elimination, which never subtracts, and proves a bound on its rounding
// error; [Chain.Iterate] uses a multigrid method for chains with too many states for that.
package markov
