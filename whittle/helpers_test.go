package whittle_test

import (
	"math/big"
	"math/bits"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
	"productform/whittle"
)

// exactly requests fractions.
var exactly = whittle.Settings{Engine: num.Exact}

func mul(v ...*big.Rat) *big.Rat {
	p := big.NewRat(1, 1)
	for _, f := range v {
		p.Mul(p, f)
	}
	return p
}

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func quo(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
func equal(a, b *big.Rat) bool   { return a.Cmp(b) == 0 }

func power(r *big.Rat, n int) *big.Rat {
	p := big.NewRat(1, 1)
	for range n {
		p.Mul(p, r)
	}
	return p
}

// setRate returns Σ_{i∈A} v_i at the mask of A.
func setRate(v []*big.Rat, a int) *big.Rat {
	sum := new(big.Rat)
	for i, r := range v {
		if a>>i&1 == 1 {
			sum.Add(sum, r)
		}
	}
	return sum
}

// drawNetwork draws a stable cluster with 1 to most classes; its load max_A λ(A)/μ(A) is 1/20 to
// 19/20.
func drawNetwork(t *rapid.T, most int) *whittle.Network {
	m := oracle.DrawModel(t, oracle.Options{Servers: 4, Classes: most, Stable: true})
	return &whittle.Network{ArrivalRates: oracle.Rates(m), Rank: oracle.RankTable(m)}
}

// drawLattice draws a box or a simplex of at most a few hundred states.
func drawLattice(t *rapid.T, classes int) whittle.Lattice {
	if rapid.Bool().Draw(t, "simplex") {
		return whittle.Simplex(classes, rapid.IntRange(0, 6-classes).Draw(t, "total"))
	}
	limits := make([]int, classes)
	for i := range limits {
		limits[i] = rapid.IntRange(0, 7-classes).Draw(t, "limit")
	}
	return whittle.Box(limits...)
}

// orderings is the oracle for Φ(x), given the jobs of each class placed so far: the sum of Π_k
// 1/μ(c_1, ..., c_k) over the orders c of the remaining jobs, as in the stationary measure (1)-(2)
// of the order-independent queue.
func orderings(mu func(come []int) *big.Rat, left, come []int) *big.Rat {
	sum, done := new(big.Rat), true
	for i := range left {
		if left[i] == 0 {
			continue
		}
		done = false
		left[i]--
		come[i]++
		sum.Add(sum, quo(orderings(mu, left, come), mu(come)))
		left[i]++
		come[i]--
	}
	if done {
		return big.NewRat(1, 1)
	}
	return sum
}

func activeMask(x []int) int {
	a := 0
	for i, v := range x {
		if v > 0 {
			a |= 1 << i
		}
	}
	return a
}

func subset(a, b int) bool { return bits.OnesCount(uint(a&^b)) == 0 }
