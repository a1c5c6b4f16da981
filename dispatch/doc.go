// Package dispatch shares the workers of a heterogeneous cluster among jobs made of tasks: which worker does which task next, and what does a policy
// make of a log? It has policies as pure functions, a decision maker that follows them, and runs of real or synthetic logs on a simulated clock.
//
// A worker has a speed and works on one task at a time; a task of work w takes w/s seconds on a worker of speed s and is not cut. Job j comes with
// n_j independent tasks, a priority P_j and perhaps a deadline d_j. It is done when all its tasks are. At time now a [Policy] maps what is left of
// the jobs present to a plan: which workers are for which job.
//
//	priority    the first job may have all but a part r of the workers, each other one of them
//	proportion  ⌈m w_j / Σ_i w_i⌉ of m workers, w_j the work left
//	workload    the fastest workers, until Σ speeds >= w_j / h for a horizon h
//	deadline    the fastest workers, until Σ 1/T_j^s >= 1/(d_j - now), T_j^s the time of worker s alone for what is left
//	edf         all that it can use, earliest deadline first
//
// in order of priority but for the last, never more workers than tasks; what is then left goes to the jobs in order of priority or of deadline, or
// waits for jobs to come. The policies are Algorithms 1 to 4 of Ting-Chou Lin, "Job Dispatching and Scheduling under Heterogeneous Clusters",
// Master's thesis, National Taiwan University, 2014, [L14], section 5; it is compared with earliest deadline first. Where the printed algorithms
// contradict the text, the text is followed, and [Policy] says so.
//
// For example:
//
//	jobs := []dispatch.Job{{Priority: 2, Deadline: 20, Tasks: 8, Work: 2}, {Priority: 1, Deadline: 4, Submit: 1, Tasks: 2, Work: 2}}
//	for _, rule := range []dispatch.Rule{dispatch.Priority, dispatch.EDF} {
//		s := dispatch.Scenario{Jobs: jobs, Speeds: []float64{1, 1, 2}, Policy: dispatch.Policy{Rule: rule}}
//		r, err := dispatch.Run(context.Background(), s)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: the jobs end at %g and %g, penalty %g\n", rule, r.Jobs[0].Finish, r.Jobs[1].Finish, r.DeadlineMissPenalty)
//	}
//	// Output:
//	// priority: the jobs end at 4 and 6, penalty 2
//	// edf: the jobs end at 6 and 4, penalty 0
//
// A plan is made at each moment at which something happens, and takes effect as tasks in hand end. [Maker] does that, told what happens by whoever
// drives it: [Run] on a simulated clock, a live system on a real one.
//
// A job is violated while no worker is planned for it though one is for a job of lower priority. The average of the part of the jobs present that is
// violated, and the penalty Σ_j P_j M_j with M_j the seconds by which j misses its deadline, are what [L14] compares policies by.
package dispatch
