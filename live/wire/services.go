package wire

// DamageCode is the error code of all services while no manager leads because the store is damaged.
const DamageCode = "503"

// The services of the leading manager. It answers each request to one of these subjects once.
const (
	StatusService  = "pfq.api.status"  // empty request; the reply is a [Status]
	HistoryService = "pfq.api.history" // the request is the name of a job, or empty; the reply is a [History]
	ReportService  = "pfq.api.report"  // empty request; the reply is a dispatch.Result of the finished jobs
	AssignService  = "pfq.api.plan"    // the request is an [Assignment] without its answer, for the policy alone
)

// A Status is the state of the cluster. It lists at most [MostListed] jobs: first the unfinished
// ones, the most urgent first, then those that finished last. Workers are sorted by name.
type Status struct {
	Version int         `json:"v"` // see [Version]
	Cluster ClusterView `json:"cluster"`
	// time since which this manager leads; Resent and Malformed start at 0 then
	Leading   float64      `json:"leading"`
	Resent    int          `json:"resent"`    // orders repeated because a worker's beats differed from them
	Malformed int          `json:"malformed"` // messages that could not be read
	Jobs      []JobView    `json:"jobs"`
	Workers   []WorkerView `json:"workers"`
}

// MostListed is the maximum number of jobs in a [Status].
const MostListed = 1000

// A History lists recent events since the manager began to lead. Times are seconds since the epoch
// of the plans.
type History struct {
	Version   int        `json:"v"`         // see [Version]
	Now       float64    `json:"now"`       // time of the reply
	Decisions []Decision `json:"decisions"` // the last ones, latest first
	Spans     []Span     `json:"spans"`     // ordered by start
	Curve     []Point    `json:"curve"`     // the workers of the requested job
}

// A Decision is one line of the decision log.
type Decision struct {
	Plan uint64  `json:"plan"` // number of the plan
	At   float64 `json:"at"`   // time of the plan
	What string  `json:"what"` // human-readable; a large plan is shortened to its first events
}

// A Span is a time during which a task was assigned to a worker.
type Span struct {
	Worker  string   `json:"worker"`  // name of the worker
	Job     string   `json:"job"`     // name of the job
	Task    int      `json:"task"`    // from 0
	Attempt int      `json:"attempt"` // from 1, unique in the cluster
	From    float64  `json:"from"`    // start time
	To      *float64 `json:"to"`      // end time, nil while the task is assigned
	How     string   `json:"how"`     // how it ended: finished, lost, preempted, refused, dropped; empty until then
}

// A Point counts the workers of a job from a time on ([L14], Figure 6.1).
type Point struct {
	At      float64 `json:"at"`      // time; the counts hold until the next point
	Planned int     `json:"planned"` // workers planned for the job
	Hand    int     `json:"hand"`    // workers with a task of the job
}

// An Assignment is a request to the policy alone, without the rest of the system, and the answer.
type Assignment struct {
	Policy string     `json:"policy"` // name of the policy, as in pfq dispatch
	Now    float64    `json:"now"`    // time, on the clock of the deadlines
	Jobs   []AskedJob `json:"jobs"`   // jobs that can use a worker
	Speeds []float64  `json:"speeds"` // speeds of the workers that are up

	// Profiles are the speeds of the workers by kind of task, for jobs without Speeds.
	Profiles map[string][]float64 `json:"profiles,omitempty"`

	Workers []*string `json:"workers,omitempty"` // the answer: the job of each worker, null for none
}

// An AskedJob describes a job to the policy.
type AskedJob struct {
	Name       string  `json:"name"`                  // used in the answer
	Priority   float64 `json:"priority,omitempty"`    // larger is more urgent
	Deadline   float64 `json:"deadline,omitempty"`    // time, 0 for none
	Tasks      int     `json:"tasks"`                 // unfinished tasks
	Work       float64 `json:"work"`                  // total of the unfinished tasks, seconds on a worker of speed 1
	MaxWorkers int     `json:"max_workers,omitempty"` // limit at any time, 0 for no limit
	// speeds of the workers at this job, if they differ from Assignment.Speeds
	Speeds []float64 `json:"speeds,omitempty"`

	Kind string `json:"kind,omitempty"` // kind of the tasks, as in Profiles
}
