// Package populations answers: what are the coefficients of products of power series over
// populations, of any range? Its tables hold numbers G(n) >= 0 for all n = (n_1, ..., n_K), 0 <= n
// <= N, which are the coefficients of a power series Σ_n G(n) z_1^n_1 ... z_K^n_K up to N.
//
// With u = Σ_k d_k z_k, d >= 0, the operations are [Divide], G/(1 - u), and [Horner], w H + u G, each one sweep over the table:
//
//	G(n) ← w H(n) + Σ_k d_k G(n - e_k),   upward for a division, downward for a step of Horner's rule,
//
// with new or old G on the right side. All terms are positive, and nothing is subtracted. A table
// may be in float64 ([Float]), between bounds ([Enclosed]) or in fractions ([Exact]); the functions
// below work on each.
//
// Float scales by powers of two, one per segment of numbers, so tables may span any range, and
// counts roundings along the longest path: see [Float].
package populations
