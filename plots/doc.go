// Package plots is the catalogue of the figures of the papers, as data: one file a paper.
//
// A [Figure] holds panels, a panel holds series, a series holds the points (x, y) and, for
// simulated points, the ends of their confidence intervals. The caption and the parameters state
// everything needed to compute the figure again. [Catalogue] lists the figures; package
// plots/draw turns one into PNG, SVG, PDF, CSV or HTML.
//
// The first figures are those of Bonald and Comte, "Balanced fair resource sharing in computer
// clusters", Performance Evaluation, 2017 ([BC17]): mean service rate γ_i = λ_i σ / E[X_i] and mean
// delay δ_i = E[X_i]/λ_i = σ/γ_i of class-i jobs under balanced fairness, against the load
// ρ = Σ_i λ_i σ / Σ_s C_s.
package plots
