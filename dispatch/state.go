package dispatch

import (
	"math"
	"slices"

	"productform/internal/input"
	"productform/num"
)

// A State is the complete state of a [Maker] as plain data. A JSON round trip preserves it
// exactly.
type State struct {
	Rules    Rules         `json:"rules"`
	Now      float64       `json:"now"`                // time of the last moment
	Attempts int           `json:"attempts"`           // number of attempts started so far
	Workers  []WorkerState `json:"workers"`            // by number
	Jobs     []JobState    `json:"jobs"`               // sorted by number
	Numbers  int           `json:"numbers"`            // larger than every job number, including forgotten jobs
	Profiles []Profile     `json:"profiles,omitempty"` // as returned by [Maker.Profiles]
	Totals   Totals        `json:"totals"`
}

// A WorkerState is the state of a worker. A worker that is not up but runs a task leaves when the
// task ends.
type WorkerState struct {
	Speed   float64 `json:"speed"`             // work per second
	Up      bool    `json:"up,omitempty"`      // whether it may start tasks
	Attempt int     `json:"attempt,omitempty"` // number of the running attempt, 0 for none
	Job     int     `json:"job,omitempty"`     // job of the running task
	Task    int     `json:"task,omitempty"`    // running task
	Since   float64 `json:"since,omitempty"`   // start time of that attempt
}

// A JobState is the state of a job. Tasks below Next that are neither waiting nor running have
// ended.
type JobState struct {
	Number  int      `json:"number"` // job number, from 0
	Stage   Stage    `json:"stage"`
	What    Job      `json:"what"`
	Next    int      `json:"next,omitempty"`    // the first task that never started
	Lost    []int    `json:"lost,omitempty"`    // tasks that run again before those that never started, sorted
	Refused []int    `json:"refused,omitempty"` // tasks that run again after those that never started, sorted
	Before  int      `json:"before,omitempty"`  // number of attempts started before the job arrived
	Left    *num.Sum `json:"left,omitempty"`    // work of unfinished tasks; nil if all are equal or none is left

	// Start and Finish are as in [Record]. Start is -1 if no task has started, Finish 0 if the job
	// is not completed.
	Start  float64 `json:"start"`
	Finish float64 `json:"finish,omitempty"`

	LostCount int `json:"lost_count,omitempty"` // losses of running tasks
	GivenUp   int `json:"given_up,omitempty"`   // tasks that ended without a result

	Learnt *Learnt `json:"learnt,omitempty"` // nil if nothing was learnt
}

// Learnt is the learning state of a job.
type Learnt struct {
	Mean float64   `json:"mean"`           // estimated work of a task
	Seen int       `json:"seen"`           // number of finished tasks
	Sum  float64   `json:"sum"`            // total work of those tasks
	Ring []float64 `json:"ring,omitempty"` // work of the most recent tasks
}

// State returns a copy of the state of m. The cost is O(jobs + workers + waiting tasks
// that started before + entries of Works).
func (m *Maker) State() State {
	s := State{Rules: m.rules, Now: m.now, Attempts: m.attempts, Numbers: len(m.jobs), Totals: m.totals,
		Profiles: m.Profiles(), Workers: make([]WorkerState, len(m.speeds)), Jobs: []JobState{}}
	for w, h := range m.hand {
		s.Workers[w] = WorkerState{Speed: m.speeds[w], Up: m.up[w]}
		if h.job >= 0 {
			s.Workers[w] = WorkerState{m.speeds[w], m.up[w], h.attempt, h.job, h.task, h.since}
		}
	}
	for i := range m.jobs {
		if m.tasks[i].state != unknown {
			s.Jobs = append(s.Jobs, m.jobState(i))
		}
	}
	return s
}

func (m *Maker) jobState(i int) JobState {
	t, r := &m.tasks[i], &m.records[i]
	s := JobState{
		Number: i, Stage: t.state, What: *m.jobs[i].clone(), Next: t.next, Before: t.before,
		Lost: slices.Sorted(slices.Values(t.lost)), Refused: slices.Sorted(slices.Values(t.refused)),
		Start: r.Start, Finish: r.Finish, LostCount: r.Lost, GivenUp: r.GivenUp,
	}
	if t.state == JobPresent && s.What.Works != nil {
		left := t.left
		s.Left = &left
	}
	if t.learnt.Seen > 0 {
		s.Learnt = &Learnt{t.learnt.Mean, t.learnt.Seen, t.learnt.Sum, slices.Clone(t.learnt.Ring)}
	}
	return s
}

// MakerOf returns a decision maker that continues from s: it makes the same decisions as the
// original. s is not retained. The error is a [num.InputError] if s is not a valid state of a
// Maker.
func MakerOf(s State) (*Maker, error) {
	if err := s.Rules.check(); err != nil {
		return nil, err
	}
	m, err := restored(s)
	if err != nil {
		return nil, err
	}
	m.assign()
	return m, nil
}

// restored returns a maker with the state s that has not planned yet. The rules of s must be valid
// or empty.
func restored(s State) (*Maker, error) {
	var speeds []float64
	for _, w := range s.Workers {
		speeds = append(speeds, w.Speed)
	}
	m, err := plainMaker(s.Rules, speeds)
	if err != nil {
		return nil, err
	}
	switch most := len(s.Jobs) + 1<<24; {
	case !input.IsTime(s.Now):
		return nil, input.Moment.Check("Now", s.Now)
	case s.Attempts < 0:
		return nil, input.Errorf("Attempts", s.Attempts, "an integer >= 0")
	case s.Numbers < len(s.Jobs) || s.Numbers > most:
		return nil, input.Errorf("Numbers", s.Numbers, "an integer in [%d, %d]", len(s.Jobs), most)
	}
	m.now, m.attempts, m.totals = s.Now, s.Attempts, s.Totals
	if err := m.totals.check(); err != nil {
		return nil, input.Inside("Totals", err)
	}
	if err := m.restoreProfiles(s.Profiles); err != nil {
		return nil, err
	}
	m.number(s.Numbers)
	for k := range s.Jobs {
		if err := m.restore(&s.Jobs[k]); err != nil {
			return nil, input.Inside(input.Index("Jobs", k), err)
		}
	}
	for w := range s.Workers {
		if err := m.restoreRunning(w, &s.Workers[w]); err != nil {
			return nil, input.Inside(input.Index("Workers", w), err)
		}
	}
	for k := range s.Jobs {
		if err := m.ready(&s.Jobs[k]); err != nil {
			return nil, input.Inside(input.Index("Jobs", k), err)
		}
	}
	m.listWorkers()
	return m, nil
}

// restore restores a job, except for its running tasks.
func (m *Maker) restore(s *JobState) error {
	i, j := s.Number, s.What.clone()
	if err := j.check(len(m.speeds)); err != nil {
		return input.Inside("What", err)
	}
	waiting := slices.Concat(s.Lost, s.Refused)
	slices.Sort(waiting)
	switch {
	case i < 0 || i >= len(m.jobs) || m.tasks[i].state != unknown:
		return input.Errorf("Number", i, "an unused number below %d", len(m.jobs))
	case s.Stage != JobPresent && s.Stage != JobCompleted && s.Stage != JobCancelled:
		return input.Errorf("Stage", s.Stage, "one of %s, %s, %s", JobPresent, JobCompleted, JobCancelled)
	case j.Submit > m.now:
		return input.Errorf("What.Submit", j.Submit, "a time <= %v, the last moment", m.now)
	case s.Next < 0 || s.Next > j.Tasks:
		return input.Errorf("Next", s.Next, "an integer in [0, %d]", j.Tasks)
	case len(waiting) > 0 && (waiting[0] < 0 || waiting[len(waiting)-1] >= s.Next ||
		len(slices.Compact(waiting)) < len(s.Lost)+len(s.Refused)):
		return input.Errorf("Lost", s.Lost, "tasks below %d, each once here or in Refused", s.Next)
	case s.Before < 0 || s.Before > m.attempts:
		return input.Errorf("Before", s.Before, "an integer in [0, %d]", m.attempts)
	case !(s.Start == -1 || s.Start >= 0 && s.Start <= m.now):
		return input.Errorf("Start", s.Start, "a time <= %v, or -1 for none", m.now)
	case !(s.Finish >= 0 && s.Finish <= m.now):
		return input.Errorf("Finish", s.Finish, "a time <= %v", m.now)
	case s.LostCount < 0:
		return input.Errorf("LostCount", s.LostCount, "an integer >= 0")
	case s.GivenUp < 0 || s.GivenUp > j.Tasks:
		return input.Errorf("GivenUp", s.GivenUp, "an integer in [0, %d]", j.Tasks)
	case s.Stage == JobPresent && (s.Left == nil) != (j.Works == nil):
		return input.Errorf("Left", s.Left, "a sum if works differ, otherwise none")
	}
	m.jobs[i] = j
	m.records[i] = Record{Job: i, Start: s.Start, Finish: s.Finish, Lost: s.LostCount, GivenUp: s.GivenUp}
	m.tasks[i] = tasks{state: s.Stage}
	if s.Stage == JobCompleted {
		m.done++
	}
	if s.Stage != JobPresent {
		return nil
	}
	t := &m.tasks[i]
	t.open = j.Tasks - s.Next + len(waiting)
	t.next, t.lost, t.refused, t.before = s.Next, slices.Clone(s.Lost), slices.Clone(s.Refused), s.Before
	slices.Sort(t.lost)
	slices.Sort(t.refused)
	if s.Left != nil {
		t.left = *s.Left
		if !isFinite(t.left.Value()) {
			return input.Errorf("Left", t.left.Value(), "a finite sum")
		}
	}
	return m.restoreLearning(t, s.Learnt)
}

// restoreLearning restores what was learnt about the tasks of a job.
func (m *Maker) restoreLearning(t *tasks, s *Learnt) error {
	if s == nil {
		return nil
	}
	window := m.rules.Learning.Window
	switch {
	case m.rules.Learning.Default == 0:
		return input.Errorf("Learnt", "something", "nothing without Rules.Learning")
	case s.Seen < 1:
		return input.Errorf("Learnt.Seen", s.Seen, "an integer >= 1")
	case !input.IsTime(s.Mean):
		return input.Span.Check("Learnt.Mean", s.Mean)
	case !(s.Sum >= 0 && isFinite(s.Sum)):
		return input.Errorf("Learnt.Sum", s.Sum, "a number >= 0")
	case len(s.Ring) != min(window, s.Seen):
		return input.Errorf("Learnt.Ring", len(s.Ring), "%d numbers", min(window, s.Seen))
	}
	for k, v := range s.Ring {
		if !(v >= 0 && isFinite(v)) {
			return input.Errorf(input.Index("Learnt.Ring", k), v, "a number >= 0")
		}
	}
	t.learnt = learner{Mean: s.Mean, Seen: s.Seen, Sum: s.Sum, Ring: slices.Clone(s.Ring)}
	return nil
}

// restoreRunning restores the running task of worker w.
func (m *Maker) restoreRunning(w int, s *WorkerState) error {
	m.up[w] = s.Up
	if s.Attempt == 0 {
		return nil
	}
	isHere := func(h hand) bool { return h.attempt == s.Attempt || h.job == s.Job && h.task == s.Task }
	switch {
	case m.state(s.Job) != JobPresent:
		return input.Errorf("Job", s.Job, "a job that is present")
	case s.Attempt <= m.tasks[s.Job].before || s.Attempt > m.attempts:
		return input.Errorf("Attempt", s.Attempt, "an integer in [%d, %d]: an attempt since the job arrived",
			m.tasks[s.Job].before+1, m.attempts)
	case s.Task < 0 || s.Task >= m.tasks[s.Job].next || slices.Contains(m.tasks[s.Job].lost, s.Task) ||
		slices.Contains(m.tasks[s.Job].refused, s.Task) || slices.ContainsFunc(m.hand, isHere):
		return input.Errorf("Task", s.Task, "a started task that neither waits nor runs on another worker")
	case !(s.Since >= 0 && s.Since <= m.now):
		return input.Errorf("Since", s.Since, "a time <= %v", m.now)
	}
	m.hand[w] = hand{s.Job, s.Task, s.Since, s.Attempt}
	t := &m.tasks[s.Job]
	if t.held+t.leaving == 0 {
		t.place = len(m.active)
		m.active = append(m.active, s.Job)
	}
	t.open++
	if s.Up {
		t.held++
	} else {
		t.leaving++
		m.leaving++
	}
	return nil
}

// ready adds a job to the jobs present once its running tasks are known.
func (m *Maker) ready(s *JobState) error {
	if s.Stage != JobPresent {
		return nil
	}
	if m.tasks[s.Number].open == 0 {
		return input.Errorf("Next", s.Next, "a task that has not ended, if the job is present")
	}
	m.claim(s.Number)
	m.add([]int{s.Number})
	return nil
}

func isFinite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
