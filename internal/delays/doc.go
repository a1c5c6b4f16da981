// Package delays answers: what is the distribution of the delay of a job in a FCFS multi-server
// queue with exponential sizes? It starts from the recursion for the normalization Z. It also has
// the formulas of one pool of equal servers (Erlang A, B and C).
//
// Jobs of a class leave in order of arrival, and later jobs never affect earlier ones, so Little's
// law holds for distributions (D. Bertsimas, D. Nakazato, "The distributional Little's law and its
// applications", Operations Research 43(2), 1995, 298-310): E[z^X_i] = E[exp(-λ_i (1-z) T_i)], and
// with e_i the i-th unit vector
//
//	E[exp(-s T_i)] = Z(λ - s e_i)/Z(λ).
//
// That is the transform of a positive linear recursion in time. On the class lattice, over the sets
// A that contain i,
//
//	K_A'(t) = -d(A) K_A(t) + Σ_{j∈A∖i} λ_j K_{A∖j}(t),  K_A(0) = G(A∖i),  d(A) = μ(A) - λ(A),
//	P(T_i > t) = (Σ_A K_A(t) + λ_i ∫_t^∞ Σ_A K_A(u) du) / Z,
//
// and on the lattices of servers, over the sets K that contain S_i, the servers of class i (for a
// class that chooses its servers: one combination, since all are equivalent),
//
//	Z_K'(t) = -d(K) Z_K(t) + Σ_{s∈K∖S_i} C_s Z_{K∖s}(t),  Z_K(0) = Σ_{s∈S_i} C_s Z(K∖s),  d(K) = M(K) - λ(K),
//	P(T_i > t) = ∫_t^∞ Z_all(u) du / Z.
//
// Proof. λ_i occurs in d(A) and as the factor of G(A∖i): G_A(λ - s e_i) = (λ_i - s) ∫ e^-st K_A(t)
// dt solves the recursion of G at λ - s e_i, and on the server lattice ∫ e^-st Z_K(t) dt that of Z,
// because λ_i occurs only in d(K) for K ⊇ S_i.
//
// In both cases the sum at time t is e_i exp(Qt) y, with e_i the values at time 0 and Q the matrix
// of the recursion, the same for all classes: the recursion never leaves the sets that contain i.
// With a rate q of at least all d, P = I + Q/q has no negative entry, and
//
//	e_i exp(Qt) y = Σ_n e^-qt (qt)^n/n! s_i(n),  s_i(n) = e_i P^n y,
//
// so one vector P^n y serves all classes and all times. All operations are additions and
// multiplications, without subtraction.
//
// A [Line] computes the same for a [Queue], one pool of equal servers whose waiting jobs may give
// up, by series of positive terms.
package delays
