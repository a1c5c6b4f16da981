// Package rigid runs logs as real sites do: how long do jobs wait under FCFS, under shortest job
// first, and with backfilling?
//
// There are m equal workers of speed 1. A job is rigid: it requests n_j of them for e_j seconds,
// its requested time, holds all n_j from start to end, and runs for r_j <= e_j seconds, unknown
// until it ends. This is the baseline for the policies of package dispatch, whose tasks need not
// run together: a job there may start on fewer workers than it has tasks.
//
//	fcfs          jobs start in order of submission; the first one waits until n_j workers are free
//	sjf           as fcfs, but in order of requested times, shortest first
//	easy          the first job of the queue has a reservation at the earliest time at which n_j workers are free
//	              if running jobs take their requested times; other jobs may start now if that does not delay it
//	conservative  each job gets a reservation when submitted, the earliest that delays no earlier reservation
//
// For example:
//
//	s := rigid.Scenario{Workers: 4, Jobs: []dispatch.Job{
//		{Submit: 0, Tasks: 3, Work: 4}, // three workers for four seconds
//		{Submit: 1, Tasks: 4, Work: 3},
//		{Submit: 1, Tasks: 1, Work: 3},
//	}}
//	for _, s.Policy = range rigid.Policies() {
//		r, err := rigid.Run(context.Background(), s)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Printf("%s: the last job waits %g seconds\n", s.Policy, r.Jobs[2].Waiting)
//	}
//	// Output:
//	// fcfs: the last job waits 6 seconds
//	// sjf: the last job waits 6 seconds
//	// easy/fcfs: the last job waits 0 seconds
//	// conservative: the last job waits 0 seconds
//
// A job is lost when one of its workers fails: it returns the others and waits to run again from
// the start. A job that requests more workers than are up is skipped until there are enough.
//
// [Run] applies these policies on a simulated clock, [Maker] in live systems, where durations vary
// by task, and [Planner] to streams of jobs that a simulation draws.
//
// EASY is due to D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, LNCS 949, 295–303. Both
// backfilling policies, and the measures, follow A. Mu'alem and D. Feitelson, "Utilization,
// predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
// backfilling", IEEE Transactions on Parallel and Distributed Systems 12(6), 2001, 529–543, and D.
// Feitelson and A. Mu'alem Weil, "Utilization and predictability in scheduling the IBM SP2 with
// backfilling", IPPS/SPDP 1998, 542–546. [Policy] and [Run] document what these papers leave open.
package rigid
