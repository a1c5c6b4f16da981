// Package book computes the state of a live cluster from its plans, and the next plan: what has
// happened to every job and task, and what should each worker do now? The decisions come from the
// makers of package dispatch. The package uses no network, no clock and no goroutines.
//
// A [Book] folds PFQ_PLAN: two books that have folded the same plans are equal. [Book.Take] takes
// inputs and returns the next plan. The caller appends the plan to the log, and discards the book
// if that fails. Then it sends every worker its order, which states what the worker should be doing
// ([Book.Orders]), and repeats an order when a heartbeat differs from it ([Book.Differs]).
//
// For example:
//
//	rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}
//	s := book.Settings{Leader: "m", Rules: rules, Random: rand.Reader}
//	b, err := book.New(s)
//	if err != nil {
//		log.Fatal(err)
//	}
//	bills := wire.Job{Name: "bills", Tasks: 2, Work: 10, Run: wire.Run{Kind: "sleep"}}
//	p, err := b.Take(0, []book.Input{ // at time 0: a beat and a batch
//		{Beat: &wire.Beat{Version: 1, Worker: "w", Process: "p", Speed: 1}},
//		{Sequence: 1, In: wire.In{Batch: &wire.Batch{Version: 1, Name: "monday", Jobs: []wire.Job{bills}}}},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	o := b.OrdersOf(p)[0] // once p is in the log
//	fmt.Println(o.Worker, "runs task", o.Order.Task, "of", o.Order.Job)
//	after, err := book.New(s) // the book of the next manager
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("folded:", after.Fold(p), after.Cluster() == b.Cluster())
//	// Output:
//	// w runs task 0 of bills
//	// folded: <nil> true
//
// # A task
//
//	state     what happens                                        next state
//	waiting   the maker starts it on a worker; an order is sent   assigned
//	assigned  its report is recorded                              done
//	assigned  the worker fails, or an emergency takes the worker  waiting; a late report counts if it is the first
//	assigned  the attempt fails on a healthy worker               waiting, behind all others; or given up
//	assigned  its job is cancelled                                dropped
//
// A task is given up after Job.Attempts failures on at least two workers, or twice as many on one.
// While fewer than two workers are up, Job.Attempts failures are enough. Losses of workers with the
// task are counted in the same way, with [Settings].Losses as the limit. The job continues without
// the task.
//
// # An attempt
//
// Each start of a task is an attempt, with a number and a signed token that the report must repeat.
// A report with another token is refused and removed, since anyone may have written it.
//
// # A job
//
//	state       what happens                                   next state
//	-           its batch is accepted                          present
//	present     all tasks are done                             completed, with failures if some were given up
//	present     a user cancels it                              cancelled
//	any other   a user clears it, or Settings.Keep has passed  cleared: everything but its name is forgotten
//
// The name of a job is never used again.
//
// A batch is accepted or refused as a whole. A deadline relative to the submission is fixed when
// the batch is accepted.
//
// # A worker
//
//	state      what happens                              next state
//	-          the first beat                            available (joining until a plan names it)
//	available  a task is assigned to it                  occupied
//	occupied   its beat reports that the task runs          busy
//	busy       its report or failure is recorded         available
//	any of 3   the status checker misses it ([Down])     down
//	any of 3   a user drains it, or it leaves            draining; gone if it has no task
//	draining   its task ends                             gone
//	down       a beat of the same process                available; it is ordered to drop its task
//	any        a beat of a new process                   available: it failed and returned at the same moment
//
// A late beat of a former process changes nothing, unless that process keeps beating while the
// current one is silent. Then the worker returns to the former process, and the task of the silent
// one is lost; but a drained worker stays drained. Detecting missing workers is up to the caller,
// who has the clock; the caller also reports workers as suspect before they are down.
//
// # Policies
//
// The rules are those of package dispatch or a policy of package rigid. Under a policy of package
// rigid the tasks of a job start together, and a job that loses one running task loses all: the
// others are preempted. When the rules change, running tasks continue.
//
// # Clocks
//
// On the wall clock, the caller supplies the time, and time in the book never decreases. On a
// logical clock, a [wire.Script] lists the workers and their failures, and batches carry their
// times of submission; a moment is decided when every task that is due by then has been reported.
// The plans match those of [dispatch.Run] or [rigid.Run] to the last digit, regardless of the
// network.
package book
