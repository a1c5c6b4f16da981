package whittle_test

import (
	"math/big"
	"math/bits"

	"pgregory.net/rapid"

	"productform/whittle"
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a number: " + s)
	}
	return r
}

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

// coverRank returns μ(A) = Σ of the capacities of the servers that some class of A is compatible with.
func coverRank(capacity []*big.Rat, servers []uint) []*big.Rat {
	rank := make([]*big.Rat, 1<<len(servers))
	for a := range rank {
		var reach uint
		for i, s := range servers {
			if a>>i&1 == 1 {
				reach |= s
			}
		}
		rank[a] = new(big.Rat)
		for s, c := range capacity {
			if reach>>s&1 == 1 {
				rank[a].Add(rank[a], c)
			}
		}
	}
	return rank
}

func setRate(lambda []*big.Rat, a int) *big.Rat {
	sum := new(big.Rat)
	for i, r := range lambda {
		if a>>i&1 == 1 {
			sum.Add(sum, r)
		}
	}
	return sum
}

// drawNetwork draws a stable cluster with 1 to most classes; its load max_A λ(A)/μ(A) is drawn from 1/10 to 19/20.
func drawNetwork(t *rapid.T, most int) whittle.Network {
	classes := rapid.IntRange(1, most).Draw(t, "classes")
	capacity := make([]*big.Rat, rapid.IntRange(1, 4).Draw(t, "servers"))
	for s := range capacity {
		capacity[s] = big.NewRat(int64(rapid.IntRange(1, 6).Draw(t, "capacity")), int64(rapid.IntRange(1, 4).Draw(t, "per")))
	}
	n := whittle.Network{ArrivalRates: make([]*big.Rat, classes)}
	servers := make([]uint, classes)
	for i := range servers {
		servers[i] = uint(rapid.IntRange(1, 1<<len(capacity)-1).Draw(t, "compatible"))
		n.ArrivalRates[i] = big.NewRat(int64(rapid.IntRange(1, 9).Draw(t, "rate")), 5)
	}
	n.Rank = coverRank(capacity, servers)
	worst := new(big.Rat)
	for a := 1; a < len(n.Rank); a++ {
		if r := quo(setRate(n.ArrivalRates, a), n.Rank[a]); r.Cmp(worst) > 0 {
			worst = r
		}
	}
	load := big.NewRat(int64(rapid.IntRange(2, 19).Draw(t, "load")), 20)
	for i := range n.ArrivalRates {
		n.ArrivalRates[i] = mul(n.ArrivalRates[i], quo(load, worst))
	}
	return n
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

// activeSets is the oracle for sums over the whole of ℕ^N: the recursion over sets of active classes
//
//	G(A) = Σ_{i∈A} λ_i G(A∖{i}) / (μ(A) - λ(A)),  Z = Σ_A G(A),  E[X_i] = λ_i ∂ log Z/∂λ_i,
//
// with the derivatives carried along.
func activeSets(n whittle.Network) (z *big.Rat, means []*big.Rat) {
	classes := len(n.ArrivalRates)
	g := make([]*big.Rat, 1<<classes)
	dg := make([][]*big.Rat, 1<<classes) // ∂G(A)/∂λ_j
	z = new(big.Rat)
	dz := make([]*big.Rat, classes)
	for j := range dz {
		dz[j] = new(big.Rat)
	}
	for a := range g {
		dg[a] = make([]*big.Rat, classes)
		sum, dsum := new(big.Rat), make([]*big.Rat, classes)
		for j := range dsum {
			dsum[j] = new(big.Rat)
		}
		for i := range classes {
			if a>>i&1 == 0 {
				continue
			}
			b := a &^ (1 << i)
			sum.Add(sum, mul(n.ArrivalRates[i], g[b]))
			dsum[i].Add(dsum[i], g[b])
			for j := range dsum {
				dsum[j].Add(dsum[j], mul(n.ArrivalRates[i], dg[b][j]))
			}
		}
		margin := big.NewRat(1, 1)
		if a == 0 {
			sum.SetInt64(1)
		} else {
			margin = sub(n.Rank[a], setRate(n.ArrivalRates, a))
		}
		g[a] = quo(sum, margin)
		for j := range dsum {
			if a>>j&1 == 1 { // the margin depends on λ_j
				dsum[j].Add(dsum[j], g[a])
			}
			dg[a][j] = quo(dsum[j], margin)
			dz[j].Add(dz[j], dg[a][j])
		}
		z.Add(z, g[a])
	}
	for j := range dz {
		means = append(means, quo(mul(n.ArrivalRates[j], dz[j]), z))
	}
	return z, means
}

// orderings is the oracle for Φ(x): the sum of Π_k 1/μ({c_1, ..., c_k}) over the orders c of the jobs of x,
// as the stationary measure (1)-(2) of the order-independent queue has it.
func orderings(rank []*big.Rat, left []int, active uint) *big.Rat {
	sum, done := new(big.Rat), true
	for i := range left {
		if left[i] == 0 {
			continue
		}
		done = false
		left[i]--
		next := active | 1<<i
		sum.Add(sum, quo(orderings(rank, left, next), rank[next]))
		left[i]++
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
