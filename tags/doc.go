// Package tags analyses task assignment by guessing size (TAGS), finds its best cutoffs, and
// compares it with other policies: when job sizes are unknown, after how long should a job be
// killed and restarted elsewhere?
//
// Jobs arrive as a Poisson process of rate λ and bring work of size X, unknown until they end.
// There are h hosts, each with its own queue, first come, first served; host i does v_i units of
// work per second, by default 1. Every job starts at host 1. A job that has received s_i units of
// work at host i and is not done is killed, and starts again from scratch at the end of the queue
// of host i+1; 0 = s_0 <= s_1 <= ... <= s_h = ∞ are the cutoffs. So host i sees the jobs larger
// than s_{i-1}, each for min(X, s_i) of work:
//
//	M_r = E[min(X, s_i)^r; X > s_{i-1}],  load ρ_i = λ M_1/v_i,  waiting V_i = λ M_2/v_i² / (2(1 - ρ_i)),
//
// where V_i is the formula of Pollaczek and Khinchine, as if jobs arrived at every host as a
// Poisson process. This is exact for host 1. For the other hosts it is the only approximation of
// the theory: jobs arrive at host i at least s_{i-1}/v_{i-1} apart, so the true waiting time is
// shorter in all known cases. A job that completes at host i has waited W_i = V_1 + ... + V_i, and
// its slowdown is its waiting time divided by its size, E[S_i] = W_i E[1/X | s_{i-1} < X <= s_i].
// Over all jobs
//
//	E[W] = Σ_i P(X > s_{i-1}) V_i,  E[S] = Σ_i E[1/X; X > s_{i-1}] V_i.
//
// Term i depends only on s_{i-1} and s_i, so the best cutoffs are a shortest path, which [Optimize]
// finds and proves optimal.
//
// With [Model.Resume], stopped jobs continue from checkpoints instead of starting from scratch.
//
// For example:
//
//	jobSizes, err := sizes.Parse("bounded-pareto:1.1:10000", 3)
//	if err != nil {
//		log.Fatal(err)
//	}
//	m := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}
//	r, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("kill jobs after %.1f units of work: mean slowdown %.2f\n", r.Cutoffs[0], r.MeanSlowdown.Float)
//	// Output: kill jobs after 7.9 units of work: mean slowdown 3.48
//
// [HB02] is M. Harchol-Balter, "Task assignment with unknown duration", Journal of the ACM 49(2),
// 2002, 260–288.
package tags
