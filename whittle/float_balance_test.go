package whittle_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/whittle"
)

// Against the exact engine on the same float64 rates, with a fault in one of them or none: the same verdict,
// a violation as bad, and Φ within the bound.
func TestFloatBalanceAgreesWithExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		l := drawLattice(t, classes)
		exact := mustRates(t, drawBalance(t, l))
		k := rapid.IntRange(0, len(exact)-1).Draw(t, "state")
		i := rapid.IntRange(0, classes-1).Draw(t, "class")
		fault := rapid.SampledFrom([]float64{1, 1 + 1e-9, 1.5}).Draw(t, "fault")
		var flat []float64
		for s, row := range exact {
			for c := range row {
				f, _ := row[c].Float64()
				if s == k && c == i {
					f *= fault
				}
				flat = append(flat, f)
				row[c] = new(big.Rat).SetFloat64(f)
			}
		}
		const tol = 1e-6
		got, err := whittle.FloatBalanceFromRates(l, flat, tol)
		want, worst, wantErr := whittle.BalanceFromRates(l, exact, new(big.Rat).SetFloat64(tol))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, exact engine %v", err, wantErr)
		}
		var be *whittle.BalanceError
		var seen whittle.Violation
		if errors.As(err, &be) {
			seen = be.Worst
		} else {
			seen = got.Worst
		}
		if gap, _ := sub(worst.Relative, seen.Relative).Float64(); gap < 0 || gap > 0x1p-50 {
			t.Fatalf("worst violation %v, exact engine %v", seen, worst)
		}
		if err != nil {
			return
		}
		for s, v := range got.Phi {
			if e := off(v, want.Phi[s]); e > got.RelativeErrorBound {
				t.Fatalf("Φ at %d is off by %g > %g", s, e, got.RelativeErrorBound)
			}
		}
	})
}

func TestBadFloatRates(t *testing.T) {
	box := whittle.Box(1)
	for _, c := range []struct {
		rates   []float64
		tol     float64
		message string
	}{
		{[]float64{0, 1}, 0, "tol = 0: want a number in [2^-50, 1)"},
		{[]float64{0, 1}, math.NaN(), "tol = NaN"},
		{[]float64{0}, 1e-9, "rates = 1: want 2 numbers"},
		{[]float64{0, math.NaN()}, 1e-9, "rates[1] = NaN: want a number in 2^-500..2^500, the rate of class 0 in state [1]"},
		{[]float64{0, math.Inf(1)}, 1e-9, "rates[1] = +Inf"},
		{[]float64{0, -1}, 1e-9, "rates[1] = -1"},
		{[]float64{1, 1}, 1e-9, "rates[0] = 1: want 0, since no job of class 0 is in state [0]"},
	} {
		if _, err := whittle.FloatBalanceFromRates(box, c.rates, c.tol); !isInput(err, c.message) {
			t.Errorf("got %v, want %q", err, c.message)
		}
	}
	steep := make([]float64, 9)
	for k := 1; k < len(steep); k++ {
		steep[k] = 1e-100
	}
	if _, err := whittle.FloatBalanceFromRates(whittle.Box(8), steep, 1e-9); !isInput(err, "rates = [4]: want rates whose balance function stays in") {
		t.Errorf("overflow: %v", err)
	}
}
