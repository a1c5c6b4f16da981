package client_test

import (
	"fmt"
	"log"
	"strings"

	"productform/live/client"
)

func Example_jobfile() {
	f, err := client.Read(strings.NewReader(`
jobs:
- {name: bills, priority: 5, deadline: 200s, max_workers: 8, tasks: 1000, work: 0.5,
   run: {kind: command, program: bill}}
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range f.Batch.Jobs {
		fmt.Printf("%s: %d tasks of %g s on at most %d workers, due after %g s\n",
			j.Name, j.Tasks, j.Work, j.MaxWorkers, j.DeadlineIn)
	}
	// Output: bills: 1000 tasks of 0.5 s on at most 8 workers, due after 200 s
}
