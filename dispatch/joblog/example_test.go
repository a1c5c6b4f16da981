package joblog_test

import (
	"fmt"
	"log"
	"strings"

	"productform/dispatch/joblog"
)

func Example() {
	text := `JobID|User|Submit|Start|End|Elapsed|AllocCPUS|State
71|ann|2026-03-01T12:00:00|2026-03-01T12:00:05|2026-03-01T12:02:05|00:02:00|4|COMPLETED
71.batch||2026-03-01T12:00:05|2026-03-01T12:00:05|2026-03-01T12:02:05|00:02:00|4|COMPLETED
`
	r := joblog.NewReader(strings.NewReader(text), "march.txt", joblog.Dialect{})
	for j, err := range r.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("job %d waited for %g s and ran for %g s on %d processors\n",
			j.Number, j.Wait, j.RunTime, j.Processors)
	}
	for _, line := range r.Report().Lines() {
		fmt.Println(line)
	}
	// Output:
	// job 71 waited for 5 s and ran for 120 s on 4 processors
	// steps of jobs are omitted: 1 record, the first in line 3
	// times without a zone are read as UTC: 1 record, the first in line 2
}
