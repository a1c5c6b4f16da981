package bf

import (
	"math/big"
	"math/bits"

	"productform/cluster"
	"productform/num"
)

// ErrUnstable says that a model has no stationary distribution.
var ErrUnstable = cluster.ErrUnstable

// An UnstableError names a set of classes whose jobs arrive at least as fast as all the
// servers they can use can work. It wraps [ErrUnstable].
type UnstableError = cluster.UnstableError

// A TooLargeError refuses a model, or an engine for it, for the memory that it would take.
type TooLargeError = num.TooLargeError

// overloaded returns the error for a set of classes whose servers are all single ones. Its
// rows are the classes of the component.
func (p *problem) overloaded(classes []int32) error {
	used := make(map[int]bool)
	rate, capacity := new(big.Int), new(big.Int)
	var rows []int
	for _, i := range classes {
		rows = append(rows, int(i))
		rate.Add(rate, p.classes[i].rate)
		for _, c := range p.classes[i].choose {
			if !used[c.Server] {
				capacity.Add(capacity, p.groups[c.Server].capacity)
				used[c.Server] = true
			}
		}
	}
	return p.unstable(rows, new(big.Rat).SetInt(rate), capacity)
}

// overloadedState returns the error for a state of g with d(k) <= 0.
func (p *problem) overloadedState(g *graph, k int) error {
	var rows []int
	var collect func(k int32)
	collect = func(k int32) {
		for _, i := range g.own[g.ownFirst[k]:g.ownFirst[k+1]] {
			rows = append(rows, int(i))
		}
		if t := g.rest[k]; t >= 0 {
			for _, c := range g.children(t) {
				collect(c)
			}
		}
	}
	collect(int32(k))
	var rate *big.Rat
	if g.shares != nil {
		rate = g.shares.exactRate(g, k)
	} else {
		rate = new(big.Rat).SetInt(g.rate.at(k, new(big.Int)))
	}
	return p.unstable(rows, rate, g.total.at(k, new(big.Int)))
}

func (p *problem) unstable(rows []int, rate *big.Rat, capacity *big.Int) error {
	scale := new(big.Rat).SetInt(p.scale)
	return &UnstableError{Classes: rows, ArrivalRate: rate.Quo(rate, scale), Capacity: scale.Quo(new(big.Rat).SetInt(capacity), scale)}
}

// elements lists the elements of a mask.
func elements(mask int) []int32 {
	var l []int32
	for ; mask != 0; mask &= mask - 1 {
		l = append(l, int32(bits.TrailingZeros(uint(mask))))
	}
	return l
}
