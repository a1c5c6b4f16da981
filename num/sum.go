package num

import (
	"encoding/json"
)

// A Sum adds doubles with a running compensation, as if in twice the working precision. The
// zero value is an empty sum. With u = 2^-53 and n terms x_i, n u < 1, without overflow,
//
//	|Value() - s| <= u |s| + γ² Σ|x_i|,  s = Σ x_i,  γ = (n-1)u / (1 - (n-1)u),
//
// so terms of one sign are summed to a relative error of at most u + γ² (Ogita, Rump and Oishi,
// "Accurate sum and dot product", SIAM J. Sci. Comput. 26(6), 2005, 1955–1988, algorithm 4.4
// (Sum2) and proposition 4.5). Underflow adds no error.
type Sum struct{ hi, lo float64 }

// Add adds x. Its six operations are Knuth's TwoSum: hi+x = s + e exactly, s the rounded sum.
func (a *Sum) Add(x float64) {
	s := a.hi + x
	z := s - a.hi
	a.lo += (a.hi - (s - z)) + (x - z)
	a.hi = s
}

// Value returns the sum so far, rounded to one double.
func (a *Sum) Value() float64 { return a.hi + a.lo }

// MarshalJSON writes the sum as its pair of doubles, so a sum that is read back continues with the
// same digits.
func (a Sum) MarshalJSON() ([]byte, error) { return json.Marshal([2]float64{a.hi, a.lo}) }

// UnmarshalJSON reads the output of [Sum.MarshalJSON].
func (a *Sum) UnmarshalJSON(text []byte) error {
	var pair []float64
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return InputErrorf("", string(text), "a list of 2 numbers, a sum and what rounding lost of it")
	}
	a.hi, a.lo = pair[0], pair[1]
	return nil
}
