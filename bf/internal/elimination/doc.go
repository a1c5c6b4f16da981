// Package elimination computes the stationary measures of a cluster under balanced fairness whose
// servers form a sparse graph: how busy are hundreds of servers in a tree or a line, when tables
// over all sets of servers end at about thirty?
//
// Server s does C_s units of work per unit of time; class i brings λ_i units per unit of time to
// the servers of S_i, which serve it together. Let the T_s be independent and exponential with
// rates C_s. Then
//
//	Z = Σ_x Φ(x) Π_i λ_i^x_i = E[exp(Σ_i λ_i min_{s∈S_i} T_s)],
//
// To see this, let the servers fail at the times T_s, and let K_t be the set of servers that have
// not failed. Then Σ_i λ_i min_{S_i} T = ∫ λ(K_t) dt, with λ(K) the rates of the classes whose
// servers all lie in K, and, conditioning on the first failure, u(K) = E_K exp ∫ λ(K_t) dt obeys
// the recursion of the server lattice, (C(K) - λ(K)) u(K) = Σ_{s∈K} C_s u(K∖s). With E~ the
// expectation under the density p(t) ∝ exp(Σ_i λ_i min_{S_i} t - Σ_s C_s t_s),
//
//	E[X_i] = λ_i E~[min_{S_i} T],  P(s idle) = p_s(0)/C_s,
//
// and given T, the X_i are independent and Poisson with means λ_i min_{S_i} T.
//
// The factors of p are local: servers are integrated out one after the other, in the order of
// [NewOrder]. An eliminated part of the cluster leaves a function of its few neighbouring servers,
// its message. Messages are linear and positive in earlier messages, so bounds on |log(kept/true)|
// add up. Each message is kept as polynomials on panels, whose own defects are bounded by their
// coefficients.
//
// Servers that form a tree are solved by [productform/bf/internal/forest].
//
// Other components have messages of one or two times (function.go), polynomials in cells whose
// servers are in a known order; wide.go chooses their panels, step.go integrates, remainder.go
// bounds the truncation error, and passes.go runs the forward and backward passes. From their
// integrals, answer.go and integral.go compute means and distributions, and weighted.go
// derivatives.
package elimination
