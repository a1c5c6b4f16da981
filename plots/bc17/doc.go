// Package bc17 has the figures of Bonald and Comte, "Balanced fair resource sharing in computer clusters",
// Performance Evaluation 116 (2017), 70–83 ([BC17]), section 5: mean service rate γ_i = λ_i σ / E[X_i] and mean
// delay δ_i = E[X_i]/λ_i = σ/γ_i of class-i jobs against the load ρ = Σ_i λ_i σ / Σ_s C_s, exact under balanced
// fairness and simulated for first come, first served and for m interruptions a job (bf-1 to bf-4); how the mean
// delay comes near that of balanced fairness as m grows (bf-5); and the distribution of the number of jobs (bf-6).
package bc17
