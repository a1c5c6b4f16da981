// Package replay runs a scenario of package dispatch or rigid through the live system, on a logical
// clock: does the live system behave like the simulation? This is the method of [L14], section 6.3,
// where workers sleep for the run times of the tasks in a log.
//
//	scenario --Publish--> PFQ_IN: a script of workers and outages, and a batch per job
//	manager  decides a moment once every task that is due by then has been reported
//	worker   sleeps work/speed seconds divided by the pace, and reports start + work/speed as the end
//	PFQ_PLAN --Read--> the events with their times
//
// Times and events match [dispatch.Run] or [rigid.Run] to the last digit, however slow the machine
// is and whatever is killed in the meantime: the script decides which worker fails when, not the
// timing.
//
// For example:
//
//	var s replay.Scenario
//	s.Policy = dispatch.Policy{Rule: dispatch.EDF}
//	s.Speeds = []float64{1, 2}
//	s.Jobs = []dispatch.Job{{Tasks: 4, Work: 2}, {Submit: 1, Deadline: 4, Tasks: 1, Work: 2}}
//	lived, err := replay.Run(context.Background(), s, replay.Settings{Pace: 100}) // a hundred times faster than real time
//	if err != nil {
//		log.Fatal(err)
//	}
//	simulated, err := replay.Simulate(context.Background(), s)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println("the same events at the same times:", replay.Compare(lived, simulated) == nil)
//	fmt.Println("done after", lived.Result.Makespan, "seconds")
//	// Output:
//	// the same events at the same times: true
//	// done after 4 seconds
package replay
