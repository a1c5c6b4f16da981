package loss

import (
	"context"
	"math/big"

	"productform/internal/arithmetic"
	"productform/internal/delays"
	"productform/internal/input"
	"productform/num"
)

// ErlangB returns the probability that all of n >= 0 servers are busy if arrivals that find them
// busy are lost, which is also the probability that an arriving job is lost: with load a = λσ > 0,
//
//	1/B(0) = 1,  1/B(n) = 1 + n/a 1/B(n-1),
//
// in O(n) operations and no memory. The result has bounds, Low and High, or is a fraction. Errors
// are a *[num.InputError], a *[num.TooLargeError] for fractions that would be too long, and the
// error of the context.
func ErlangB(ctx context.Context, n int, load *big.Rat, s FormulaSettings) (num.Value, error) {
	return formula(
		n, load, s,
		func(one arithmetic.Number) (arithmetic.Number, error) { return delays.InverseB(ctx, n, load, one) },
		func(inverse arithmetic.Number) arithmetic.Number { return inverse.One().Quo(inverse) },
	)
}

// ErlangC returns the probability that an arriving job waits at n >= 1 servers with a queue: with
// ρ = a/n < 1,
//
//	C = B / (1 - ρ + ρ B).
//
// It returns the errors of [ErlangB], and an [*UnstableError] if a >= n.
func ErlangC(ctx context.Context, n int, load *big.Rat, s FormulaSettings) (num.Value, error) {
	if n < 1 || n > maxUnits {
		return num.Value{}, input.Errorf("n", n, "an integer from 1 to %d", maxUnits)
	}
	if err := input.CheckNumber("load", load, input.Positive); err != nil {
		return num.Value{}, err
	}
	rho := new(big.Rat).Quo(load, ratOf(n))
	slack := new(big.Rat).Sub(ratOf(1), rho)
	if slack.Sign() <= 0 {
		return num.Value{}, &UnstableError{Load: load, Capacity: ratOf(n)}
	}
	return formula(n, load, s, func(one arithmetic.Number) (arithmetic.Number, error) {
		return delays.InverseB(ctx, n, load, one)
	},
		func(inverse arithmetic.Number) arithmetic.Number {
			return inverse.One().Quo(inverse.Rational(slack).Mul(inverse).Add(inverse.Rational(rho)))
		})
}

// Engset returns the probability that a job from one of N = sources >= 1 is lost because it finds
// all n >= 0 servers busy. A source without a job generates one at rate λ, and the load is a = λσ >
// 0,
//
//	1/E(0) = 1,  1/E(n) = 1 + n/((N-n) a) 1/E(n-1),
//
// 0 if n >= N: the probability that the other N-1 sources keep all servers busy. It returns the
// errors of [ErlangB].
func Engset(ctx context.Context, n, sources int, load *big.Rat, s FormulaSettings) (num.Value, error) {
	if sources < 1 || sources > maxUnits {
		return num.Value{}, input.Errorf("sources", sources, "an integer from 1 to %d", maxUnits)
	}
	return formula(n, load, s, func(one arithmetic.Number) (arithmetic.Number, error) {
		if n >= sources {
			return one, nil
		}
		a := one.Rational(load)
		return delays.Inverse(ctx, n, one, func(j int) arithmetic.Number {
			return one.Integer(j).Quo(a.Mul(one.Integer(sources - j)))
		})
	}, func(inverse arithmetic.Number) arithmetic.Number {
		if n >= sources {
			return inverse.Zero()
		}
		return inverse.One().Quo(inverse)
	})
}

// formula evaluates a function of the final value of a recursion with the engine of the settings.
func formula(
	n int, load *big.Rat, s FormulaSettings, recursion func(one arithmetic.Number) (arithmetic.Number, error),
	answer func(arithmetic.Number) arithmetic.Number,
) (num.Value, error) {
	if n < 0 || n > maxUnits {
		return num.Value{}, input.Errorf("n", n, "an integer from 0 to %d", maxUnits)
	}
	if err := input.CheckNumber("load", load, input.Positive); err != nil {
		return num.Value{}, err
	}
	tol, err := arithmetic.CheckEngine(s.Engine, s.RelTol)
	if err != nil {
		return num.Value{}, err
	}
	m := &Model{Classes: []Class{{ArrivalRate: load}}}
	return arithmetic.Climb(ladder(s.Engine, tol), func(engine num.Engine, prec uint) (num.Value, float64, error) {
		if err := m.checkExact(engine, float64(n), 2*float64(n), float64(n)); err != nil {
			return num.Value{}, 0, err
		}
		end, err := recursion(arithmetic.One(engine, prec))
		if err != nil {
			return num.Value{}, 0, err
		}
		var o arithmetic.Output
		x := answer(end)
		v := o.Value(x)
		if engine == num.Float && o.Check() == nil {
			v.Low, v.High = delays.QuotientBounds(x)
		}
		return v, o.Width, o.Check()
	})
}
