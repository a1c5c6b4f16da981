package cube

import (
	"context"
	"math"
	"math/bits"

	"productform/num"
)

const (
	LowBits   = 8
	BlockSize = 1 << LowBits
	LeafBits  = 18 // subsets swept by one goroutine at a time: about a millisecond
)

// A Cube is one sweep problem; see the package comment.
type Cube struct {
	Weight       []float64     // w_i, one per element, at least lowBits of them, in the unit
	Unit         float64       // a power of two; d(A) is multiplied by it
	Denominators *Denominators // d(A)
	AllSets      bool          // c(A) = 1 for every A ≠ ∅ (class lattice); otherwise only for the root (server lattice)
	Root         int           // mask of the full set, less any elements that pad n to lowBits
	Meet         []int         // masks: up sums X over the sets that meet each
	Products     []float64     // receives W(A)X(A), unless AllSets; may be the table of the denominators
	low          block         // Π of the low subsets
	kernels      kernels
	memory       *Memory
	own          bool      // the cube allocated its memory
	x            []float64 // H(A), later V(A), at the mask of A; of the memory

	// For some servers, down sums Σ_{K∋s} W(K) [λ(K) - λ(K∖{s})] X(K∖{s}); integers are d(K) at the
	// mask of K.
	MostlyIdle []int
	Integers   []int64
	Capacity   []int64
}

// New returns a cube without denominators; weights of 0 pad up to n elements. It writes to the
// given memory, or to its own if that is nil.
func New(weights []float64, m *Memory) *Cube {
	n := max(len(weights), LowBits)
	c := &Cube{Weight: make([]float64, n), Root: 1<<len(weights) - 1, kernels: fastest(), memory: m, own: m == nil}
	if c.own {
		c.memory = takeMemory(n)
	}
	c.x = c.memory.tableOf(n)
	exponent, positive := 0.0, 0.0
	for _, w := range weights {
		if w > 0 {
			exponent += math.Log2(w)
			positive++
		}
	}
	c.Unit = math.Exp2(-math.Round(exponent / max(positive, 1)))
	for i, w := range weights {
		c.Weight[i] = w * c.Unit
	}
	c.low[0] = 1
	for i, w := range c.Weight[:LowBits] { // products from the lowest element up
		for l, p := range c.low[:1<<i] {
			c.low[1<<i|l] = p * w
		}
	}
	return c
}

// InRange reports whether no relevant value can underflow, given a bound total on d(A) before the
// unit: Π(A) is at least the product of the w_i < 1, H(A) at least Π_{B⊆A} 1/total, V(A) at least
// Π(A)/total, all far from the smallest float64. Overflow is visible in the sums.
func (c *Cube) InRange(total float64) bool {
	exponent := 0.0
	for _, w := range c.Weight {
		if w > 0 {
			exponent += max(0, -math.Log2(w)) + max(0, math.Log2(total*c.Unit))
		}
	}
	return exponent < 800
}

// product returns Π of the high elements of block b.
func (c *Cube) product(b int) float64 {
	p := 1.0
	for ; b != 0; b &= b - 1 {
		p *= c.Weight[LowBits+bits.TrailingZeros(uint(b))]
	}
	return p
}

// Value returns X(A), after up.
func (c *Cube) Value(a int) float64 {
	return c.x[a] * c.low[a&(BlockSize-1)] * c.product(a>>LowBits)
}

// Up fills x with H and, on the class lattice, returns the sums of X.
func (c *Cube) Up(ctx context.Context, workers int) (Sums, error) {
	return c.sweep(ctx, workers, c.leafUp, c.Meet, false)
}

// Down turns x from H into V and returns, on the class lattice, the sums of W X.
func (c *Cube) Down(ctx context.Context, workers int) (Sums, error) {
	return c.sweep(ctx, workers, c.leafDown, nil, true)
}

// sweep runs leaf over all parts of 2^leafBits subsets in an order that respects the recursion: of
// the four parts given by the two highest elements, 00 comes first (last on the way down), then 01
// and 10 in parallel, then 11. The sums are added in the order of the parts, so they do not depend
// on the number of workers. The error is the context's.
func (c *Cube) sweep(
	ctx context.Context, workers int, leaf func(first, last int, w *scratch, s *Sums), meet []int, down bool,
) (Sums, error) {
	n := len(c.Weight)
	bit := min(n, LeafBits)
	parts := make([]Sums, 1<<(n-bit))
	size := 1 << (bit - LowBits) // blocks per part
	flip := oneIf(down)
	queries := c.queries(meet)
	var run func(part, high, workers int)
	run = func(part, high, workers int) {
		switch {
		case ctx.Err() != nil:
		case high == 0:
			w := &c.memory.scratch
			if part > 0 {
				w = new(scratch)
			}
			w.queries = queries
			parts[part].begin(n, len(queries))
			leaf(part*size, (part+1)*size, w, &parts[part])
		case high == 1:
			run(part+flip, 0, 1)
			run(part+1-flip, 0, 1)
		default:
			q := 1 << (high - 2)
			run(part+q*3*flip, high-2, workers)
			if workers > 1 {
				inParallel(func() { run(part+q, high-2, workers/2) }, func() {
					run(part+2*q, high-2, workers-workers/2)
				})
			} else {
				run(part+q, high-2, 1)
				run(part+2*q, high-2, 1)
			}
			run(part+q*3*(1-flip), high-2, workers)
		}
	}
	run(0, n-bit, workers)
	if err := ctx.Err(); err != nil {
		return Sums{}, err
	}
	sums := parts[0]
	for i := range parts[1:] {
		sums.add(&parts[i+1])
	}
	return sums, nil
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *Cube) block(b int) *block { return (*block)(c.x[b<<LowBits:]) }

// leafUp computes H on the blocks first..last-1.
func (c *Cube) leafUp(first, last int, w *scratch, s *Sums) {
	den := &w.denominators
	den.begin(c.Denominators, &c.kernels, 0)
	s.Min = math.Inf(1)
	for b := first; b < last; b++ {
		from, less, plus := den.next(b)
		start, others := &w.start, w.others[:0]
		if b == 0 {
			start[0] = den.empty // divided by d(∅), a power of two, it makes H(∅) = 1
		} else {
			start, others = c.lowerBlocks(b, others)
		}
		c.kernels.pull(&w.sum, 1, start, c.x, others)
		least := c.kernels.up(c.block(b), &w.sum, &w.product, from, less, plus, &c.low)
		w.start[0] = 0
		if least < s.Min {
			s.Min, s.MinBlock = least, b
		}
		if c.AllSets {
			c.kernels.fold(&w.folded, &w.product)
			c.kernels.tally(s.hi, s.lo, w.queries, &w.folded, b, c.product(b))
		}
	}
	s.Min /= c.Unit
}

// leafDown computes V on the blocks last-1..first, over H.
func (c *Cube) leafDown(first, last int, w *scratch, s *Sums) {
	den := &w.denominators
	den.begin(c.Denominators, &c.kernels, math.Inf(1)) // so that V(∅) = 0
	s.MostlyIdle = make([]num.Sum, len(c.MostlyIdle))
	for b := last - 1; b >= first; b-- {
		from, less, plus := den.next(b)
		x := c.block(b)
		others := c.higherBlocks(b, w.others[:0])
		if c.AllSets {
			c.kernels.pull(&w.sum, c.product(b), &c.low, c.x, others)
			c.kernels.down(x, &w.sum, &w.product, from, less, plus)
			c.kernels.fold(&w.folded, &w.product)
			c.kernels.tally(s.hi, s.lo, w.queries, &w.folded, b, 1)
			continue
		}
		if b == c.Root>>LowBits {
			root := c.Root & (BlockSize - 1)
			w.start[root] = c.product(b) * c.low[root]
		}
		c.kernels.pull(&w.sum, 1, &w.start, c.x, others)
		clear(w.start[:])
		if len(c.MostlyIdle) > 0 {
			w.old = *x
		}
		c.kernels.down(x, &w.sum, (*block)(c.Products[b<<LowBits:]), from, less, plus)
		for i, server := range c.MostlyIdle {
			s.MostlyIdle[i].Add(c.mostlyIdleSum(x, &w.old, b, server))
		}
	}
}

// lowerBlocks returns the first of the blocks without one high element of b, in increasing order of
// that element, and puts the numbers of the others into the list.
func (c *Cube) lowerBlocks(b int, list []int) (first *block, others []int) {
	for set := b & (b - 1); set != 0; set &= set - 1 {
		list = append(list, b^set&-set)
	}
	return c.block(b & (b - 1)), list
}

// higherBlocks puts the numbers of the blocks with one more high element than b into the list, in
// increasing order of that element.
func (c *Cube) higherBlocks(b int, list []int) []int {
	for set := len(c.x)>>LowBits - 1 ^ b; set != 0; set &= set - 1 {
		list = append(list, b|set&-set)
	}
	return list
}

// mostlyIdleSum returns the sum of a mostly idle server over block b, whose V is v; its H is old,
// and H of the blocks below is still in the table.
func (c *Cube) mostlyIdleSum(v, old *block, b, server int) float64 {
	bit := 1 << server
	below := old // H of the sets without the server
	if server >= LowBits {
		if b<<LowBits&bit == 0 {
			return 0
		}
		below = c.block(b ^ bit>>LowBits)
	}
	var sum float64
	for l := range v {
		k := b<<LowBits | l
		if k&bit == 0 || v[l] == 0 {
			continue
		}
		rest := k &^ bit
		gain := c.Capacity[server] - (c.Integers[k] - c.Integers[rest])
		sum += float64(v[l] * float64(float64(gain)*below[rest&(BlockSize-1)]))
	}
	return sum * (c.Unit / c.Weight[server])
}
