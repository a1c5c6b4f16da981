package recursion

import (
	"fmt"
	"math"
	"math/big"
)

// A Problem is one component with its capacities and rates as integers over a common
// denominator. Scaling all of them together changes nothing: the recursions are homogeneous.
type Problem struct {
	Groups  []Group
	Classes []Class
	Whole   bool     // every group is a single server
	Shared  bool     // rates count all ways to choose servers as one; see Shares
	Scale   *big.Int // capacities and rates are these integers over scale
	Bits    int      // bits of the sum of all capacities and rates

	// When the sum of all capacities and rates fits into 62 bits, every difference
	// μ(A) - λ(A) is an exact int64, and these are set.
	Small      bool
	Capacity64 []int64
	Rate64     []int64
}

// A Choice is a number of servers drawn from a group.
type Choice struct{ Group, Choose int }

// A Group is n equal servers.
type Group struct {
	N        int
	Capacity *big.Int // capacity of each server
}

// A Class spreads its arrivals evenly over the ways to choose its servers.
type Class struct {
	Rate   *big.Int // per way, λ_t / Π_g C(n_g, d_tg); λ_t if the problem is shared
	Choose []Choice // choices of servers from groups
}

// Words returns the capacities and rates as int64 whose sum fits into 62 bits: exact if slop is 0;
// otherwise they are divided by 2^shift and rounded, and every difference μ(A) - λ(A) is off by at
// most slop units.
func (p *Problem) Words() (capacity, rate []int64, shift uint, slop float64) {
	if p.Small {
		return p.Capacity64, p.Rate64, 0, 0
	}
	total := new(big.Int)
	for _, g := range p.Groups {
		total.Add(total, g.Capacity)
	}
	for _, k := range p.Classes {
		total.Add(total, k.Rate)
	}
	shift = uint(total.BitLen() - 60)
	half := new(big.Int).Lsh(big.NewInt(1), shift-1)
	round := func(v *big.Int) int64 {
		w := new(big.Int).Add(v, half)
		return w.Rsh(w, shift).Int64()
	}
	for _, g := range p.Groups {
		capacity = append(capacity, round(g.Capacity))
	}
	for _, k := range p.Classes {
		rate = append(rate, round(k.Rate))
	}
	return capacity, rate, shift, float64(len(p.Groups)+len(p.Classes)) / 2
}

// SubsetStates returns the number of states of the lattices of all subsets, +Inf beyond float64:
// 2^N sets of classes and Π_g (n_g+1) counts of servers.
func (p *Problem) SubsetStates() (classes, servers float64) {
	servers = 1
	for _, g := range p.Groups {
		servers *= float64(g.N + 1)
	}
	return math.Exp2(float64(len(p.Classes))), servers
}

// ClassMasks returns the classes of each server as a mask.
func (p *Problem) ClassMasks() []int {
	masks := make([]int, len(p.Groups))
	for i, k := range p.Classes {
		for _, c := range k.Choose {
			masks[c.Group] |= 1 << i
		}
	}
	return masks
}

// WeightGroups returns, for each weight of the lattices of servers, its group and number of
// servers.
func (p *Problem) WeightGroups() (group []int, copies []*big.Rat) {
	for s, g := range p.Groups {
		for k := range g.N {
			group = append(group, s)
			copies = append(copies, big.NewRat(int64(k+1), 1))
		}
	}
	return group, copies
}

// Overloaded returns the error for a set of classes, all of whose servers are single ones. Its rows
// are the classes of the component.
func (p *Problem) Overloaded(classes []int) error {
	used := make(map[int]bool)
	rate, capacity := new(big.Int), new(big.Int)
	for _, i := range classes {
		rate.Add(rate, p.Classes[i].Rate)
		for _, c := range p.Classes[i].Choose {
			if !used[c.Group] {
				capacity.Add(capacity, p.Groups[c.Group].Capacity)
				used[c.Group] = true
			}
		}
	}
	return p.unstable(classes, new(big.Rat).SetInt(rate), capacity)
}

// overloadedState returns the error for a state of g with d(k) <= 0.
func (p *Problem) overloadedState(g *Graph, k int) error {
	var rows []int
	var collect func(k int32)
	collect = func(k int32) {
		for _, i := range g.Own[g.OwnFirst[k]:g.OwnFirst[k+1]] {
			rows = append(rows, int(i))
		}
		if t := g.Rest[k]; t >= 0 {
			for _, c := range g.Children(t) {
				collect(c)
			}
		}
	}
	collect(int32(k))
	var rate *big.Rat
	if g.Shares != nil {
		rate = g.Shares.exactRate(g, k)
	} else {
		rate = new(big.Rat).SetInt(g.Rate.At(k, new(big.Int)))
	}
	return p.unstable(rows, rate, g.Total.At(k, new(big.Int)))
}

func (p *Problem) unstable(rows []int, rate *big.Rat, capacity *big.Int) error {
	scale := new(big.Rat).SetInt(p.Scale)
	return &Overload{
		Classes:     rows,
		ArrivalRate: rate.Quo(rate, scale),
		Capacity:    scale.Quo(new(big.Rat).SetInt(capacity), scale),
	}
}

// An Overload is the error for a set of classes that bring at least as much work as all their
// servers can do.
type Overload struct {
	Classes               []int // classes of the problem
	ArrivalRate, Capacity *big.Rat
}

func (e *Overload) Error() string {
	return fmt.Sprintf("classes %v bring %v to servers that can do %v", e.Classes, e.ArrivalRate, e.Capacity)
}
