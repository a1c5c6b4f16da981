// Package ranges says which times, works and numbers of tasks of jobs are taken: times and works none so large or so small that a sum or product of a few leaves
// the range of float64.
package ranges

// Largest bounds what comes in, and 1/Largest all of it that is divided by: then a task takes at most 1e100 seconds.
const Largest = 1e50

// MostTasks and MostTasksInAll bound the tasks of a job and of a run. A run takes some 0.1 to 1 µs a task, whatever they
// are: some minutes for a job of the first, an hour or two for the second. The largest clusters have 10^7 processors.
const (
	MostTasks      = 1_000_000_000
	MostTasksInAll = int64(10_000_000_000)
)

// IsTime reports whether v may be a time or a priority.
func IsTime(v float64) bool { return v >= 0 && v <= Largest }

// IsWork reports whether v may be a work or a factor: 0 or neither too large nor too small.
func IsWork(v float64) bool { return v == 0 || v >= 1/Largest && v <= Largest }
