package dispatch

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"productform/internal/input"
)

// A Profile holds what [Learning] has determined about the speed of a worker at a kind of task.
type Profile struct {
	Kind   string  `json:"kind"`   // kind of task, as in [Job]
	Worker int     `json:"worker"` // number of the worker
	Speed  float64 `json:"speed"`  // speed published to policies

	// Work and Seconds are sums over Tasks tasks; the work of each is the estimate when it
	// finished.
	Work    float64 `json:"work"`
	Seconds float64 `json:"seconds"`
	Tasks   int     `json:"tasks"`
}

// A speed is published once minProfileTasks tasks are known, and again when it differs from the
// published speed by a fraction above speedStep: plans should not change with every task. At
// maxProfileTasks tasks all sums are halved, since machines change over time.
const (
	minProfileTasks = 3
	maxProfileTasks = 50
	speedStep       = 0.05
)

// maxKinds is the maximum number of kinds of tasks that are learnt.
const maxKinds = 1000

// profiles holds what has been learnt about a kind of task.
type profiles struct {
	speeds []float64 // by worker, as published to policies
	of     []Profile // by worker; Tasks is 0 if nothing is known
}

// reportedSpeeds returns the published speeds, or nil if they are the general speeds of the
// workers.
func (p *profiles) reportedSpeeds(workers []float64) []float64 {
	if p == nil || slices.Equal(p.speeds, workers) {
		return nil
	}
	return p.speeds
}

// profileOf returns the profiles of a kind, creating them if needed, or nil if there are too many
// kinds.
func (m *Maker) profileOf(kind string) *profiles {
	p := m.kinds[kind]
	if p == nil && len(m.kinds) < maxKinds {
		p = &profiles{slices.Clone(m.speeds), make([]Profile, len(m.speeds))}
		if m.kinds == nil {
			m.kinds = map[string]*profiles{}
		}
		m.kinds[kind] = p
	}
	return p
}

// expected returns the work of a task as the policy estimates it, or 0 if nothing is known yet.
func (m *Maker) expected(i, task int) float64 {
	j := m.jobs[i]
	switch {
	case m.rules.Learning.Default > 0:
		return m.tasks[i].learnt.Mean
	case j.Estimate > 0:
		return j.Estimate
	}
	return j.work(task)
}

// learnSpeed records the time that worker w took for a task of job i.
func (m *Maker) learnSpeed(w, i, task int, seconds float64) {
	j, work := m.jobs[i], m.expected(i, task)
	if j.Speeds != nil || !(work > 0 && seconds > 0) {
		return
	}
	p := m.profileOf(j.Kind)
	if p == nil {
		return
	}
	f := &p.of[w]
	f.Work, f.Seconds, f.Tasks = f.Work+work, f.Seconds+seconds, f.Tasks+1
	speed := f.Work / f.Seconds
	if f.Tasks == maxProfileTasks {
		f.Work, f.Seconds, f.Tasks = f.Work/2, f.Seconds/2, maxProfileTasks/2
	}
	if f.Tasks < minProfileTasks || isNotSpeed(speed) || math.Abs(speed/p.speeds[w]-1) <= speedStep {
		return
	}
	p.speeds[w] = speed
	m.publishSpeeds(j.Kind)
}

// publishSpeeds passes the learnt speeds of a kind to the planner.
func (m *Maker) publishSpeeds(kind string) {
	speeds := m.kinds[kind].reportedSpeeds(m.speeds)
	for i, j := range m.jobs {
		if m.state(i) == JobPresent && j.Kind == kind && j.Speeds == nil {
			m.claims.setSpeeds(i, speeds)
		}
	}
}

// renew resets the learnt speeds of a worker that is new, replaced or has a new speed. They become
// its general speed.
func (m *Maker) renew(w int) {
	for kind, p := range m.kinds {
		if w == len(p.speeds) {
			p.speeds, p.of = append(p.speeds, 0), append(p.of, Profile{})
		}
		p.speeds[w], p.of[w] = m.speeds[w], Profile{}
		m.publishSpeeds(kind)
	}
}

// Profiles returns the learnt speeds of workers by kind of task and then by worker, for workers
// that have finished some. The cost is O(kinds · workers).
func (m *Maker) Profiles() []Profile {
	var list []Profile
	for _, kind := range slices.Sorted(maps.Keys(m.kinds)) {
		p := m.kinds[kind]
		for w, f := range p.of {
			if f.Tasks > 0 {
				list = append(list, Profile{kind, w, p.speeds[w], f.Work, f.Seconds, f.Tasks})
			}
		}
	}
	return list
}

// Speeds returns the speeds of workers at a kind of task as published to policies, or nil if they
// are the general speeds.
func (m *Maker) Speeds(kind string) []float64 {
	return slices.Clone(m.kinds[kind].reportedSpeeds(m.speeds))
}

// restoreProfiles restores learnt speeds.
func (m *Maker) restoreProfiles(list []Profile) error {
	for k := range list {
		f := &list[k]
		at := func(field string, value any, want string) error {
			return input.Errorf(input.Field(input.Index("Profiles", k), field), value, "%s", want)
		}
		switch {
		case !m.rules.Learning.Speeds:
			return input.Errorf("Profiles", len(list), "none without Rules.Learning.Speeds")
		case f.Worker < 0 || f.Worker >= len(m.speeds):
			return at("Worker", f.Worker, "a worker")
		case k > 0 && cmp.Or(cmp.Compare(list[k-1].Kind, f.Kind), cmp.Compare(list[k-1].Worker, f.Worker)) >= 0:
			return at("Kind", f.Kind, "profiles by kind and worker, each once")
		case isNotSpeed(f.Speed):
			return input.Speed.Check(input.Field(input.Index("Profiles", k), "Speed"), f.Speed)
		case !(f.Work > 0 && isFinite(f.Work)):
			return at("Work", f.Work, "a number of seconds > 0")
		case !(f.Seconds > 0 && isFinite(f.Seconds)):
			return at("Seconds", f.Seconds, "a number of seconds > 0")
		case f.Tasks < 1 || f.Tasks >= maxProfileTasks:
			return at("Tasks", f.Tasks, "an integer in [1, 49]")
		}
		p := m.profileOf(f.Kind)
		if p == nil {
			return at("Kind", f.Kind, "at most 1000 kinds")
		}
		p.speeds[f.Worker] = f.Speed
		p.of[f.Worker] = Profile{Work: f.Work, Seconds: f.Seconds, Tasks: f.Tasks}
	}
	return nil
}
