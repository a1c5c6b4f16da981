package logstats_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/dispatch/joblog"
	"productform/dispatch/logstats"
)

func Example() {
	text := `job,submitted,started,ended,cpus,user
1,0,0,60,4,ann
2,30,60,90,4,bob
3,100,100,150,2,ann
`
	reader := joblog.NewReader(strings.NewReader(text), "jobs.csv", joblog.Dialect{})
	jobs, err := logstats.Read(context.Background(), reader, "jobs.csv")
	if err != nil {
		log.Fatal(err)
	}
	r, err := logstats.Analyze(context.Background(), jobs, logstats.Settings{Processors: 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d jobs, offered load %.3f, carried load %.3f\n", r.Jobs, *r.Offered, *r.Carried)
	// Output:
	// 3 jobs, offered load 0.575, carried load 0.450
}
