package bf

import (
	"context"
	"math"
	"math/bits"

	"productform/num"
)

// This file sweeps the lattice of all subsets of n elements in float64. With weights
// w_i > 0 and denominators d(A) > 0 the recursions are, up the lattice and then down,
//
//	X(∅) = 1,  X(A) = Σ_{i∈A} w_i X(A∖{i}) / d(A),
//	W(A) = (c(A) + Σ_{j∉A} w_j W(A∪{j})) / d(A).
//
// W is the derivative of Σ_A c(A) X(A) with respect to the numerator of X(A) (the adjoint), so
// that one sweep down gives the derivatives with respect to all denominators. With Π(A) the
// product of the w_i of A, H = X/Π and V = W Π need additions and divisions only,
//
//	H(A) = Σ_{i∈A} H(A∖{i}) / d(A),  V(A) = (c(A) Π(A) + Σ_{j∉A} V(A∪{j})) / d(A),
//
// and W X = V H. The unit of w and d is a power of two near the geometric mean of the w_i, which keeps
// H and V in range. V overwrites H: 8 bytes a subset in all, n/2 additions a subset and sweep.
//
// A table is a sequence of blocks of 256 subsets that differ in elements 0..7 only. A block first
// adds up the blocks that differ from it in one high element, whole rows at a time, then goes
// through its own 32 groups of 8 subsets, which live in registers, by increasing size.

const (
	lowBits   = 8
	blockSize = 1 << lowBits
	leafBits  = 18 // subsets swept by one goroutine without a rest: about a millisecond
)

type block = [blockSize]float64

// A cube is one sweep problem; see the top of this file.
type cube struct {
	weight []float64     // w_i, one an element, at least lowBits of them, in the unit
	unit   float64       // a power of two; d(A) is multiplied by it
	den    *denominators // d(A)
	every  bool          // c(A) = 1 for every A ≠ ∅ (class lattice); otherwise only for the root (server lattice)
	root   int           // mask of the full set, less any elements that pad n to lowBits
	meet   []int         // masks: up adds up X over the sets that meet each
	x      []float64     // H(A), later V(A), at the mask of A
	y      []float64     // receives W(A)X(A), unless every is set; may be the table of den
	low    block         // Π of the low subsets

	// For some servers, down adds up Σ_{K∋s} W(K) [λ(K) - λ(K∖{s})] X(K∖{s}); integers are d(K) at the mask of K.
	light    []int
	integers []int64
	capacity []int64
}

// newCube returns a cube without denominators; weights of 0 pad up to n elements. The table
// is taken from spare, if that is not nil, and left there for the next cube.
func newCube(weights []float64, spare *[]float64) *cube {
	n := max(len(weights), lowBits)
	c := &cube{weight: make([]float64, n), root: 1<<len(weights) - 1}
	switch {
	case spare == nil:
		c.x = newTable(1 << n)
	case cap(*spare) < 1<<n:
		*spare = newTable(1 << n)
		c.x = *spare
	default:
		c.x = (*spare)[:1<<n]
	}
	exponent, positive := 0.0, 0.0
	for _, w := range weights {
		if w > 0 {
			exponent += math.Log2(w)
			positive++
		}
	}
	c.unit = math.Exp2(-math.Round(exponent / max(positive, 1)))
	for i, w := range weights {
		c.weight[i] = w * c.unit
	}
	for l := range c.low {
		c.low[l] = 1
		for h := l; h != 0; h &= h - 1 {
			c.low[l] *= c.weight[bits.TrailingZeros(uint(h))]
		}
	}
	return c
}

// inRange reports whether no value that matters can underflow, total being a bound on d(A)
// before the unit: Π(A) is at least the product of the w_i < 1, H(A) at least Π_{B⊆A} 1/total, V(A) at least
// Π(A)/total, all far from the smallest float64. Overflow shows in the sums.
func (c *cube) inRange(total float64) bool {
	exponent := 0.0
	for _, w := range c.weight {
		if w > 0 {
			exponent += max(0, -math.Log2(w)) + max(0, math.Log2(total*c.unit))
		}
	}
	return exponent < 800
}

// product returns Π of the high elements of block b.
func (c *cube) product(b int) float64 {
	p := 1.0
	for ; b != 0; b &= b - 1 {
		p *= c.weight[lowBits+bits.TrailingZeros(uint(b))]
	}
	return p
}

// value returns X(A), after up.
func (c *cube) value(a int) float64 { return c.x[a] * c.low[a&(blockSize-1)] * c.product(a>>lowBits) }

// cubeSums are sums over the subsets A ≠ ∅ of a part of the lattice.
type cubeSums struct {
	all      num.Sum
	with     [64]num.Sum // over the subsets that hold element i
	meet     []num.Sum   // over the subsets that meet each mask of the cube
	light    []num.Sum   // see the light servers of the cube
	min      int64       // smallest denominator met (made on the fly), and its block
	minBlock int
}

func (s *cubeSums) add(t *cubeSums, n int) {
	s.all.Add(t.all.Value())
	for i := range n {
		s.with[i].Add(t.with[i].Value())
	}
	for i := range s.meet {
		s.meet[i].Add(t.meet[i].Value())
	}
	for i := range s.light {
		s.light[i].Add(t.light[i].Value())
	}
	if t.min < s.min {
		s.min, s.minBlock = t.min, t.minBlock
	}
}

// up fills x with H and, on the class lattice, returns the sums of X.
func (c *cube) up(ctx context.Context, workers int) (cubeSums, error) {
	return c.sweep(ctx, workers, c.leafUp, false)
}

// down turns x from H into V and returns, on the class lattice, the sums of W X.
func (c *cube) down(ctx context.Context, workers int) (cubeSums, error) {
	return c.sweep(ctx, workers, c.leafDown, true)
}

// sweep runs leaf over all parts of 2^leafBits subsets in an order that respects the
// recursion: of the four parts cut out by the two highest elements 00 goes first (last on
// the way down), then 01 and 10 side by side, then 11. The sums are added up in the order of the
// parts, so that they do not depend on the number of workers. The error is that of the context.
func (c *cube) sweep(ctx context.Context, workers int, leaf func(first, last int, s *cubeSums), down bool) (cubeSums, error) {
	n := len(c.weight)
	bit := min(n, leafBits)
	parts := make([]cubeSums, 1<<(n-bit))
	size := 1 << (bit - lowBits) // blocks a part
	flip := b2i(down)
	var run func(part, high, workers int)
	run = func(part, high, workers int) {
		switch {
		case ctx.Err() != nil:
		case high == 0:
			leaf(part*size, (part+1)*size, &parts[part])
		case high == 1:
			run(part+flip, 0, 1)
			run(part+1-flip, 0, 1)
		default:
			q := 1 << (high - 2)
			run(part+q*3*flip, high-2, workers)
			if workers > 1 {
				inParallel(func() { run(part+q, high-2, workers/2) }, func() { run(part+2*q, high-2, workers-workers/2) })
			} else {
				run(part+q, high-2, 1)
				run(part+2*q, high-2, 1)
			}
			run(part+q*3*(1-flip), high-2, workers)
		}
	}
	run(0, n-bit, workers)
	if err := ctx.Err(); err != nil {
		return cubeSums{}, err
	}
	sums := parts[0]
	for i := range parts[1:] {
		sums.add(&parts[i+1], n)
	}
	return sums, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *cube) block(b int) *block { return (*block)(c.x[b<<lowBits:]) }

// leafUp computes H on the blocks first..last-1.
func (c *cube) leafUp(first, last int, s *cubeSums) {
	den := c.den.from(first, c.unit)
	var groups groupSums
	meeting := newMeeting(c.meet)
	s.meet = make([]num.Sum, len(c.meet))
	for b := first; b < last; b++ {
		d := den.next(b)
		x := c.block(b)
		c.pullUp(x, b)
		blockUp(x, d, b == 0)
		if !c.every {
			continue
		}
		groups.sum(x, &c.low, b == 0)
		high := c.product(b)
		all := s.add256(&groups, b, high)
		meeting.add(&groups, b, high, all, s.meet)
	}
	s.min, s.minBlock = den.min, den.minBlock
}

// leafDown computes V on the blocks last-1..first, over H.
func (c *cube) leafDown(first, last int, s *cubeSums) {
	den := c.den.from(first, c.unit)
	var groups groupSums
	var v block
	s.light = make([]num.Sum, len(c.light))
	for b := last - 1; b >= first; b-- {
		d := den.next(b)
		c.pullDown(&v, b)
		blockDown(&v, d, b == 0)
		x := c.block(b)
		if c.every {
			groups.sum(&v, x, b == 0)
			s.add256(&groups, b, 1)
		} else {
			for i, server := range c.light {
				s.light[i].Add(c.lightSum(&v, b, server))
			}
			y := (*block)(c.y[b<<lowBits:])
			for i := range y {
				y[i] = v[i] * x[i]
			}
		}
		*x = v
	}
}

// add256 adds the sums of block b, times factor, and returns that over the whole block.
func (s *cubeSums) add256(g *groupSums, b int, factor float64) float64 {
	all := g.fold() * factor
	s.all.Add(all)
	for i, l := range g.with {
		s.with[i].Add(l * factor)
	}
	for h := b; h != 0; h &= h - 1 {
		s.with[lowBits+bits.TrailingZeros(uint(h))].Add(all)
	}
	return all
}

// lightSum returns the sum of a light server over block b, whose V is v; H is still in place in the
// blocks below.
func (c *cube) lightSum(v *block, b, server int) float64 {
	bit := 1 << server
	if server >= lowBits && b<<lowBits&bit == 0 {
		return 0
	}
	var sum float64
	for l := range v {
		k := b<<lowBits | l
		if k&bit == 0 || v[l] == 0 {
			continue
		}
		rest := k &^ bit
		gain := c.capacity[server] - (c.integers[k] - c.integers[rest])
		sum += v[l] * (float64(gain) * c.x[rest])
	}
	return sum * (c.unit / c.weight[server])
}

// pullUp sets x to the sum of the blocks without one high element of b.
func (c *cube) pullUp(x *block, b int) {
	set := b
	next := func() *block {
		h := set & -set
		set &^= h
		return c.block(b ^ h)
	}
	switch {
	case set == 0:
		*x = block{}
	case bits.OnesCount(uint(set))&1 == 1:
		*x = *next()
	default:
		set2(x, next(), next())
	}
	for set != 0 {
		p, q := next(), next()
		if set == 0 {
			add2(x, p, q)
			break
		}
		add4(x, p, q, next(), next())
	}
}

// pullDown sets v to c Π plus the sum of the blocks with one more high element than b.
func (c *cube) pullDown(v *block, b int) {
	full := len(c.x)>>lowBits - 1
	set := full &^ b
	next := func() *block {
		h := set & -set
		set &^= h
		return c.block(b | h)
	}
	switch {
	case c.every:
		high := c.product(b)
		for l, p := range c.low {
			v[l] = high * p
		}
	default:
		*v = block{}
		if b == c.root>>lowBits {
			v[c.root&(blockSize-1)] = c.product(b) * c.low[c.root&(blockSize-1)]
		}
	}
	if bits.OnesCount(uint(set))&1 == 1 {
		add1(v, next())
	}
	for set != 0 {
		p, q := next(), next()
		if set == 0 {
			add2(v, p, q)
			break
		}
		add4(v, p, q, next(), next())
	}
}
