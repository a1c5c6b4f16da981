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
//
// Then those of Harchol-Balter, "Task assignment with unknown duration", Journal of the ACM 49(2), 2002, 260–288
// ([HB02]), under the numbers they have there: sizes, tails and moments (tags-3, tags-4, tags-14); mean slowdown and
// waiting time of TAGS with the best cutoffs and of its rivals (tags-6, tags-7, tags-9, tags-12, tags-15); loads of the
// hosts (tags-8, tags-10); hosts to add (tags-13). Beyond them go the mean slowdown against the number of hosts
// (tags-16) and all policies on measured run times (tags-17). Simulation confirms the theory where it is exact and shows
// how far it is off where it approximates.
//
// Then come figures after Bonald and Roberts, "Enhanced cluster computing performance through proportional fairness",
// Performance Evaluation 79, 2014, 134–145 ([BR14]), whose own parameters are not at hand: two jobs at rest (fluid-1);
// mean service rates in random traffic (fluid-2); efficiency against fairness (fluid-3); lies (fluid-4); sharing task by
// task (fluid-5); and users of a log (fluid-6).
//
// Last, those of Lin, "Job Dispatching and Scheduling under Heterogeneous Clusters", Master's thesis, National Taiwan
// University, 2014 ([L14]), chapter 6, run policies of package dispatch: workers of a job over time, with and without
// failures (dispatch-1, its Figure 6.1); priority violations and penalties for missed deadlines of six policies on samples
// of a log (dispatch-2 to dispatch-5, its Figures 6.2 to 6.5). Beyond them go many samples (dispatch-6) and other numbers
// and speeds of workers (dispatch-7).
package plots
