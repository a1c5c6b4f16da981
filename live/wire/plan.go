package wire

import (
	"encoding/json"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// A Plan is one decision: what happened at a moment, and what follows from it. It is one message of
// PFQ_PLAN and holds everything needed to fold it, so a manager of another version or policy can
// continue from it. Jobs and workers appear by number; NewJobs and NewWorkers map these numbers to
// names.
type Plan struct {
	Version int     `json:"v"`               // see [Version]
	Number  uint64  `json:"n"`               // 1, 2, ... without a gap
	Leader  string  `json:"leader"`          // name of the manager that made it
	At      float64 `json:"at"`              // seconds since Epoch, or logical time; never decreases
	Epoch   float64 `json:"epoch,omitempty"` // Unix time of 0 on the clock, in the first plan; 0 on a logical clock
	Upto    uint64  `json:"upto"`            // sequence in PFQ_IN up to which all messages are processed

	// the rules that the plan follows; in the first plan and after each change
	Rules *dispatch.Rules `json:"rules,omitempty"`
	// with zero Rules: the policy that starts all tasks of a job together
	Rigid  rigid.Policy `json:"rigid,omitzero"`
	Script *Script      `json:"script,omitempty"` // sets up a replay

	NewJobs    []NumberedJob    `json:"jobs,omitempty"`
	NewWorkers []NumberedWorker `json:"workers,omitempty"` // new workers, and new processes of known ones
	// without the What of submitted jobs, which follows from NewJobs
	What   []dispatch.Happening `json:"what,omitempty"`
	Replan bool                 `json:"replan,omitempty"` // a decision was made although nothing happened
	Events []dispatch.Event     `json:"events,omitempty"`
	Tokens []string             `json:"tokens,omitempty"` // tokens of the starting tasks, in the order of Events

	Cleared []int `json:"cleared,omitempty"` // numbers of jobs, free again after this plan

	// Term is set in the first plan of each manager that leads. The other fields are about a
	// damaged store: results accepted from attempts of lost plans, results that the server has
	// lost, and the number of messages of PFQ_IN that vanished before any plan named them.
	Term    *Term      `json:"term,omitempty"`
	Adopted []Adoption `json:"adopted,omitempty"`
	Missing []Missing  `json:"missing,omitempty"`
	Gone    uint64     `json:"gone,omitempty"`

	Refused []Refusal `json:"refused,omitempty"`
	Removed []Removal `json:"removed,omitempty"` // removals that are done

	// Set by earlier versions, see [Plan.Outdated].
	Advice  json.RawMessage `json:"advice,omitempty"`
	Repeats json.RawMessage `json:"repeats,omitempty"`
	Checks  json.RawMessage `json:"checks,omitempty"`
}

// Outdated names the feature of an earlier version that made the plan and that this version lacks.
// It returns "" if there is none.
func (p *Plan) Outdated() string {
	switch {
	case p.Advice != nil:
		return "a policy service"
	case p.Repeats != nil || p.Checks != nil:
		return "tasks that run twice"
	}
	return ""
}

// A Term identifies the plans of one manager from when it starts to lead until it stops. Tokens
// name the term and the plan that issued them, so a report shows whether the log still has its
// plan.
type Term struct {
	ID   string `json:"id"`             // random
	Key  string `json:"key"`            // authenticates tokens, see [Token]
	From uint64 `json:"from,omitempty"` // tokens of messages in PFQ_IN up to this sequence may be older than the key
}

// An Adoption is a result in PFQ_IN whose attempt was started by a lost plan. It becomes the result
// of the next attempt.
type Adoption struct {
	Job      int     `json:"job"`      // its number
	Task     int     `json:"task"`     // from 0
	Sequence uint64  `json:"sequence"` // sequence of the report in PFQ_IN
	Seconds  float64 `json:"seconds"`  // run time of the task
}

// Missing counts the results of a job that the server has lost.
type Missing struct {
	Job     int `json:"job"`     // its number
	Results int `json:"results"` // finished tasks without a report in PFQ_IN
}

// A NumberedJob assigns a job its number, and its times on the clock of the plans.
type NumberedJob struct {
	Number   int     `json:"number"`             // from 0, free again once the job is cleared
	Batch    string  `json:"batch"`              // name of its batch
	Submit   float64 `json:"submit"`             // time of the plan, or of the batch on a logical clock
	Deadline float64 `json:"deadline,omitempty"` // 0 for none
	Job      Job     `json:"job"`
}

// A NumberedWorker assigns a worker its number, or reports that it has a new process.
type NumberedWorker struct {
	Number  int     `json:"number"`            // from 0; numbers of workers that are gone are reused
	Name    string  `json:"name"`              // as in beats, like Process and Speed
	Process string  `json:"process,omitempty"` // empty in a replay
	Speed   float64 `json:"speed"`             // work per second
}

// A Refusal explains why a message of PFQ_IN was not followed.
type Refusal struct {
	Sequence uint64 `json:"sequence"`         // sequence of the message in PFQ_IN
	Batch    string `json:"batch,omitempty"`  // name of the refused batch
	Worker   string `json:"worker,omitempty"` // name of the sender
	Remove   bool   `json:"remove,omitempty"` // delete the message: it occupies the subject of another one
	Aside    bool   `json:"aside,omitempty"`  // copy the message to SnapshotStore before that: it may be genuine
	Why      string `json:"why"`              // human-readable
}

// A Removal names what the manager must delete from PFQ_IN: a message, a batch, or everything about
// a job except its tombstone [Clear]. It is retried until a plan says that it is done.
type Removal struct {
	Sequence uint64 `json:"sequence,omitempty"` // sequence of the message, otherwise 0
	Aside    bool   `json:"aside,omitempty"`    // copy the message to SnapshotStore first
	Job      string `json:"job,omitempty"`      // name of the cleared job, otherwise empty
	Batch    string `json:"batch,omitempty"`    // name of a batch whose jobs are all cleared, otherwise empty
}
