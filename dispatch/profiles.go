package dispatch

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"productform/internal/input"
	"productform/internal/ranges"
)

// A Profile is what [Learning] of speeds knows of a worker at a kind of tasks.
type Profile struct {
	Kind   string  `json:"kind"`   // of tasks, as in [Job]
	Worker int     `json:"worker"` // its number
	Speed  float64 `json:"speed"`  // that policies are told

	// Work and Seconds are the sums over so many tasks, each time as the policy took the work to be.
	Work    float64 `json:"work"`
	Seconds float64 `json:"seconds"`
	Tasks   int     `json:"tasks"`
}

// A speed is told anew once it is known from so many tasks, and differs by such a part from what was told before, so that plans
// do not change with every task. As many tasks as profileMost count half from then on: machines change.
const (
	profileLeast = 3
	profileMost  = 50
	profileStep  = 0.05
)

// mostKinds bounds the kinds of tasks that are learnt.
const mostKinds = 1000

// profiles are what is learnt of a kind of tasks.
type profiles struct {
	speeds []float64 // by worker, that policies are told
	of     []Profile // by worker; Tasks is 0 where nothing is known
}

// told returns the speeds, nil if they are those of the workers.
func (p *profiles) told(workers []float64) []float64 {
	if p == nil || slices.Equal(p.speeds, workers) {
		return nil
	}
	return p.speeds
}

// profileOf returns what is learnt of a kind, nil if there are too many.
func (m *Maker) profileOf(kind string) *profiles {
	p := m.kinds[kind]
	if p == nil && len(m.kinds) < mostKinds {
		p = &profiles{slices.Clone(m.speeds), make([]Profile, len(m.speeds))}
		if m.kinds == nil {
			m.kinds = map[string]*profiles{}
		}
		m.kinds[kind] = p
	}
	return p
}

// expected returns what the policy takes for the work of a task, 0 if nothing is known yet.
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

// learnSpeed learns that worker w took so many seconds for a task of job i.
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
	if f.Tasks == profileMost {
		f.Work, f.Seconds, f.Tasks = f.Work/2, f.Seconds/2, profileMost/2
	}
	if f.Tasks < profileLeast || isNotSpeed(speed) || math.Abs(speed/p.speeds[w]-1) <= profileStep {
		return
	}
	p.speeds[w] = speed
	m.tellSpeeds(j.Kind)
}

// tellSpeeds tells the policy the speeds that were learnt of a kind.
func (m *Maker) tellSpeeds(kind string) {
	speeds := m.kinds[kind].told(m.speeds)
	for i, j := range m.jobs {
		if m.state(i) == JobPresent && j.Kind == kind && j.Speeds == nil {
			m.claims.setSpeeds(i, speeds)
		}
	}
}

// renew makes the speeds that were learnt fit to the workers: those of a worker that comes are its own, and those of one that is
// another or has another speed now are forgotten.
func (m *Maker) renew(w int) {
	for kind, p := range m.kinds {
		if w == len(p.speeds) {
			p.speeds, p.of = append(p.speeds, 0), append(p.of, Profile{})
		}
		p.speeds[w], p.of[w] = m.speeds[w], Profile{}
		m.tellSpeeds(kind)
	}
}

// Profiles returns what [Learning] knows of the speeds of workers at kinds of tasks, by kind and then by worker, of those that have
// finished some. The cost is O(kinds · workers).
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

// Speeds returns the speeds of workers at a kind of tasks that policies are told, nil if they are those of the workers.
func (m *Maker) Speeds(kind string) []float64 { return slices.Clone(m.kinds[kind].told(m.speeds)) }

// remember takes in what was learnt of speeds.
func (m *Maker) remember(list []Profile) error {
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
			return ranges.Speed.Check(input.Field(input.Index("Profiles", k), "Speed"), f.Speed)
		case !(f.Work > 0 && isFinite(f.Work)):
			return at("Work", f.Work, "a number of seconds > 0")
		case !(f.Seconds > 0 && isFinite(f.Seconds)):
			return at("Seconds", f.Seconds, "a number of seconds > 0")
		case f.Tasks < 1 || f.Tasks >= profileMost:
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
