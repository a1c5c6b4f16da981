// Package plots is the catalogue of the figures of the papers, as data.
//
// A [Figure] holds panels, a panel holds series, a series holds the points (x, y) and, for
// simulated points, the ends of their confidence intervals. The caption and the parameters state
// everything needed to compute the figure again; checks set its numbers beside the same numbers reached another way,
// claims set them beside what the paper says in words. [Catalogue] lists the figures, [Compute] computes them with all
// their simulations as one sweep; package plots/draw turns them into PNG, SVG, PDF, CSV or HTML.
//
// The figures are those of Bonald and Comte, "Balanced fair resource sharing in computer
// clusters", Performance Evaluation 116 (2017), 70–83 ([BC17]), section 5: mean service rate γ_i = λ_i σ / E[X_i] and
// mean delay δ_i = E[X_i]/λ_i = σ/γ_i of class-i jobs against the load ρ = Σ_i λ_i σ / Σ_s C_s, exact under balanced
// fairness and simulated for first come, first served and for m interruptions a job (bf-1 to bf-4); how the mean delay
// comes near that of balanced fairness as m grows (bf-5); and the distribution of the number of jobs (bf-6).
package plots
