// Package traffic computes how long jobs take that come and go and share divisible resources by a policy of package
// fluid, whose letters it uses.
//
// Class-k jobs arrive as a Poisson process of rate λ_k, bring exponential sizes of mean σ_k, in tasks times time, and
// leave when that is done: x_k jobs of class k leave at rate x_k φ_k(x)/σ_k. No policy keeps the numbers of jobs finite
// if the load Σ_k λ_k σ_k a_kj of some resource is 1 or more. [Solve] computes the mean numbers E[x_k] and what follows
// from them, the mean service rate γ_k = λ_k σ_k / E[x_k] of a job and its mean delay E[x_k]/λ_k: for balanced fairness
// from its stationary distribution Φ(x) Π_k (λ_k σ_k)^x_k / Z, for the others from the balance equations of a truncated
// Markov chain.
package traffic
