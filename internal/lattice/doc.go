// Package lattice answers: how are states, vectors of numbers of jobs by class, numbered and
// visited, and what is the recursion over sets of active classes? It is shared by order-independent
// queues and Whittle networks. Callers check their input.
package lattice
