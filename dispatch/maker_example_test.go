package dispatch_test

import (
	"fmt"
	"log"

	"productform/dispatch"
)

// A job of three tasks on two workers. One worker is silent and presumed dead, so the other one
// repeats its task. Then the first worker reports after all, before the other one.
func ExampleMaker() {
	m, err := dispatch.NewMaker(dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}}, []float64{1, 1})
	if err != nil {
		log.Fatal(err)
	}
	tell := func(at float64, what ...dispatch.Happening) {
		events, err := m.Decide(at, what)
		if err != nil {
			log.Fatal(err)
		}
		for _, e := range events {
			switch {
			case e.Attempt > 0:
				fmt.Printf("%v: task %d %s on worker %d, attempt %d\n", at, e.Task, e.Kind, e.Worker, e.Attempt)
			case e.Job >= 0:
				fmt.Printf("%v: job %d %s\n", at, e.Job, e.Kind)
			default:
				fmt.Printf("%v: worker %d %s\n", at, e.Worker, e.Kind)
			}
		}
	}
	tell(0, dispatch.Happening{Kind: dispatch.Submitted, Job: 0, What: &dispatch.Job{Tasks: 3, Work: 10}})
	tell(4, dispatch.Happening{Kind: dispatch.Failed, Worker: 1})
	tell(10, dispatch.Happening{Kind: dispatch.Finished, Worker: 0, Job: 0, Task: 0, Attempt: 1})
	// late, but before the other worker
	tell(12, dispatch.Happening{Kind: dispatch.Finished, Worker: 1, Job: 0, Task: 1, Attempt: 2},
		dispatch.Happening{Kind: dispatch.Returned, Worker: 1})
	tell(22, dispatch.Happening{Kind: dispatch.Finished, Worker: 0, Job: 0, Task: 2, Attempt: 4})
	r := m.Result()
	fmt.Printf("%d tasks in %v seconds, %d lost\n", r.Tasks, r.Makespan, r.Lost)
	// Output:
	// 0: job 0 submitted
	// 0: task 0 started on worker 0, attempt 1
	// 0: task 1 started on worker 1, attempt 2
	// 4: task 1 lost on worker 1, attempt 2
	// 4: worker 1 failed
	// 10: task 0 finished on worker 0, attempt 1
	// 10: task 1 started on worker 0, attempt 3
	// 12: task 1 dropped on worker 0, attempt 3
	// 12: task 1 finished on worker 1, attempt 2
	// 12: worker 1 returned
	// 12: task 2 started on worker 0, attempt 4
	// 22: task 2 finished on worker 0, attempt 4
	// 22: job 0 completed
	// 3 tasks in 22 seconds, 1 lost
}
