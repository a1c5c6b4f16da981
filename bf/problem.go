package bf

import (
	"math"
	"math/big"
	"slices"

	"productform/cluster"
	"productform/internal/recursion"
	"productform/num"
)

// newProblem returns the integers of a component. Where the numbers of ways to choose servers make them longer than a
// word the rates are those of all ways together, unless they are asked for as perWay.
func newProblem(c *cluster.Component, perWay bool) *recursion.Problem {
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
		if p := problemOf(c, ways); perWay || whole || p.Small {
			p.Whole = whole
			return p
		}
	}
	return sharedProblem(c)
}

// sharedProblem returns the integers of a component with the rates of all ways together.
func sharedProblem(c *cluster.Component) *recursion.Problem {
	p := problemOf(c, slices.Repeat([]*big.Int{intOne}, len(c.Model.Classes)))
	p.Shared, p.Small, p.Capacity64, p.Rate64 = true, false, nil, nil
	return p
}

// problemOf returns the integers of a component whose classes spread over this many ways.
func problemOf(c *cluster.Component, ways []*big.Int) *recursion.Problem {
	p := &recursion.Problem{}
	scale := big.NewInt(1)
	for _, s := range c.Model.Servers {
		num.JoinDenominator(scale, s.Capacity)
	}
	perWay := make([]*big.Rat, len(c.Model.Classes))
	for i, k := range c.Model.Classes {
		perWay[i] = new(big.Rat).Quo(k.ArrivalRate, new(big.Rat).SetInt(ways[i]))
		num.JoinDenominator(scale, perWay[i])
	}
	p.Scale = scale
	total := new(big.Int)
	for _, s := range c.Model.Servers {
		v := timesInt(s.Capacity, scale)
		p.Groups = append(p.Groups, recursion.Group{N: s.Size(), Capacity: v})
		total.Add(total, new(big.Int).Mul(v, big.NewInt(int64(s.Size()))))
	}
	for i, k := range c.Model.Classes {
		v := timesInt(perWay[i], scale)
		p.Classes = append(p.Classes, recursion.Class{Rate: v, Choose: choices(k.Servers)})
		// A class of rate 0 counts like one of the smallest rate, so that its number of ways fits too.
		if v.Sign() == 0 {
			total.Add(total, ways[i])
		}
		total.Add(total, new(big.Int).Mul(v, ways[i]))
	}
	p.Bits = total.BitLen()
	if p.Small = p.Bits <= 62; p.Small {
		for _, g := range p.Groups {
			p.Capacity64 = append(p.Capacity64, g.Capacity.Int64())
		}
		for _, k := range p.Classes {
			p.Rate64 = append(p.Rate64, k.Rate.Int64())
		}
	}
	return p
}

func choices(servers []cluster.Choice) []recursion.Choice {
	list := make([]recursion.Choice, len(servers))
	for i, c := range servers {
		list[i] = recursion.Choice{Group: c.Server, Choose: c.Choose}
	}
	return list
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
