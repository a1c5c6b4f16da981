package plan

import "encoding/binary"

// A corner is a plan that fails; all plans that buy less also fail.
type corner struct {
	edges bits
	steps []int
	fails judgement
}

// known holds the known results for plans with one set of edges. No corner is within another, and
// no plan that meets the targets includes another one.
type known struct {
	encoding *encoding
	failed   packed[corner]
	met      packed[struct{}]
	// by the words of a plan: results that neither list can hold, namely that it is undecided or,
	// if byDelay, its mean delay
	seen map[string]judgement
}

// of returns the known results for a set of edges.
func (s *search) of(edges bits) *known {
	if s.known[edges] == nil {
		s.known[edges] = &known{encoding: s.encoding, seen: map[string]judgement{}}
	}
	return s.known[edges]
}

// failure returns a corner that covers a plan, or nil if none is known.
func (k *known) failure(plan []uint64) *corner {
	for i := range k.failed.rows {
		if k.encoding.isAtMost(plan, k.failed.at(i, len(plan))) {
			return &k.failed.rows[i]
		}
	}
	return nil
}

// isMet reports whether some known plan meets the targets and buys no more.
func (k *known) isMet(plan []uint64) bool {
	for i := range k.met.rows {
		if k.encoding.isAtMost(k.met.at(i, len(plan)), plan) {
			return true
		}
	}
	return false
}

// fail records a corner and removes those within it, unless it is itself within another.
func (k *known) fail(c corner) {
	plan := k.encoding.pack(c.steps)
	if k.failure(plan) == nil {
		k.failed.keep(len(plan), func(other []uint64) bool { return !k.encoding.isAtMost(other, plan) })
		k.failed.add(c, plan)
	}
}

// recordMet records a plan that meets the targets, and removes those that buy more.
func (k *known) recordMet(steps []int) {
	plan := k.encoding.pack(steps)
	k.met.keep(len(plan), func(other []uint64) bool { return !k.encoding.isAtMost(plan, other) })
	k.met.add(struct{}{}, plan)
}

// A packed list holds data about plans whose steps are packed into words.
type packed[T any] struct {
	rows  []T
	words []uint64
}

// at returns plan i, of n words.
func (l *packed[T]) at(i, n int) []uint64 { return l.words[i*n : (i+1)*n] }

func (l *packed[T]) add(row T, plan []uint64) {
	l.rows, l.words = append(l.rows, row), append(l.words, plan...)
}

// keep drops all plans, of n words each, that are not good.
func (l *packed[T]) keep(n int, isGood func(plan []uint64) bool) {
	kept := 0
	for i, row := range l.rows {
		if plan := l.at(i, n); isGood(plan) {
			copy(l.at(kept, n), plan)
			l.rows[kept] = row
			kept++
		}
	}
	clear(l.rows[kept:])
	l.rows, l.words = l.rows[:kept], l.words[:kept*n]
}

// An encoding packs the steps of a plan into words, because most searches compare many plans. Each
// number has as many bits as its largest value needs, and a guard bit above them.
type encoding struct {
	word, shift []int    // position of each option
	masks       []uint64 // masks of the bits of each option, shifted to the end
	guards      []uint64
}

func newEncoding(options []option) *encoding {
	p := &encoding{guards: []uint64{0}}
	free := 64
	for _, o := range options {
		width := 1
		for n := o.most; n > 0; n >>= 1 {
			width++
		}
		if width > free {
			p.guards, free = append(p.guards, 0), 64
		}
		last := len(p.guards) - 1
		p.word, p.shift, p.masks = append(p.word, last), append(p.shift, 64-free), append(p.masks, 1<<(width-1)-1)
		free -= width
		p.guards[last] |= 1 << (63 - free)
	}
	return p
}

// key returns words as a map key.
func key(plan []uint64) string {
	text := make([]byte, 0, 8*len(plan))
	for _, word := range plan {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	return string(text)
}

// unpack returns the steps in the words of a key.
func (p *encoding) unpack(key string) []int {
	steps := make([]int, len(p.word))
	for k, shift := range p.shift {
		word := binary.LittleEndian.Uint64([]byte(key[8*p.word[k]:]))
		steps[k] = int(word >> shift & p.masks[k])
	}
	return steps
}

func (p *encoding) pack(steps []int) []uint64 {
	words := make([]uint64, len(p.guards))
	for k, n := range steps {
		words[p.word[k]] |= uint64(n) << p.shift[k]
	}
	return words
}

// isAtMost reports whether a plan buys at most the steps of another. The guards of the other are
// set, so no step borrows from the next one, and a step that is not smaller keeps its guard.
func (p *encoding) isAtMost(plan, other []uint64) bool {
	for i, guard := range p.guards {
		if ((other[i]|guard)-plan[i])&guard != guard {
			return false
		}
	}
	return true
}

// isAtMost reports whether x <= y in each step.
func isAtMost(x, y []int) bool {
	for k, v := range x {
		if v > y[k] {
			return false
		}
	}
	return true
}
