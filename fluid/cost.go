package fluid

import (
	"math/big"

	"productform/num"
)

// exactSeconds is the estimated time of fractions above which float64 is used instead. Estimates
// depend on the rows, the resources and the bits of the common denominators of sums over the rows.
// The worst case is long fractions without common factors, such as numbers from float64 with 53
// bits each.
const exactSeconds = 1.

// sumBits returns the bits of the common denominator of the sum over the rows of x(i, b_ij), the
// maximum over all resources.
func (e *Profiles) sumBits(x func(i int, b *big.Rat) *big.Rat) float64 {
	bits := 0.
	for j := range e.Need[0] {
		bits = max(bits, num.CommonBits(len(e.Need), func(i int) *big.Rat { return x(i, e.Need[i][j]) }))
	}
	return bits
}

// fillSeconds estimates the time of progressive filling at these speeds.
func (e *Profiles) fillSeconds(speed []*big.Rat) float64 {
	n, resources := len(e.Need), len(e.Need[0])
	bits := e.sumBits(func(i int, b *big.Rat) *big.Rat { return new(big.Rat).Mul(speed[i], b) })
	seconds := num.SumSeconds(n, resources, bits)
	if e.Limit != nil { // one round for each limit, with a quotient for each resource
		seconds += 3e-11 * float64(n*resources) * bits * bits
	}
	return seconds
}

// bottleneckSeconds estimates the time of bottleneck max fairness: sums one by one, and a linear
// system in the resources.
func (e *Profiles) bottleneckSeconds() float64 {
	bits := e.sumBits(func(i int, b *big.Rat) *big.Rat {
		if b.Sign() == 0 {
			return e.Weight[i]
		}
		return new(big.Rat).Quo(e.Weight[i], b) // the bottleneck may be any resource
	})
	r := float64(len(e.Need[0]))
	return 1.5e-11*float64(len(e.Need))*r*bits*bits + 3e-11*r*r*r*bits*bits
}

// balancedSeconds estimates the time of balanced fairness: one product for each state, class and
// resource.
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
