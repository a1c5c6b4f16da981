package whittle

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
)

// A Balance is a balance function Φ on a lattice.
type Balance struct {
	Lattice Lattice
	Phi     []*big.Rat // Φ(x) > 0 at Lattice.Index(x), Φ(0) = 1
}

// BalanceFromRank returns the balance function of balanced fairness, [BC17] (4),
//
//	Φ(0) = 1,  Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ({i: x_i>0}),
//
// for the rank function whose values are at the bit masks of the sets of classes (rank[0] is nil or
// 0). It takes N additions a state. The error is a *[num.InputError]: a value of rank that is
// missing, not positive or below that of a subset, or a lattice out of range. The rates it gives,
// [Rates], sum to μ({i: x_i>0}); they lie in the capacity set (Corollary 1) if μ is submodular,
// too.
func BalanceFromRank(ctx context.Context, rank []*big.Rat, l Lattice) (Balance, error) {
	y, err := newLayout(l, MaxExactStates)
	if err != nil {
		return Balance{}, err
	}
	if err := ranktable.Check(ctx, rank, y.Classes); err != nil {
		return Balance{}, err
	}
	phi, err := lattice.Fractions(ctx, y, func(w *lattice.Walker) (*big.Rat, error) { return rank[w.Active], nil })
	if err != nil {
		return Balance{}, err
	}
	return Balance{Lattice: l, Phi: phi}, nil
}

// ErrUnbalanced is wrapped by the error for rates that violate the balance property (6).
var ErrUnbalanced = errors.New("rates are not balanced")

// A Violation is a state and a pair of classes where the two sides of (6) differ.
type Violation struct {
	State       []int    // x
	I, J        int      // the classes i and j
	Left, Right *big.Rat // φ_i(x) φ_j(x-e_i) and φ_i(x-e_j) φ_j(x)
	Relative    *big.Rat // |Left - Right| / max(Left, Right), in [0, 1)
}

// A BalanceError carries the worst violation of (6), the first in the order of the index if several
// are equally bad. It wraps [ErrUnbalanced].
type BalanceError struct {
	Worst Violation
}

func (e *BalanceError) Unwrap() error { return ErrUnbalanced }
func (e *BalanceError) Error() string {
	rel, _ := e.Worst.Relative.Float64()
	return fmt.Sprintf(
		"%v: in state %v, classes %d and %d, %s differs from %s by %.3g (relative), the worst of all states and pairs",
		ErrUnbalanced, e.Worst.State, e.Worst.I, e.Worst.J, e.Worst.Left.RatString(), e.Worst.Right.RatString(), rel,
	)
}

// BalanceFromRates returns the balance function of the rates φ_i(x), in row l.Index(x) of phi,
// column i, by [BC17] (7), Φ(x) = Φ(x-e_i)/φ_i(x) with i the first class present, after checking
// (6) at every state and pair, O(N^2) a state. Rates must be positive where x_i > 0, and zero or
// nil where x_i = 0.
//
// A violation of (6) up to the relative size tol is accepted: nil or 0 for exact rates, a few 2^-52
// for rates that were floating-point numbers. Another order of removing jobs would then give a Φ(x)
// that differs by a factor of at most (1-tol)^-Σ_{i<j} x_i x_j. The worst violation is returned in
// any case, with Relative 0 if there is none; if larger than tol, also as a *[BalanceError]. Other
// errors are a *[num.InputError].
func BalanceFromRates(ctx context.Context, l Lattice, phi [][]*big.Rat, tol *big.Rat) (Balance, Violation, error) {
	y, err := newLayout(l, MaxExactStates)
	if err != nil {
		return Balance{}, Violation{}, err
	}
	if tol == nil {
		tol = new(big.Rat)
	}
	if tol.Sign() < 0 || tol.Cmp(big.NewRat(1, 1)) >= 0 {
		return Balance{}, Violation{}, input.Errorf("tol", tol.RatString(), "a number in [0, 1)")
	}
	if err := checkRates(ctx, y, phi); err != nil {
		return Balance{}, Violation{}, err
	}
	table, found, err := lattice.Integrate(ctx, lattice.Walk(y), phi)
	if err != nil {
		return Balance{}, Violation{}, err
	}
	worst := Violation(found)
	if worst.Relative.Cmp(tol) > 0 {
		return Balance{}, worst, &BalanceError{Worst: worst}
	}
	return Balance{Lattice: l, Phi: table}, worst, nil
}

// Rates returns the rates of a balance function, [BC17] (7): φ_i(x) = Φ(x-e_i)/Φ(x) if x_i > 0 and
// 0 otherwise, in row b.Lattice.Index(x), column i. The error is a *[num.InputError] about values
// of Φ that are missing, not positive, or not 1 at 0.
func Rates(ctx context.Context, b Balance) ([][]*big.Rat, error) {
	y, err := b.check(ctx)
	if err != nil {
		return nil, err
	}
	phi := make([][]*big.Rat, y.States)
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := make([]*big.Rat, y.Classes)
		for i, v := range w.X {
			row[i] = new(big.Rat)
			if v > 0 {
				row[i].Quo(b.Phi[w.At-w.Drop[i]], b.Phi[w.At])
			}
		}
		phi[w.At] = row
	}
	return phi, nil
}

func (b Balance) check(ctx context.Context) (lattice.Lattice, error) {
	y, err := newLayout(b.Lattice, MaxExactStates)
	if err != nil {
		return y, err
	}
	if len(b.Phi) != y.States {
		return y, input.Errorf("Balance.Phi", len(b.Phi), "%d numbers, one per state", y.States)
	}
	for k, v := range b.Phi {
		if err := ctx.Err(); err != nil {
			return y, err
		}
		if v == nil {
			return y, input.Errorf(path("Balance.Phi", k), "", "a number > 0")
		}
		if v.Sign() <= 0 {
			return y, input.Errorf(path("Balance.Phi", k), v.RatString(), "a number > 0")
		}
	}
	if b.Phi[0].Cmp(big.NewRat(1, 1)) != 0 {
		return y, input.Errorf("Balance.Phi[0]", b.Phi[0].RatString(), "1")
	}
	return y, nil
}

func checkRates(ctx context.Context, y lattice.Lattice, phi [][]*big.Rat) error {
	if len(phi) != y.States {
		return input.Errorf("rates", len(phi), "%d rows, one per state", y.States)
	}
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := phi[w.At]
		if len(row) != y.Classes {
			return input.Errorf(path("rates", w.At), len(row), "%d rates, one per class", y.Classes)
		}
		for i, v := range w.X {
			at := path(path("rates", w.At), i)
			switch r := row[i]; {
			case v > 0 && r == nil:
				return input.Errorf(at, "", "a number > 0, the rate in state %v", w.X)
			case v > 0 && r.Sign() <= 0:
				return input.Errorf(at, r.RatString(), "a number > 0, the rate in state %v", w.X)
			case v == 0 && r != nil && r.Sign() != 0:
				return input.Errorf(at, r.RatString(), "0, since no job of the class is in state %v", w.X)
			}
		}
	}
	return nil
}
