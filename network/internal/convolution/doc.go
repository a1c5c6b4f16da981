// Package convolution computes throughputs and other measures of closed chains: how many jobs get
// through per unit of time, given the populations? It uses the convolution algorithm, a recursion
// for the normalization constant G on the lattice of populations (J. P. Buzen, "Computational
// algorithms for closed queueing networks with exponential servers", Communications of the ACM 16,
// 1973, 527–531; several chains: M. Reiser and H. Kobayashi, "Queuing networks with multiple closed
// chains: theory and computational algorithms", IBM Journal of Research and Development 19, 1975,
// 283–294).
//
// With f_i the series of station i in u_i = Σ_k D_ik z_k, into which open chains are folded,
//
//	G = Π_i f_i,  H_i = Π_{j≠i} f_j,  f_i = Σ_n u^n / Π_{j <= n} α'(j),
//
// the coefficients at the populations N give all measures, by sums of positive terms:
//
//	throughput X_k = G(N - e_k)/G(N),  E[x_ik] = D_ik [f_i' H_i](N - e_k)/G(N),
//	P(station i empty) = H_i(N)/(f_i(ρ_i) G(N)).
//
// The convolution G = f_i H of a station with constant rate is Buzen's recursion G(n) = H(n) + Σ_k
// (D_ik/α'(1)) G(n - e_k). In general f_i times a table takes one division and m - 1 steps of
// Horner's rule for rates that are constant beyond m jobs: T_m = H/(1 - u/α'(m)), T_j = H +
// (u/α'(j)) T_{j+1}, f H = T_1. The same holds for f_i': f' = Y_1/α'(1) with Y_j = Σ_{n >= j} n
// u^(n-j) / Π_{j < i <= n} α'(i),
//
//	Y_{m-1} H = (m-2) R + R/(1 - u/α'(m)),  R = H/(1 - u/α'(m)),  Y_j H = j H + (u/α'(j+1)) Y_{j+1} H  (m >= 2);
//	Y_1 H = R/(1 - u/α'(1))  (m = 1).
//
// All H_i are computed by halving: the product of all stations outside a set, times the stations of
// one half of the set, is the product of all stations outside the other half. Each station is a
// factor in about log2(M) products, where M is the number of distinct stations.
package convolution
