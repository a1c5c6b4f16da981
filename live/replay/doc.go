// Package replay runs a scenario of package dispatch or rigid through the live system, on a logical clock: [L14], section 6.3, where
// workers sleep as long as the tasks of a log say.
//
//	scenario --Publish--> PFQ_IN: a script of workers and outages, and a batch a job
//	manager  decides a moment once every task that is due by then was reported, whenever that is
//	worker   sleeps work/speed seconds over the pace, and reports begin + work/speed as the end
//	PFQ_PLAN --Read--> the events with their times
//
// Times and events are those of [dispatch.Run] or [rigid.Run] to the last digit, however slow the machine is and whatever is killed
// meanwhile: the script says which worker fails when, not the race.
package replay
