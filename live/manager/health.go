package manager

import (
	"time"

	"productform/live/wire"
)

// grace is how long a worker whose connection broke may take to be heard again.
const grace = 200 * time.Millisecond

// health is what the status checker of [L14], section 3.5.1, knows of the workers: when it heard them last. It is not kept;
// a manager that begins to lead gives all workers the time lostAfter to be heard.
type health struct {
	lostAfter time.Duration
	workers   map[string]*sign
}

// A sign is the last of a worker, of whichever process.
type sign struct {
	seen    time.Time
	cut     time.Time // when its connection was closed, if it was not heard since
	process string    // that sent the last beat, "" if none was heard
	clock   float64   // clock in the last beat
}

func newHealth(lostAfter time.Duration) *health {
	return &health{lostAfter: lostAfter, workers: map[string]*sign{}}
}

// expect begins to wait for a worker.
func (h *health) expect(worker string, now time.Time) { h.workers[worker] = &sign{seen: now} }

// heard notes a beat.
func (h *health) heard(b *wire.Beat, now time.Time) {
	h.workers[b.Worker] = &sign{seen: now, process: b.Process, clock: b.Clock}
}

// limit sets until when the worker may start the task of an order: a worker that is given up by then
// has been silent for longer.
func (h *health) limit(worker string, o *wire.Order) {
	o.Heard, o.Within = 0, h.lostAfter.Seconds()
	if s := h.workers[worker]; s != nil && s.process == o.Process {
		o.Heard = s.clock
	}
}

// cut notes that the connection of a worker was closed.
func (h *health) cut(worker string, now time.Time) {
	if s := h.workers[worker]; s != nil && s.cut.IsZero() {
		s.cut = now
	}
}

// deadline returns when a worker is lost unless it is heard before.
func (h *health) deadline(s *sign) time.Time {
	at := s.seen.Add(h.lostAfter)
	if soon := s.cut.Add(grace); !s.cut.IsZero() && soon.Before(at) {
		return soon
	}
	return at
}

// silent forgets the workers that are lost, and returns them.
func (h *health) silent(now time.Time) (lost []string) {
	for name, s := range h.workers {
		if !now.Before(h.deadline(s)) {
			delete(h.workers, name)
			lost = append(lost, name)
		}
	}
	return lost
}

// next returns when to look for silent workers again, the zero time if there is none.
func (h *health) next() (at time.Time) {
	for _, s := range h.workers {
		if d := h.deadline(s); at.IsZero() || d.Before(at) {
			at = d
		}
	}
	return at
}
