// Package book keeps the books of a live cluster: what has happened to every job and task, and what should each worker do now? It folds plans,
// and makes new ones around the decision maker of package dispatch. It is pure: it knows no network, no clock and no goroutine.
//
// A [Book] is the fold of PFQ_PLAN: two books that have folded the same plans are the same. [Book.Take] is told what was
// heard and returns the next plan; the caller appends it to the log, and throws the book away if that fails. Then it gives
// every worker its level, the order that says what the worker should be doing ([Book.Orders]), again where a heartbeat
// differs from it ([Book.Differs]).
//
// For example:
//
//	s := book.Settings{Leader: "m", Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, Random: rand.Reader}
//	b, err := book.New(s)
//	if err != nil {
//		log.Fatal(err)
//	}
//	bills := wire.Job{Name: "bills", Tasks: 2, Work: 10, Run: wire.Run{Kind: "sleep"}}
//	p, err := b.Take(0, []book.Input{ // at time 0: a worker is heard, and a batch
//		{Beat: &wire.Beat{Version: 1, Worker: "w", Process: "p", Speed: 1}},
//		{Sequence: 1, In: wire.In{Batch: &wire.Batch{Version: 1, Name: "monday", Jobs: []wire.Job{bills}}}},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, o := range b.OrdersOf(p) { // once p is in the log
//		fmt.Println(o.Worker, "is to run task", o.Order.Task, "of", o.Order.Job)
//	}
//	after, err := book.New(s) // of the manager that takes over
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("folded:", after.Fold(p), after.Cluster() == b.Cluster())
//	// Output:
//	// w is to run task 0 of bills
//	// folded: <nil> true
//
// # A task
//
//	state    what happens                                       next state
//	waiting  the maker begins it on a worker; an order leaves   in hand
//	in hand  its report is recorded                             done
//	in hand  the worker fails, an emergency takes the worker    waiting; a late report is its result, if it is the first
//	in hand  the attempt fails, the worker being well           waiting, behind all others; given up if that was one too many
//	in hand  its job is cancelled                               dropped
//
// A task is given up after Job.Attempts failures on at least two workers, if there are two, or twice as many on one; and
// after [Settings].Losses losses of the workers that had it in hand, on at least two. Its job then goes on without it.
//
// # An attempt
//
// Each begin of a task is an attempt, with a number and a token drawn at random, which the report must repeat. A report
// with another token is refused and removed; anyone may have written it.
//
// # A job
//
//	state         what happens                                   next state
//	-             its batch is accepted                          present
//	present       all tasks are done                             completed; completed with failures, if some were given up
//	present       a user cancels it                              cancelled
//	the others    a user clears it, or Settings.Keep has passed  cleared: all but its name is forgotten
//
// The name of a job is never used again.
//
// A batch is accepted whole or refused whole. A deadline relative to the submission is fixed when the batch is accepted.
//
// # A worker
//
//	state      what happens                                  next state
//	-          the first beat                                available (joining until the plan is there)
//	available  it is ordered a task                          occupied
//	occupied   its beat says that the task runs              busy
//	busy       its report, or its failure, is recorded       available
//	any of 3   the status checker misses it ([Down])         down
//	any of 3   a user drains it, or it leaves                draining; gone if it has nothing in hand
//	draining   its task ends                                 gone
//	down       a beat of the same process                    available; what it has in hand it is told to drop
//	any        a beat of a new process                       available: it failed and returned in one moment
//
// A late beat of a process before changes nothing, unless it goes on while the process after it is silent. Then it has the worker, unless
// the worker is drained: a task that the silent one had in hand is lost, and a process that was drained stays so. That a worker is
// missed is for the caller to find out, who has the clock; so is a worker suspect, between the two.
//
// # Policies
//
// Rules are those of package dispatch, or a policy of package rigid, under which the tasks of a job begin together and a job that loses
// one of them in hand loses all: the others are preempted. When rules change, tasks in hand go on.
//
// # Clocks
//
// On the wall clock the caller says what time it is, and the book never goes back. On a logical clock a [wire.Script] says
// which workers there are and when they fail, and batches say when they are submitted; a moment is decided when every task
// that is due by then was reported. Its plans are those of [dispatch.Run], or [rigid.Run], to the last digit, whatever the network does.
package book
