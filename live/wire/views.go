package wire

// A JobState says how far a job is.
type JobState string

// The states of a job. One that is cleared is forgotten but for its name.
const (
	JobSubmitted JobState = "submitted" // its time on a logical clock has not come
	JobPresent   JobState = "present"
	JobCompleted JobState = "completed"
	JobFailures  JobState = "completed with failures"
	JobCancelled JobState = "cancelled"
	JobCleared   JobState = "cleared"
)

// A WorkerState says how a worker is ([L14], section 3.5.1: available, occupied, busy and down).
type WorkerState string

// The states of a worker.
const (
	WorkerJoining   WorkerState = "joining"   // a beat has come, no plan has it yet
	WorkerAvailable WorkerState = "available" // nothing in hand
	WorkerOccupied  WorkerState = "occupied"  // a task in hand that does not run yet
	WorkerBusy      WorkerState = "busy"      // the task runs
	WorkerSuspect   WorkerState = "suspect"   // its connection was closed, and no beat has come since
	WorkerDown      WorkerState = "down"
	WorkerDraining  WorkerState = "draining" // ends its task and takes no more
	WorkerGone      WorkerState = "gone"     // drained
)

// A JobView is a job as others see it: the value of its name in [JobsBucket]. Times are seconds since Epoch, a Unix time
// that is 0 on a logical clock; what is not known yet is not given.
type JobView struct {
	Version    int      `json:"v"`     // see [Version]
	Name       string   `json:"name"`  // of a job that is cleared no more than this and State are known
	Batch      string   `json:"batch"` // that it came with
	State      JobState `json:"state"`
	Kind       string   `json:"kind"`                  // of its tasks
	Tasks      int      `json:"tasks"`                 // in all
	Left       int      `json:"left"`                  // tasks not finished
	Failed     int      `json:"failed"`                // tasks given up
	Lost       int      `json:"lost"`                  // attempts lost with their workers, except preempted ones
	Missing    int      `json:"missing,omitempty"`     // results that the server has lost
	Hand       int      `json:"hand"`                  // workers that have a task of the job in hand
	Planned    int      `json:"planned"`               // workers planned for it
	MaxWorkers int      `json:"max_workers,omitempty"` // at a time, 0 for no limit
	Priority   float64  `json:"priority"`              // larger is more urgent
	Epoch      float64  `json:"epoch,omitempty"`       // Unix time from which times count
	Submit     float64  `json:"submit"`                // when its batch was accepted
	Deadline   *float64 `json:"deadline,omitempty"`    // nil for none
	Start      *float64 `json:"start,omitempty"`       // when its first task began
	Finish     *float64 `json:"finish,omitempty"`      // when it was done, or cancelled
}

// A WorkerView is a worker as others see it: the value of its name in [WorkersBucket].
type WorkerView struct {
	Version  int            `json:"v"`                 // see [Version]
	Name     string         `json:"name"`              // that it gave itself
	Number   int            `json:"number"`            // in the plans, from 0
	Process  string         `json:"process,omitempty"` // as in its last beat, and so are Program, Load, Memory, Disk and Facts
	Program  string         `json:"program,omitempty"` // version and processor
	State    WorkerState    `json:"state"`
	Speed    float64        `json:"speed"`             // work that it does in a second, as it declares
	Job      string         `json:"job,omitempty"`     // in hand, if Attempt is above 0
	Task     int            `json:"task"`              // of that job
	Attempt  int            `json:"attempt,omitempty"` // at that task; 0 if nothing is in hand
	Epoch    float64        `json:"epoch,omitempty"`   // Unix time from which times count
	Since    float64        `json:"since"`             // time of the begin of the task, or from which on the worker is in this state
	Heard    *float64       `json:"heard,omitempty"`   // time of the last beat
	Finished int            `json:"finished"`          // tasks
	Lost     int            `json:"lost"`              // attempts lost with the worker, except preempted ones
	Load     float64        `json:"load,omitempty"`    // average of the machine in the last minute
	Memory   int64          `json:"memory,omitempty"`  // bytes free
	Disk     int64          `json:"disk,omitempty"`    // bytes free
	Facts    map[string]any `json:"facts,omitempty"`   // about the machine
}

// A BatchView says what became of a batch: the value of its name in [BatchesBucket].
type BatchView struct {
	Version  int      `json:"v"`                  // see [Version]
	Name     string   `json:"name"`               // that it was submitted by
	Jobs     []string `json:"jobs,omitempty"`     // if it was accepted
	Refused  string   `json:"refused,omitempty"`  // why, if it was not
	Sequence uint64   `json:"sequence,omitempty"` // in PFQ_IN, of the message that was refused: a later one may be another batch
}

// A ProfileView is what was learnt of the speeds of workers at a kind of tasks: the value of the kind in [ProfilesBucket], of each
// worker that has finished some.
type ProfileView struct {
	Version int             `json:"v"`    // see [Version]
	Kind    string          `json:"kind"` // as [Run.Profile] says
	At      float64         `json:"at"`   // time
	Workers []ProfileWorker `json:"workers"`
}

// A ProfileWorker is a worker in a profile.
type ProfileWorker struct {
	Name     string  `json:"name"`     // that the worker gave itself
	Speed    float64 `json:"speed"`    // that policies are told
	Declared float64 `json:"declared"` // by the worker itself
	Tasks    int     `json:"tasks"`    // that the speed is learnt from
	Seconds  float64 `json:"seconds"`  // that one of them took on average
}

// A ClusterView is the whole at one look.
type ClusterView struct {
	Version int     `json:"v"`               // see [Version]
	Leader  string  `json:"leader"`          // manager that made the last plan; in a [Status], the one that leads
	Plan    uint64  `json:"plan"`            // number of the last plan
	Upto    uint64  `json:"upto"`            // sequence in PFQ_IN up to which the plans tell all
	Epoch   float64 `json:"epoch,omitempty"` // Unix time from which times count
	At      float64 `json:"at"`              // time of the last plan; in a [Status], of the answer
	Policy  string  `json:"policy"`          // as pfq dispatch names it
	Counts  Counts  `json:"counts"`
}

// Counts sum up what the plans say.
type Counts struct {
	Jobs      int `json:"jobs"`      // accepted, ever
	Completed int `json:"completed"` // with or without failures
	Cancelled int `json:"cancelled"` // jobs
	Cleared   int `json:"cleared"`   // jobs, which Completed and Cancelled count, too
	Tasks     int `json:"tasks"`     // accepted, ever
	Begun     int `json:"begun"`     // attempts
	Finished  int `json:"finished"`  // tasks with a result
	GivenUp   int `json:"given_up"`  // tasks that failed too often
	Failures  int `json:"failures"`  // attempts that failed, the worker being well
	Lost      int `json:"lost"`      // attempts lost with their workers
	Preempted int `json:"preempted"` // attempts that gave way to emergencies
	Late      int `json:"late"`      // results of attempts that had been taken from their workers
	Downs     int `json:"downs"`     // workers that went down
	Refused   int `json:"refused"`   // messages that were not followed

	// Damage of the store: results adopted from attempts of lost plans, reports put aside, messages
	// of PFQ_IN that vanished before any plan named them, and lost plans.
	Adopted   int    `json:"adopted,omitempty"`
	Aside     int    `json:"aside,omitempty"`
	Gone      uint64 `json:"gone,omitempty"`
	LostPlans uint64 `json:"lost_plans,omitempty"`
}
