// Package swf reads and writes logs of clusters in the Standard Workload Format, version 2.2: one job a line of 18
// numbers, comments after ";", -1 for what is unknown (S. Chapin et al., "Benchmarks and standards for the evaluation
// of parallel job schedulers", JSSPP 1999, LNCS 1659, 67–90; the Parallel Workloads Archive of D. Feitelson).
package swf

// Unknown is the value of a field that the log does not know.
const Unknown = -1

// Columns is the number of fields of a job.
const Columns = 18

// A Job is a line of a log, in the order of its fields. Times are in seconds, memory in kilobytes. Each field is
// Unknown or >= 0.
type Job struct {
	Number              int64   // 1: counted from 1 in the log
	Submit              float64 // 2: from the start of the log
	Wait                float64 // 3: until it starts
	RunTime             float64 // 4: from start to end
	Processors          int64   // 5: allocated
	CPUTime             float64 // 6: used, mean over the processors
	Memory              float64 // 7: used, mean over the processors
	RequestedProcessors int64   // 8
	RequestedTime       float64 // 9
	RequestedMemory     float64 // 10: by processor
	Status              int64   // 11: 0 failed, 1 completed, 2 to 4 parts of a job, 5 cancelled
	User                int64   // 12
	Group               int64   // 13
	Executable          int64   // 14
	Queue               int64   // 15
	Partition           int64   // 16
	PrecedingJob        int64   // 17: that must end before this one is submitted
	ThinkTime           float64 // 18: from the end of that job to the submission
}
