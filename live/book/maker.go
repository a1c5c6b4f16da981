package book

import (
	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
)

// A maker decides plans. It is a [dispatch.Maker], or a [rigid.Maker] if the tasks of a job start
// together.
type maker interface {
	Decide(at float64, what []dispatch.Happening) ([]dispatch.Event, error)
	Apply(at float64, what []dispatch.Happening, events []dispatch.Event) error
	Hand(worker int) (job, task, attempt int, since float64)
	Forget(job int) error
	Progress(job int) (dispatch.Progress, error)
	Result() *dispatch.Result
}

// rules configure a maker: a policy of package rigid, or the rules of package dispatch.
type rules struct {
	dispatch.Rules
	together rigid.Policy
}

// isRigid reports whether all tasks of a job start together.
func (r *rules) isRigid() bool { return r.together != rigid.Policy{} }

// name returns the name of the policy.
func (r *rules) name() string {
	if r.isRigid() {
		return r.together.String()
	}
	return r.Policy.String()
}

// newMaker returns a maker for workers of the given speeds.
func newMaker(r rules, speeds []float64) (maker, error) {
	if !r.isRigid() {
		return dispatch.NewMaker(r.Rules, speeds)
	}
	if r.Rules != (dispatch.Rules{}) {
		return nil, input.Errorf("Rules", r.Policy, "no policy, because Rigid is given")
	}
	return rigid.NewMaker(r.together, speeds)
}

// changeRules returns a maker that continues under other rules. Learned speeds are kept if the new
// rules learn in the same way.
func changeRules(m maker, to rules) (maker, error) {
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

// stateOf returns the state of jobs and workers in a maker.
func stateOf(m maker) dispatch.State {
	switch m := m.(type) {
	case *dispatch.Maker:
		return m.State()
	case *rigid.Maker:
		return m.State().Ledger
	}
	panic("book: unknown kind of maker")
}
