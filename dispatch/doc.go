// Package dispatch shares the workers of a heterogeneous cluster among jobs made of tasks: which
// worker should run which task next, and how would a policy have run a given log? It provides
// policies as pure functions, a decision maker that follows them, and runs of real or synthetic
// logs on a simulated clock.
//
// A worker has a speed and runs one task at a time. A task of work w takes w/s seconds on a worker
// of speed s and cannot be split. Job j consists of n_j independent tasks and has a priority P_j
// and optionally a deadline d_j. A job is done when all its tasks are. At time now a [Policy] maps
// the remaining work of the jobs present to a plan, which assigns workers to jobs:
//
//	priority    the first job gets all workers but a fraction r, every other job one worker
//	proportion  ⌈m w_j / Σ_i w_i⌉ of m workers, w_j the work left
//	workload    the fastest workers, until Σ speeds >= w_j / h for a horizon h
//	deadline    the fastest workers, until Σ 1/T_j^s >= 1/(d_j - now), where worker s
//	            alone needs the time T_j^s for the work left
//	edf         as many workers as the job can use, earliest deadline first
//
// All rules except edf serve jobs in order of priority, and no job gets more workers than it has
// tasks. Spare workers go to the jobs in order of priority or of deadline, or are kept for jobs
// that arrive later. The policies are Algorithms 1 to 4 of Ting-Chou Lin, "Job Dispatching and
// Scheduling under Heterogeneous Clusters", Master's thesis, National Taiwan University, 2014,
// [L14], section 5, and earliest deadline first, with which the thesis compares them. If the
// printed algorithms contradict the text, this package follows the text; [Policy] lists these
// places.
//
// For example:
//
//	jobs := []dispatch.Job{
//		{Priority: 2, Deadline: 20, Tasks: 8, Work: 2}, {Priority: 1, Deadline: 4, Submit: 1, Tasks: 2, Work: 2},
//	}
//	for _, rule := range []dispatch.Rule{dispatch.Priority, dispatch.EDF} {
//		s := dispatch.Scenario{Jobs: jobs, Speeds: []float64{1, 1, 2}, Policy: dispatch.Policy{Rule: rule}}
//		r, err := dispatch.Run(context.Background(), s)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: the jobs end at %g and %g, penalty %g\n",
//			rule, r.Jobs[0].Finish, r.Jobs[1].Finish, r.DeadlineMissPenalty)
//	}
//	// Output:
//	// priority: the jobs end at 4 and 6, penalty 2
//	// edf: the jobs end at 6 and 4, penalty 0
//
// A new plan is made whenever something happens, and takes effect as running tasks end. [Maker]
// does this for its caller: [Run] on a simulated clock, or a live system on a real one.
//
// A job is violated while no worker is planned for it although one is planned for a job of lower
// priority. [L14] compares policies by the average fraction of the jobs present that is violated,
// and by the penalty Σ_j P_j M_j, where M_j is the number of seconds by which job j misses its
// deadline.
package dispatch
