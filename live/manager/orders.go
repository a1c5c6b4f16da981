package manager

import (
	"time"

	"productform/live/wire"
)

// resendAfter is the time that a worker may deviate from its order before the order is sent again.
const resendAfter = 300 * time.Millisecond

// A dispatcher sends orders. An order describes a state, so lost, repeated and late orders are
// harmless: heartbeats report what a worker does, and an order that differs from them for some time
// is sent again.
type dispatcher struct {
	send   func(worker string, o *wire.Order) error
	differ map[string]*difference // by worker
	heard  map[string]string      // by worker: the sender of the last beat
	resent int                    // number of repeated orders
}

// A difference is a difference between the beats of a worker and its order.
type difference struct {
	since time.Time
	order wire.Order
}

func newDispatcher(send func(string, *wire.Order) error) *dispatcher {
	return &dispatcher{send: send, differ: map[string]*difference{}, heard: map[string]string{}}
}

// order sends an order.
func (d *dispatcher) order(worker string, o *wire.Order) error {
	delete(d.differ, worker)
	return d.send(worker, o)
}

// compare records whether the beat of a worker differs from its order. A new process gets its order
// immediately.
func (d *dispatcher) compare(worker string, o *wire.Order, differs bool, now time.Time) error {
	isNew := d.heard[worker] != o.Process
	d.heard[worker] = o.Process
	switch was := d.differ[worker]; {
	case !differs:
		delete(d.differ, worker)
	case isNew:
		return d.order(worker, o)
	case was == nil || was.order.Token != o.Token:
		d.differ[worker] = &difference{now, *o}
	default:
		was.order = *o
	}
	return nil
}

// repeat resends the orders that workers have not followed for resendAfter.
func (d *dispatcher) repeat(now time.Time) error {
	for worker, is := range d.differ {
		if now.Sub(is.since) < resendAfter {
			continue
		}
		delete(d.differ, worker)
		d.resent++
		if err := d.send(worker, &is.order); err != nil {
			return err
		}
	}
	return nil
}

// next returns when to resend orders, or the zero time if all are followed.
func (d *dispatcher) next() (at time.Time) {
	for _, is := range d.differ {
		if t := is.since.Add(resendAfter); at.IsZero() || t.Before(at) {
			at = t
		}
	}
	return at
}
