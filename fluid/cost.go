package fluid

import (
	"math/big"

	"productform/num"
)

// patience is the time in seconds that fractions may take before float64 is taken instead.
const patience = 1.

// exactSeconds estimates the time that [allocateExact] takes, from the rows, the resources and the bits that the common
// denominators of sums over the rows have. It is worst for long fractions that have nothing in common: numbers that
// come from float64 have 53 bits, each its own.
func (e *Profiles) exactSeconds(policy Policy) float64 {
	n, resources := len(e.Need), len(e.Need[0])
	if policy == BF {
		return e.balancedSeconds()
	}
	bits := 0.
	for j := range resources {
		bits = max(bits, num.CommonBits(n, func(i int) *big.Rat {
			x := new(big.Rat).Set(e.Weight[i])
			switch b := e.Need[i][j]; {
			case policy == DRF:
				x.Mul(x, b)
			case policy == MaxMin:
				x.Mul(x, e.Dominant[i]).Mul(x, b)
			case b.Sign() > 0: // the bottleneck may be any resource
				x.Quo(x, b)
			}
			return x
		}))
	}
	if policy == BMF { // sums one by one, and a linear system of the resources
		r := float64(resources)
		return 1.5e-11*float64(n)*r*bits*bits + 3e-11*r*r*r*bits*bits
	}
	seconds := num.SumSeconds(n, resources, bits)
	if e.Limit != nil { // a round for each limit, with a quotient for each resource
		seconds += 3e-11 * float64(n*resources) * bits * bits
	}
	return seconds
}

// balancedSeconds is exactSeconds of balanced fairness: of each state and each class one product for each resource.
func (e *Profiles) balancedSeconds() float64 {
	class, first := e.classes()
	count := make([]float64, len(first))
	for i, n := range e.counts() {
		count[class[i]] += n
	}
	bits, longest := 0., 0.
	products := float64(len(first)*len(e.Need[0])) / 2
	for k, i := range first {
		scale := num.CommonBits(len(e.Need[i]), func(j int) *big.Rat { return e.Need[i][j] })
		bits += count[k] * scale
		longest = max(longest, scale)
		products *= count[k] + 1
	}
	return products * (5e-8 + 5e-10*(bits/128)*(longest/64))
}
