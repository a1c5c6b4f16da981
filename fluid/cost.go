package fluid

import (
	"math/big"
	"slices"

	"productform/num"
)

// Times in seconds that fractions may take before float64 or rounded fractions are taken instead, and bits of a common
// denominator that are counted at most.
const (
	patience       = 1.
	mostCommonBits = 1 << 18
)

// commonBits returns the bits of the least common denominator of n fractions, or of the first ones if that is long
// already.
func commonBits(n int, x func(i int) *big.Rat) float64 {
	common := big.NewInt(1)
	for i := 0; i < n && common.BitLen() < mostCommonBits; i++ {
		num.JoinDenominator(common, x(i))
	}
	return float64(common.BitLen())
}

// sumSeconds estimates the time for sums of n fractions over each of so many resources, given the bits of the common
// denominator: that of greatest common divisors of the sums, and of products of the sums with each row. The constants
// were measured and are right within a factor of a few.
func sumSeconds(n, resources int, bits float64) float64 {
	return float64(resources) * (3e-11*bits*bits + 5e-9*float64(n)*bits)
}

// exactSeconds estimates the time that [allocateExact] takes, from the rows, the resources and the bits that the common
// denominators of sums over the rows have. It is worst for long fractions that have nothing in common: numbers that
// come from float64 have 53 bits, each its own.
func (e *exactProblem) exactSeconds(policy Policy) float64 {
	n, resources := len(e.need), len(e.need[0])
	if policy == BF {
		return e.balancedSeconds()
	}
	bits := 0.
	for j := range resources {
		bits = max(bits, commonBits(n, func(i int) *big.Rat {
			x := new(big.Rat).Set(e.weight[i])
			switch b := e.need[i][j]; {
			case policy == DRF:
				x.Mul(x, b)
			case policy == MaxMin:
				x.Mul(x, e.dominant[i]).Mul(x, b)
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
	return sumSeconds(n, resources, bits)
}

// balancedSeconds is exactSeconds of balanced fairness: of each state and each class one product for each resource.
func (e *exactProblem) balancedSeconds() float64 {
	class, first := e.classes()
	count := make([]float64, len(first))
	for i, n := range e.counts() {
		count[class[i]] += n
	}
	bits, longest := 0., 0.
	products := float64(len(first)*len(e.need[0])) / 2
	for k, i := range first {
		scale := commonBits(len(e.need[i]), func(j int) *big.Rat { return e.need[i][j] })
		bits += count[k] * scale
		longest = max(longest, scale)
		products *= count[k] + 1
	}
	return products * (5e-8 + 5e-10*(bits/128)*(longest/64))
}

// rounded returns the problem with every number rounded down to roundedBits bits, whatever the exponent.
func (e *exactProblem) rounded() *exactProblem {
	r := &exactProblem{dominant: roundDown(e.dominant), weight: roundDown(e.weight), count: e.count, top: e.top}
	for _, need := range e.need {
		r.need = append(r.need, roundDown(need))
	}
	return r
}

// roundedBits are those of rounded fractions. What [Audit] compares and [Indices] returns are sums of products of at
// most eight of them and their inverses, and quotients of two such sums, which rounding changes by factors within 1 ±
// roundedError.
const (
	roundedBits  = 128
	roundedError = 0x1p-100
)

func roundDown(x []*big.Rat) []*big.Rat {
	rounded := slices.Clone(x)
	for i, v := range x {
		if max(v.Num().BitLen(), v.Denom().BitLen()) > roundedBits {
			rounded[i], _ = num.Down(roundedBits).SetRat(v).Rat(nil)
		}
	}
	return rounded
}
