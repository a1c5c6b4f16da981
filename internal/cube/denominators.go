package cube

import (
	"math"
	"math/bits"
)

// Denominators gives the d(A) of a sweep, times its unit, one block at a time: read from a table,
// or computed on the fly from capacities and rates, whose differences are exact.
type Denominators struct {
	Table []float64 // d(A) at the mask of A; nil means computed on the fly

	floats *rates[float64] // capacities and rates in the unit, if all their sums are exact in float64
	words  *rates[int64]   // otherwise, as integers
	unit   float64
}

// rates holds the terms of denominators.
type rates[T int64 | float64] struct {
	capacity []T     // capacity of each server
	classes  []int   // classes of each server, as a mask
	servers  [][]int // servers of each class; nil if all classes are low
	rate     []T     // rate of each class
	// capacity[s] at the low subsets that server s can serve; nil if there are none, or if all
	// classes are low
	low  []*[BlockSize]T
	base [BlockSize]T // d of the first block
}

// exactBits is the number of bits of exact integers in float64.
const exactBits = 53

// NewDenominators prepares d(A) = μ(A) - λ(A), where μ(A) adds the capacities of the servers of the
// classes in A. The unit is that of the cube.
func NewDenominators(capacity []int64, classes []int, rate []int64, unit float64) *Denominators {
	d := &Denominators{unit: unit}
	total := int64(0)
	for _, c := range capacity {
		total += c
	}
	for _, r := range rate {
		total += r
	}
	if bits.Len64(uint64(total)) > exactBits {
		d.words = newRates(capacity, classes, rate)
		return d
	}
	d.floats = newRates(scaled(capacity, unit), classes, scaled(rate, unit))
	return d
}

// scaled returns integers times a power of two, exact.
func scaled(x []int64, unit float64) []float64 {
	f := make([]float64, len(x))
	for i, v := range x {
		f[i] = float64(v) * unit
	}
	return f
}

func newRates[T int64 | float64](capacity []T, classes []int, rate []T) *rates[T] {
	d := &rates[T]{capacity: capacity, classes: classes, rate: rate}
	d.setBase()
	if len(rate) == LowBits {
		return d
	}
	d.servers, d.low = make([][]int, len(rate)), make([]*[BlockSize]T, len(capacity))
	for s, c := range classes {
		for h := c; h != 0; h &= h - 1 {
			i := bits.TrailingZeros(uint(h))
			d.servers[i] = append(d.servers[i], s)
		}
		if c&(BlockSize-1) != 0 {
			d.low[s] = new([BlockSize]T)
			for l := range d.base {
				if l&c != 0 {
					d.low[s][l] = capacity[s]
				}
			}
		}
	}
	return d
}

// setBase computes the first block. The capacity not used by the low elements A is that of the
// servers whose low classes are a subset of the other elements.
func (d *rates[T]) setBase() {
	var unused, rate [BlockSize]T
	var total T
	for s, c := range d.classes {
		unused[c&(BlockSize-1)] += d.capacity[s]
		total += d.capacity[s]
	}
	shortSums(unused[:])
	for i, v := range d.rate[:LowBits] {
		for l, r := range rate[:1<<i] {
			rate[1<<i|l] = r + v
		}
	}
	for l := range d.base {
		d.base[l] = total - unused[BlockSize-1-l] - rate[l]
	}
}

// A walk computes the blocks of one part of the lattice, in increasing or decreasing order. The
// block with high elements H is computed from that without its lowest element i: rate[i] is
// subtracted, and the capacities that only i uses are added. stack[i] keeps the last block with
// lowest element i.
type walk[T int64 | float64] struct {
	*rates[T]
	stack []([BlockSize]T)
	at    []int // block at each place of stack; 0 if none
	fresh []*[BlockSize]T
	shift func(out, from, less *[BlockSize]T, plus T)
	none  [BlockSize]T // zeros
}

// begin prepares the walk for a part, without any block.
func (w *walk[T]) begin(d *rates[T], shift func(out, from, less *[BlockSize]T, plus T)) {
	if n := len(d.rate) - LowBits; len(w.stack) != n {
		w.stack, w.at = make([][BlockSize]T, n), make([]int, n)
	}
	w.rates, w.shift = d, shift
	clear(w.at)
}

// next returns d at the subsets of block b in three parts: (from + plus) - less. They stay valid
// until the following call.
func (w *walk[T]) next(b int) (from, less *[BlockSize]T, plus T) {
	if b&1 == 0 {
		return w.made(b), &w.none, 0
	}
	parent := w.made(b &^ 1) // no other block is computed from b, so it need not be kept
	switch plus, fresh := w.gain(b); len(fresh) {
	case 0:
		return parent, &w.none, plus
	case 1:
		return parent, fresh[0], plus
	default:
		return w.made(b), &w.none, 0
	}
}

// gain returns what block b adds to the block without its lowest element: plus everywhere, minus
// the capacities fresh at the subsets whose low elements already use them. The list is valid until
// the next call.
func (w *walk[T]) gain(b int) (plus T, fresh []*[BlockSize]T) {
	i := LowBits + bits.TrailingZeros(uint(b))
	high := b & (b - 1) << LowBits
	plus = -w.rate[i]
	fresh = w.fresh[:0]
	for _, s := range w.servers[i] {
		if w.classes[s]&high == 0 {
			plus += w.capacity[s]
			if t := w.low[s]; t != nil {
				fresh = append(fresh, t)
			}
		}
	}
	w.fresh = fresh
	return plus, fresh
}

// made returns d at the subsets of block b.
func (w *walk[T]) made(b int) *[BlockSize]T {
	if b == 0 {
		return &w.base
	}
	i := bits.TrailingZeros(uint(b))
	d := &w.stack[i]
	if w.at[i] == b {
		return d
	}
	w.at[i] = b
	parent := w.made(b & (b - 1)) // before gain, whose list it would overwrite
	plus, fresh := w.gain(b)
	t := &w.none
	if len(fresh) > 0 {
		t, fresh = fresh[0], fresh[1:]
	}
	w.shift(d, parent, t, plus)
	for _, t := range fresh {
		w.shift(d, d, t, 0)
	}
	return d
}

// A denominatorWalk returns the blocks of denominators of one part of the lattice.
type denominatorWalk struct {
	*Denominators
	floats walk[float64]
	words  walk[int64]
	round  func(out *block, from, less *words, plus int64, unit float64)
	out    block
	empty  float64 // d(∅)
}

// begin starts a walk. empty, if it is not 0, is d(∅), otherwise d(∅) is a power of two at least as
// large as d({0}).
func (w *denominatorWalk) begin(d *Denominators, k *kernels, empty float64) {
	w.Denominators, w.empty = d, empty
	switch {
	case d.Table != nil:
		w.empty = max(empty, d.Table[0])
	case d.floats != nil:
		w.floats.begin(d.floats, k.shift)
		w.empty = max(empty, powerAbove(d.floats.base[1]))
	default:
		w.words.begin(d.words, k.shiftWords)
		w.round = k.roundWords
		w.empty = max(empty, powerAbove(float64(d.words.base[1])*d.unit))
	}
}

// powerAbove returns a power of two that is at least x; 1 if x is not positive.
func powerAbove(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, exponent)
}

// next returns d at the subsets of block b in three parts: (from + plus) - less. They stay valid
// until the following call.
func (w *denominatorWalk) next(b int) (from, less *block, plus float64) {
	switch {
	case w.Table != nil:
		from, less = (*block)(w.Table[b<<LowBits:]), &w.floats.none
	case w.Denominators.floats != nil:
		from, less, plus = w.floats.next(b)
	default:
		long, used, add := w.words.next(b)
		w.round(&w.out, long, used, add, w.unit)
		from, less = &w.out, &w.floats.none
	}
	if b == 0 {
		w.out = *from
		w.out[0] = w.empty
		from = &w.out
	}
	return from, less, plus
}

// Smallest returns the set of the smallest denominator in block b.
func (d *Denominators) Smallest(b int) int {
	var w denominatorWalk
	k := inGo()
	w.begin(d, &k, math.Inf(1))
	from, less, plus := w.next(b)
	smallest, at := math.Inf(1), 0
	for l := range from {
		if v := from[l] + plus - less[l]; v < smallest {
			smallest, at = v, l
		}
	}
	return b<<LowBits | at
}
