// Package swf reads and writes logs of clusters in the Standard Workload Format: when were jobs
// submitted, on how many processors did they run, and for how long? The Parallel Workloads Archive
// of D. Feitelson keeps logs of real machines in version 2.2 (S. Chapin et al., "Benchmarks and
// standards for the evaluation of parallel job schedulers", JSSPP 1999, LNCS 1659, 67–90).
//
// A log is a text file. A line that starts with ";", possibly after blanks, is a comment. Lines of
// blanks (spaces and tabs) are ignored. Any other line is a job, 18 numbers separated by blanks:
//
//	1 0 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1
//
// [Job] lists the fields. Times in seconds and memory in kilobytes are finite decimal numbers >= 0,
// such as 118.5 or 1.2e2; the others are integers from 0 to 2^53, in digits. An unknown value is -1
// or, in times and memory, -1.0. Anything else is an error: other signed numbers, numbers in
// braces, and lines of 17 or 19 fields.
//
// For example:
//
//	text := `; Computer: a cluster
//	1 0 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1
//	2 9 0 60 2 -1 -1 2 300 -1 1 3 1 -1 1 -1 -1 -1
//	`
//	records, err := swf.ReadAll(strings.NewReader(text), "cluster.swf")
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, j := range records.Jobs {
//		fmt.Printf("job %d: submitted at %g, ran for %g s on %d processors\n",
//			j.Number, j.Submit, j.RunTime, j.Processors)
//	}
//	// Output:
//	// job 1: submitted at 0, ran for 120 s on 4 processors
//	// job 2: submitted at 9, ran for 60 s on 2 processors
package swf

// Unknown is the value of a field that is unknown in the log.
const Unknown = -1

// Columns is the number of fields of a job.
const Columns = 18

// A Job is a line of a log, in the order of its fields. Times are in seconds, memory in kilobytes.
// Each field is Unknown or >= 0.
type Job struct {
	Number              int64   // 1: counted from 1 in the log
	Submit              float64 // 2: seconds since the start of the log
	Wait                float64 // 3: time until it starts
	RunTime             float64 // 4: from start to end
	Processors          int64   // 5: allocated
	CPUTime             float64 // 6: used, mean over the processors
	Memory              float64 // 7: used, mean over the processors
	RequestedProcessors int64   // 8
	RequestedTime       float64 // 9
	RequestedMemory     float64 // 10: per processor
	Status              int64   // 11: 0 failed, 1 completed, 2 to 4 parts of a job, 5 cancelled
	User                int64   // 12
	Group               int64   // 13
	Executable          int64   // 14
	Queue               int64   // 15
	Partition           int64   // 16
	PrecedingJob        int64   // 17: job that must end before this one is submitted
	ThinkTime           float64 // 18: from the end of that job to the submission
}
