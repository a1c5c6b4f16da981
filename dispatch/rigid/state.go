package rigid

import (
	"cmp"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
)

// A State is the complete state of a [Maker] as plain data. A JSON round trip preserves it
// exactly.
type State struct {
	Policy  Policy         `json:"policy"`
	Ledger  dispatch.State `json:"ledger"`
	Workers []int          `json:"workers"` // by number: the job that holds it, or -1
	Jobs    []JobState     `json:"jobs"`    // sorted by number
	Turns   int            `json:"turns"`   // number of jobs submitted so far
	Freed   float64        `json:"freed"`   // latest time at which workers became free since the last compression
	// predicted free workers from the last moment; only under conservative
	Profile []Step `json:"profile,omitempty"`
	Sums    sums   `json:"sums"` // running sums for the result
}

// A JobState is the part of the state of a job that is not in the ledger.
type JobState struct {
	Number    int     `json:"number"`              // job number, from 0
	Stage     string  `json:"stage,omitempty"`     // waiting, running, or "" when it is done
	Size      int     `json:"size"`                // number of workers that it requests
	Asks      float64 `json:"asks"`                // requested seconds
	Turn      int     `json:"turn"`                // position in the order of submission
	Start     float64 `json:"start"`               // start time, or its reservation
	Runs      float64 `json:"runs,omitempty"`      // work of the largest finished task
	IsAhead   bool    `json:"ahead,omitempty"`     // whether it started before a job ahead of it
	Outlasted bool    `json:"outlasted,omitempty"` // whether it exceeded its requested time
}

// A Step starts at a time and gives the number of free workers until the next step.
type Step struct {
	Time float64 `json:"time"` // start of the step, seconds
	Free int     `json:"free"` // number of free workers
}

// stageNames are the names of stages in a JobState.
var stageNames = [...]string{absent: "", waiting: "waiting", running: "running"}

// State returns a copy of the state of m, in O(jobs + workers + waiting tasks that started before +
// entries of Works).
func (m *Maker) State() State {
	l := m.line
	s := State{Policy: l.policy, Ledger: m.ledger.State(), Turns: l.submitted, Freed: l.freed, Sums: l.sums}
	for _, p := range m.workers {
		s.Workers = append(s.Workers, p.job)
	}
	for _, j := range s.Ledger.Jobs {
		if j.Number < len(l.jobs) && l.jobs[j.Number] != (job{}) {
			own := &l.jobs[j.Number]
			s.Jobs = append(s.Jobs, JobState{
				j.Number, stageNames[own.stage], own.size, own.asks, own.position, own.start, own.runs,
				own.ahead, own.outlast,
			})
		}
	}
	if l.isConservative() {
		for k, at := range l.profile.at {
			s.Profile = append(s.Profile, Step{at, l.profile.free[k]})
		}
	}
	return s
}

// MakerOf returns a decision maker that continues from s: it makes the same decisions as the
// original. s is not retained. The error is a [num.InputError] if s is not a valid state of a
// Maker.
func MakerOf(s State) (*Maker, error) {
	m, err := overLedger(s.Policy, s.Ledger)
	if err != nil {
		return nil, err
	}
	l := m.line
	if len(s.Workers) != len(m.workers) {
		return nil, input.Errorf("Workers", len(s.Workers), "%d jobs, one per worker", len(m.workers))
	}
	for k := range s.Jobs {
		if err := m.restore(&s.Jobs[k]); err != nil {
			return nil, input.Inside(input.Index("Jobs", k), err)
		}
	}
	for w, i := range s.Workers {
		if i >= 0 && !(m.known(i) && l.jobs[i].stage == running && m.workers[w].up) || i < -1 {
			return nil, input.Errorf(input.Index("Workers", w), i, "a running job if the worker is up, or -1")
		}
		if hand, _, _, _ := m.ledger.Hand(w); hand >= 0 && m.workers[w].up && hand != i {
			return nil, input.Errorf(input.Index("Workers", w), i, "%d, whose task it runs", hand)
		}
		if m.workers[w].job = i; i >= 0 {
			l.free--
			l.jobs[i].held++
		}
	}
	l.submitted, l.freed, l.sums = s.Turns, s.Freed, s.Sums
	if l.isConservative() {
		l.profile = profile{}
		for k, step := range s.Profile {
			if k > 0 && !(step.Time > s.Profile[k-1].Time) {
				return nil, input.Errorf(input.Index("Profile", k), step.Time, "a time > %v, the previous step",
					s.Profile[k-1].Time)
			}
			l.profile.at, l.profile.free = append(l.profile.at, step.Time), append(l.profile.free, step.Free)
		}
		if k := len(s.Profile) - 1; k < 0 || s.Profile[k].Free != l.workers {
			return nil, input.Errorf("Profile", len(s.Profile), "steps that end with all %d workers free", l.workers)
		}
	}
	return m, m.list()
}

// overLedger returns a maker that knows the workers of a ledger but no jobs.
func overLedger(p Policy, s dispatch.State) (*Maker, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	ledger, err := dispatch.LedgerOf(s)
	if err != nil {
		return nil, input.Inside("Ledger", err)
	}
	m := &Maker{ledger: ledger, line: newSchedule(p, 0, s.Numbers)}
	for _, w := range s.Workers {
		m.workers = append(m.workers, place{w.Up, -1})
		if w.Up {
			m.line.workers++
		}
	}
	m.line.now, m.line.free = s.Now, m.line.workers
	m.line.profile = profile{at: []float64{s.Now}, free: []int{m.line.workers}}
	return m, nil
}

// restore restores a job.
func (m *Maker) restore(s *JobState) error {
	p, err := m.ledger.Progress(s.Number)
	k := slices.Index(stageNames[:], s.Stage)
	isPresent := p.Stage == dispatch.JobPresent
	switch {
	case err != nil || m.line.jobs[s.Number] != (job{}):
		return input.Errorf("Number", s.Number, "a job of the ledger, once")
	case k < 0 || isPresent != (k != int(absent)) || isPresent && (p.AtWork > 0) != (k == int(running)):
		return input.Errorf(
			"Stage", s.Stage, "running if tasks run, waiting if tasks only wait, empty if the job is done",
		)
	case isPresent && s.Size < 1 || s.Size < 0 || k == int(waiting) && s.Size != p.Left:
		return input.Errorf("Size", s.Size, "the number of unfinished tasks")
	case isPresent && !(s.Asks > 0 && s.Asks <= input.Largest*input.Largest):
		return input.Errorf("Asks", s.Asks, "seconds > 0")
	case !(s.Start >= 0) || !(s.Runs >= 0):
		return input.Errorf("Start", s.Start, "a time >= 0")
	}
	m.line.jobs[s.Number] = job{
		stage: stage(k), size: s.Size, asks: s.Asks, position: s.Turn, start: s.Start, runs: s.Runs,
		ahead: s.IsAhead, outlast: s.Outlasted,
	}
	return nil
}

// list rebuilds the lists of running and waiting jobs.
func (m *Maker) list() error {
	l := m.line
	for i := range l.jobs {
		switch j := &l.jobs[i]; {
		case j.stage == running:
			l.active = append(l.active, i)
		case j.stage == waiting && j.size > l.workers:
			l.large = append(l.large, i)
		case j.stage == waiting:
			l.queue = append(l.queue, i)
		case j.stage == absent:
			if p, err := m.ledger.Progress(i); err == nil && p.Stage == dispatch.JobPresent {
				return input.Errorf("Jobs", i, "a state of each job present")
			}
		}
	}
	slices.SortFunc(l.active, func(a, b int) int { return cmp.Compare(l.jobs[a].end(), l.jobs[b].end()) })
	slices.SortFunc(l.large, l.comparePolicy)
	slices.SortFunc(l.queue, l.compareQueue)
	return nil
}

// Takeover returns a decision maker that continues from the state of a [dispatch.Maker], or from
// the ledger of a [State], under another policy. Jobs keep the workers of their running tasks. Once
// these tasks have ended, their waiting tasks start together. The error is a [num.InputError] if s
// is not a valid state of a Maker.
func Takeover(p Policy, s dispatch.State) (*Maker, error) {
	m, err := overLedger(p, s)
	if err != nil {
		return nil, err
	}
	l := m.line
	l.sums = sums{Started: s.Totals.Started, First: s.Now}
	order := make([]int, len(s.Jobs))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &s.Jobs[a], &s.Jobs[b]
		return cmp.Or(cmp.Compare(x.What.Submit, y.What.Submit), cmp.Compare(x.Number, y.Number))
	})
	for _, k := range order {
		j := &s.Jobs[k]
		if j.Stage == dispatch.JobPresent {
			m.submit(j.Number)
		} else {
			m.line.jobs[j.Number] = job{start: max(0, j.Start), runs: max(0, j.Finish-j.Start)}
		}
	}
	for w := range m.workers {
		i, _, _, since := m.ledger.Hand(w)
		if i < 0 {
			continue
		}
		j := &l.jobs[i]
		if j.stage != running {
			l.withdraw(i)
			j.stage, j.start, j.size = running, since, 0
			l.active = append(l.active, i)
		}
		j.start = min(j.start, since)
		j.size++
		if m.workers[w].up {
			m.workers[w].job = i
			j.held++
			l.free--
		}
	}
	for _, i := range slices.Concat(l.queue, l.large) {
		p, _ := m.ledger.Progress(i)
		l.jobs[i].size, l.jobs[i].start = p.Left, 0
	}
	slices.SortFunc(l.queue, l.compareQueue)
	slices.SortFunc(l.active, func(a, b int) int { return cmp.Compare(l.jobs[a].end(), l.jobs[b].end()) })
	l.fewer = true
	l.settle()
	return m, nil
}
