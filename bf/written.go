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
type written struct {
	component     *cluster.Component
	class, server []int // of the component that was written out
}

const mostWritten = 20000 // classes, and servers

// writeOut writes the groups of the component out and finds an order for its servers. It takes draws of one server of a group, which link it with none of the group, and few of more: drawing
// d >= 2 of n servers links all of these, and makes a width of n-1. The error is a [*num.InputError].
func (l *plan) writeOut(s Settings) error {
	refuse := func(why string) error {
		return input.Errorf("Lattice", EliminationLattice, "%q (this component has groups of servers from which jobs draw: %s)", SymmetricLattice, why)
	}
	if s.MaxJobs > 0 {
		return refuse("elimination has no distributions of the jobs of classes that draw")
	}
	m, server, class, err := l.component.Model.Expand(mostWritten)
	if err != nil {
		return refuse(fmt.Sprintf("written out they have more than %d servers or ways to draw", mostWritten))
	}
	w := &written{&cluster.Component{Model: *m}, class, server}
	q := *l
	q.problem = integers.New(w.component, false)
	var wide *num.TooLargeError
	if err := q.findOrder(s); errors.As(err, &wide) {
		return refuse("drawing several links all of a group, " + wide.Input.Value)
	} else if err != nil {
		return err
	}
	l.problem, l.order, l.toOrder, l.written = q.problem, q.order, q.toOrder, w
	l.lattice, l.states = EliminationLattice, float64(len(m.Servers))
	return nil
}

// preferWritten writes the groups out where elimination then takes less time than the symmetric lattice, which takes more than a fifth of a second, or more memory or work than allowed.
func (l *plan) preferWritten(engine num.Engine, prec uint, s Settings) {
	cost := l.work(engine, 0)
	fits := l.fits(engine, prec, s) == nil
	if engine != num.Float || s.withoutElimination || fits && cost < eliminationTerms {
		return
	}
	counts, q := l.states, *l
	if q.writeOut(s) != nil || fits && q.toOrder > cost/2 {
		return
	}
	*l = q
	l.why = fmt.Sprintf("%.0f servers, those of groups written out, one after the other, of width %d, instead of %.4g counts of servers in groups of equal ones", l.states, l.order.Width, counts)
}

// merge returns the measures of the component of those of the written one, in which all ways of a class and all servers of a group are alike.
func (w *written) merge(r measures, classes, servers int) measures {
	ways, first := make([]float64, classes), make([]arithmetic.Number, classes)
	for k, i := range w.class {
		ways[i]++
		first[i] = r.jobs[k]
	}
	busy := make([]arithmetic.Number, servers)
	for k, s := range w.server {
		busy[s] = r.busy[k]
	}
	for i := range first {
		first[i] = first[i].Mul(arithmetic.FromFloat(ways[i], 0))
	}
	return measures{normalization: r.normalization, jobs: first, busy: busy}
}
