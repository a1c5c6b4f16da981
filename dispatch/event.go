package dispatch

// An Event is something that happened in a cluster, or a decision of its decision maker.
type Event struct {
	Kind Kind `json:"kind"`

	// Job, Task and Worker are numbers from 0, or -1 if they do not apply.
	Job    int `json:"job,omitempty"`
	Task   int `json:"task,omitempty"`
	Worker int `json:"worker,omitempty"`

	// Attempt numbers the executions of tasks from 1 in the order in which they start. It is 0 if
	// it does not apply.
	Attempt int `json:"attempt,omitempty"`
}

// A Kind is a kind of event.
type Kind string

// The kinds of events. A lost task failed with its worker. A preempted task made way for an
// emergency. A refused task failed, but its worker did not. All three wait again. A dropped task is
// taken from its worker because it is no longer needed.
const (
	Submitted Kind = "submitted" // job
	Started   Kind = "started"   // job, task, worker, attempt
	Finished  Kind = "finished"  // job, task, worker, attempt
	Lost      Kind = "lost"      // job, task, worker, attempt
	Preempted Kind = "preempted" // job, task, worker, attempt
	Completed Kind = "completed" // job
	Failed    Kind = "failed"    // worker
	Returned  Kind = "returned"  // worker
)

// The kinds of events of a [Maker] that do not occur in a [Run].
const (
	Refused   Kind = "refused"   // job, task, worker, attempt
	Dropped   Kind = "dropped"   // job, task, worker, attempt
	GivenUp   Kind = "given up"  // job, task: not tried again
	Cancelled Kind = "cancelled" // job
	Changed   Kind = "changed"   // job
	Leaving   Kind = "leaving"   // worker: starts no more tasks
)
