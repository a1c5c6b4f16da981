package delays

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/arithmetic"
	"productform/num"
)

// A recursion that starts late gives Erlang's B within its bounds.
func TestInverseBOfManyMatchesWholeRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "servers")
		load := big.NewRat(rapid.Int64Range(1, 999_999).Draw(t, "load"), 1_000_000)
		load.Mul(load, integer(n))
		float := arithmetic.One(num.Float, 0)
		want, err := InverseB(t.Context(), n, load, float)
		if err != nil {
			t.Fatal(err)
		}
		got, err := InverseBOfMany(t.Context(), n, load, float)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.Bound < 1e-10) || !(math.Abs(got.Over(want.Wide).Double()-1) <= got.Bound+want.Bound) {
			t.Fatalf("%v 2^(512·%d) within %v, want %v 2^(512·%d) within %v",
				got.F, got.Exp, got.Bound, want.F, want.Exp, want.Bound)
		}
		if n > 500 {
			return
		}
		enclose := arithmetic.One(num.Enclose, 128)
		narrow, err := InverseBOfMany(t.Context(), n, load, enclose)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := InverseB(t.Context(), n, load, enclose)
		if err != nil {
			t.Fatal(err)
		}
		if narrow.Width() > 1e-30 || narrow.Interval.Low.Cmp(exact.Interval.High) > 0 ||
			narrow.Interval.High.Cmp(exact.Interval.Low) < 0 {
			t.Fatalf("%v, want %v", narrow.Interval, exact.Interval)
		}
	})
}
