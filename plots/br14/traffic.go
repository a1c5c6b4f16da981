package br14

import (
	"embed"
	"fmt"
	"math"
	"math/big"

	"productform/fluid"
	"productform/fluid/traffic"
	"productform/plots"
	"productform/sim"
)

// policyShort returns the name of a policy in legends.
func policyShort(p fluid.Policy) string {
	switch p {
	case fluid.PF:
		return "PF"
	case fluid.DRF:
		return "DRF"
	case fluid.MaxMin:
		return "max-min"
	case fluid.BMF:
		return "BMF"
	}
	return "BF"
}

// policyLook returns the look of a policy. Balanced fairness is not black as in the figures of
// [BC17]: here the second class is lighter, so grey would be ambiguous.
func policyLook(p fluid.Policy) int {
	switch p {
	case fluid.PF:
		return 0
	case fluid.DRF:
		return 1
	case fluid.MaxMin:
		return 4
	case fluid.BMF:
		return 3
	}
	return 2
}

// texts are the captions and parameters.
var texts = plots.NewTexts(textFiles, "texts")

//go:embed texts
var textFiles embed.FS

// rats returns fractions written as "1" or "1/10".
func rats(words ...string) []*big.Rat {
	v := make([]*big.Rat, len(words))
	for i, w := range words {
		x, ok := new(big.Rat).SetString(w)
		if !ok {
			panic("plots: not a number: " + w)
		}
		v[i] = x
	}
	return v
}

// unitResources returns resources 1, 2, ... of capacity 1.
func unitResources(n int) []fluid.Resource {
	var all []fluid.Resource
	for j := range n {
		all = append(all, fluid.Resource{Name: fmt.Sprint(j + 1), Capacity: big.NewRat(1, 1)})
	}
	return all
}

// trafficOf returns traffic with one class for each profile. Mean sizes are 1, arrival rates are
// proportional to part, and the largest load with the true profiles is rho.
func trafficOf(rho *big.Rat, part []*big.Rat, profiles ...[]*big.Rat) *traffic.Model {
	t := &traffic.Model{Resources: unitResources(len(profiles[0]))}
	for k, a := range profiles {
		t.Classes = append(t.Classes, traffic.Class{Name: fmt.Sprint(k + 1), Demand: a, ArrivalRate: part[k]})
	}
	most := new(big.Rat)
	for _, load := range t.Loads() {
		if load.Cmp(most) > 0 {
			most = load
		}
	}
	for k := range t.Classes {
		rate := new(big.Rat).Mul(part[k], rho)
		t.Classes[k].ArrivalRate = rate.Quo(rate, most)
	}
	return t
}

// profileWords writes a profile, "(1, 0.1)".
func profileWords(a []*big.Rat) string {
	return "(" + plots.Decimals(a) + ")"
}

// overMean returns the ratio of two estimates from independent runs, with an interval computed for
// its logarithm.
func overMean(a, b *sim.Estimate, load *big.Rat) plots.Number {
	mean, factor := a.Mean/b.Mean, math.Exp(math.Hypot(a.HalfWidth/a.Mean, b.HalfWidth/b.Mean))
	return plots.Number{Mean: mean, Low: mean / factor, High: mean * factor, At: plots.Decimal(load)}
}

// moreOrLess writes by how much a ratio differs from one, "19 % larger".
func moreOrLess(v float64) string {
	if v < 1 {
		return plots.Short(100*(1-v)) + " % smaller"
	}
	return plots.Short(100*(v-1)) + " % larger"
}
