package recursion

import (
	"math/bits"
	"slices"
)

// A serverSet is a set of servers, 64 to a word.
type serverSet []uint64

func (s serverSet) put(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s serverSet) has(i int) bool { return s[i>>6]>>(i&63)&1 == 1 }

func (s serverSet) or(t serverSet) {
	for i, w := range t {
		s[i] |= w
	}
}

func (s serverSet) meets(t serverSet) bool {
	for i, w := range t {
		if s[i]&w != 0 {
			return true
		}
	}
	return false
}

func (s serverSet) isSubset(t serverSet) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// countBelow returns the number of servers of the set before i.
func (s serverSet) countBelow(i int) int {
	n := bits.OnesCount64(s[i>>6] & (1<<(i&63) - 1))
	for _, w := range s[:i>>6] {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s serverSet) size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s serverSet) list() []int {
	var l []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			l = append(l, i<<6+bits.TrailingZeros64(w))
		}
	}
	return l
}

// A setTable numbers sets of servers.
type setTable struct {
	width int      // words per set
	sets  []uint64 // one set after the other
	slots []int32  // hash table: number of a set + 1, or 0
}

func newSetTable(width int) setTable { return setTable{width: width, slots: make([]int32, 1<<10)} }

func (t *setTable) set(k int32) serverSet { return t.sets[int(k)*t.width:][:t.width] }

// slot returns the position of the number of a set in the hash table.
func (t *setTable) slot(set serverSet) int {
	h := uint64(0)
	for _, w := range set {
		hi, lo := bits.Mul64(h^w^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	for i := int(h) & (len(t.slots) - 1); ; i = (i + 1) & (len(t.slots) - 1) {
		if k := t.slots[i]; k == 0 || slices.Equal(t.set(k-1), set) {
			return i
		}
	}
}

// remember assigns the next number to a set that has none.
func (t *setTable) remember(set serverSet) int32 {
	k := int32(len(t.sets) / t.width)
	t.sets = append(growList(t.sets, t.width), set...)
	t.slots[t.slot(set)] = k + 1
	if 2*int(k) > len(t.slots) {
		t.slots = make([]int32, 4*len(t.slots))
		for i := range k + 1 {
			t.slots[t.slot(t.set(i))] = i + 1
		}
	}
	return k
}
