package swf_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"productform/dispatch/swf"
	"productform/traces"
)

func Example() {
	text := `; Computer: a cluster
1 0 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1
2 9 0 60 2 -1 -1 2 300 -1 1 3 1 -1 1 -1 -1 -1
`
	records, err := swf.ReadAll(strings.NewReader(text), "cluster.swf")
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range records.Jobs {
		fmt.Printf("job %d: submitted at %g, ran for %g s on %d processors\n",
			j.Number, j.Submit, j.RunTime, j.Processors)
	}
	// Output:
	// job 1: submitted at 0, ran for 120 s on 4 processors
	// job 2: submitted at 9, ran for 60 s on 2 processors
}

// ExampleReader_All counts the jobs on the Paragon at San Diego whose processors worked for less
// than half of the time.
func ExampleReader_All() {
	source, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer source.Close()
	jobs, known, idle := 0, 0, 0
	for job, err := range swf.NewReader(source, "SDSC-Par-1996").All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		jobs++
		if job.CPUTime == swf.Unknown || job.RunTime == swf.Unknown {
			continue
		}
		known++
		if job.CPUTime < job.RunTime/2 {
			idle++
		}
	}
	fmt.Printf("%d jobs, %d of known times, %d mostly idle\n", jobs, known, idle)
	// Output: 32135 jobs, 31224 of known times, 2676 mostly idle
}

func ExampleReadAll() {
	const text = `; Computer: a cluster
1 0 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1
2 9 0 60 1.5 -1 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1
`
	_, err := swf.ReadAll(strings.NewReader(text), "cluster.swf")
	fmt.Println(err)
	log, err := swf.ReadAll(strings.NewReader(strings.Replace(text, "1.5", "1", 1)), "cluster.swf")
	fmt.Println(len(log.Jobs), log.Jobs[0].CPUTime, log.Jobs[1].CPUTime == swf.Unknown, err)
	// Output:
	// cluster.swf:3: field 5, allocated processors = 1.5: want an integer from 0 to 2^53, or -1 if unknown
	// 2 118.5 true <nil>
}

func ExampleWriter() {
	w := swf.NewWriter(os.Stdout)
	job := swf.Job{
		Number: 1, Submit: 0, Wait: 5, RunTime: 120, Processors: 4, CPUTime: 118.5, Memory: swf.Unknown,
		RequestedProcessors: 4, RequestedTime: 300, RequestedMemory: swf.Unknown, Status: 1, User: 3, Group: 1,
		Executable: swf.Unknown, Queue: 1, Partition: swf.Unknown, PrecedingJob: swf.Unknown, ThinkTime: swf.Unknown,
	}
	for _, err := range []error{w.Comment("; Version: 2.2"), w.Write(job), w.Flush()} {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// ; Version: 2.2
	// 1 0 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1
}
