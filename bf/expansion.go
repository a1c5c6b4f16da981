package bf

import (
	"errors"
	"fmt"

	"productform/bf/internal/integers"
	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/input"
	"productform/num"
)

// A written component has the servers of its groups one by one, and each way of a class to draw them as a class, for elimination, which knows single servers only.
type expansion struct {
	component     *cluster.Component
	class, server []int // of the component that was written out
}

// expandGroups returns the plan that eliminates the servers of groups, which it writes out, in some order. It takes draws of one server of a group, which link it with none of the group, and few of more: drawing
// d >= 2 of n servers links all of these, and makes a width of n-1. The error is a [*num.InputError].
func (q *query) expandGroups() (*plan, error) {
	refuse := func(why string) (*plan, error) {
		return nil, input.Errorf("Lattice", EliminationLattice, "%q (this component has groups of servers from which jobs draw: %s)", SymmetricLattice, why)
	}
	if q.s.MaxJobs > 0 {
		return refuse("elimination has no distributions of the jobs of classes that draw")
	}
	m, server, class, err := q.component.Model.Expand(maxExpanded)
	if err != nil {
		return refuse(fmt.Sprintf("written out they have more than %d servers or ways to draw", maxExpanded))
	}
	l := &plan{query: *q, lattice: EliminationLattice, states: float64(len(m.Servers))}
	x := &expansion{&cluster.Component{Model: *m}, class, server}
	l.problem = integers.New(x.component, false)
	e, err := l.findOrder()
	var wide *num.TooLargeError
	if errors.As(err, &wide) {
		return refuse("drawing several links all of a group, " + wide.Input.Value)
	} else if err != nil {
		return nil, err
	}
	e.expansion = x
	l.method = e
	return l, nil
}

// offerExpanded writes the groups out where elimination then takes less time than the symmetric lattice, which takes more than a fifth of a second, or more memory or work than allowed.
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
	l.why = fmt.Sprintf("%.0f servers, those of groups written out, one after the other, of width %d, instead of %.4g counts of servers in groups of equal ones",
		l.states, l.elimination().Width, counts.states)
	return l
}

// merge returns the measures of the component of those of the written one, in which all ways of a class and all servers of a group are alike.
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
