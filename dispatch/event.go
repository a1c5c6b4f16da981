package dispatch

// An Event is something that happened in a cluster, or that its decision maker decided.
type Event struct {
	Kind Kind `json:"kind"`

	// Job, Task and Worker are numbers from 0, -1 where they do not apply.
	Job    int `json:"job,omitempty"`
	Task   int `json:"task,omitempty"`
	Worker int `json:"worker,omitempty"`

	// Attempt tells the executions of tasks apart: they are numbered from 1 in the order in which they begin. 0 where it
	// does not apply.
	Attempt int `json:"attempt,omitempty"`
}

// A Kind says what happens.
type Kind string

// The kinds of events. A task that is lost has failed with its worker; one that is preempted gave way to an emergency;
// one that is refused failed while its worker did not. All these wait again. One that is dropped is taken from its worker
// since nobody needs it any more.
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
	GivenUp   Kind = "given up"  // job, task: it will not be tried again
	Cancelled Kind = "cancelled" // job
	Changed   Kind = "changed"   // job
	Leaving   Kind = "leaving"   // worker: it begins no more tasks
)
