// Package lattice numbers states, vectors of numbers of jobs by class, and holds the recursion over sets of active
// classes: what order-independent queues and Whittle networks have in common. Callers check their input.
package lattice
