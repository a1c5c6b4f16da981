package convolution

import (
	"fmt"
	"math/big"

	"productform/internal/ranktable"
)

// OfNodes sets μ(y) to the capacity of all nodes that serve a kind with y_c > 0, given by node and
// kind.
func (sh *Shared) OfNodes(capacities []*big.Rat, serves [][]bool) {
	sh.Serves, sh.CountCap = serves, 1
	type group struct { // nodes that serve the same kinds
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

// OfLimits sets μ(y) to rate times the number of busy servers, under limits on the servers that
// each set of kinds may use.
func (sh *Shared) OfLimits(servers int, rate *big.Rat, limits []ranktable.Limit) {
	sh.CountCap = servers
	held := ranktable.NewLimits(servers, len(sh.Kinds), limits)
	sh.Rate = func(y []int) *big.Rat {
		n := big.NewRat(int64(held.Busy(y)), 1)
		return n.Mul(n, rate)
	}
}

// OfSets sets μ(y) to the rate of the set of kinds with y_c > 0, at its bit mask.
func (sh *Shared) OfSets(rates []*big.Rat) {
	sh.CountCap = 1
	sh.Rate = func(y []int) *big.Rat { return rates[ranktable.Present(y)] }
}
