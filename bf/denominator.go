package bf

import (
	"math"
	"math/bits"
)

// denominators gives the d(A) of a subset sweep a block at a time: read from a table, or
// made on the fly from integer capacities and rates, in which the differences are exact.
type denominators struct {
	table []float64 // d(A) at the mask of A; nil means made on the fly

	capacity []int64     // of each server
	classes  []int       // classes of each server, as a mask
	servers  [][]int     // servers of each class
	rate     []int64     // of each class
	low      []*intBlock // capacity[s] at the low subsets that server s can serve; nil if there is none
	base     intBlock    // d of the first block
}

type intBlock = [blockSize]int64

// newDenominators prepares d(A) = μ(A) - λ(A), where μ(A) adds the capacities of the servers of the classes in A.
func newDenominators(capacity []int64, classes []int, rate []int64) *denominators {
	d := &denominators{capacity: capacity, classes: classes, rate: rate,
		servers: make([][]int, len(rate)), low: make([]*intBlock, len(capacity))}
	for s, c := range classes {
		for h := c; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			d.servers[i] = append(d.servers[i], s)
		}
		if c&(blockSize-1) != 0 {
			d.low[s] = new(intBlock)
		}
		for l := range d.base {
			if l&c != 0 {
				d.low[s][l] = capacity[s]
				d.base[l] += capacity[s]
			}
		}
	}
	for l := range d.base {
		for h := l; h != 0; h &= h - 1 {
			d.base[l] -= rate[bits.TrailingZeros(uint(h))]
		}
	}
	return d
}

// A denominatorWalk makes the blocks of one part of the lattice, in increasing or decreasing
// order. The integers of the block whose high elements are H come from those of H less its lowest
// element i: rate[i] goes off, and the capacities that i is the first to bring in come on.
// stack[k] keeps the block last made among those whose lowest element is k or higher elements only.
type denominatorWalk struct {
	*denominators
	stack    []intBlock
	at       []int // block at each place of stack, -1 if none
	out      block
	min      int64 // smallest integer met, and its block
	minBlock int
}

func (d *denominators) from(first int) *denominatorWalk {
	w := &denominatorWalk{denominators: d, min: math.MaxInt64}
	if d.table == nil {
		n := len(d.rate) - lowBits
		w.stack = make([]intBlock, n+1)
		w.at = make([]int, n+1)
		for i := range w.at {
			w.at[i] = -1
		}
		w.stack[n], w.at[n] = d.base, 0
	}
	return w
}

// next returns d at the subsets of block b; it stays valid until the following call.
func (w *denominatorWalk) next(b int) *block {
	if w.table != nil {
		return (*block)(w.table[b<<lowBits:])
	}
	d := w.integers(b)
	least := w.min
	start := 0
	if b == 0 {
		start = 1 // the empty set has no denominator
		w.out[0] = 1
	}
	for l := start; l < blockSize; l++ {
		v := d[l]
		least = min(least, v)
		w.out[l] = float64(v)
	}
	if least < w.min {
		w.min, w.minBlock = least, b
	}
	return &w.out
}

func (w *denominatorWalk) integers(b int) *intBlock {
	if b == 0 {
		return &w.stack[len(w.stack)-1]
	}
	i := bits.TrailingZeros(uint(b))
	d := &w.stack[i]
	if w.at[i] == b {
		return d
	}
	parent := w.integers(b & (b - 1))
	high := b & (b - 1) << lowBits
	delta := -w.rate[lowBits+i]
	var first *intBlock
	for _, s := range w.servers[lowBits+i] {
		if w.classes[s]&high == 0 {
			delta += w.capacity[s]
			if first == nil {
				first = w.low[s]
			}
		}
	}
	if first == nil {
		for l := range d {
			d[l] = parent[l] + delta
		}
		w.at[i] = b
		return d
	}
	for l := range d {
		d[l] = parent[l] + (delta - first[l])
	}
	for _, s := range w.servers[lowBits+i] {
		if t := w.low[s]; t != nil && t != first && w.classes[s]&high == 0 {
			for l := range d {
				d[l] -= t[l]
			}
		}
	}
	w.at[i] = b
	return d
}
