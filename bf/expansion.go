package bf

import (
	"errors"
	"fmt"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// An expansion is a component without groups, for elimination, which supports only single servers.
// It lists the servers of each group, and has a class for each way of a class to draw servers.
type expansion struct {
	component     *cluster.Component
	class, server []int // class and group in the original component
}

// expandGroups returns a plan that eliminates the servers of expanded groups in some order. It
// supports classes that draw one server of a group, since this links no servers of the group.
// Drawing d >= 2 of n servers links all of them, which makes the width n-1; this works for small n
// only. The error is a [*num.InputError].
func (q *query) expandGroups() (*plan, error) {
	refuse := func(why string) (*plan, error) {
		return nil, input.Errorf("Lattice", EliminationLattice,
			"%q (this component has groups of servers from which jobs draw: %s)", SymmetricLattice, why)
	}
	if q.s.MaxJobs > 0 {
		return refuse("elimination has no distributions of the jobs of classes that draw")
	}
	m, server, class, err := q.component.Model.Expand(maxExpanded)
	if err != nil {
		return refuse(fmt.Sprintf("expanded they have more than %d servers or ways to draw", maxExpanded))
	}
	l := &plan{query: *q, lattice: EliminationLattice, states: float64(len(m.Servers))}
	x := &expansion{&cluster.Component{Model: *m}, class, server}
	l.problem = newProblem(x.component, false)
	e, err := l.findOrder()
	var wide *num.TooLargeError
	if errors.As(err, &wide) {
		return refuse("drawing several servers links the whole group, " + wide.Input.Value)
	} else if err != nil {
		return nil, err
	}
	e.expansion = x
	l.method = e
	return l, nil
}

// offerExpanded expands the groups if elimination then takes less time than the symmetric lattice.
// It does so only if the symmetric lattice takes long, or more memory or work than allowed.
func (q *query) offerExpanded(counts *plan) *plan {
	cost := counts.method.work(counts, 0)
	isAllowed := counts.checkLimits() == nil
	if isAllowed && cost < eliminationTerms {
		return nil
	}
	l, err := q.expandGroups()
	if err != nil || isAllowed && l.elimination().operations > cost/2 {
		return nil
	}
	l.why = fmt.Sprintf("%.0f servers with groups expanded, eliminated one at a time with width %d, "+
		"instead of %.4g counts of servers in groups of equal ones",
		l.states, l.elimination().Width, counts.states)
	return l
}

// merge returns the measures of the original component, given those of the expanded one. All ways
// of a class and all servers of a group are identical.
func (x *expansion) merge(r measures, classes, servers int) measures {
	ways, first := make([]float64, classes), make([]arithmetic.Number, classes)
	for k, i := range x.class {
		ways[i]++
		first[i] = r.jobs[k]
	}
	busy := make([]arithmetic.Number, servers)
	for k, s := range x.server {
		busy[s] = r.busy[k]
	}
	for i := range first {
		first[i] = first[i].Mul(arithmetic.FromFloat(ways[i], 0))
	}
	return measures{normalization: r.normalization, jobs: first, busy: busy}
}
