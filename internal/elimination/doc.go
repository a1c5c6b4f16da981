// Package elimination computes stationary measures of clusters under balanced fairness whose servers form a sparse graph:
// hundreds of them in a tree or a line, where the tables of all sets end at thirty.
//
// Server s does C_s units of work per unit of time; class i brings λ_i of them per unit of time to the servers of S_i, which
// serve it together. Let the T_s be independent and exponential with rates C_s. Then
//
//	Z = Σ_x Φ(x) Π_i λ_i^x_i = E[exp(Σ_i λ_i min_{s∈S_i} T_s)],
//
// for let the servers fail at the T_s, and K_t be those that have not: Σ_i λ_i min_{S_i} T = ∫ λ(K_t) dt, with λ(K) the rates of
// the classes whose servers all lie in K, and by the first failure u(K) = E_K exp ∫ λ(K_t) dt obeys the recursion of the server
// lattice, (C(K) - λ(K)) u(K) = Σ_{s∈K} C_s u(K∖s). With E~ the expectation under the density p(t) ∝ exp(Σ_i λ_i min_{S_i} t - Σ_s C_s t_s),
//
//	E[X_i] = λ_i E~[min_{S_i} T],  P(s idle) = p_s(0)/C_s,  X_i given T is Poisson with mean λ_i min_{S_i} T, independently.
//
// The factors of p are local: servers are integrated out one after the other, in the order of [NewOrder]. What is left of a part of
// the cluster is a function of the few servers next to it, its message. Messages are linear and positive in those that they are made of, so that
// bounds of |log(kept/true)| add up, and each is kept as polynomials on panels, whose own defects are bounded by their coefficients.
//
// Servers that form a tree are solved by [productform/internal/forest].
//
// Other components have messages of one or two times (function.go), polynomials in cells whose servers are in a known
// order; wide.go chooses their panels, step.go integrates, remainder.go bounds what that leaves out, and passes.go goes
// there and back. From these, answer.go and integral.go compute means and distributions, and weighted.go derivatives.
package elimination
