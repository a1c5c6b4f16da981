package wire

import (
	"cmp"

	"productform/internal/input"
)

// PolicyService is the subject on which a policy of one's own is asked by the manager that leads: the question is a [Question],
// the answer an [Answer].
func PolicyService(name string) string { return "pfq.policy." + name }

// A Question is what a policy service is asked at each moment at which something happens and there are workers that are up and
// jobs that can use them. It lists all of these, with as many entries in Speeds and About as there are such workers.
type Question struct {
	Version int     `json:"v"`               // see [Version]
	Plan    uint64  `json:"plan"`            // number of the plan that the answer is for
	Epoch   float64 `json:"epoch,omitempty"` // Unix time from which times count
	Assignment
	About []AskedWorker `json:"about"`
}

// An AskedWorker is what is known of a worker that is up.
type AskedWorker struct {
	Name   string         `json:"name"`             // that the worker gave itself
	Job    string         `json:"job,omitempty"`    // of the task in hand, which is not taken from the worker whatever the answer
	Since  float64        `json:"since,omitempty"`  // time of its begin
	Load   float64        `json:"load,omitempty"`   // average of the machine in the last minute, 0 if it is not known
	Memory int64          `json:"memory,omitempty"` // bytes free
	Disk   int64          `json:"disk,omitempty"`   // bytes free
	Facts  map[string]any `json:"facts,omitempty"`  // what the worker says of its machine, see worker.Settings
}

// An Answer is the plan of a policy service: the job of each worker, in the order of the question, null for none. A job has at most
// as many workers as it has tasks, and at most MaxWorkers. A worker that has a task in hand ends it first.
type Answer struct {
	Version int       `json:"v"`       // see [Version]
	Workers []*string `json:"workers"` // names of jobs, as many as About has entries
}

// Why a policy service did not decide.
const (
	AdviceAbsent     = "absent"     // nobody answers to the name
	AdviceLate       = "late"       // no answer came in time
	AdviceMalformed  = "malformed"  // the answer is none
	AdviceImpossible = "impossible" // it is no plan for the question
	AdviceTooLarge   = "too large"  // the question does not fit into a message, or more than 1000 jobs want workers
)

// An Advice says what came of it that a policy service was asked.
type Advice struct {
	Service string `json:"service"`          // its name
	Jobs    []int  `json:"jobs,omitempty"`   // the plan that was followed: the job of each worker that is up, in the order of their numbers, -1 for none
	Failed  string `json:"failed,omitempty"` // why there is none, so that the policy of the rules decided
}

// Check checks a question.
func (q *Question) Check() error {
	err := cmp.Or(checkVersion(q.Version),
		must(isSequence(q.Plan), "plan", q.Plan, "the number of a plan"),
		must(len(q.Jobs) <= MostListed, "jobs", len(q.Jobs), "at most 1000 jobs"),
		must(len(q.About) == len(q.Speeds), "about", len(q.About), "as many workers as speeds"))
	for i := 0; i < len(q.Jobs) && err == nil; i++ {
		err = CheckName(input.Index("jobs", i)+".name", q.Jobs[i].Name)
	}
	for i := 0; i < len(q.About) && err == nil; i++ {
		err = CheckName(input.Index("about", i)+".name", q.About[i].Name)
	}
	return err
}

// Check checks an answer; whether it is a plan for the question is for the book to say.
func (a *Answer) Check() error {
	err := cmp.Or(checkVersion(a.Version), must(len(a.Workers) <= MaxWorkers, "workers", len(a.Workers), "at most 1000 workers"))
	for i := 0; i < len(a.Workers) && err == nil; i++ {
		if a.Workers[i] != nil {
			err = CheckName(input.Index("workers", i), *a.Workers[i])
		}
	}
	return err
}

// Check checks what a plan says of a policy service.
func (a *Advice) Check() error {
	err := cmp.Or(CheckName("service", a.Service),
		must(len(a.Jobs) <= MaxWorkers, "jobs", len(a.Jobs), "at most 1000 jobs"),
		must(isText(a.Failed), "failed", a.Failed, wantText),
		must((a.Failed == "") == (len(a.Jobs) > 0), "failed", a.Failed, "a reason, or else a plan"))
	for i := 0; i < len(a.Jobs) && err == nil; i++ {
		err = must(a.Jobs[i] == -1 || isNumber(a.Jobs[i]), input.Index("jobs", i), a.Jobs[i], "a number, -1 to 1073741823")
	}
	return err
}
