package bf

import (
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/num"
)

// A problem is one component with its capacities and rates as integers over a common
// denominator. Scaling all of them together changes nothing: the recursions are homogeneous.
type problem struct {
	groups  []group
	classes []class
	whole   bool     // every group is a single server
	shared  bool     // rates count all ways to choose servers together; see shares
	scale   *big.Int // capacities and rates are these integers over scale
	bits    int      // of the sum of all capacities and rates

	// When the sum of all capacities and rates fits into 62 bits, every difference
	// μ(A) - λ(A) is an exact int64, and these are set.
	small      bool
	capacity64 []int64
	rate64     []int64

	spare *[]float64 // table kept from one point of a sweep to the next, or nil
}

// A group is n equal servers.
type group struct {
	n        int
	capacity *big.Int // of each server
}

// A class spreads its arrivals evenly over the ways to choose its servers.
type class struct {
	rate   *big.Int         // of each way, λ_t / Π_g C(n_g, d_tg); λ_t if the problem is shared
	choose []cluster.Choice // servers chosen from which groups
}

// newProblem returns the integers of a component. Where the numbers of ways to choose servers make them longer than a
// word the rates are those of all ways together, unless they are asked for as perWay.
func newProblem(c *cluster.Component, perWay bool) *problem {
	few, whole := true, true
	for _, k := range c.Model.Classes {
		few = few && log2Ways(c.Model.Servers, k.Servers) <= 64
	}
	for _, s := range c.Model.Servers {
		whole = whole && s.Size() == 1
	}
	if perWay || few {
		ways := make([]*big.Int, len(c.Model.Classes))
		for i, k := range c.Model.Classes {
			ways[i] = waysToChoose(c.Model.Servers, k.Servers)
		}
		if p := problemOf(c, ways); perWay || whole || p.small {
			p.whole = whole
			return p
		}
	}
	return sharedProblem(c)
}

// sharedProblem returns the integers of a component with the rates of all ways together.
func sharedProblem(c *cluster.Component) *problem {
	p := problemOf(c, slices.Repeat([]*big.Int{intOne}, len(c.Model.Classes)))
	p.shared, p.small, p.capacity64, p.rate64 = true, false, nil, nil
	return p
}

// problemOf returns the integers of a component whose classes spread over this many ways.
func problemOf(c *cluster.Component, ways []*big.Int) *problem {
	p := &problem{}
	scale := big.NewInt(1)
	for _, s := range c.Model.Servers {
		num.JoinDenominator(scale, s.Capacity)
	}
	perWay := make([]*big.Rat, len(c.Model.Classes))
	for i, k := range c.Model.Classes {
		perWay[i] = new(big.Rat).Quo(k.ArrivalRate, new(big.Rat).SetInt(ways[i]))
		num.JoinDenominator(scale, perWay[i])
	}
	p.scale = scale
	total := new(big.Int)
	for _, s := range c.Model.Servers {
		v := timesInt(s.Capacity, scale)
		p.groups = append(p.groups, group{s.Size(), v})
		total.Add(total, new(big.Int).Mul(v, big.NewInt(int64(s.Size()))))
	}
	for i, k := range c.Model.Classes {
		v := timesInt(perWay[i], scale)
		p.classes = append(p.classes, class{v, k.Servers})
		// A class of rate 0 counts like one of the smallest rate, so that its number of ways fits too.
		if v.Sign() == 0 {
			total.Add(total, ways[i])
		}
		total.Add(total, new(big.Int).Mul(v, ways[i]))
	}
	p.bits = total.BitLen()
	if p.small = p.bits <= 62; p.small {
		for _, g := range p.groups {
			p.capacity64 = append(p.capacity64, g.capacity.Int64())
		}
		for _, k := range p.classes {
			p.rate64 = append(p.rate64, k.rate.Int64())
		}
	}
	return p
}

// log2Ways returns log2 Π_g C(n_g, d_g), to ten digits.
func log2Ways(servers []cluster.Server, choose []cluster.Choice) float64 {
	sum := 0.0
	for _, c := range choose {
		n, d := float64(servers[c.Server].Size()), float64(c.Choose)
		all, _ := math.Lgamma(n + 1)
		chosen, _ := math.Lgamma(d + 1)
		left, _ := math.Lgamma(n - d + 1)
		sum += (all - chosen - left) / math.Ln2
	}
	return sum
}

// waysToChoose returns Π_g C(n_g, d_g), the number of server sets a class chooses from.
func waysToChoose(servers []cluster.Server, choose []cluster.Choice) *big.Int {
	ways := big.NewInt(1)
	for _, c := range choose {
		ways.Mul(ways, new(big.Int).Binomial(int64(servers[c.Server].Size()), int64(c.Choose)))
	}
	return ways
}

// timesInt returns r·scale, which must be an integer.
func timesInt(r *big.Rat, scale *big.Int) *big.Int {
	q := new(big.Int).Quo(scale, r.Denom())
	return q.Mul(q, r.Num())
}

// words returns the capacities and rates as int64 whose sum fits into 62 bits: exact if
// slop is 0, otherwise divided by 2^shift and rounded, so that every difference μ(A) - λ(A) is
// off by at most slop units.
func (p *problem) words() (capacity, rate []int64, shift uint, slop float64) {
	if p.small {
		return p.capacity64, p.rate64, 0, 0
	}
	total := new(big.Int)
	for _, g := range p.groups {
		total.Add(total, g.capacity)
	}
	for _, k := range p.classes {
		total.Add(total, k.rate)
	}
	shift = uint(total.BitLen() - 60)
	half := new(big.Int).Lsh(big.NewInt(1), shift-1)
	round := func(v *big.Int) int64 {
		w := new(big.Int).Add(v, half)
		return w.Rsh(w, shift).Int64()
	}
	for _, g := range p.groups {
		capacity = append(capacity, round(g.capacity))
	}
	for _, k := range p.classes {
		rate = append(rate, round(k.rate))
	}
	return capacity, rate, shift, float64(len(p.groups)+len(p.classes)) / 2
}

// scaled returns v/2^shift rounded to nearest.
func scaled(v *big.Int, shift uint) float64 {
	f := new(big.Float).SetInt(v)
	x, _ := f.SetMantExp(f, -int(shift)).Float64()
	return x
}

// states returns the number of states of the lattices of all subsets, +Inf beyond float64:
// 2^N sets of classes and Π_g (n_g+1) counts of servers.
func (p *problem) states() (classes, servers float64) {
	servers = 1
	for _, g := range p.groups {
		servers *= float64(g.n + 1)
	}
	return math.Exp2(float64(len(p.classes))), servers
}
