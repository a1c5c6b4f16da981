package cube

import (
	"math"
	"math/bits"
)

// Denominators gives the d(A) of a subset sweep a block at a time: read from a table, or
// made on the fly from integer capacities and rates, in which the differences are exact.
type Denominators struct {
	Table []float64 // d(A) at the mask of A; nil means made on the fly

	capacity []int64     // of each server
	classes  []int       // classes of each server, as a mask
	servers  [][]int     // servers of each class; nil if all classes are low
	rate     []int64     // of each class
	low      []*intBlock // capacity[s] at the low subsets that server s can serve; nil if there is none, or all classes are low
	base     intBlock    // d of the first block
}

type intBlock = [BlockSize]int64

var none intBlock // all 0, never changed

// NewDenominators prepares d(A) = μ(A) - λ(A), where μ(A) adds the capacities of the servers of the classes in A.
func NewDenominators(capacity []int64, classes []int, rate []int64) *Denominators {
	d := &Denominators{capacity: capacity, classes: classes, rate: rate}
	d.setBase()
	if len(rate) == LowBits {
		return d
	}
	d.servers, d.low = make([][]int, len(rate)), make([]*intBlock, len(capacity))
	for s, c := range classes {
		for h := c; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			d.servers[i] = append(d.servers[i], s)
		}
		if c&(BlockSize-1) != 0 {
			d.low[s] = new(intBlock)
			for l := range d.base {
				if l&c != 0 {
					d.low[s][l] = capacity[s]
				}
			}
		}
	}
	return d
}

// setBase makes the first block. What the low elements A do not use is the capacity of the servers whose low classes are a
// subset of the others, summed over subsets one element at a time.
func (d *Denominators) setBase() {
	var unused, rate intBlock
	total := int64(0)
	for s, c := range d.classes {
		unused[c&(BlockSize-1)] += d.capacity[s]
		total += d.capacity[s]
	}
	for i := range LowBits {
		bit := 1 << i
		for first := bit; first < BlockSize; first += 2 * bit {
			with, without := unused[first:first+bit], unused[first-bit:first]
			for l := range with {
				with[l] += without[l]
			}
		}
		for l, r := range rate[:bit] {
			rate[bit|l] = r + d.rate[i]
		}
	}
	for l := range d.base {
		d.base[l] = total - unused[BlockSize-1-l] - rate[l]
	}
}

// A denominatorWalk makes the blocks of one part of the lattice, in increasing or decreasing
// order. The integers of the block whose high elements are H come from those of H less its lowest
// element i: rate[i] goes off, and the capacities that i is the first to bring in come on.
// stack[i] keeps the block last made among those with lowest element i.
type denominatorWalk struct {
	*Denominators
	unit     float64
	stack    []intBlock
	at       []int // block at each place of stack, 0 if none
	fresh    []*intBlock
	out      block
	min      int64 // smallest integer met, and its block
	minBlock int
}

// from starts a walk over the part of the lattice that begins with block first. Its denominators
// are multiplied by unit, a power of two.
func (d *Denominators) from(first int, unit float64) *denominatorWalk {
	w := &denominatorWalk{Denominators: d, unit: unit, min: math.MaxInt64}
	if d.Table == nil {
		n := len(d.rate) - LowBits
		w.stack = make([]intBlock, n)
		w.at = make([]int, n)
	}
	return w
}

// next returns d at the subsets of block b; it stays valid until the following call.
func (w *denominatorWalk) next(b int) *block {
	if w.Table != nil {
		t := (*block)(w.Table[b<<LowBits:])
		for l, v := range t {
			w.out[l] = v * w.unit
		}
		return &w.out
	}
	least := int64(math.MaxInt64)
	if b == 0 {
		d := w.base
		d[0] = d[1] // the empty set has no denominator
		least = convert(&w.out, &d, &none, 0, w.unit)
	} else if b&1 == 0 {
		least = convert(&w.out, w.integers(b), &none, 0, w.unit)
	} else { // no other block is made from this one, so that it need not be kept
		parent := w.integers(b &^ 1)
		switch delta, fresh := w.gain(b); len(fresh) {
		case 0:
			least = convert(&w.out, parent, &none, delta, w.unit)
		case 1:
			least = convert(&w.out, parent, fresh[0], delta, w.unit)
		default:
			least = convert(&w.out, w.integers(b), &none, 0, w.unit)
		}
	}
	if least < w.min {
		w.min, w.minBlock = least, b
	}
	return &w.out
}

// convert sets out to (d + delta - t) unit and returns the smallest of the integers.
func convert(out *block, d, t *intBlock, delta int64, unit float64) int64 {
	m0, m1 := int64(math.MaxInt64), int64(math.MaxInt64)
	for l := 0; l < BlockSize; l += 4 {
		o, p, q := (*four)(out[l:]), (*[4]int64)(d[l:]), (*[4]int64)(t[l:])
		v0, v1, v2, v3 := p[0]+delta-q[0], p[1]+delta-q[1], p[2]+delta-q[2], p[3]+delta-q[3]
		m0, m1 = min(m0, v0, v2), min(m1, v1, v3)
		o[0], o[1] = float64(v0)*unit, float64(v1)*unit
		o[2], o[3] = float64(v2)*unit, float64(v3)*unit
	}
	return min(m0, m1)
}

// gain returns what block b has beyond the block without its lowest element: delta everywhere,
// less the capacities fresh at the subsets whose low elements can use them anyway. The list is
// valid until the next call.
func (w *denominatorWalk) gain(b int) (delta int64, fresh []*intBlock) {
	i := LowBits + bits.TrailingZeros(uint(b))
	high := b & (b - 1) << LowBits
	delta = -w.rate[i]
	fresh = w.fresh[:0]
	for _, s := range w.servers[i] {
		if w.classes[s]&high == 0 {
			delta += w.capacity[s]
			if t := w.low[s]; t != nil {
				fresh = append(fresh, t)
			}
		}
	}
	w.fresh = fresh
	return delta, fresh
}

// integers returns d at the subsets of block b as integers.
func (w *denominatorWalk) integers(b int) *intBlock {
	if b == 0 {
		return &w.base
	}
	i := bits.TrailingZeros(uint(b))
	d := &w.stack[i]
	if w.at[i] == b {
		return d
	}
	w.at[i] = b
	parent := w.integers(b & (b - 1)) // before gain, whose list it would overwrite
	delta, fresh := w.gain(b)
	t := &none
	if len(fresh) > 0 {
		t, fresh = fresh[0], fresh[1:]
	}
	for l := 0; l < BlockSize; l += 4 {
		o, p, q := (*[4]int64)(d[l:]), (*[4]int64)(parent[l:]), (*[4]int64)(t[l:])
		o[0], o[1], o[2], o[3] = p[0]+delta-q[0], p[1]+delta-q[1], p[2]+delta-q[2], p[3]+delta-q[3]
	}
	for _, t := range fresh {
		for l := 0; l < BlockSize; l += 4 {
			o, q := (*[4]int64)(d[l:]), (*[4]int64)(t[l:])
			o[0] -= q[0]
			o[1] -= q[1]
			o[2] -= q[2]
			o[3] -= q[3]
		}
	}
	return d
}

// Smallest returns the set of the smallest denominator in block b.
func (d *Denominators) Smallest(b int) int {
	v := d.from(b, 1).integers(b)
	at := oneIf(b == 0)
	for l := at; l < BlockSize; l++ {
		if v[l] < v[at] {
			at = l
		}
	}
	return b<<LowBits | at
}
