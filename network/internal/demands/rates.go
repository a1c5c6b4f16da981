package demands

import (
	"fmt"
	"math/big"
	"slices"
)

// OfNodes sets μ(y) to the capacity of all nodes that serve a kind with y_c > 0, given by node and kind.
func (sh *Shared) OfNodes(capacities []*big.Rat, serves [][]bool) {
	sh.Serves, sh.Much = serves, 1
	type group struct { // of nodes that serve the same kinds
		serves   []bool
		capacity *big.Rat
	}
	groups := map[string]*group{}
	var order []*group
	for n, c := range capacities {
		key := fmt.Sprint(serves[n])
		if groups[key] == nil {
			groups[key] = &group{serves[n], new(big.Rat)}
			order = append(order, groups[key])
		}
		groups[key].capacity.Add(groups[key].capacity, c)
	}
	sh.Rate = func(y []int) *big.Rat {
		rate := new(big.Rat)
		for _, g := range order {
			for c, n := range y {
				if n > 0 && g.serves[c] {
					rate.Add(rate, g.capacity)
					break
				}
			}
		}
		return rate
	}
}

// A Limit says that jobs of some kinds hold at most so many servers together.
type Limit struct {
	Kinds []int // increasing
	Most  int
}

// OfLimits sets μ(y) to rate times the busy ones of so many servers. The sets of limits are disjoint or nested: of one, the busy servers are the least of its bound and the sum over the
// largest sets in it and the kinds of it in none of these; the servers bound the whole.
func (sh *Shared) OfLimits(servers int, rate *big.Rat, limits []Limit) {
	sh.Much = servers
	limits = slices.Clone(limits)
	slices.SortStableFunc(limits, func(a, b Limit) int { return len(a.Kinds) - len(b.Kinds) }) // those inside come first
	parent := make([]int, len(limits))                                                         // the least set around a limit, len(limits) the station
	for l := range limits {
		parent[l] = len(limits)
		for o := l + 1; o < len(limits); o++ {
			if slices.Contains(limits[o].Kinds, limits[l].Kinds[0]) {
				parent[l] = o
				break
			}
		}
	}
	home := make([]int, len(sh.Kinds)) // the least set that holds a kind
	for c := range home {
		home[c] = slices.IndexFunc(limits, func(l Limit) bool { return slices.Contains(l.Kinds, c) })
		if home[c] < 0 {
			home[c] = len(limits)
		}
	}
	sh.Rate = func(y []int) *big.Rat {
		busy := make([]int, len(limits)+1)
		for c, n := range y {
			busy[home[c]] += n
		}
		for l, limit := range limits {
			busy[parent[l]] += min(busy[l], limit.Most)
		}
		n := big.NewRat(int64(min(busy[len(limits)], servers)), 1)
		return n.Mul(n, rate)
	}
}

// OfSets sets μ(y) to the rate of the set of kinds with y_c > 0, at its bit mask.
func (sh *Shared) OfSets(rates []*big.Rat) {
	sh.Much = 1
	sh.Rate = func(y []int) *big.Rat {
		mask := 0
		for c, n := range y {
			if n > 0 {
				mask |= 1 << c
			}
		}
		return rates[mask]
	}
}
