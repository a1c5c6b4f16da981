package dispatch_test

import (
	"fmt"
	"log"

	"productform/dispatch"
	"productform/sizes"
)

func Example_workload() {
	gaps, err := sizes.NewExponential(10)
	if err != nil {
		log.Fatal(err)
	}
	work, err := sizes.Parse("lognormal:4", 30)
	if err != nil {
		log.Fatal(err)
	}
	s := dispatch.Synthetic{
		Jobs:           100,
		Gaps:           gaps,
		Work:           work,
		Tasks:          []int{1, 2, 4},
		Users:          3,
		DeadlineFactor: 5,
		Parallelism:    4,
	}
	jobs, err := s.Draw(3)
	if err != nil {
		log.Fatal(err)
	}
	last := jobs[len(jobs)-1]
	fmt.Printf("%d jobs, the last one submitted at %.0f: %d tasks of %.1f, due at %.0f\n",
		len(jobs), last.Submit, last.Tasks, last.Work, last.Deadline)
	// Output: 100 jobs, the last one submitted at 1062: 4 tasks of 4.3, due at 1084
}
