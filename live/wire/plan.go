package wire

import (
	"encoding/json"

	"productform/dispatch"
	"productform/dispatch/rigid"
)

// A Plan is one decision: what happened at a moment, and what follows. It is one message of PFQ_PLAN, and holds all that
// the fold needs, so that a manager of another version or policy can go on. Jobs and workers have numbers in it; NewJobs
// and NewWorkers say which names these stand for.
type Plan struct {
	Version int     `json:"v"`               // see [Version]
	Number  uint64  `json:"n"`               // 1, 2, ... without a gap
	Leader  string  `json:"leader"`          // manager that made it
	At      float64 `json:"at"`              // seconds since Epoch, or logical time; never less than in the plan before
	Epoch   float64 `json:"epoch,omitempty"` // Unix time of 0 on the clock, in the first plan; 0 on a logical clock
	Upto    uint64  `json:"upto"`            // sequence in PFQ_IN up to which all has been told

	Rules  *dispatch.Rules `json:"rules,omitempty"`  // in the first plan, and where they change: what the plan follows
	Rigid  rigid.Policy    `json:"rigid,omitzero"`   // with zero Rules: the policy under which the tasks of a job begin together
	Script *Script         `json:"script,omitempty"` // where a replay is set up

	NewJobs    []NumberedJob        `json:"jobs,omitempty"`
	NewWorkers []NumberedWorker     `json:"workers,omitempty"` // new ones, and those of a new process
	What       []dispatch.Happening `json:"what,omitempty"`    // of a job submitted without What, which is as NewJobs say
	Replan     bool                 `json:"replan,omitempty"`  // it is decided though nothing happened
	Events     []dispatch.Event     `json:"events,omitempty"`
	Tokens     []string             `json:"tokens,omitempty"` // of the tasks that begin, in the order of Events

	Cleared []int `json:"cleared,omitempty"` // jobs; their numbers are free after this plan

	// Term is set in the first plan of each manager that leads. The others are about a damaged
	// store: results accepted from attempts of lost plans, results that the server has lost, and
	// the number of messages of PFQ_IN that vanished before any plan named them.
	Term    *Term      `json:"term,omitempty"`
	Adopted []Adoption `json:"adopted,omitempty"`
	Missing []Missing  `json:"missing,omitempty"`
	Gone    uint64     `json:"gone,omitempty"`

	Refused []Refusal `json:"refused,omitempty"`
	Removed []Removal `json:"removed,omitempty"` // that have been carried out

	// Earlier versions filled these in, see [Plan.Outdated].
	Advice  json.RawMessage `json:"advice,omitempty"`
	Repeats json.RawMessage `json:"repeats,omitempty"`
	Checks  json.RawMessage `json:"checks,omitempty"`
}

// Outdated names what an earlier version used to make the plan and this one does not have, "" if there is nothing.
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

// An Adoption is a result in PFQ_IN whose attempt was begun by a plan that is lost. It becomes the
// result of the next attempt.
type Adoption struct {
	Job      int     `json:"job"`      // its number
	Task     int     `json:"task"`     // from 0
	Sequence uint64  `json:"sequence"` // sequence of the report in PFQ_IN
	Seconds  float64 `json:"seconds"`  // run time of the task
}

// Missing is the number of results of a job that the server has lost.
type Missing struct {
	Job     int `json:"job"`     // its number
	Results int `json:"results"` // finished tasks without a report in PFQ_IN
}

// A NumberedJob gives a job its number, and its times on the clock of the plans.
type NumberedJob struct {
	Number   int     `json:"number"`             // from 0, free again once the job is cleared
	Batch    string  `json:"batch"`              // that it came with
	Submit   float64 `json:"submit"`             // time of the plan, or that of the batch on a logical clock
	Deadline float64 `json:"deadline,omitempty"` // 0 for none
	Job      Job     `json:"job"`
}

// A NumberedWorker gives a worker its number, or says that a new process of it has come.
type NumberedWorker struct {
	Number  int     `json:"number"`            // from 0; that of a worker that is gone may be given again
	Name    string  `json:"name"`              // as in beats, and so are Process and Speed
	Process string  `json:"process,omitempty"` // not given in a replay
	Speed   float64 `json:"speed"`             // work that it does in a second
}

// A Refusal says what of PFQ_IN was not followed, and why.
type Refusal struct {
	Sequence uint64 `json:"sequence"`         // of the message, in PFQ_IN
	Batch    string `json:"batch,omitempty"`  // that is refused whole
	Worker   string `json:"worker,omitempty"` // that sent it
	Remove   bool   `json:"remove,omitempty"` // the message is to be deleted, since it stands where another belongs
	Aside    bool   `json:"aside,omitempty"`  // the message is copied to SnapshotStore before that: it may be genuine
	Why      string `json:"why"`              // in words, for people
}

// A Removal is something that the manager is to take out of PFQ_IN: a message, all that is about a job but the tombstone
// [Clear], or a batch. It is tried until a plan says that it was carried out.
type Removal struct {
	Sequence uint64 `json:"sequence,omitempty"` // of the message; else 0
	Aside    bool   `json:"aside,omitempty"`    // it is copied to SnapshotStore first
	Job      string `json:"job,omitempty"`      // that was cleared; else empty
	Batch    string `json:"batch,omitempty"`    // of which all jobs are cleared; else empty
}
