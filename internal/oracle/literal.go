package oracle

import (
	"math/big"
	"slices"

	"productform/cluster"
	"productform/num"
)

// Subsets lists the subsets of 0..n-1 by increasing size, and lexicographically within a size.
func Subsets(n int) [][]int {
	all := [][]int{{}}
	for k := 0; k < len(all); k++ {
		from := 0
		if last := len(all[k]) - 1; last >= 0 {
			from = all[k][last] + 1
		}
		for i := from; i < n; i++ {
			all = append(all, append(slices.Clone(all[k]), i))
		}
	}
	return all
}

// Mask returns the bit mask of a set.
func Mask(set []int) int {
	a := 0
	for _, i := range set {
		a |= 1 << i
	}
	return a
}

// Sum returns the sum of numbers. It adds by halves: the fraction of a long sum has many digits.
func Sum(v []*big.Rat) *big.Rat {
	switch n := len(v); n {
	case 0:
		return new(big.Rat)
	case 1:
		return new(big.Rat).Set(v[0])
	default:
		return new(big.Rat).Add(Sum(v[:n/2]), Sum(v[n/2:]))
	}
}

// Rates returns the arrival rates of a model in jobs of its mean size σ per unit of time: λ_i, or
// λ_i σ_i/σ for a class with its own mean size.
func Rates(m *cluster.Model) []*big.Rat {
	v := make([]*big.Rat, len(m.Classes))
	for i, c := range m.Classes {
		v[i] = c.ArrivalRate
		if c.MeanSize != nil {
			each := new(big.Rat).Quo(c.MeanSize, num.OrOne(m.MeanSize))
			v[i] = each.Mul(each, c.ArrivalRate)
		}
	}
	return v
}

// Rank returns μ(A)/σ, in jobs of the mean size of the model per unit of time, of a set A of
// classes that use single servers or whole groups: it tests every pair of a server and a class of
// A.
func Rank(m *cluster.Model, set []int) *big.Rat {
	mu := new(big.Rat)
	for s, server := range m.Servers {
		if slices.ContainsFunc(set, func(i int) bool {
			return slices.ContainsFunc(m.Classes[i].Servers, func(c cluster.Choice) bool { return c.Server == s })
		}) {
			mu.Add(mu, new(big.Rat).Mul(big.NewRat(int64(server.Size()), 1), server.Capacity))
		}
	}
	return mu.Quo(mu, num.OrOne(m.MeanSize))
}

// RankTable returns [Rank] at the bit mask of every set.
func RankTable(m *cluster.Model) []*big.Rat {
	table := make([]*big.Rat, 1<<len(m.Classes))
	for _, set := range Subsets(len(m.Classes)) {
		table[Mask(set)] = Rank(m, set)
	}
	return table
}

// ActiveSets returns G(A) at the bit mask of each A, and E[X_i], of a queue with rank function μ by
// the recursion over sets of active classes and its derivative,
//
//	G(∅) = 1,  (μ(A) - λ(A)) G(A) = Σ_{i∈A} λ_i G(A∖i),  λ(A) = Σ_{i∈A} λ_i,  Z = Σ_A G(A),
//	(μ(A) - λ(A)) D_j(A) = λ_j (G(A∖j) + G(A)) [j∈A] + Σ_{i∈A} λ_i D_j(A∖i),  E[X_j] = Σ_A D_j(A)/Z.
//
// The second is linear in the terms with [j∈A], so Σ_A D_j(A) is the sum of these times v(A), with
//
//	(μ(A) - λ(A)) v(A) = 1 + Σ_{i∉A} λ_i v(A∪i).
//
// The queue is stable.
func ActiveSets(lambda, mu []*big.Rat) (g, jobs []*big.Rat) {
	g = make([]*big.Rat, 1<<len(lambda))
	slack := make([]*big.Rat, len(g))
	for a := range g { // A∖i has a smaller mask
		if g[a], slack[a] = big.NewRat(1, 1), big.NewRat(1, 1); a == 0 {
			continue
		}
		slack[a].Set(mu[a])
		sum := new(big.Rat)
		for i, l := range lambda {
			if a>>i&1 == 1 {
				slack[a].Sub(slack[a], l)
				sum.Add(sum, new(big.Rat).Mul(l, g[a&^(1<<i)]))
			}
		}
		g[a].Quo(sum, slack[a])
	}
	v, terms := make([]*big.Rat, len(g)), make([][]*big.Rat, len(lambda))
	for a := len(g) - 1; a > 0; a-- {
		sum := big.NewRat(1, 1)
		for i, l := range lambda {
			if a>>i&1 == 0 {
				sum.Add(sum, new(big.Rat).Mul(l, v[a|1<<i]))
			}
		}
		v[a] = sum.Quo(sum, slack[a])
		for j := range lambda {
			if a>>j&1 == 1 {
				both := new(big.Rat).Add(g[a&^(1<<j)], g[a])
				terms[j] = append(terms[j], both.Mul(both, v[a]))
			}
		}
	}
	z := Sum(g)
	for j, l := range lambda {
		sum := Sum(terms[j])
		sum.Mul(sum, l)
		jobs = append(jobs, sum.Quo(sum, z))
	}
	return g, jobs
}

// An Answer holds the stationary measures of a stable cluster under balanced fairness.
type Answer struct {
	Normalization *big.Rat   // Z
	MeanJobs      []*big.Rat // E[X_i] of each row of classes
	Busy          []*big.Rat // probability that a server is busy, for each row of servers
}

// Solve returns the measures of a stable model by [ActiveSets], with a separate class for each
// combination of servers that a class may draw: 2^n sets for n = [Combinations] of m.
func Solve(m *cluster.Model) Answer {
	e, serverRow, classRow := single(m)
	g, jobs := ActiveSets(Rates(e), RankTable(e))
	z := Sum(g)
	a := Answer{z, make([]*big.Rat, len(m.Classes)), make([]*big.Rat, len(m.Servers))}
	for row := range m.Classes {
		a.MeanJobs[row] = new(big.Rat)
	}
	for i, row := range classRow {
		a.MeanJobs[row].Add(a.MeanJobs[row], jobs[i])
	}
	for s, row := range serverRow { // servers of a row are identical: keep the last one
		busy := new(big.Rat)
		for mask, weight := range g {
			if slices.ContainsFunc(e.Classes, func(c cluster.Class) bool {
				used := mask&1 == 1
				mask >>= 1
				return used && slices.Contains(c.Servers, cluster.Choice{Server: s, Choose: 1})
			}) {
				busy.Add(busy, weight)
			}
		}
		a.Busy[row] = busy.Quo(busy, z)
	}
	return a
}

// Combinations returns the number of combinations of servers that the classes of m may draw.
func Combinations(m *cluster.Model) int {
	total := 0
	for _, c := range m.Classes {
		n := 1
		for _, choice := range c.Servers {
			n *= int(binomial(m.Servers[choice.Server].Size(), choice.Choose).Int64())
		}
		total += n
	}
	return total
}

func binomial(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }

// single expands a model into single servers: for each class, all sets of servers with the right
// number of each row share its rate equally. The rows are those of m.
func single(m *cluster.Model) (e *cluster.Model, serverRow, classRow []int) {
	e = &cluster.Model{MeanSize: m.MeanSize}
	for row, s := range m.Servers {
		for range s.Size() {
			e.Servers = append(e.Servers, cluster.Server{Capacity: s.Capacity})
			serverRow = append(serverRow, row)
		}
	}
	subsets := Subsets(len(e.Servers))
	for row, c := range m.Classes {
		want := make([]int, len(m.Servers))
		for _, choice := range c.Servers {
			want[choice.Server] = choice.Choose
		}
		var sets [][]int
		for _, set := range subsets {
			count := make([]int, len(m.Servers))
			for _, s := range set {
				count[serverRow[s]]++
			}
			if slices.Equal(count, want) {
				sets = append(sets, set)
			}
		}
		for _, set := range sets {
			rate := new(big.Rat).Quo(c.ArrivalRate, big.NewRat(int64(len(sets)), 1))
			e.Classes = append(e.Classes, cluster.Class{
				ArrivalRate: rate,
				MeanSize:    c.MeanSize,
				Servers:     cluster.On(set...),
			})
			classRow = append(classRow, row)
		}
	}
	return e, serverRow, classRow
}

// Extremes returns the margin min_A μ(A) - σ λ(A), in work per unit of time, and the critical scale
// min_A μ(A) / (σ λ(A)), nil if no work arrives, over the sets A of combinations of servers that
// jobs draw. Both minima are attained by the set of all combinations inside a set of servers. Only
// the numbers k_s of servers in each row matter, with a fraction C(k,d)/C(n,d) of the jobs of a
// class inside; all numbers are tried.
func Extremes(m *cluster.Model) (margin, scale *big.Rat) {
	k, rates, size := make([]int, len(m.Servers)), Rates(m), num.OrOne(m.MeanSize)
	var list []*big.Rat // capacities, and the work of each class per combination
	for _, s := range m.Servers {
		list = append(list, s.Capacity)
	}
	for i, c := range m.Classes {
		x := new(big.Rat).Mul(rates[i], size)
		for _, choice := range c.Servers {
			x.Quo(x, new(big.Rat).SetInt(binomial(m.Servers[choice.Server].Size(), choice.Choose)))
		}
		list = append(list, x)
	}
	common := big.NewInt(1) // their common denominator
	for _, x := range list {
		common.Mul(common, new(big.Int).Quo(x.Denom(), new(big.Int).GCD(nil, nil, common, x.Denom())))
	}
	var integers []*big.Int
	for _, x := range list {
		y := new(big.Int).Mul(x.Num(), common)
		integers = append(integers, y.Quo(y, x.Denom()))
	}
	capacity, work := integers[:len(k)], integers[len(k):]
	var least, above, below *big.Int // the margin, and the numerator and denominator of the scale
	for {
		mu, load, some := new(big.Int), new(big.Int), false
		for s, n := range k {
			mu.Add(mu, new(big.Int).Mul(big.NewInt(int64(n)), capacity[s]))
		}
		for i, c := range m.Classes {
			if slices.ContainsFunc(c.Servers, func(s cluster.Choice) bool { return k[s.Server] < s.Choose }) {
				continue // C(k,d) = 0
			}
			part := work[i]
			for _, choice := range c.Servers {
				if choice.Choose < k[choice.Server] {
					part = new(big.Int).Mul(part, binomial(k[choice.Server], choice.Choose))
				}
			}
			some = true
			load.Add(load, part)
		}
		if h := new(big.Int).Sub(mu, load); some && (least == nil || h.Cmp(least) < 0) {
			least = h
		}
		if load.Sign() > 0 && (above == nil || new(big.Int).Mul(mu, below).Cmp(new(big.Int).Mul(above, load)) < 0) {
			above, below = mu, load
		}
		s := 0
		for ; s < len(k) && k[s] == m.Servers[s].Size(); s++ {
			k[s] = 0
		}
		if s == len(k) {
			break
		}
		k[s]++
	}
	if least != nil {
		margin = new(big.Rat).SetFrac(least, common)
	}
	if above != nil {
		scale = new(big.Rat).SetFrac(above, below)
	}
	return margin, scale
}
