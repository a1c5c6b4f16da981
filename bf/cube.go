package bf

import (
	"math/bits"

	"productform/num"
)

// This file sweeps the lattice of all subsets of n elements in float64. With weights
// w_i > 0 and denominators d(A) > 0 it computes, up the lattice and then down,
//
//	X(∅) = 1,  X(A) = Σ_{i∈A} w_i X(A∖{i}) / d(A),
//	W(A) = (c(A) + Σ_{j∉A} w_j W(A∪{j})) / d(A),
//
// and the sums Σ X(A), Σ W(A)X(A) over all A ≠ ∅ and over the A that hold each element. W is the
// derivative of Σ_A c(A) X(A) with respect to the numerator of X(A) (the adjoint), so that one
// sweep down gives the derivative with respect to every denominator. W overwrites X: 8 bytes a
// subset in all. The work is n/2 multiplications a subset and sweep.
//
// A table is a sequence of blocks of 256 subsets that differ in elements 0..7 only. A block first
// pulls in the blocks that differ from it in one high element, whole rows at a time, then goes
// through its own 32 groups of 8 subsets, which live in registers, by increasing size.

const (
	lowBits   = 8
	blockSize = 1 << lowBits
	leafBits  = 18 // subsets swept by one goroutine without a rest: about a millisecond
)

type block = [blockSize]float64

// A cube is one sweep problem; see the top of this file.
type cube struct {
	weight []float64     // w_i, one an element; at least lowBits of them
	den    *denominators // d(A)
	every  bool          // c(A) = 1 for every A ≠ ∅ (class lattice); otherwise only for the root (server lattice)
	root   int           // mask of the full set, less any elements of weight 0 that pad n to lowBits
	x      []float64     // X(A), later W(A), at the mask of A
	y      []float64     // if not nil, receives W(A)X(A); may be the table of den
}

// Sums over the subsets of a part of the lattice.
type cubeSums struct {
	all      num.Sum
	with     [64]num.Sum // over the subsets that hold element i
	min      int64       // smallest denominator met (made on the fly), and its block
	minBlock int
}

func (s *cubeSums) add(t *cubeSums, n int) {
	s.all.Add(t.all.Value())
	for i := range n {
		s.with[i].Add(t.with[i].Value())
	}
	if t.min < s.min {
		s.min, s.minBlock = t.min, t.minBlock
	}
}

// up fills x and returns the sums of X over A ≠ ∅.
func (c *cube) up(workers int) cubeSums {
	return c.sweep(workers, c.leafUp, false)
}

// down turns x from X into W, and returns the sums of W(A)X(A) over A ≠ ∅.
func (c *cube) down(workers int) cubeSums {
	return c.sweep(workers, c.leafDown, true)
}

// sweep runs leaf over all parts of 2^leafBits subsets in an order that respects the
// recursion: of the four parts cut out by the two highest elements 00 goes first (last on
// the way down), then 01 and 10 side by side, then 11. The sums are added up in the order of the
// parts, so that they do not depend on the number of workers.
func (c *cube) sweep(workers int, leaf func(first, last int, s *cubeSums), down bool) cubeSums {
	n := len(c.weight)
	bit := min(n, leafBits)
	parts := make([]cubeSums, 1<<(n-bit))
	size := 1 << (bit - lowBits) // blocks a part
	flip := b2i(down)
	var run func(part, high, workers int)
	run = func(part, high, workers int) {
		switch {
		case high == 0:
			leaf(part*size, (part+1)*size, &parts[part])
		case high == 1:
			run(part+flip, 0, 1)
			run(part+1-flip, 0, 1)
		default:
			q := 1 << (high - 2)
			run(part+q*3*flip, high-2, workers)
			if workers > 1 {
				done := make(chan struct{})
				go func() {
					run(part+q, high-2, workers/2)
					close(done)
				}()
				run(part+2*q, high-2, workers-workers/2)
				<-done
			} else {
				run(part+q, high-2, 1)
				run(part+2*q, high-2, 1)
			}
			run(part+q*3*(1-flip), high-2, workers)
		}
	}
	run(0, n-bit, workers)
	sums := parts[0]
	for i := range parts[1:] {
		sums.add(&parts[i+1], n)
	}
	return sums
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *cube) block(b int) *block { return (*block)(c.x[b<<lowBits:]) }

// leafUp computes X on the blocks first..last-1.
func (c *cube) leafUp(first, last int, s *cubeSums) {
	low := (*[lowBits]float64)(c.weight)
	high := c.weight[lowBits:]
	den := c.den.from(first)
	for b := first; b < last; b++ {
		d := den.next(b)
		x := c.block(b)
		if b == 0 {
			*x = block{}
		} else {
			c.pull(x, b, 0, b, high)
		}
		var lows [lowBits]float64
		all := blockUp(x, d, low, b == 0, &lows)
		s.all.Add(all)
		for i, l := range lows {
			s.with[i].Add(l)
		}
		for h := b; h != 0; h &= h - 1 {
			s.with[lowBits+bits.TrailingZeros(uint(h))].Add(all)
		}
	}
	s.min, s.minBlock = den.min, den.minBlock
}

// leafDown computes W on the blocks last-1..first, over X.
func (c *cube) leafDown(first, last int, s *cubeSums) {
	low := (*[lowBits]float64)(c.weight)
	high := c.weight[lowBits:]
	full := len(c.x)>>lowBits - 1
	den := c.den.from(first)
	var w block
	seed := float64(b2i(c.every))
	for b := last - 1; b >= first; b-- {
		d := den.next(b)
		if b == full {
			for i := range w {
				w[i] = seed
			}
			w[c.root&(blockSize-1)] = 1
		} else {
			c.pull(&w, b, seed, full&^b, high)
		}
		x := c.block(b)
		blockDown(&w, d, low, b == 0)
		var lows [lowBits]float64
		all := blockProduct(&w, x, &lows)
		if c.y != nil {
			y := (*block)(c.y[b<<lowBits:])
			for i := range y {
				y[i] = w[i] * x[i]
			}
		}
		*x = w
		s.all.Add(all)
		for i, l := range lows {
			s.with[i].Add(l)
		}
		for h := b; h != 0; h &= h - 1 {
			s.with[lowBits+bits.TrailingZeros(uint(h))].Add(all)
		}
	}
}

// pull sets dst to seed + Σ_i w_i x(b with element i flipped) over the high elements i in set.
func (c *cube) pull(dst *block, b int, seed float64, set int, high []float64) {
	fresh := true
	for set != 0 {
		i := bits.TrailingZeros(uint(set))
		set &= set - 1
		if set == 0 {
			pull1(dst, c.block(b^1<<i), high[i], seed, fresh)
			return
		}
		j := bits.TrailingZeros(uint(set))
		set &= set - 1
		if set == 0 {
			pull2(dst, c.block(b^1<<i), c.block(b^1<<j), high[i], high[j], seed, fresh)
			return
		}
		k := bits.TrailingZeros(uint(set))
		set &= set - 1
		pull3(dst, c.block(b^1<<i), c.block(b^1<<j), c.block(b^1<<k), high[i], high[j], high[k], seed, fresh)
		fresh = false
	}
}
