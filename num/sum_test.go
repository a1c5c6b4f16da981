package num

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The bound of Ogita, Rump and Oishi covers the error against exact rational sums, with terms of
// 2^-200 to 2^200 of both signs that may cancel.
func TestSumBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Bool().Draw(t, "positive")
		terms := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			x := math.Ldexp(
				float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "mantissa")),
				rapid.IntRange(-250, 150).Draw(t, "exponent"),
			)
			if positive {
				return math.Abs(x)
			}
			return x
		}), 1, 60).Draw(t, "terms")
		if !positive && rapid.Bool().Draw(t, "cancelling") {
			for _, x := range terms {
				terms = append(terms, -x*(1+0x1p-50))
			}
		}
		var sum Sum
		exact, absolute := new(big.Rat), new(big.Rat)
		for _, x := range terms {
			sum.Add(x)
			term := new(big.Rat).SetFloat64(x)
			exact.Add(exact, term)
			absolute.Add(absolute, term.Abs(term))
		}
		got := new(big.Rat).SetFloat64(sum.Value())
		err := got.Sub(got, exact)
		u := big.NewRat(1, 1<<53)
		gamma := new(big.Rat).Mul(u, big.NewRat(int64(len(terms)-1), 1))
		gamma.Quo(gamma, new(big.Rat).Sub(big.NewRat(1, 1), gamma))
		bound := gamma.Mul(gamma, gamma)
		bound.Mul(bound, absolute)
		bound.Add(bound, u.Mul(u, exact.Abs(exact)))
		if err.Abs(err).Cmp(bound) > 0 {
			t.Fatalf("%d terms: error %s, bound %s", len(terms), err.FloatString(30), bound.FloatString(30))
		}
	})
}

// A sum that is written and read between any two terms ends with the same digits.
func TestSumJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum, read Sum
		for _, x := range rapid.SliceOf(rapid.Float64Range(-1e100, 1e100)).Draw(t, "terms") {
			sum.Add(x)
			read.Add(x)
			text, err := json.Marshal(read)
			if err != nil {
				t.Fatal(err)
			}
			read = Sum{}
			if err := json.Unmarshal(text, &read); err != nil || read != sum {
				t.Fatalf("%s: %v, want %v, error %v", text, read, sum, err)
			}
		}
	})
	for _, text := range []string{`1`, `[1]`, `[1,2,3]`, `["1",2]`, `[1e999,0]`, `null`} {
		if err := json.Unmarshal([]byte(text), new(Sum)); err == nil {
			t.Errorf("%s is not a sum", text)
		}
	}
}

// Adding 0.1 ten million times in one double loses six digits; the compensated sum loses none.
func TestSumOfManyTenths(t *testing.T) {
	const n = 10_000_000
	var sum Sum
	for range n {
		sum.Add(0.1)
	}
	exact := new(big.Rat).SetFloat64(0.1)
	if want, _ := exact.Mul(exact, big.NewRat(n, 1)).Float64(); sum.Value() != want {
		t.Errorf("sum = %v, want %v", sum.Value(), want)
	}
}

func BenchmarkSumAdd(b *testing.B) {
	var sum Sum
	for b.Loop() {
		sum.Add(0.1)
	}
	if sum.Value() <= 0 {
		b.Fatal("no sum")
	}
}
