package arithmetic_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"productform/internal/arithmetic"
	"productform/num"
)

// third returns 1/3 + 1/3 2^-k as a value, in the arithmetic of one.
func third(k int) func(num.Engine, uint) (num.Value, float64, error) {
	return func(engine num.Engine, prec uint) (num.Value, float64, error) {
		one := arithmetic.One(engine, prec)
		x := one.Rational(big.NewRat(1, 3))
		y := x.Add(x.Mul(one.Rational(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(k))))))
		var o arithmetic.Output
		return o.Value(y), o.Width, o.Check()
	}
}

func ladder(engine num.Engine, relTol float64) arithmetic.Ladder {
	return arithmetic.Ladder{Engine: engine, RelTol: relTol, MaxPrec: 1 << 14}
}

// Auto uses float64 if its bound is within the tolerance, otherwise enclosures of enough bits;
// other engines are used as given.
func TestClimb(t *testing.T) {
	for _, c := range []struct {
		engine num.Engine
		relTol float64
		prec   uint // precision of the enclosure; 0 for float64, 1 for a fraction
	}{
		{"", 0, 0}, {num.Auto, 1e-14, 0}, {num.Auto, 1e-17, 128}, {num.Auto, 1e-60, 256}, {num.Float, 1e-60, 0},
		{num.Enclose, 0, 128}, {num.Enclose, 1e-100, 512}, {num.Exact, 0, 1},
	} {
		tol, err := arithmetic.CheckEngine(c.engine, c.relTol)
		if err != nil {
			t.Fatal(err)
		}
		v, err := arithmetic.Climb(ladder(c.engine, tol), third(40))
		if err != nil {
			t.Errorf("%s, %v: %v", c.engine, c.relTol, err)
			continue
		}
		prec := uint(0)
		if e, ok := v.Interval(); ok {
			prec = e.Prec()
		} else if v.Exact != nil {
			prec = 1
		}
		if prec != c.prec {
			t.Errorf("%s, %v: %d bits, want %d", c.engine, c.relTol, prec, c.prec)
		}
	}
	var bad *num.InputError
	wide := func(num.Engine, uint) (int, float64, error) { return 1, 1, nil }
	if _, err := arithmetic.Climb(ladder(num.Enclose, math.SmallestNonzeroFloat64), wide); !errors.As(err, &bad) ||
		bad.Path != "RelTol" {
		t.Errorf("error %v", err)
	}
	for _, c := range []struct {
		engine num.Engine
		relTol float64
	}{{"fast", 0}, {"", 1}, {"", math.NaN()}, {"", -1}} {
		if _, err := arithmetic.CheckEngine(c.engine, c.relTol); !errors.As(err, &bad) {
			t.Errorf("%v: error %v", c, err)
		}
	}
}

// Numbers without correct digits in float64 are computed by enclosures with Auto, and rejected by
// Float.
func TestWithoutDigits(t *testing.T) {
	power := func(engine num.Engine, prec uint) (num.Value, float64, error) {
		one := arithmetic.One(engine, prec)
		x := one.Rational(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 600)))
		var o arithmetic.Output
		v := o.Value(x.Mul(x))
		return v, o.Width, o.Check()
	}
	for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
		if _, err := arithmetic.Climb(ladder(engine, 1e-9), power); !errors.Is(err, num.ErrDigits) {
			t.Errorf("%s: error %v", engine, err)
		}
	}
	tiny := func(engine num.Engine, prec uint) (num.Value, float64, error) {
		one := arithmetic.One(engine, prec)
		x := one.Quo(one.Rational(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1100))))
		var o arithmetic.Output
		v := o.Value(x)
		return v, o.Width, o.Check()
	}
	if v, err := arithmetic.Climb(ladder(num.Enclose, 1e-9), tiny); err != nil || v.Float != 0 || v.Low.Sign() <= 0 {
		t.Errorf("%v, %v", v, err)
	}
}
