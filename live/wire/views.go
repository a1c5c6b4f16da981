package wire

// A JobState is the progress of a job.
type JobState string

// The states of a job. Only the name of a cleared job is kept.
const (
	JobSubmitted JobState = "submitted" // its time on a logical clock has not come
	JobPresent   JobState = "present"
	JobCompleted JobState = "completed"
	JobFailures  JobState = "completed with failures"
	JobCancelled JobState = "cancelled"
	JobCleared   JobState = "cleared"
)

// A WorkerState is the state of a worker ([L14], section 3.5.1: available, occupied, busy and
// down).
type WorkerState string

// The states of a worker.
const (
	WorkerJoining   WorkerState = "joining"   // a beat has arrived, but no plan names it yet
	WorkerAvailable WorkerState = "available" // no task assigned
	WorkerOccupied  WorkerState = "occupied"  // the assigned task does not run yet
	WorkerBusy      WorkerState = "busy"      // the task runs
	WorkerSuspect   WorkerState = "suspect"   // its connection was closed, and no beat has arrived since
	WorkerDown      WorkerState = "down"
	WorkerDraining  WorkerState = "draining" // finishes its task and takes no more
	WorkerGone      WorkerState = "gone"     // drained
)

// A JobView is the public state of a job, stored under its name in [JobsBucket]. Times are seconds
// since Epoch, a Unix time that is 0 on a logical clock. Unknown values are omitted.
type JobView struct {
	Version    int      `json:"v"`     // see [Version]
	Name       string   `json:"name"`  // only Name and State are known after clearing
	Batch      string   `json:"batch"` // name of its batch
	State      JobState `json:"state"`
	Kind       string   `json:"kind"`                  // kind of its tasks
	Tasks      int      `json:"tasks"`                 // total
	Left       int      `json:"left"`                  // unfinished tasks
	Failed     int      `json:"failed"`                // tasks given up
	Lost       int      `json:"lost"`                  // attempts lost with their workers, except preempted ones
	Missing    int      `json:"missing,omitempty"`     // results that the server has lost
	Hand       int      `json:"hand"`                  // workers with a task of the job
	Planned    int      `json:"planned"`               // workers planned for it
	MaxWorkers int      `json:"max_workers,omitempty"` // limit at any time, 0 for no limit
	Priority   float64  `json:"priority"`              // larger is more urgent
	Epoch      float64  `json:"epoch,omitempty"`       // Unix time at which times are 0
	Submit     float64  `json:"submit"`                // when its batch was accepted
	Deadline   *float64 `json:"deadline,omitempty"`    // nil for none
	Start      *float64 `json:"start,omitempty"`       // when its first task began
	Finish     *float64 `json:"finish,omitempty"`      // when it finished or was cancelled
}

// A WorkerView is the public state of a worker, stored under its name in [WorkersBucket].
type WorkerView struct {
	Version int    `json:"v"`      // see [Version]
	Name    string `json:"name"`   // chosen by the worker
	Number  int    `json:"number"` // in the plans, from 0
	// as in its last beat, like Program, Load, Memory, Disk and Facts
	Process  string         `json:"process,omitempty"`
	Program  string         `json:"program,omitempty"` // version and platform
	State    WorkerState    `json:"state"`
	Speed    float64        `json:"speed"`             // work per second, as declared
	Job      string         `json:"job,omitempty"`     // job of the assigned task, if Attempt is above 0
	Task     int            `json:"task"`              // number of the assigned task
	Attempt  int            `json:"attempt,omitempty"` // number of the attempt; 0 if no task is assigned
	Epoch    float64        `json:"epoch,omitempty"`   // Unix time at which times are 0
	Since    float64        `json:"since"`             // start of the task, or of this state
	Heard    *float64       `json:"heard,omitempty"`   // time of the last beat
	Finished int            `json:"finished"`          // tasks
	Lost     int            `json:"lost"`              // attempts lost with the worker, except preempted ones
	Load     float64        `json:"load,omitempty"`    // average of the machine in the last minute
	Memory   int64          `json:"memory,omitempty"`  // bytes free
	Disk     int64          `json:"disk,omitempty"`    // bytes free
	Facts    map[string]any `json:"facts,omitempty"`   // about the machine
}

// A BatchView is the outcome of a batch, stored under its name in [BatchesBucket].
type BatchView struct {
	Version int      `json:"v"`                 // see [Version]
	Name    string   `json:"name"`              // name under which it was submitted
	Jobs    []string `json:"jobs,omitempty"`    // if it was accepted
	Refused string   `json:"refused,omitempty"` // reason, if it was refused
	// sequence of the refused message in PFQ_IN; later ones may be other batches
	Sequence uint64 `json:"sequence,omitempty"`
}

// A ProfileView holds the speeds learned for a kind of task, stored under the kind in
// [ProfilesBucket]. It lists each worker that has finished such tasks.
type ProfileView struct {
	Version int             `json:"v"`    // see [Version]
	Kind    string          `json:"kind"` // see [Run.Profile]
	At      float64         `json:"at"`   // time
	Workers []ProfileWorker `json:"workers"`
}

// A ProfileWorker is a worker in a profile.
type ProfileWorker struct {
	Name     string  `json:"name"`     // chosen by the worker
	Speed    float64 `json:"speed"`    // as reported to policies
	Declared float64 `json:"declared"` // as declared by the worker
	Tasks    int     `json:"tasks"`    // number of tasks measured
	Seconds  float64 `json:"seconds"`  // average run time of a task
}

// A ClusterView summarizes the cluster.
type ClusterView struct {
	Version int `json:"v"` // see [Version]
	// name of the manager that made the last plan; in a [Status], of the leader
	Leader string  `json:"leader"`
	Plan   uint64  `json:"plan"`            // number of the last plan
	Upto   uint64  `json:"upto"`            // sequence in PFQ_IN up to which the plans cover all messages
	Epoch  float64 `json:"epoch,omitempty"` // Unix time at which times are 0
	At     float64 `json:"at"`              // time of the last plan; in a [Status], of the reply
	Policy string  `json:"policy"`          // name of the policy, as in pfq dispatch
	Counts Counts  `json:"counts"`
}

// Counts are totals over all plans.
type Counts struct {
	Jobs      int `json:"jobs"`      // accepted so far
	Completed int `json:"completed"` // with or without failures
	Cancelled int `json:"cancelled"` // jobs
	Cleared   int `json:"cleared"`   // jobs, also counted in Completed or Cancelled
	Tasks     int `json:"tasks"`     // accepted so far
	Begun     int `json:"begun"`     // attempts
	Finished  int `json:"finished"`  // tasks with a result
	GivenUp   int `json:"given_up"`  // tasks with too many failures
	Failures  int `json:"failures"`  // attempts that failed on healthy workers
	Lost      int `json:"lost"`      // attempts lost with their workers
	Preempted int `json:"preempted"` // attempts preempted by emergencies
	Late      int `json:"late"`      // results of attempts that had been taken from their workers
	Downs     int `json:"downs"`     // failures of workers
	Refused   int `json:"refused"`   // messages not followed

	// Damage of the store: results adopted from attempts of lost plans, reports put aside, messages
	// of PFQ_IN that vanished before any plan named them, and lost plans.
	Adopted   int    `json:"adopted,omitempty"`
	Aside     int    `json:"aside,omitempty"`
	Gone      uint64 `json:"gone,omitempty"`
	LostPlans uint64 `json:"lost_plans,omitempty"`
}
