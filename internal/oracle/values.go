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
		if v.Low != nil && !Holds(num.Value{Low: v.Low, High: v.High}, x) {
			t.Errorf("%s: number %d is in [%v, %v], want %v", engine, i, v.Low, v.High, want[i].Float)
		}
	}
}

// Holds reports whether a number is known to be x: its fraction is x, or its bounds contain x.
func Holds(v num.Value, x *big.Rat) bool {
	if v.Exact != nil || v.Low == nil {
		return v.Exact != nil && v.Exact.Cmp(x) == 0
	}
	low, _ := v.Low.Rat(nil)
	high, _ := v.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}

// Fractions returns the fractions of numbers of the engine Exact.
func Fractions(values []num.Value) []*big.Rat {
	list := make([]*big.Rat, len(values))
	for k, v := range values {
		list[k] = v.Exact
	}
	return list
}
