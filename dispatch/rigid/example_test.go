package rigid_test

import (
	"context"
	"fmt"
	"log"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

func Example() {
	s := rigid.Scenario{Workers: 4, Jobs: []dispatch.Job{
		{Submit: 0, Tasks: 3, Work: 4}, // three workers for four seconds
		{Submit: 1, Tasks: 4, Work: 3},
		{Submit: 1, Tasks: 1, Work: 3},
	}}
	for _, s.Policy = range rigid.Policies() {
		r, err := rigid.Run(context.Background(), s)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: the last job waits %g seconds\n", s.Policy, r.Jobs[2].Waiting)
	}
	// Output:
	// fcfs: the last job waits 6 seconds
	// sjf: the last job waits 6 seconds
	// easy/fcfs: the last job waits 0 seconds
	// conservative: the last job waits 0 seconds
}

// On four workers A holds three for 4 seconds, B waits for all of them, and C, which needs one for
// 3 seconds, begins before B because it ends before B can begin.
func ExampleRun() {
	s := rigid.Scenario{
		Jobs: []dispatch.Job{
			{Submit: 0, Tasks: 3, Work: 4},
			{Submit: 1, Tasks: 4, Work: 3},
			{Submit: 1, Tasks: 1, Work: 3},
		},
		Workers: 4,
	}
	for _, p := range rigid.Policies() {
		s.Policy = p
		r, err := rigid.Run(context.Background(), s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-13s B begins at %v, C at %v; utilization %.3f\n",
			p, r.Jobs[1].Start, r.Jobs[2].Start, r.Utilization)
	}
	// Output:
	// fcfs          B begins at 4, C at 7; utilization 0.675
	// sjf           B begins at 4, C at 7; utilization 0.675
	// easy/fcfs     B begins at 4, C at 1; utilization 0.964
	// conservative  B begins at 4, C at 1; utilization 0.964
}
