package book

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/live/wire"
)

// A state is the content of a snapshot: everything that follows from the plans.
type state struct {
	Number   uint64            `json:"n"`
	Upto     uint64            `json:"upto"`
	Leader   string            `json:"leader"`
	At       float64           `json:"at"`
	Epoch    float64           `json:"epoch"`
	Decided  float64           `json:"decided"`
	Rules    dispatch.Rules    `json:"rules"`
	Rigid    rigid.Policy      `json:"rigid,omitzero"`
	Script   *wire.Script      `json:"script,omitempty"`
	Edges    int               `json:"edges,omitempty"`
	Maker    *dispatch.State   `json:"maker,omitempty"`
	Together *rigid.State      `json:"together,omitempty"` // instead of Maker, under a policy of package rigid
	Jobs     []*job            `json:"jobs,omitempty"`
	Numbers  int               `json:"numbers"` // larger than all job numbers
	Batches  map[string]*batch `json:"batches,omitempty"`
	Refused  []string          `json:"refused,omitempty"`
	Cleared  []string          `json:"cleared,omitempty"`
	Done     []int             `json:"done,omitempty"`
	Workers  []worker          `json:"workers,omitempty"`
	Attempts map[int]*attempt  `json:"attempts,omitempty"`
	Removals []wire.Removal    `json:"removals,omitempty"`
	Counts   wire.Counts       `json:"counts"`

	Key         []byte `json:"key,omitempty"`
	KeyFrom     uint64 `json:"key_from,omitempty"`
	Terms       []term `json:"terms,omitempty"`
	Repaired    uint64 `json:"repaired,omitempty"`
	RepairedEnd uint64 `json:"repaired_end,omitempty"`
}

// Snapshot returns the state after the last plan, sealed by [wire.Seal]. There must be a plan.
func (b *Book) Snapshot() ([]byte, error) {
	if b.number == 0 {
		return nil, input.Errorf("n", b.number, "at least one plan")
	}
	s := state{
		Number: b.number, Upto: b.upto, Leader: b.leader, At: b.at, Epoch: b.epoch, Decided: b.decided,
		Rules: b.rules.Rules, Rigid: b.rules.together, Script: b.script,
		Edges: b.edges, Numbers: len(b.jobs), Batches: b.batches, Refused: b.refused,
		Cleared: slices.Sorted(maps.Keys(b.cleared)), Done: b.done, Workers: b.workers, Attempts: b.attempts,
		Removals: b.removals, Counts: b.counts,
		Key: b.key, KeyFrom: b.keyFrom, Terms: b.terms, Repaired: b.repaired, RepairedEnd: b.repairedEnd,
	}
	switch m := b.maker.(type) {
	case *dispatch.Maker:
		own := m.State()
		s.Maker = &own
	case *rigid.Maker:
		own := m.State()
		s.Together = &own
	}
	for _, j := range b.jobs {
		if j != nil {
			s.Jobs = append(s.Jobs, j)
		}
	}
	data, err := json.Marshal(&s)
	if err != nil {
		return nil, err
	}
	return wire.Seal(b.number, b.upto, data)
}

// Restore returns a book equal to the one that wrote the snapshot: it folds and makes the same
// plans from there on.
func Restore(settings Settings, snapshot []byte) (*Book, error) {
	b, err := New(settings)
	if err != nil {
		return nil, err
	}
	plan, upto, data, err := wire.Unseal(snapshot)
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("snapshot of plan %d: %w", plan, err)
	}
	switch {
	case s.Number == 0:
		return nil, input.Errorf("n", s.Number, "the number of a plan, at least 1")
	case s.Number != plan:
		return nil, input.Errorf("n", s.Number, "%d, as the header says", plan)
	case s.Upto != upto:
		return nil, input.Errorf("upto", s.Upto, "%d, as the header says", upto)
	case s.Maker == nil && s.Together == nil:
		return nil, input.Errorf("maker", "", "a state of the maker, here or in together")
	case s.Maker != nil && s.Together != nil:
		return nil, input.Errorf("together", "a state", "nothing, since maker is set")
	}
	if s.Maker != nil {
		b.maker, err = dispatch.MakerOf(*s.Maker)
	} else {
		b.maker, err = rigid.MakerOf(*s.Together)
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot of plan %d: %w", plan, err)
	}
	b.number, b.upto, b.leader, b.at, b.epoch, b.decided, b.rules = s.Number, s.Upto, s.Leader, s.At,
		s.Epoch, s.Decided, rules{s.Rules, s.Rigid}
	b.script, b.edges, b.heard = s.Script, s.Edges, s.Upto
	b.refused, b.done, b.workers, b.removals, b.counts = s.Refused, s.Done, s.Workers, s.Removals, s.Counts
	b.key, b.keyFrom, b.terms, b.repaired, b.repairedEnd = s.Key, s.KeyFrom, s.Terms, s.Repaired, s.RepairedEnd
	b.outages = scriptEdges(b.script)
	for name, a := range s.Batches {
		b.batches[name] = a
	}
	for n, a := range s.Attempts {
		b.attempts[n] = a
	}
	for _, name := range s.Cleared {
		b.cleared[name] = true
	}
	return b, b.index(&s)
}

// index derives the remaining fields from a snapshot, and rejects one that is inconsistent.
func (b *Book) index(s *state) error {
	if s.Numbers < len(s.Jobs) || s.Numbers > len(s.Jobs)+b.settings.MaxJobs+defaultJobs || b.edges < 0 ||
		b.edges > len(b.outages) {
		return input.Errorf("numbers", s.Numbers, "numbers for %d jobs", len(s.Jobs))
	}
	b.jobs = make([]*job, s.Numbers)
	for _, j := range s.Jobs {
		if j == nil || j.Number < 0 || j.Number >= s.Numbers || b.jobs[j.Number] != nil ||
			len(j.Ended) != len(makeBits(j.Job.Tasks)) {
			return input.Errorf("jobs", len(s.Jobs), "jobs with distinct numbers below %d", s.Numbers)
		}
		b.jobs[j.Number] = j
		b.numbers[j.Job.Name] = j.Number
		if len(j.Repeats) > 0 {
			return &OutdatedError{"tasks that run twice"}
		}
		b.tasks += j.Job.Tasks
	}
	for n := range b.workers {
		b.places[b.workers[n].Name] = n
	}
	for n, a := range b.attempts {
		j := b.job(a.Job)
		if j == nil || a.Worker < 0 || a.Worker >= len(b.workers) || a.Task < 0 || a.Task >= j.Job.Tasks {
			return input.Errorf("attempts", n, "an attempt at a task of a job")
		}
		if a.Taken {
			if j.taken == nil {
				j.taken = map[int][]int{}
			}
			j.taken[a.Task] = append(j.taken[a.Task], n)
		}
	}
	b.wake()
	for _, n := range b.done {
		if j := b.job(n); j == nil || j.Finish == nil {
			return input.Errorf("done", n, "the number of a job that is done")
		}
	}
	return nil
}
