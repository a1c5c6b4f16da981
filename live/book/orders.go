package book

import (
	"productform/dispatch"
	"productform/live/wire"
)

// An Order is what a worker should be doing.
type Order struct {
	Worker string // its name
	Order  wire.Order
}

// Orders returns the level of each worker that is up or has a task in hand, in the order of their numbers.
func (b *Book) Orders() (orders []Order) {
	for n := range b.workers {
		if o, ok := b.level(n); ok {
			orders = append(orders, o)
		}
	}
	return orders
}

// OrdersOf returns the levels that a plan changed, the last one that was folded or taken: those of the workers that begin
// a task, or have lost one. A worker whose report is told knows by itself that it is idle.
func (b *Book) OrdersOf(p *wire.Plan) (orders []Order) {
	told := map[int]bool{}
	for i := range p.Events {
		switch e := &p.Events[i]; e.Kind {
		case dispatch.Started, dispatch.Preempted, dispatch.Dropped, dispatch.Returned:
			if o, ok := b.level(e.Worker); ok && !told[e.Worker] {
				told[e.Worker] = true
				orders = append(orders, o)
			}
		}
	}
	return orders
}

// Differs returns the order that a worker should be sent, if its beat says that it does something else.
func (b *Book) Differs(beat *wire.Beat) (wire.Order, bool) {
	idle := wire.Order{Version: wire.Version, Plan: b.number, Process: beat.Process, Idle: true, At: b.at, Logical: b.isLogical()}
	n, ok := b.places[beat.Worker]
	if ok && (b.workers[n].Process == beat.Process || b.isLogical()) {
		if o, ok := b.level(n); ok {
			o.Order.Process = beat.Process
			return o.Order, o.Order.Token != beat.Token
		}
	}
	return idle, beat.Token != ""
}

// level returns the order that a worker should be following, and false if it should have none.
func (b *Book) level(n int) (Order, bool) {
	w := &b.workers[n]
	o := Order{w.Name, wire.Order{Version: wire.Version, Plan: b.number, Process: w.Process, Idle: true, At: b.at, Logical: b.isLogical()}}
	if b.isLogical() {
		beat := b.beats[w.Name]
		if beat == nil {
			return o, false
		}
		o.Order.Process = beat.Process
	}
	job, task, number, since := b.maker.Hand(n)
	a := b.attempts[number]
	if a == nil {
		return o, w.Up
	}
	if _, adopted := b.jobs[job].Adopted[task]; adopted { // there is nothing to run
		return o, w.Up
	}
	j := &b.jobs[job].Job
	o.Order.Idle, o.Order.At = false, since
	o.Order.Job, o.Order.Task, o.Order.Attempt, o.Order.Token = j.Name, task, number, a.Token
	o.Order.Work, o.Order.Run = work(j, task), j.Run
	return o, true
}
