// Package rigid runs logs as real sites do: first come, first served, shortest job first, and with backfilling. How long do jobs wait under
// each?
//
// There are m equal workers of speed 1. A job is rigid: it asks for n_j of them for e_j seconds, its requested time, holds
// all n_j from its begin to its end, and runs for r_j <= e_j seconds, which nobody knows before its end. This is what the
// policies of package dispatch are measured against, whose tasks need not run together, so that a job there may begin on
// fewer workers than it has tasks.
//
//	fcfs          jobs begin in the order in which they are submitted; the first one waits until n_j workers are free
//	sjf           likewise in the order of requested times, the shortest first
//	easy          the first job of the queue has a reservation, at the earliest time at which n_j workers are free if jobs
//	              in hand take what they asked for; others may begin now if that does not delay it
//	conservative  each job has a reservation when it is submitted, the earliest that delays none made before
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
// A job that has a worker which fails is lost: it gives back the others, and waits again to run from its beginning. A job that
// asks for more workers than are up is passed over until there are enough.
//
// [Run] is these policies on a simulated clock, [Maker] for live systems, where tasks take the time that they take.
//
// EASY is that of D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, LNCS 949, 295–303. Both backfilling policies, and
// what is measured, are read as in A. Mu'alem and D. Feitelson, "Utilization, predictability, workloads, and user runtime
// estimates in scheduling the IBM SP2 with backfilling", IEEE Transactions on Parallel and Distributed Systems 12(6), 2001,
// 529–543, and D. Feitelson and A. Mu'alem Weil, "Utilization and predictability in scheduling the IBM SP2 with
// backfilling", IPPS/SPDP 1998, 542–546. [Policy] and [Run] say what these leave open.
package rigid
