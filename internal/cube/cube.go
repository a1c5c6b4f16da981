package cube

import (
	"context"
	"math"
	"math/bits"

	"productform/internal/arithmetic"
	"productform/num"
)

const (
	LowBits   = 8
	BlockSize = 1 << LowBits
	LeafBits  = 18 // subsets swept by one goroutine without a rest: about a millisecond
)

type block = [BlockSize]float64

// A Cube is one sweep problem; see the package comment.
type Cube struct {
	Weight       []float64     // w_i, one an element, at least lowBits of them, in the unit
	Unit         float64       // a power of two; d(A) is multiplied by it
	Denominators *Denominators // d(A)
	AllSets      bool          // c(A) = 1 for every A ≠ ∅ (class lattice); otherwise only for the root (server lattice)
	Root         int           // mask of the full set, less any elements that pad n to lowBits
	Meet         []int         // masks: up adds up X over the sets that meet each
	x            []float64     // H(A), later V(A), at the mask of A
	Products     []float64     // receives W(A)X(A), unless every is set; may be the table of den
	low          block         // Π of the low subsets

	// For some servers, down adds up Σ_{K∋s} W(K) [λ(K) - λ(K∖{s})] X(K∖{s}); integers are d(K) at the mask of K.
	MostlyIdle []int
	Integers   []int64
	Capacity   []int64
}

// New returns a cube without denominators; weights of 0 pad up to n elements. The table
// is taken from spare, if that is not nil, and left there for the next cube.
func New(weights []float64, spare *[]float64) *Cube {
	n := max(len(weights), LowBits)
	c := &Cube{Weight: make([]float64, n), Root: 1<<len(weights) - 1}
	switch {
	case spare == nil:
		c.x = NewTable(1 << n)
	case cap(*spare) < 1<<n:
		*spare = NewTable(1 << n)
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

// InRange reports whether no value that matters can underflow, total being a bound on d(A)
// before the unit: Π(A) is at least the product of the w_i < 1, H(A) at least Π_{B⊆A} 1/total, V(A) at least
// Π(A)/total, all far from the smallest float64. Overflow shows in the sums.
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

// Sums are sums over the subsets A ≠ ∅ of a part of the lattice.
type Sums struct {
	All        num.Sum
	With       [64]num.Sum // over the subsets that hold element i
	Meet       []num.Sum   // over the subsets that meet each mask of the cube
	MostlyIdle []num.Sum   // see MostlyIdle of the cube
	Min        int64       // smallest denominator met (made on the fly), and its block
	MinBlock   int
}

func (s *Sums) add(t *Sums, n int) {
	s.All.Add(t.All.Value())
	for i := range n {
		s.With[i].Add(t.With[i].Value())
	}
	for i := range s.Meet {
		s.Meet[i].Add(t.Meet[i].Value())
	}
	for i := range s.MostlyIdle {
		s.MostlyIdle[i].Add(t.MostlyIdle[i].Value())
	}
	if t.Min < s.Min {
		s.Min, s.MinBlock = t.Min, t.MinBlock
	}
}

// Up fills x with H and, on the class lattice, returns the sums of X.
func (c *Cube) Up(ctx context.Context, workers int) (Sums, error) {
	return c.sweep(ctx, workers, c.leafUp, false)
}

// Down turns x from H into V and returns, on the class lattice, the sums of W X.
func (c *Cube) Down(ctx context.Context, workers int) (Sums, error) {
	return c.sweep(ctx, workers, c.leafDown, true)
}

// sweep runs leaf over all parts of 2^leafBits subsets in an order that respects the recursion: of the four parts cut
// out by the two highest elements 00 goes first (last on the way down), then 01 and 10 side by side, then 11. The
// sums are added up in the order of the parts, so that they do not depend on the number of workers. The error is that
// of the context.
func (c *Cube) sweep(ctx context.Context, workers int, leaf func(first, last int, s *Sums), down bool) (Sums, error) {
	n := len(c.Weight)
	bit := min(n, LeafBits)
	parts := make([]Sums, 1<<(n-bit))
	size := 1 << (bit - LowBits) // blocks a part
	flip := oneIf(down)
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
		return Sums{}, err
	}
	sums := parts[0]
	for i := range parts[1:] {
		sums.add(&parts[i+1], n)
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
func (c *Cube) leafUp(first, last int, s *Sums) {
	den := c.Denominators.from(first, c.Unit)
	var groups groupSums
	s.Meet = make([]num.Sum, len(c.Meet))
	for b := first; b < last; b++ {
		d := den.next(b)
		x := c.block(b)
		c.pullUp(x, b)
		blockUp(x, d, b == 0)
		if !c.AllSets {
			continue
		}
		groups.sum(x, &c.low, b == 0)
		high := c.product(b)
		all := s.add256(&groups, b, high)
		addMeeting(c.Meet, &groups, b, high, all, s.Meet)
	}
	s.Min, s.MinBlock = den.min, den.minBlock
}

// leafDown computes V on the blocks last-1..first, over H.
func (c *Cube) leafDown(first, last int, s *Sums) {
	den := c.Denominators.from(first, c.Unit)
	var groups groupSums
	var v block
	s.MostlyIdle = make([]num.Sum, len(c.MostlyIdle))
	for b := last - 1; b >= first; b-- {
		d := den.next(b)
		c.pullDown(&v, b)
		blockDown(&v, d, b == 0)
		x := c.block(b)
		if c.AllSets {
			groups.sum(&v, x, b == 0)
			s.add256(&groups, b, 1)
		} else {
			for i, server := range c.MostlyIdle {
				s.MostlyIdle[i].Add(c.mostlyIdleSum(&v, b, server))
			}
			y := (*block)(c.Products[b<<LowBits:])
			for i := range y {
				y[i] = v[i] * x[i]
			}
		}
		*x = v
	}
}

// add256 adds the sums of block b, times factor, and returns that over the whole block.
func (s *Sums) add256(g *groupSums, b int, factor float64) float64 {
	all := g.fold() * factor
	s.All.Add(all)
	for i, l := range g.with {
		s.With[i].Add(l * factor)
	}
	for h := b; h != 0; h &= h - 1 {
		s.With[LowBits+bits.TrailingZeros(uint(h))].Add(all)
	}
	return all
}

// mostlyIdleSum returns the sum of a mostly idle server over block b, whose V is v; H is still in place in the
// blocks below.
func (c *Cube) mostlyIdleSum(v *block, b, server int) float64 {
	bit := 1 << server
	if server >= LowBits && b<<LowBits&bit == 0 {
		return 0
	}
	var sum float64
	for l := range v {
		k := b<<LowBits | l
		if k&bit == 0 || v[l] == 0 {
			continue
		}
		rest := k &^ bit
		gain := c.Capacity[server] - (c.Integers[k] - c.Integers[rest])
		sum += v[l] * (float64(gain) * c.x[rest])
	}
	return sum * (c.Unit / c.Weight[server])
}

// pullUp sets x to the sum of the blocks without one high element of b.
func (c *Cube) pullUp(x *block, b int) {
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
func (c *Cube) pullDown(v *block, b int) {
	full := len(c.x)>>LowBits - 1
	set := full &^ b
	next := func() *block {
		h := set & -set
		set &^= h
		return c.block(b | h)
	}
	switch {
	case c.AllSets:
		high := c.product(b)
		for l, p := range c.low {
			v[l] = high * p
		}
	default:
		*v = block{}
		if b == c.Root>>LowBits {
			v[c.Root&(BlockSize-1)] = c.product(b) * c.low[c.Root&(BlockSize-1)]
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

// A ErrorBounds bounds the relative errors of a sweep over the subsets of n elements. With u
// the unit roundoff and delta that of the denominators, a value on level k is a sum of at most k
// values (n-k and the seed on the way down) divided once, and a product of weights takes 2n+2 roundings:
//
//	H: e_k = e_{k-1} + (k+1)u + delta, e_0 = 0,   X = H Π: e_k + (2n+3)u,
//	V: g_k = g_{k+1} + (n-k+2)u + delta, g_{n+1} = (2n+2)u.
//
// Within a block a sum passes at most 40 additions; sums of blocks are compensated, which costs
// 4u more (see num.Sum).
type ErrorBounds struct {
	Value      float64 // of X
	Up         float64 // of sums of X
	Product    float64 // of WX
	ProductSum float64 // of sums of WX
}

func NewErrorBounds(n int, delta float64) ErrorBounds {
	const sums = 44 * arithmetic.Roundoff
	e := make([]float64, n+1)
	for k := 1; k <= n; k++ {
		e[k] = e[k-1] + float64(k+1)*arithmetic.Roundoff + delta
	}
	product := float64(2*n+3) * arithmetic.Roundoff
	var s ErrorBounds
	g := product
	for k := n; k >= 1; k-- {
		g += float64(n-k+2)*arithmetic.Roundoff + delta
		s.Product = max(s.Product, e[k]+g+arithmetic.Roundoff)
	}
	s.Value = arithmetic.Inflate(e[n] + product)
	s.Up = arithmetic.Inflate(e[n] + product + sums)
	s.ProductSum = arithmetic.Inflate(s.Product + sums)
	s.Product = arithmetic.Inflate(s.Product)
	return s
}
