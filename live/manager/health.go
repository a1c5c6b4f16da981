package manager

import (
	"time"

	"productform/live/wire"
)

// grace is the time in which a worker must send a beat after its connection broke.
const grace = 200 * time.Millisecond

// health is the state of the status checker of [L14], section 3.5.1: when each worker was last
// seen. It is not stored; a new leader gives all workers the time lostAfter to send a beat.
type health struct {
	lostAfter time.Duration
	workers   map[string]*sign
}

// A sign is the last sign of life of a worker, from any of its processes.
type sign struct {
	seen    time.Time
	cut     time.Time // when its connection was closed, zero if a beat arrived since
	process string    // sender of the last beat, "" if there was none
	clock   float64   // clock in the last beat
}

func newHealth(lostAfter time.Duration) *health {
	return &health{lostAfter: lostAfter, workers: map[string]*sign{}}
}

// expect starts waiting for a worker.
func (h *health) expect(worker string, now time.Time) { h.workers[worker] = &sign{seen: now} }

// heard records a beat.
func (h *health) heard(b *wire.Beat, now time.Time) {
	h.workers[b.Worker] = &sign{seen: now, process: b.Process, clock: b.Clock}
}

// limit sets until when the worker may start the task of an order. A worker that was given up by
// then has been silent for longer.
func (h *health) limit(worker string, o *wire.Order) {
	o.Heard, o.Within = 0, h.lostAfter.Seconds()
	if s := h.workers[worker]; s != nil && s.process == o.Process {
		o.Heard = s.clock
	}
}

// cut records that the connection of a worker was closed.
func (h *health) cut(worker string, now time.Time) {
	if s := h.workers[worker]; s != nil && s.cut.IsZero() {
		s.cut = now
	}
}

// deadline returns the time at which a worker is lost unless a beat arrives before.
func (h *health) deadline(s *sign) time.Time {
	at := s.seen.Add(h.lostAfter)
	if soon := s.cut.Add(grace); !s.cut.IsZero() && soon.Before(at) {
		return soon
	}
	return at
}

// dropSilent removes the lost workers and returns them.
func (h *health) dropSilent(now time.Time) (lost []string) {
	for name, s := range h.workers {
		if !now.Before(h.deadline(s)) {
			delete(h.workers, name)
			lost = append(lost, name)
		}
	}
	return lost
}

// next returns when to check for silent workers again, or the zero time if there are none.
func (h *health) next() (at time.Time) {
	for _, s := range h.workers {
		if d := h.deadline(s); at.IsZero() || d.Before(at) {
			at = d
		}
	}
	return at
}
