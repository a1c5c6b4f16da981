package wire

// Version is the form of messages that this program writes.
const Version = 1

// A Batch is a list of jobs that are submitted together, at one moment. Its subject is [Submit] of its name.
type Batch struct {
	Version int    `json:"v"`
	Name    string `json:"name"`
	Jobs    []Job  `json:"jobs"`

	// At is the time of submission on a logical clock, seconds; not given on the wall clock.
	At *float64 `json:"at,omitempty"`
}

// A Job is a number of independent tasks.
type Job struct {
	Name       string    `json:"name"` // of its own: a name is never used again, not even after the job is cleared
	Priority   float64   `json:"priority,omitempty"`
	DeadlineIn float64   `json:"deadline_in,omitempty"` // seconds after submission, 0 for none
	DeadlineAt float64   `json:"deadline_at,omitempty"` // Unix time in seconds, or logical time, 0 for none
	MaxWorkers int       `json:"max_workers,omitempty"` // 0 for no limit
	Tasks      int       `json:"tasks"`
	Work       float64   `json:"work,omitempty"`     // of each task, seconds on a worker of speed 1
	Works      []float64 `json:"works,omitempty"`    // instead of Work
	Estimate   float64   `json:"estimate,omitempty"` // what the policy takes for the work of a task
	Attempts   int       `json:"attempts,omitempty"` // after which a task that fails is given up; 0 for 3
	Run        Run       `json:"run"`
}

// A Run says what a task does.
type Run struct {
	Kind    string            `json:"kind"`              // sleep, command, sweep, or a name that workers have a handler for
	Program string            `json:"program,omitempty"` // command: a name in the allow-list of the worker
	Args    []string          `json:"args,omitempty"`    // command: what the allow-list leaves open; sweep: the command line
	Inputs  map[string]string `json:"inputs,omitempty"`  // names of files and the digests of their contents
	Limit   float64           `json:"limit,omitempty"`   // seconds after which the task is ended, 0 for none
}

// Profile returns the name under which the speeds of workers at tasks that do this are learnt: the kind, and of a command also the
// program, as in command.bill.
func (r *Run) Profile() string {
	if r.Program != "" {
		return r.Kind + "." + r.Program
	}
	return r.Kind
}

// A Report says that a task is done: it is the result. Its subject is [Order.ReportTo].
type Report struct {
	Version int     `json:"v"`
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	Attempt int     `json:"attempt"`
	Worker  string  `json:"worker"`
	Token   string  `json:"token"`            // of the order
	At      float64 `json:"at,omitempty"`     // on a logical clock, when the task ended
	Seconds float64 `json:"seconds"`          // that it took
	Output  []byte  `json:"output,omitempty"` // up to 64 KiB
	Digest  string  `json:"digest,omitempty"` // of a larger output, which is in BlobStream
	Size    int64   `json:"size,omitempty"`   // of the output, bytes
}

// A Failure says that an attempt at a task failed, the worker being well. Its subject is [Failed].
type Failure struct {
	Version int     `json:"v"`
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	Attempt int     `json:"attempt"`
	Worker  string  `json:"worker"`
	Token   string  `json:"token"`
	At      float64 `json:"at,omitempty"`
	Seconds float64 `json:"seconds"`
	Exit    int     `json:"exit,omitempty"`
	Reason  string  `json:"reason"`
}

// A Wish is what a user asks of a job or a worker: its subject says which, and what: to cancel, change or clear a job, to
// drain a worker. Only a change has fields, at least one.
type Wish struct {
	Verb Verb   `json:"-"` // as the subject says
	Name string `json:"-"` // of the job or the worker, likewise

	Version    int      `json:"v"`
	Priority   *float64 `json:"priority,omitempty"`
	DeadlineIn *float64 `json:"deadline_in,omitempty"`
	DeadlineAt *float64 `json:"deadline_at,omitempty"`
}

// A Verb says what a user asks.
type Verb string

// What users ask. [Wish.Name] is that of a job, or of a worker to drain.
const (
	ToCancel Verb = "cancel"
	ToChange Verb = "change"
	ToClear  Verb = "clear"
	ToDrain  Verb = "drain"
)

// A Script sets up a replay on a logical clock, which stands until all that it names is there: its workers are up from the
// beginning, batches are submitted at their times. Its subject is [ScriptSubject].
type Script struct {
	Version int              `json:"v"`
	Batches int              `json:"batches"`          // submitted in all, each with its time
	Workers []Scripted       `json:"workers"`          // numbered in this order
	Replan  float64          `json:"replan,omitempty"` // as in dispatch.Scenario
	Outages []ScriptedOutage `json:"outages,omitempty"`
}

// A Scripted is a worker of a replay.
type Scripted struct {
	Name  string  `json:"name"`
	Speed float64 `json:"speed"`
}

// A ScriptedOutage takes a worker away from From until To, as [dispatch.Outage] does.
type ScriptedOutage struct {
	Worker int     `json:"worker"` // its number
	From   float64 `json:"from"`
	To     float64 `json:"to,omitempty"` // 0: for good
}

// An Order tells a worker what to do. Orders are levels: this is what the worker should be doing now.
type Order struct {
	Version int     `json:"v"`
	Plan    uint64  `json:"plan"`           // number of the plan; a worker does not follow an older one than it has seen
	Process string  `json:"process"`        // the process of the worker that is meant
	Idle    bool    `json:"idle,omitempty"` // nothing: what it has in hand is dropped
	Job     string  `json:"job,omitempty"`
	Task    int     `json:"task,omitempty"`
	Attempt int     `json:"attempt,omitempty"`
	Token   string  `json:"token,omitempty"`   // to be repeated in the report
	At      float64 `json:"at"`                // time of the begin, on the clock of the manager
	Again   bool    `json:"again,omitempty"`   // another worker has reported a result, which is to be compared: the report has a place of its own
	Logical bool    `json:"logical,omitempty"` // the clock is logical: the task ends at At + Work/speed, and the report says so
	Work    float64 `json:"work,omitempty"`
	Run     Run     `json:"run"`
}

// A Beat tells what a worker does. It is sent all the time, and at once where something changes.
type Beat struct {
	Version int            `json:"v"`
	Worker  string         `json:"worker"`
	Process string         `json:"process"` // drawn anew by each process
	Speed   float64        `json:"speed"`
	Program string         `json:"program"`           // version and processor, such as "1.2.0 linux/amd64"
	Leaving bool           `json:"leaving,omitempty"` // it takes no more tasks
	Plan    uint64         `json:"plan"`              // of the last order that it followed
	Job     string         `json:"job,omitempty"`     // in hand, if Token is not empty
	Task    int            `json:"task,omitempty"`
	Attempt int            `json:"attempt,omitempty"`
	Token   string         `json:"token,omitempty"`
	Running bool           `json:"running,omitempty"` // the inputs are there, and the task runs
	Load    float64        `json:"load,omitempty"`
	Memory  int64          `json:"memory,omitempty"` // bytes free
	Disk    int64          `json:"disk,omitempty"`   // bytes free
	Facts   map[string]any `json:"facts,omitempty"`
}
