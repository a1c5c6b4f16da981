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
	process string      // drawn again when the plans restart
	older   int         // number of consecutive orders older than wanted
	since   time.Time   // arrival of the first of them
	wanted  *wire.Order // the last order, nil for none
	hand    *wire.Order // the assigned task, nil for none
	running bool        // the assigned task runs
	leaving bool

	ordered chan struct{} // wanted has changed
	changed chan struct{} // a beat is due
}

// take receives a message to the worker and keeps an order that should be followed.
func (s *slot) take(m *nats.Msg) {
	o, err := wire.Decode[wire.Order](m.Data)
	if err != nil {
		s.log.Warn("invalid order", "error", err)
		return
	}
	if s.isNew(o) {
		signal(s.ordered)
	}
	signal(s.changed) // the manager's view of the worker may be outdated
}

// A server that has lost its data starts again with plan 1. A worker that has received only older
// orders for forgetAfter, and at least forgetLeast of them, becomes a new process.
const (
	forgetAfter = 10 * time.Second
	forgetLeast = 5
)

// isNew reports whether an order should be followed, and keeps it.
func (s *slot) isNew(o *wire.Order) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case o.Process != s.process:
		return false // for a former process
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
	s.log.Warn("the plans have restarted, so this worker restarts, too", "plan", o.Plan, "before", s.wanted.Plan)
	s.process, s.wanted, s.older = rand.Text(), nil, 0
	return true // the assigned task is dropped
}

// An execution is an assigned task.
type execution struct {
	order *wire.Order
	drop  context.CancelCauseFunc
	ended chan struct{}

	outcome  outcome // set when it has ended
	reported bool
}

// follow follows orders until ctx is done, or the worker leaves after its task. A task that still
// runs when ctx is done is dropped.
func (s *slot) follow(ctx context.Context) {
	var hand, last *execution // last is the execution that ended last
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
				hand.drop(errDropped) // the wanted task starts when this one has ended
			}
		case leaving:
			return
		case o == nil || o.Idle:
		case last == nil || o.Token != last.order.Token:
			if s.isTimely(o) { // otherwise the next beat makes the manager send its current order
				hand = s.startTask(ctx, o, nil)
			}
		case isOrdered && last.reported: // the manager has no report: a removed message had taken its subject
			hand = s.startTask(ctx, o, last)
		}
	}
}

// isTimely reports whether the manager cannot have given the worker up since it sent the order. An
// order that was delayed in the network may name a task that another worker has started since.
func (s *slot) isTimely(o *wire.Order) bool { return o.Within == 0 || s.clock()-o.Heard < o.Within }

// clock returns the seconds since the start of the process.
func (s *slot) clock() float64 { return time.Since(s.started).Seconds() }

// note changes the state of the worker and makes a beat due.
func (s *slot) note(change func()) {
	s.mu.Lock()
	change()
	s.mu.Unlock()
	signal(s.changed)
}

// startTask starts a task. If the task has ended before, only its report is sent again.
func (s *slot) startTask(ctx context.Context, o *wire.Order, before *execution) *execution {
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
			return // dropped: no one waits for it
		}
		s.report(ctx, o, e.outcome)
		e.reported = true
	}()
	return e
}

// signal wakes the reader of a channel with capacity 1.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
