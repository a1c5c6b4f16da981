// Package replay runs a scenario of package dispatch or rigid through the live system, on a logical clock: does it do what the simulation
// says? It is [L14], section 6.3, where workers sleep as long as the tasks of a log say.
//
//	scenario --Publish--> PFQ_IN: a script of workers and outages, and a batch a job
//	manager  decides a moment once every task that is due by then was reported, whenever that is
//	worker   sleeps work/speed seconds over the pace, and reports begin + work/speed as the end
//	PFQ_PLAN --Read--> the events with their times
//
// Times and events are those of [dispatch.Run] or [rigid.Run] to the last digit, however slow the machine is and whatever is killed
// meanwhile: the script says which worker fails when, not the race.
//
// For example:
//
//	var s replay.Scenario
//	s.Policy = dispatch.Policy{Rule: dispatch.EDF}
//	s.Speeds = []float64{1, 2}
//	s.Jobs = []dispatch.Job{{Tasks: 4, Work: 2}, {Submit: 1, Deadline: 4, Tasks: 1, Work: 2}}
//	lived, err := replay.Run(context.Background(), s, replay.Settings{Pace: 100}) // a hundred seconds of the log in one
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
