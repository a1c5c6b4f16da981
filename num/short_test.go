package num

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Short decimals are read like the general parser reads them; a sign forces the general parser.
func TestParseShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[0-9]{0,12}(\.[0-9]{0,12})?`).Draw(t, "s")
		got, err := ParseRat(s)
		want, wantErr := ParseRat("+" + s)
		if (err == nil) != (wantErr == nil) || err == nil && got.Cmp(want) != 0 {
			t.Fatalf("%q is %v, %v; want %v, %v", s, got, err, want, wantErr)
		}
		if err == nil && (got.Num().Cmp(want.Num()) != 0 || got.Denom().Cmp(want.Denom()) != 0) {
			t.Fatalf("%q is %v, not in lowest terms", s, got)
		}
	})
}

// Quotients and nearest doubles match those of math/big, for short and long numbers.
func TestQuoRatAndNearest(t *testing.T) {
	integer := func(least int64) *rapid.Generator[int64] {
		return rapid.OneOf(
			rapid.Int64Range(least, 50), rapid.Int64Range(least, math.MaxInt32+10), rapid.Int64Range(least, 1<<53+100),
			rapid.Int64Range(least, math.MaxInt64),
		)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(integer(-50).Draw(t, "a"), integer(1).Draw(t, "b"))
		y := big.NewRat(integer(1).Draw(t, "c"), integer(1).Draw(t, "d"))
		before := x.RatString() + " " + y.RatString()
		got, want := QuoRat(x, y), new(big.Rat).Quo(x, y)
		if got.Cmp(want) != 0 || got.RatString() != want.RatString() {
			t.Fatalf("%s is %v, want %v", before, got, want)
		}
		got.Add(got, got) // it is a separate number
		if after := x.RatString() + " " + y.RatString(); after != before {
			t.Fatalf("%s became %s", before, after)
		}
		if f, _ := want.Float64(); Nearest(want) != f {
			t.Fatalf("the double nearest to %v is %v, not %v", want, f, Nearest(want))
		}
	})
}

func BenchmarkParseRat(b *testing.B) {
	for _, s := range []string{"16", "0.25", "1e-3", "4/5"} {
		b.Run(strconv.Quote(s), func(b *testing.B) {
			for b.Loop() {
				ParseRat(s)
			}
		})
	}
}
