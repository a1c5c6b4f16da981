package wire

// Version is the message format that this program writes, and the latest that it reads. The first
// version is 1.
const Version = 1

// A Batch is a list of jobs that are submitted together. Its subject is [Submit] of its name.
type Batch struct {
	Version int    `json:"v"`    // see [Version]
	Name    string `json:"name"` // unique; free again once all its jobs are cleared, or the batch is refused
	Jobs    []Job  `json:"jobs"` // 1 to [MaxJobs]

	// At is the time of submission in seconds on a logical clock, nil on the wall clock.
	At *float64 `json:"at,omitempty"`
}

// A Job is a number of independent tasks.
type Job struct {
	// unique: a name is never used again, even after its job is cleared
	Name       string    `json:"name"`
	Priority   float64   `json:"priority,omitempty"`    // >= 0; larger is more urgent
	DeadlineIn float64   `json:"deadline_in,omitempty"` // seconds after submission, 0 for none
	DeadlineAt float64   `json:"deadline_at,omitempty"` // Unix time in seconds, or logical time, 0 for none
	MaxWorkers int       `json:"max_workers,omitempty"` // 0 for no limit
	Tasks      int       `json:"tasks"`                 // 1 to [MaxTasks], numbered from 0
	Work       float64   `json:"work,omitempty"`        // work per task, in seconds on a worker of speed 1
	Works      []float64 `json:"works,omitempty"`       // work of each task, instead of Work
	Estimate   float64   `json:"estimate,omitempty"`    // work of a task that the policy assumes
	Attempts   int       `json:"attempts,omitempty"`    // failures after which a task is given up; 0 for 3
	Run        Run       `json:"run"`
}

// A Run describes what a task does.
type Run struct {
	Kind    string `json:"kind"`              // sleep, command, sweep, or a name for which workers have a handler
	Program string `json:"program,omitempty"` // command: a name in the allow-list of the worker
	// command: arguments that the allow-list leaves open; sweep: the command line
	Args   []string          `json:"args,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"` // digests of the input files, by file name
	Limit  float64           `json:"limit,omitempty"`  // seconds after which the task is stopped, 0 for none
}

// Profile returns the name under which worker speeds are learned for such tasks: the kind, and for
// a command also the program, as in command.bill.
func (r *Run) Profile() string {
	if r.Program != "" {
		return r.Kind + "." + r.Program
	}
	return r.Kind
}

// A Report is the result of a finished task. Its subject is [Order.ReportTo].
type Report struct {
	Version int     `json:"v"`                // see [Version]
	Job     string  `json:"job"`              // as in the order, like Task, Attempt and Token
	Task    int     `json:"task"`             // from 0
	Attempt int     `json:"attempt"`          // from 1, unique in the cluster
	Worker  string  `json:"worker"`           // name of the worker that writes the report
	Token   string  `json:"token"`            // must match the order: other reports are refused and removed
	At      float64 `json:"at,omitempty"`     // end of the task on a logical clock
	Seconds float64 `json:"seconds"`          // run time once the inputs were there, on the clock of the order
	Output  []byte  `json:"output,omitempty"` // up to 64 KiB
	Digest  string  `json:"digest,omitempty"` // SHA-256 of a larger output, which is in BlobStream
	Size    int64   `json:"size,omitempty"`   // bytes of the output
}

// A Failure reports that an attempt failed on a healthy worker. Its subject is [Failed].
type Failure struct {
	// As in a [Report]; a valid Token authenticates the failure.
	Version int     `json:"v"`
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	Attempt int     `json:"attempt"`
	Worker  string  `json:"worker"`
	Token   string  `json:"token"`
	At      float64 `json:"at,omitempty"`
	Seconds float64 `json:"seconds"`        // run time, 0 if the task did not start
	Exit    int     `json:"exit,omitempty"` // exit status of the program, -1 if a signal killed it; 0 if none ran
	Reason  string  `json:"reason"`         // human-readable, at most 4096 bytes
}

// A Wish is a user's request to cancel, change or clear a job, or to drain a worker. Its subject
// names the verb and the job or worker. Only a change has fields, at least one.
type Wish struct {
	Verb Verb   `json:"-"` // from the subject
	Name string `json:"-"` // name of the job or worker, from the subject

	Version  int      `json:"v"`                  // see [Version]
	Priority *float64 `json:"priority,omitempty"` // nil to keep it
	// seconds after the plan that applies the change, 0 to remove the deadline
	DeadlineIn *float64 `json:"deadline_in,omitempty"`
	// instead of DeadlineIn: Unix time in seconds, 0 to remove the deadline
	DeadlineAt *float64 `json:"deadline_at,omitempty"`
}

// A Verb is the kind of a user's request.
type Verb string

// The verbs of requests. [Wish.Name] is the name of a worker for ToDrain, and of a job otherwise.
const (
	ToCancel Verb = "cancel"
	ToChange Verb = "change"
	ToClear  Verb = "clear"
	ToDrain  Verb = "drain"
)

// A Script sets up a replay on a logical clock. The clock waits until everything that the script
// names has arrived. The workers are up from the start, and batches are submitted at their times.
// The subject is [ScriptSubject].
type Script struct {
	Version int              `json:"v"`                // see [Version]
	Batches int              `json:"batches"`          // number of batches, each with its time
	Workers []Scripted       `json:"workers"`          // numbered in this order
	Replan  float64          `json:"replan,omitempty"` // as in dispatch.Scenario
	Outages []ScriptedOutage `json:"outages,omitempty"`
}

// A Scripted is a worker in a replay.
type Scripted struct {
	Name  string  `json:"name"`  // by which its process identifies itself
	Speed float64 `json:"speed"` // work per second
}

// A ScriptedOutage takes a worker away from From to To, like a [dispatch.Outage].
type ScriptedOutage struct {
	Worker int     `json:"worker"`       // its number
	From   float64 `json:"from"`         // seconds on the logical clock, like To
	To     float64 `json:"to,omitempty"` // 0 for a worker that never returns
}

// An Order tells a worker what it should be doing now. Orders describe a state, not a change, so
// they can be repeated.
type Order struct {
	Version int `json:"v"` // see [Version]
	// number of the plan; workers ignore orders of older plans than the last one seen
	Plan    uint64  `json:"plan"`
	Process string  `json:"process"`           // the process of the worker that should follow the order
	Idle    bool    `json:"idle,omitempty"`    // do nothing, and drop any assigned task
	Job     string  `json:"job,omitempty"`     // name of the job
	Task    int     `json:"task,omitempty"`    // from 0
	Attempt int     `json:"attempt,omitempty"` // from 1, unique in the cluster
	Token   string  `json:"token,omitempty"`   // repeated in the report
	At      float64 `json:"at"`                // start time on the manager's clock
	Again   bool    `json:"again,omitempty"`   // set by earlier versions, and rejected
	// logical clock: the task ends at At + Work/speed, and the report says so
	Logical bool    `json:"logical,omitempty"`
	Work    float64 `json:"work,omitempty"` // work in seconds on a worker of speed 1; 0 if the job does not say
	Run     Run     `json:"run"`

	// A worker starts the task only while its clock, see [Beat.Clock], is below Heard + Within.
	// Until then the manager cannot have given the worker up. On a logical clock both are 0: there
	// is no limit.
	Heard  float64 `json:"heard,omitempty"`  // Clock of the last beat received from the process, 0 if none
	Within float64 `json:"within,omitempty"` // seconds of silence after which the manager gives up, 0 for no limit
}

// A Beat reports the state of a worker. It is sent periodically, and immediately after each change.
type Beat struct {
	Version int     `json:"v"`                 // see [Version]
	Worker  string  `json:"worker"`            // name of the sender
	Process string  `json:"process"`           // random, different for each process
	Speed   float64 `json:"speed"`             // work per second, as declared
	Program string  `json:"program"`           // version and platform, such as "1.2.0 linux/amd64"
	Leaving bool    `json:"leaving,omitempty"` // the worker takes no more tasks
	Plan    uint64  `json:"plan"`              // number of the plan of the last order that it followed
	Clock   float64 `json:"clock,omitempty"`   // seconds between the start of the process and this beat
	Job     string  `json:"job,omitempty"`     // job of the assigned task, if Token is not empty
	Task    int     `json:"task,omitempty"`    // from 0
	Attempt int     `json:"attempt,omitempty"` // as in the order
	Token   string  `json:"token,omitempty"`   // from the order
	Running bool    `json:"running,omitempty"` // the inputs are there and the task runs
	// load average of the last minute; 0 if unknown, like Memory and Disk
	Load   float64        `json:"load,omitempty"`
	Memory int64          `json:"memory,omitempty"` // bytes free
	Disk   int64          `json:"disk,omitempty"`   // bytes free
	Facts  map[string]any `json:"facts,omitempty"`  // about the machine: strings, numbers, booleans
}
