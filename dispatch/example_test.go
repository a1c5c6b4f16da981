package dispatch_test

import (
	"context"
	"fmt"
	"log"

	"productform/dispatch"
)

func Example() {
	jobs := []dispatch.Job{
		{Priority: 2, Deadline: 20, Tasks: 8, Work: 2}, {Priority: 1, Deadline: 4, Submit: 1, Tasks: 2, Work: 2},
	}
	for _, rule := range []dispatch.Rule{dispatch.Priority, dispatch.EDF} {
		s := dispatch.Scenario{Jobs: jobs, Speeds: []float64{1, 1, 2}, Policy: dispatch.Policy{Rule: rule}}
		r, err := dispatch.Run(context.Background(), s)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: the jobs end at %g and %g, penalty %g\n",
			rule, r.Jobs[0].Finish, r.Jobs[1].Finish, r.DeadlineMissPenalty)
	}
	// Output:
	// priority: the jobs end at 4 and 6, penalty 2
	// edf: the jobs end at 6 and 4, penalty 0
}
