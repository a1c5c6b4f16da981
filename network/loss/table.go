package loss

import (
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/lattice"
)

// A table is the set of entries over which the recursion runs: mixed-radix numbers with a digit for
// each axis. It contains everything that does not depend on the engine.
type table struct {
	lattice.Box        // box of the digits
	soft        []bool // by axis: whether it counts jobs up to its limit and stays there; all others are limits
	members     []member

	servers int    // Model.Count; 0 if there is none
	jobs    int    // axis that counts all jobs, -1 if there is none: up to servers if it is soft
	nodes   []uint // sets of members that each node serves; nil unless rates depend on sets
	// μ(A) less the work of the free members of A, at the bit mask of A; nil unless rates depend on
	// sets
	drain []*big.Rat
	free  *big.Rat // work of all free members
}

// A member is a set of classes that the table does not distinguish; with tokens, a pool of servers.
type member struct {
	work    *big.Rat
	sources int                 // 0 for Poisson arrivals
	growth  []arithmetic.Number // with tokens: factor of the n-th free one, instead of work
	hard    []step              // axes on which one more job moves up
	soft    int                 // soft axis on which it moves up, or -1
	own     int                 // hard axis for its jobs alone, of one unit each, or -1
	shift   int                 // Σ units stride over its hard axes: 0 if it is free
	drops   int                 // stride of its soft axis, 0 if it has none
}

type step struct{ axis, units int }

// A walk visits the entries in the order of their numbers.
type walk struct {
	*table
	at    int
	digit []int
}

func (t *table) walk() *walk { return &walk{table: t, digit: make([]int, len(t.soft))} }

// next moves to the next entry and reports whether there was one.
func (w *walk) next() bool {
	w.at++
	return w.Next(w.digit) >= 0
}

// back moves to the previous entry, from entry 0 to the last, and reports whether that is not 0.
func (w *walk) back() bool {
	if w.at == 0 {
		w.at = w.States
	}
	w.at--
	w.Back(w.digit)
	return w.at > 0
}

// predecessors returns the entries from which a job of member k leads to this one, or -1. In low
// its soft axis is one lower. In high that axis is already at its maximum, so high is this entry
// itself if the member is free.
func (w *walk) predecessors(k int) (low, high int) {
	m := &w.members[k]
	for _, h := range m.hard {
		if w.digit[h.axis] < h.units {
			return -1, -1
		}
	}
	at := w.at - m.shift
	if m.soft < 0 {
		return at, -1
	}
	switch w.digit[m.soft] {
	case 0:
		return -1, -1
	case w.Limits[m.soft]:
		return at - m.drops, at
	}
	return at - m.drops, -1
}

// fits reports whether one more job of member k is within all limits.
func (w *walk) fits(k int) bool {
	for _, h := range w.members[k].hard {
		if w.digit[h.axis]+h.units > w.Limits[h.axis] {
			return false
		}
	}
	return true
}

// present returns the set of members with jobs in this entry, for rates of sets.
func (w *walk) present() (set uint) {
	for k := range w.members {
		m := &w.members[k]
		if a := max(m.own, m.soft); w.digit[a] > 0 {
			set |= 1 << k
		}
	}
	return set
}

// idle returns the number of sources of member k without a job. Their axis ends at their number, or
// earlier at a limit.
func (w *walk) idle(k int) int { return w.members[k].sources - w.digit[w.members[k].own] }

// jobsBefore returns the digit, before the last arrival, of the axis that counts jobs; if high, it
// was already at its maximum.
func (w *walk) jobsBefore(high bool) int {
	n := w.digit[w.jobs]
	if high {
		return n
	}
	return n - 1
}
