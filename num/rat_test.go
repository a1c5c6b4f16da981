package num_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"productform/num"
)

// The sum by halves equals the sum in order. None of the values is modified, and the sum is a new
// number.
func TestBoundedSumRats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *big.Rat {
			return big.NewRat(
				rapid.Int64Range(-50, 50).Draw(t, "numerator"), rapid.Int64Range(1, 30).Draw(t, "denominator"),
			)
		}), 0, 20).Draw(t, "values")
		want := new(big.Rat)
		var before []string
		for _, x := range values {
			want.Add(want, x)
			before = append(before, x.String())
		}
		got, err := num.BoundedSumRats(t.Context(), len(values), func(i int) *big.Rat { return values[i] })
		if err != nil || got.Cmp(want) != 0 {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		got.SetInt64(77)
		for i, x := range values {
			if x.String() != before[i] {
				t.Fatalf("value %d has become %v from %s", i, x, before[i])
			}
		}
	})
}

// A sum may have [num.LongestSum] bits in its denominator, after factors of both denominators that
// cancel, and no more.
func TestBoundedSumRatsLimit(t *testing.T) {
	over := func(factor int64, power uint) *big.Rat { // 1/(factor 2^power)
		return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(factor), power))
	}
	const most = num.LongestSum
	for _, c := range []struct {
		x, y   *big.Rat
		isLong bool
	}{
		{over(1, most-2), over(3, 0), false},       // 2^(most-2) 3
		{over(1, most-1), over(3, 0), true},        // 2^(most-1) 3
		{over(3, most-2), over(5, most-2), false},  // 1/3 + 1/5 = 2^3/15
		{over(3, most-2), over(11, most-2), true},  // 1/3 + 1/11 = 2 7/33
		{over(5, most+10), over(5, most+10), true}, // 2/5
	} {
		values := []*big.Rat{c.x, c.y}
		got, err := num.BoundedSumRats(t.Context(), 2, func(i int) *big.Rat { return values[i] })
		want := new(big.Rat).Add(c.x, c.y)
		bits := want.Denom().BitLen()
		if c.isLong != (bits > most) {
			t.Fatalf("the denominator has %d bits", bits)
		}
		if c.isLong != errors.Is(err, num.ErrLongSum) || !c.isLong && (err != nil || got.Cmp(want) != 0) {
			t.Errorf("a denominator of %d bits: error %v", bits, err)
		}
	}
}

// Denominators without common factors are rejected once their product is too long, and cancelling
// the context stops the sum.
func TestBoundedSumRatsEnds(t *testing.T) {
	long := func(bits uint) func(i int) *big.Rat {
		return func(i int) *big.Rat { // 2^bits + 2i + 1: such numbers have few common factors
			d := new(big.Int).Lsh(big.NewInt(1), bits)
			return new(big.Rat).SetFrac(big.NewInt(1), d.Add(d, big.NewInt(int64(2*i+1))))
		}
	}
	if _, err := num.BoundedSumRats(t.Context(), 40, long(1<<15)); !errors.Is(err, num.ErrLongSum) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := num.BoundedSumRats(ctx, 1<<30, long(10)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
