package wire

// DamageCode is the code of the error that services answer with while no manager leads because the
// store is damaged.
const DamageCode = "503"

// The services that the manager which leads answers on: a request to one of these subjects gets one answer.
const (
	StatusService  = "pfq.api.status"  // no question; the answer is a [Status]
	HistoryService = "pfq.api.history" // the question is the name of a job, or empty; the answer is a [History]
	ReportService  = "pfq.api.report"  // no question; the answer is a dispatch.Result, of the jobs that are done
	AssignService  = "pfq.api.plan"    // the question is an [Assignment] without its answer, to the policy alone
)

// A Status is how the cluster stands. It lists at most [MostListed] jobs: those that are present, the most urgent first,
// then those that ended last. Workers are in the order of their names.
type Status struct {
	Version   int          `json:"v"` // see [Version]
	Cluster   ClusterView  `json:"cluster"`
	Leading   float64      `json:"leading"`   // time since which this manager leads; Resent and Malformed count from then on
	Resent    int          `json:"resent"`    // orders sent again, since the beats of a worker differed
	Malformed int          `json:"malformed"` // messages that could not be read
	Jobs      []JobView    `json:"jobs"`
	Workers   []WorkerView `json:"workers"`
}

// MostListed is the number of jobs that a [Status] lists.
const MostListed = 1000

// A History is what a manager saw of late, since it leads. Times are seconds since the epoch of the plans.
type History struct {
	Version   int        `json:"v"`         // see [Version]
	Now       float64    `json:"now"`       // time of the answer
	Decisions []Decision `json:"decisions"` // the last ones, the latest first
	Spans     []Span     `json:"spans"`     // in the order in which they began
	Curve     []Point    `json:"curve"`     // of the job asked for
}

// A Decision is a line of the log of decisions.
type Decision struct {
	Plan uint64  `json:"plan"` // its number
	At   float64 `json:"at"`   // its time
	What string  `json:"what"` // in words, of a large plan the first events only
}

// A Span is a time during which a worker had a task in hand.
type Span struct {
	Worker  string   `json:"worker"`  // its name
	Job     string   `json:"job"`     // likewise
	Task    int      `json:"task"`    // from 0
	Attempt int      `json:"attempt"` // from 1, among all attempts of the cluster
	From    float64  `json:"from"`    // time
	To      *float64 `json:"to"`      // time, nil while it has
	How     string   `json:"how"`     // it ended: finished, lost, preempted, refused, dropped; empty while it has not
}

// A Point is how many workers a job has from a time on ([L14], Figure 6.1).
type Point struct {
	At      float64 `json:"at"`      // time, until that of the next point
	Planned int     `json:"planned"` // workers planned for it
	Hand    int     `json:"hand"`    // workers that have a task of it in hand
}

// An Assignment is a question to a policy without the rest of the system, and its answer.
type Assignment struct {
	Policy string     `json:"policy"` // as pfq dispatch names them
	Now    float64    `json:"now"`    // time, on the clock of the deadlines
	Jobs   []AskedJob `json:"jobs"`   // those that can use a worker
	Speeds []float64  `json:"speeds"` // of the workers that are up

	// Profiles are the speeds of the workers at kinds of tasks, of jobs that have none of their own.
	Profiles map[string][]float64 `json:"profiles,omitempty"`

	Workers []*string `json:"workers,omitempty"` // the answer: the job of each worker, null for none
}

// An AskedJob is what a policy looks at.
type AskedJob struct {
	Name       string    `json:"name"`                  // by which the answer names it
	Priority   float64   `json:"priority,omitempty"`    // larger is more urgent
	Deadline   float64   `json:"deadline,omitempty"`    // time, 0 for none
	Tasks      int       `json:"tasks"`                 // not finished
	Work       float64   `json:"work"`                  // of all of these, seconds on a worker of speed 1
	MaxWorkers int       `json:"max_workers,omitempty"` // at a time, 0 for no limit
	Speeds     []float64 `json:"speeds,omitempty"`      // of the workers at this job, if they are others

	Kind string `json:"kind,omitempty"` // of its tasks, as in Profiles
}
