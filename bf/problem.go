// This file converts a component of a cluster to integers: capacities and arrival rates over a
// common denominator, in machine words if they fit and in big integers otherwise.

package bf

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"productform/cluster"
	"productform/internal/recursion"
	"productform/num"
)

// newProblem returns the integers of a component. A class that chooses servers has one rate per way
// to choose them, unless that makes the integers longer than a word; then its rate covers all ways
// together. perWay keeps the rates per way in any case.
func newProblem(c *cluster.Component, perWay bool) *recursion.Problem {
	if !slices.ContainsFunc(c.Model.Servers, func(s cluster.Server) bool { return s.Size() > 1 }) {
		p := wordProblem(c)
		if p == nil {
			p = problemOf(c, oneWay(c))
		}
		p.Whole = true
		return p
	}
	few := true
	for _, k := range c.Model.Classes {
		few = few && log2Ways(c.Model.Servers, k.Servers) <= 64
	}
	if perWay || few {
		ways := make([]*big.Int, len(c.Model.Classes))
		for i, k := range c.Model.Classes {
			ways[i] = countWays(c.Model.Servers, k.Servers)
		}
		if p := problemOf(c, ways); perWay || p.Small {
			return p
		}
	}
	return sharedProblem(c)
}

// sharedProblem returns the integers of a component, with one rate per class for all ways together.
func sharedProblem(c *cluster.Component) *recursion.Problem {
	p := problemOf(c, oneWay(c))
	p.Shared, p.Small, p.Capacity64, p.Rate64 = true, false, nil, nil
	return p
}

func oneWay(c *cluster.Component) []*big.Int {
	return slices.Repeat([]*big.Int{intOne}, len(c.Model.Classes))
}

// wordProblem returns the result of problemOf for a component of single servers whose numbers all
// fit into words, nil for any other component. It takes a tenth of the time.
func wordProblem(c *cluster.Component) *recursion.Problem {
	servers, n := len(c.Model.Servers), len(c.Model.Servers)+len(c.Model.Classes)
	number := func(i int) *big.Rat {
		if i < servers {
			return c.Model.Servers[i].Capacity
		}
		return c.Model.Classes[i-servers].ArrivalRate
	}
	const most = 1 << 62
	scale := uint64(1)
	for i := range n {
		if x := number(i); !x.IsInt() {
			if !x.Denom().IsUint64() {
				return nil
			}
			d := x.Denom().Uint64()
			more, fits := bits.Mul64(scale, d/gcd(scale, d))
			if more != 0 {
				return nil
			}
			scale = fits
		}
	}
	values, total := make([]int64, n), uint64(0)
	for i := range values {
		x, times := number(i), scale
		if !x.IsInt() {
			times /= x.Denom().Uint64()
		}
		if !x.Num().IsUint64() {
			return nil
		}
		more, v := bits.Mul64(x.Num().Uint64(), times)
		if more != 0 || v >= most {
			return nil
		}
		values[i] = int64(v)
		if total += max(v, uint64(oneIf(i >= servers))); total >= most { // counted as in problemOf
			return nil
		}
	}
	p := &recursion.Problem{
		Scale:      new(big.Int).SetUint64(scale),
		Bits:       bits.Len64(total),
		Small:      true,
		Capacity64: values[:servers:servers],
		Rate64:     values[servers:],
		Groups:     make([]recursion.Group, servers),
		Classes:    make([]recursion.Class, n-servers),
	}
	ints, words := make([]big.Int, n), make([]big.Word, 2*n) // a value may take two words of 32 bits
	for i, v := range values {
		ints[i].SetBits(words[2*i : 2*i : 2*i+2]).SetInt64(v)
		if i < servers {
			p.Groups[i] = recursion.Group{N: 1, Capacity: &ints[i]}
		} else {
			p.Classes[i-servers] = recursion.Class{Rate: &ints[i], Choose: choices(c.Model.Classes[i-servers].Servers)}
		}
	}
	return p
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
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
		// A class of rate 0 counts like one of the smallest rate, so its number of ways also fits.
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

var intOne = big.NewInt(1) // never changed

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

// countWays returns Π_g C(n_g, d_g), the number of server sets a class chooses from.
func countWays(servers []cluster.Server, choose []cluster.Choice) *big.Int {
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

// roundedComponent returns c with integer rates and capacities whose sum has at most the given
// number of bits. With less, rates are rounded down and capacities up, so the load is at most that
// of c; otherwise the other way round.
func roundedComponent(c *cluster.Component, bits int, less bool) *cluster.Component {
	m := &c.Model
	total := new(big.Rat)
	for _, s := range m.Servers {
		total.Add(total, s.Capacity)
	}
	for _, k := range m.Classes {
		total.Add(total, k.ArrivalRate)
	}
	unit := new(big.Rat).SetInt(new(big.Int).Lsh(intOne, uint(bits-1))) // one bit less, for numbers rounded up
	unit.Quo(unit, total)
	round := func(x *big.Rat, up bool) *big.Rat {
		x = new(big.Rat).Mul(x, unit)
		n, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
		if up && rest.Sign() > 0 {
			n.Add(n, intOne)
		}
		return new(big.Rat).SetInt(n)
	}
	r := *c
	r.Model.Servers, r.Model.Classes = nil, nil
	for _, s := range m.Servers {
		s.Capacity = round(s.Capacity, less)
		r.Model.Servers = append(r.Model.Servers, s)
	}
	for _, k := range m.Classes {
		k.ArrivalRate = round(k.ArrivalRate, !less)
		r.Model.Classes = append(r.Model.Classes, k)
	}
	return &r
}
