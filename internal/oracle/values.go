package oracle

import (
	"math/big"

	"productform/num"
)

// A Tester is a *testing.T or a *rapid.T.
type Tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// HoldValues compares the numbers of an engine with exact fractions. A number must be nil if and
// only if its fraction is, be within the relative bound, and have the fraction between its Low and
// High if those are set.
func HoldValues(t Tester, engine num.Engine, bound float64, got, want []*num.Value) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", engine, len(got), len(want))
	}
	most := new(big.Rat).SetFloat64(bound)
	for i, v := range got {
		if (v == nil) != (want[i] == nil) {
			t.Fatalf("%s: number %d is %v, want %v", engine, i, v, want[i])
		}
		if v == nil {
			continue
		}
		x := want[i].Exact
		off := new(big.Rat).SetFloat64(v.Float)
		if off.Sub(off, x).Abs(off); off.Cmp(new(big.Rat).Mul(most, new(big.Rat).Abs(x))) > 0 {
			t.Errorf("%s: number %d is %v, want %v within %v", engine, i, v.Float, want[i].Float, bound)
		}
		if e, ok := v.Interval(); ok {
			low, _ := e.Low.Rat(nil)
			high, _ := e.High.Rat(nil)
			if low.Cmp(x) > 0 || x.Cmp(high) > 0 {
				t.Errorf("%s: number %d is in [%v, %v], want %v", engine, i, v.Low, v.High, want[i].Float)
			}
		}
	}
}
