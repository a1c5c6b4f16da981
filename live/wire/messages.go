package wire

// Version is the form of messages that this program writes, and the latest that it reads: 1 is the first.
const Version = 1

// A Batch is a list of jobs that are submitted together, at one moment. Its subject is [Submit] of its name.
type Batch struct {
	Version int    `json:"v"`    // see [Version]
	Name    string `json:"name"` // of its own; free again once all its jobs are cleared, or the batch is refused
	Jobs    []Job  `json:"jobs"` // 1 to [MaxJobs]

	// At is the time of submission on a logical clock, seconds; not given on the wall clock.
	At *float64 `json:"at,omitempty"`
}

// A Job is a number of independent tasks.
type Job struct {
	Name       string    `json:"name"`                  // of its own: a name is never used again, not even after the job is cleared
	Priority   float64   `json:"priority,omitempty"`    // >= 0; larger is more urgent
	DeadlineIn float64   `json:"deadline_in,omitempty"` // seconds after submission, 0 for none
	DeadlineAt float64   `json:"deadline_at,omitempty"` // Unix time in seconds, or logical time, 0 for none
	MaxWorkers int       `json:"max_workers,omitempty"` // 0 for no limit
	Tasks      int       `json:"tasks"`                 // 1 to [MaxTasks], numbered from 0
	Work       float64   `json:"work,omitempty"`        // of each task, seconds on a worker of speed 1
	Works      []float64 `json:"works,omitempty"`       // instead of Work
	Estimate   float64   `json:"estimate,omitempty"`    // what the policy takes for the work of a task
	Attempts   int       `json:"attempts,omitempty"`    // after which a task that fails is given up; 0 for 3
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
	Version int     `json:"v"`                // see [Version]
	Job     string  `json:"job"`              // as the order says, and so are Task, Attempt and Token
	Task    int     `json:"task"`             // from 0
	Attempt int     `json:"attempt"`          // from 1, among all attempts of the cluster
	Worker  string  `json:"worker"`           // that writes it
	Token   string  `json:"token"`            // a report with another one is refused, and removed
	At      float64 `json:"at,omitempty"`     // on a logical clock, when the task ended
	Seconds float64 `json:"seconds"`          // that it ran once its inputs were there, on the clock of the order
	Output  []byte  `json:"output,omitempty"` // up to 64 KiB
	Digest  string  `json:"digest,omitempty"` // of a larger output, which is in BlobStream
	Size    int64   `json:"size,omitempty"`   // of the output, bytes
}

// A Failure says that an attempt at a task failed, the worker being well. Its subject is [Failed].
type Failure struct {
	// As in a [Report], by whose Token it is believed.
	Version int     `json:"v"`
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	Attempt int     `json:"attempt"`
	Worker  string  `json:"worker"`
	Token   string  `json:"token"`
	At      float64 `json:"at,omitempty"`
	Seconds float64 `json:"seconds"`        // that it ran, 0 if it did not begin
	Exit    int     `json:"exit,omitempty"` // status of a program, -1 if a signal ended it; 0 if none ran
	Reason  string  `json:"reason"`         // in words, at most 4096 bytes
}

// A Wish is what a user asks of a job or a worker: its subject says which, and what: to cancel, change or clear a job, to
// drain a worker. Only a change has fields, at least one.
type Wish struct {
	Verb Verb   `json:"-"` // as the subject says
	Name string `json:"-"` // of the job or the worker, likewise

	Version    int      `json:"v"`                     // see [Version]
	Priority   *float64 `json:"priority,omitempty"`    // nil to leave it as it is
	DeadlineIn *float64 `json:"deadline_in,omitempty"` // seconds after the plan that follows the wish, 0 for no deadline any more
	DeadlineAt *float64 `json:"deadline_at,omitempty"` // in place of DeadlineIn: Unix time in seconds, likewise
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
	Version int              `json:"v"`                // see [Version]
	Batches int              `json:"batches"`          // submitted in all, each with its time
	Workers []Scripted       `json:"workers"`          // numbered in this order
	Replan  float64          `json:"replan,omitempty"` // as in dispatch.Scenario
	Outages []ScriptedOutage `json:"outages,omitempty"`
}

// A Scripted is a worker of a replay.
type Scripted struct {
	Name  string  `json:"name"`  // by which its process says who it is
	Speed float64 `json:"speed"` // work that it does in a second
}

// A ScriptedOutage takes a worker away from From until To, as [dispatch.Outage] does.
type ScriptedOutage struct {
	Worker int     `json:"worker"`       // its number
	From   float64 `json:"from"`         // seconds on the logical clock, as To
	To     float64 `json:"to,omitempty"` // 0: for good
}

// An Order tells a worker what to do. Orders are levels: this is what the worker should be doing now.
type Order struct {
	Version int     `json:"v"`                 // see [Version]
	Plan    uint64  `json:"plan"`              // number of the plan; a worker does not follow an older one than it has seen
	Process string  `json:"process"`           // the process of the worker that is meant
	Idle    bool    `json:"idle,omitempty"`    // nothing: what it has in hand is dropped
	Job     string  `json:"job,omitempty"`     // that the task is of
	Task    int     `json:"task,omitempty"`    // from 0
	Attempt int     `json:"attempt,omitempty"` // from 1, among all attempts of the cluster
	Token   string  `json:"token,omitempty"`   // to be repeated in the report
	At      float64 `json:"at"`                // time of the begin, on the clock of the manager
	Again   bool    `json:"again,omitempty"`   // set by earlier versions, and refused
	Logical bool    `json:"logical,omitempty"` // the clock is logical: the task ends at At + Work/speed, and the report says so
	Work    float64 `json:"work,omitempty"`    // of the task, seconds on a worker of speed 1; 0 if the job does not say
	Run     Run     `json:"run"`

	// A worker starts the task only while its clock, see [Beat.Clock], is below Heard + Within. The
	// manager cannot have given the worker up by then. On a logical clock both are 0: there is no
	// limit.
	Heard  float64 `json:"heard,omitempty"`  // Clock of the last beat received from the process, 0 if none
	Within float64 `json:"within,omitempty"` // seconds of silence until the manager gives up, 0 for no limit
}

// A Beat tells what a worker does. It is sent all the time, and at once where something changes.
type Beat struct {
	Version int            `json:"v"`                 // see [Version]
	Worker  string         `json:"worker"`            // that sends it
	Process string         `json:"process"`           // drawn anew by each process
	Speed   float64        `json:"speed"`             // work that it does in a second, as it declares
	Program string         `json:"program"`           // version and processor, such as "1.2.0 linux/amd64"
	Leaving bool           `json:"leaving,omitempty"` // it takes no more tasks
	Plan    uint64         `json:"plan"`              // of the last order that it followed
	Clock   float64        `json:"clock,omitempty"`   // seconds from the start of the process until the beat was made
	Job     string         `json:"job,omitempty"`     // in hand, if Token is not empty
	Task    int            `json:"task,omitempty"`    // from 0
	Attempt int            `json:"attempt,omitempty"` // as in the order
	Token   string         `json:"token,omitempty"`   // of the order
	Running bool           `json:"running,omitempty"` // the inputs are there, and the task runs
	Load    float64        `json:"load,omitempty"`    // average of the machine in the last minute; 0 if it is not known, as Memory and Disk are
	Memory  int64          `json:"memory,omitempty"`  // bytes free
	Disk    int64          `json:"disk,omitempty"`    // bytes free
	Facts   map[string]any `json:"facts,omitempty"`   // about the machine: texts, numbers, truths
}
