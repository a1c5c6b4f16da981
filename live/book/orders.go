package book

import (
	"productform/dispatch"
	"productform/live/wire"
)

// An Order tells a worker what it should be doing.
type Order struct {
	Worker string // name of the worker
	Order  wire.Order
}

// Orders returns the current order of each worker that is up or has a task, sorted by worker
// number.
func (b *Book) Orders() (orders []Order) {
	for n := range b.workers {
		if o, ok := b.level(n); ok {
			orders = append(orders, o)
		}
	}
	return orders
}

// OrdersOf returns the orders that changed with a plan, which must be the last one folded or taken:
// the orders of workers that start or lose a task. A worker whose report was processed already
// knows that it is idle.
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

// Differs returns the order to send to a worker if its beat does not match the order.
func (b *Book) Differs(beat *wire.Beat) (wire.Order, bool) {
	idle := wire.Order{
		Version: wire.Version,
		Plan:    b.number,
		Process: beat.Process,
		Idle:    true,
		At:      b.at,
		Logical: b.isLogical(),
	}
	n, ok := b.places[beat.Worker]
	if ok && (b.workers[n].Process == beat.Process || b.isLogical()) {
		if o, ok := b.level(n); ok {
			o.Order.Process = beat.Process
			return o.Order, o.Order.Token != beat.Token
		}
	}
	return idle, beat.Token != ""
}

// level returns the current order of a worker, or false if it has none.
func (b *Book) level(n int) (Order, bool) {
	w := &b.workers[n]
	o := Order{w.Name, wire.Order{
		Version: wire.Version,
		Plan:    b.number,
		Process: w.Process,
		Idle:    true,
		At:      b.at,
		Logical: b.isLogical(),
	}}
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
	if _, adopted := b.jobs[job].Adopted[task]; adopted { // no need to run the task
		return o, w.Up
	}
	j := &b.jobs[job].Job
	o.Order.Idle, o.Order.At = false, since
	o.Order.Job, o.Order.Task, o.Order.Attempt, o.Order.Token = j.Name, task, number, a.Token
	o.Order.Work, o.Order.Run = work(j, task), j.Run
	return o, true
}
