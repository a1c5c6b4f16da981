// Package jobcounts answers: what is the distribution of the number of jobs of a cluster under
// balanced fairness? It starts from a graph of the recursion for the normalization Z(λ). The number
// of all jobs has the generating function Z(zλ)/Z(λ), that of class i Z(λ + (z-1) λ_i e_i)/Z(λ),
// with e_i the i-th unit vector: [Total] and [OfClass] return their coefficients, before the
// division by Z(λ). Nothing is subtracted, so no digits are lost near the stability boundary.
package jobcounts
