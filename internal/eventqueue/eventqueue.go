// Package eventqueue answers: which event of a simulation is next? It provides the queue of future
// events for all simulations.
package eventqueue

// An Event happens to Item at a point on the clock of its queue, which measures time, or the work
// attained by each job of a server.
type Event[T any] struct {
	Time float64
	Item T
}

// A Queue is a binary heap of events, the earliest first. Events never change, and their places are
// not tracked.
type Queue[T any] []Event[T]

// Push adds an event.
func (q *Queue[T]) Push(time float64, item T) {
	events := append(*q, Event[T]{time, item})
	k := len(events) - 1
	for k > 0 {
		parent := (k - 1) / 2
		if events[parent].Time <= time {
			break
		}
		events[k] = events[parent]
		k = parent
	}
	events[k] = Event[T]{time, item}
	*q = events
}

// Pop removes and returns the earliest event.
func (q *Queue[T]) Pop() Event[T] {
	events := *q
	first, last := events[0], len(events)-1
	e := events[last]
	events = events[:last]
	*q = events
	k := 0
	for {
		child := 2*k + 1
		if child >= last {
			break
		}
		if child+1 < last && events[child+1].Time < events[child].Time {
			child++
		}
		if e.Time <= events[child].Time {
			break
		}
		events[k] = events[child]
		k = child
	}
	if last > 0 {
		events[k] = e
	}
	return first
}
