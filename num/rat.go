package num

import (
	"context"
	"errors"
	"math/big"
)

// SumRats adds fractions by halves: denominators grow with the number of terms, so most additions
// are of short fractions.
func SumRats(terms []*big.Rat) *big.Rat {
	switch len(terms) {
	case 0:
		return new(big.Rat)
	case 1:
		return new(big.Rat).Set(terms[0])
	}
	half := len(terms) / 2
	sum := SumRats(terms[:half])
	return sum.Add(sum, SumRats(terms[half:]))
}

// LongestSum is the maximum number of bits that the denominators of [BoundedSumRats] may have:
// adding two such numbers takes about a second.
const LongestSum = 1 << 20

// ErrLongSum reports that a sum of fractions has a denominator of more than [LongestSum] bits.
var ErrLongSum = errors.New("num: a sum of fractions without a common denominator of reasonable length")

// BoundedSumRats is [SumRats] of value(0), ..., value(n-1), for sums that may take long. The error
// is [ErrLongSum], or ctx.Err() promptly after ctx is done. The values are not modified, and the
// sum shares no memory with them.
func BoundedSumRats(ctx context.Context, n int, value func(i int) *big.Rat) (*big.Rat, error) {
	var sum func(first, last int) (fraction, error)
	sum = func(first, last int) (fraction, error) {
		if last-first <= 1 {
			x := fraction{new(big.Int), big.NewInt(1)}
			if first < last {
				v := value(first)
				x = fraction{v.Num(), v.Denom()}
			}
			return x, ctx.Err()
		}
		middle := first + (last-first)/2
		x, err := sum(first, middle)
		if err != nil {
			return x, err
		}
		y, err := sum(middle, last)
		if err != nil {
			return x, err
		}
		return x.plus(y)
	}
	x, err := sum(0, n)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetFrac(x.num, x.den), nil
}

// A fraction is num/den in lowest terms, den > 0.
type fraction struct{ num, den *big.Int }

// plus returns x + y. Their denominators have a greatest common divisor d, and only a divisor of d
// can cancel in the sum over x.den y.den/d. So the sum of long numbers without common factors takes
// one greatest common divisor, of the denominators, and one that is too long takes no product.
func (x fraction) plus(y fraction) (fraction, error) {
	d := new(big.Int).GCD(nil, nil, x.den, y.den)
	if x.den.BitLen()+y.den.BitLen()-2*d.BitLen() > LongestSum+1 {
		return x, ErrLongSum
	}
	a, b := new(big.Int).Quo(x.den, d), new(big.Int).Quo(y.den, d)
	num := new(big.Int).Mul(x.num, b)
	num.Add(num, new(big.Int).Mul(y.num, a))
	e := d.GCD(nil, nil, num, d)
	z := fraction{num.Quo(num, e), a.Mul(a, b.Quo(y.den, e))}
	if z.den.BitLen() > LongestSum {
		return z, ErrLongSum
	}
	return z, nil
}

// OverCommon returns integers n_i and a unit with x_i = n_i unit, where 1/unit is the least common
// denominator of the fractions x. There must be at least one.
func OverCommon(x []*big.Rat) (number []*big.Rat, unit *big.Rat) {
	common := commonDenominator(x)
	for _, v := range x {
		n := new(big.Int).Quo(common, v.Denom())
		number = append(number, new(big.Rat).SetInt(n.Mul(n, v.Num())))
	}
	return number, new(big.Rat).SetFrac(big.NewInt(1), common)
}

// commonDenominator multiplies by halves, so most greatest common divisors are of short numbers.
func commonDenominator(x []*big.Rat) *big.Int {
	if len(x) == 1 {
		return x[0].Denom()
	}
	p, q := commonDenominator(x[:len(x)/2]), commonDenominator(x[len(x)/2:])
	common := new(big.Int).GCD(nil, nil, p, q)
	return common.Mul(q, common.Quo(p, common))
}

// mostCommonBits is the maximum number of bits of a common denominator that are counted.
const mostCommonBits = 1 << 18

// CommonBits returns the number of bits of the least common denominator of n fractions, or of the
// first ones if theirs is already long.
func CommonBits(n int, x func(i int) *big.Rat) float64 {
	common := big.NewInt(1)
	for i := 0; i < n && common.BitLen() < mostCommonBits; i++ {
		JoinDenominator(common, x(i))
	}
	return float64(common.BitLen())
}

// SumSeconds estimates the time for the given number of sums of n fractions each, given the bits of
// their common denominator: the time for greatest common divisors of the sums, and for products of
// the sums with each term. The constants were measured, and are correct within a small factor.
func SumSeconds(n, sums int, bits float64) float64 {
	return float64(sums) * (3e-11*bits*bits + 5e-9*float64(n)*bits)
}

// ratOf returns a/b for a >= 0 and b > 0. It is [big.NewRat] with a faster reduction to lowest
// terms.
func ratOf(a, b int64) *big.Rat {
	if a == 0 {
		return new(big.Rat)
	}
	divisor, rest := a, b
	for rest != 0 {
		divisor, rest = rest, divisor%rest
	}
	x := new(big.Rat).SetInt64(a / divisor)
	if b /= divisor; b != 1 {
		x.Denom().SetInt64(b) // a reference; the fraction is in lowest terms
	}
	return x
}

// QuoRat returns x/y for x >= 0 and y > 0, faster than [big.Rat.Quo] if numerators and denominators
// are short.
func QuoRat(x, y *big.Rat) *big.Rat {
	const short = 31 // bits; a product of two such numbers fits into an int64
	for _, z := range [...]*big.Rat{x, y} {
		if z.Sign() < 0 || z.Num().BitLen() > short || z.Denom().BitLen() > short {
			return new(big.Rat).Quo(x, y)
		}
	}
	return ratOf(x.Num().Int64()*y.Denom().Int64(), x.Denom().Int64()*y.Num().Int64())
}

// Nearest returns the float64 nearest to x, like [big.Rat.Float64]. It is faster if numerator and
// denominator are float64 numbers, since the quotient is then rounded once.
func Nearest(x *big.Rat) float64 {
	const exact = 53 // bits
	if x.Num().BitLen() <= exact && x.Denom().BitLen() <= exact {
		return float64(x.Num().Int64()) / float64(x.Denom().Int64())
	}
	f, _ := x.Float64()
	return f
}

// OrOne returns x, or 1 for nil, the default of optional numbers of a model. It returns x itself,
// not a copy.
func OrOne(x *big.Rat) *big.Rat {
	if x == nil {
		return new(big.Rat).SetInt64(1)
	}
	return x
}
