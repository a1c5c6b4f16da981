package plan

import (
	"math/big"

	"productform/internal/input"
	"productform/num"
)

// WholeCosts returns the costs of a step of each option, in the order of [Problem.Options], as
// whole multiples of a unit. The unit is the inverse of their least common denominator.
//
// The error is a *[num.InputError] for the first cost with which the denominator, or the total cost
// so far in units, reaches 2^62.
func (p *Problem) WholeCosts() (unit *big.Rat, whole []int64, err error) {
	var costs []*big.Rat
	for _, u := range p.Upgrades {
		costs = append(costs, u.Cost)
	}
	for _, s := range p.NewServers {
		costs = append(costs, s.Cost)
	}
	for _, e := range p.Edges {
		costs = append(costs, e.Cost)
	}
	denominator := big.NewInt(1)
	for k, c := range costs {
		if num.JoinDenominator(denominator, c); denominator.BitLen() > 62 {
			return nil, nil, p.refusedCost(k, c)
		}
	}
	unit = new(big.Rat).SetFrac(big.NewInt(1), denominator)
	total := new(big.Rat)
	whole = make([]int64, len(costs))
	for k, option := range p.Options() {
		n := new(big.Rat).Quo(costs[k], unit)
		total.Add(total, new(big.Rat).Mul(n, big.NewRat(int64(option.Most), 1)))
		if total.Num().BitLen() > 62 {
			return nil, nil, p.refusedCost(k, costs[k])
		}
		whole[k] = n.Num().Int64()
	}
	return unit, whole, nil
}

// refusedCost rejects the cost of option k.
func (p *Problem) refusedCost(k int, cost *big.Rat) error {
	path := input.Index("upgrades", k)
	switch u, s := len(p.Upgrades), len(p.NewServers); {
	case k >= u+s:
		path = input.Index("edges", k-u-s)
	case k >= u:
		path = input.Index("new_servers", k-u)
	}
	return input.Errorf(
		path+".cost", cost.RatString(),
		"costs that add up to at most 2^62 of their common unit: fewer digits, or multiples of one fraction",
	)
}
