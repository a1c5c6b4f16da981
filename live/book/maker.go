package book

import (
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
)

// A maker decides: [dispatch.Maker], or [rigid.Maker] where the tasks of a job begin together.
type maker interface {
	Decide(at float64, what []dispatch.Happening) ([]dispatch.Event, error)
	Apply(at float64, what []dispatch.Happening, events []dispatch.Event) error
	Hand(worker int) (job, task, attempt int, since float64)
	Forget(job int) error
	Progress(job int) (dispatch.Progress, error)
	Result() *dispatch.Result
}

// rules are what a maker follows: a policy of package rigid, or else those of package dispatch.
type rules struct {
	dispatch.Rules
	together rigid.Policy
}

// isRigid reports whether the tasks of a job begin together.
func (r *rules) isRigid() bool { return r.together != rigid.Policy{} }

// name returns the name of the policy.
func (r *rules) name() string {
	if r.isRigid() {
		return r.together.String()
	}
	return r.Policy.String()
}

// newMaker returns a maker for workers of these speeds.
func newMaker(r rules, speeds []float64) (maker, error) {
	if !r.isRigid() {
		return dispatch.NewMaker(r.Rules, speeds)
	}
	if r.Rules != (dispatch.Rules{}) {
		return nil, input.Errorf("Rules", r.Policy, "none beside Rigid")
	}
	return rigid.NewMaker(r.together, speeds)
}

// changed returns a maker that goes on under other rules. What was learnt is kept if the rules still learn alike.
func changed(m maker, to rules) (maker, error) {
	s := stateOf(m)
	if to.isRigid() {
		return rigid.Takeover(to.together, s)
	}
	if !to.Learning.Speeds {
		s.Profiles = nil
	}
	if was := s.Rules.Learning; was.Default != to.Learning.Default || was.Window != to.Learning.Window {
		for i := range s.Jobs {
			s.Jobs[i].Learnt = nil
		}
	}
	s.Rules = to.Rules
	return dispatch.MakerOf(s)
}

// stateOf returns what a maker knows of jobs and workers.
func stateOf(m maker) dispatch.State {
	switch m := m.(type) {
	case *dispatch.Maker:
		return m.State()
	case *rigid.Maker:
		return m.State().Ledger
	}
	panic("book: a maker of no known kind")
}
