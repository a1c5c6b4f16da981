package worker

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// A slot is one worker.
type slot struct {
	settings *Settings
	name     string
	folder   string
	log      *slog.Logger
	nc       *nats.Conn
	js       jetstream.JetStream
	facts    *facts
	started  time.Time // origin of the clock of beats

	mu      sync.Mutex
	process string      // drawn anew where the plans begin anew
	older   int         // orders in a row that were older than wanted
	since   time.Time   // when the first of them came
	wanted  *wire.Order // the last order, nil for none
	hand    *wire.Order // what is in hand, nil for none
	running bool        // the task in hand runs
	leaving bool

	ordered chan struct{} // wanted has changed
	changed chan struct{} // a beat is due
}

// take is called with each message to the worker. It keeps an order that is to be followed.
func (s *slot) take(m *nats.Msg) {
	o, err := wire.Decode[wire.Order](m.Data)
	if err != nil {
		s.log.Warn("order not understood", "error", err)
		return
	}
	if s.isNew(o) {
		signal(s.ordered)
	}
	signal(s.changed) // the order may be a question: what the worker does is not what the manager thinks
}

// A server that has lost what it kept begins with plan 1 again. A worker that has had nothing but older orders for a while, at
// least some, takes itself for a new process.
const (
	forgetAfter = 10 * time.Second
	forgetLeast = 5
)

// isNew tells whether an order is to be followed, and notes it.
func (s *slot) isNew(o *wire.Order) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case o.Process != s.process:
		return false // of a process that is gone
	case s.wanted == nil || o.Plan >= s.wanted.Plan:
		s.wanted, s.older = o, 0
		return true
	case s.older == 0:
		s.since = time.Now()
	}
	s.older++
	if s.older < forgetLeast || time.Since(s.since) < forgetAfter {
		return false
	}
	s.log.Warn("the plans begin anew, and so does this worker", "plan", o.Plan, "before", s.wanted.Plan)
	s.process, s.wanted, s.older = rand.Text(), nil, 0
	return true // what is in hand is dropped
}

// An execution is a task in hand.
type execution struct {
	order *wire.Order
	drop  context.CancelCauseFunc
	ended chan struct{}

	outcome  outcome // once it has ended
	reported bool
}

// follow does what the orders say until ctx is done, or the worker leaves without a task in hand. What is in hand at the
// end of ctx is dropped.
func (s *slot) follow(ctx context.Context) {
	var hand, last *execution // last: that which ended last
	ended := func() chan struct{} {
		if hand == nil {
			return nil
		}
		return hand.ended
	}
	leave := s.settings.Leave
	for {
		isOrdered := false
		select {
		case <-ctx.Done():
			if hand != nil {
				hand.drop(context.Cause(ctx))
				<-hand.ended
			}
			return
		case <-leave:
			leave = nil
			s.note(func() { s.leaving = true })
		case <-s.ordered:
			isOrdered = true
		case <-ended():
			last, hand = hand, nil
			s.note(func() { s.hand, s.running = nil, false })
		}
		s.mu.Lock()
		o, leaving := s.wanted, s.leaving
		s.mu.Unlock()
		switch {
		case hand != nil:
			if o == nil || o.Idle || o.Token != hand.order.Token {
				hand.drop(errDropped) // what is wanted instead begins when this has ended
			}
		case leaving:
			return
		case o == nil || o.Idle:
		case last == nil || o.Token != last.order.Token:
			if s.isTimely(o) { // otherwise the next beat makes the manager send its present order
				hand = s.begin(ctx, o, nil)
			}
		case isOrdered && last.reported: // the manager has no report: another's stood in its place, and was removed
			hand = s.begin(ctx, o, last)
		}
	}
}

// isTimely reports whether the manager cannot have given the worker up since it sent an order. An order
// that was held up in the network may name a task that another worker has started since.
func (s *slot) isTimely(o *wire.Order) bool { return o.Within == 0 || s.clock()-o.Heard < o.Within }

// clock returns the seconds since the start of the process.
func (s *slot) clock() float64 { return time.Since(s.started).Seconds() }

// note changes what the worker says of itself.
func (s *slot) note(change func()) {
	s.mu.Lock()
	change()
	s.mu.Unlock()
	signal(s.changed)
}

// begin takes a task in hand; if it has ended before, only its report is made again.
func (s *slot) begin(ctx context.Context, o *wire.Order, before *execution) *execution {
	run, drop := context.WithCancelCause(ctx)
	e := &execution{order: o, drop: drop, ended: make(chan struct{})}
	s.note(func() { s.hand = o })
	go func() {
		defer close(e.ended)
		defer drop(nil)
		if before != nil {
			e.outcome = before.outcome
		} else {
			e.outcome = s.execute(run, o, func() { s.note(func() { s.running = true }) })
		}
		if e.outcome.err != nil && context.Cause(run) != nil {
			return // dropped: nobody waits for it
		}
		s.report(ctx, o, e.outcome)
		e.reported = true
	}()
	return e
}

// signal wakes who waits for a channel of one place.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
