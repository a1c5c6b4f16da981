package whittle_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/whittle"
)

func previous(l whittle.Lattice, x []int, i int) int {
	x = slices.Clone(x)
	x[i]--
	k, _ := l.Index(x)
	return k
}

func mustBalance(t *rapid.T, rank []*big.Rat, l whittle.Lattice) whittle.Balance {
	b, err := whittle.BalanceFromRank(t.Context(), rank, l)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustRates(t *rapid.T, b whittle.Balance) [][]*big.Rat {
	phi, err := whittle.Rates(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return phi
}

// Φ by (4) is the sum over the orders of the jobs, (1)-(2).
func TestBalanceMatchesSumOverOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 3)
		l := whittle.Simplex(len(n.ArrivalRates), 5)
		b := mustBalance(t, n.Rank, l)
		for k, x := range l.All() {
			mu := func(x []int) *big.Rat { return n.Rank[activeMask(x)] }
			if want := orderings(mu, slices.Clone(x), make([]int, len(x))); !equal(b.Phi[k], want) {
				t.Fatalf("Φ(%v) = %v, want %v", x, b.Phi[k], want)
			}
		}
	})
}

// Rates of a rank function are balanced (6), use all of μ (Pareto efficiency) and lie in the
// capacity set (Corollary 1).
func TestRatesOfRankFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 4)
		l := drawLattice(t, len(n.ArrivalRates))
		phi := mustRates(t, mustBalance(t, n.Rank, l))
		for k, x := range l.All() {
			active := activeMask(x)
			for a := 1; a < len(n.Rank); a++ {
				sum := setRate(phi[k], a)
				if sum.Cmp(n.Rank[a]) > 0 {
					t.Fatalf("rates of set %b in %v sum to %v > μ = %v", a, x, sum, n.Rank[a])
				}
				if subset(active, a) && active > 0 && !equal(sum, n.Rank[active]) {
					t.Fatalf("rates in %v sum to %v, not to μ = %v", x, sum, n.Rank[active])
				}
			}
			for i := range x {
				for j := range x {
					if x[i] > 0 && x[j] > 0 {
						left := mul(phi[k][i], phi[previous(l, x, i)][j])
						right := mul(phi[previous(l, x, j)][i], phi[k][j])
						if !equal(left, right) {
							t.Fatalf("(6) fails in %v for %d, %d: %v and %v", x, i, j, left, right)
						}
					}
				}
			}
		}
	})
}

// Any positive function is a balance function, and comes back from its rates.
func TestBalanceFromItsRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLattice(t, rapid.IntRange(1, 4).Draw(t, "classes"))
		b := drawBalance(t, l)
		got, worst, err := whittle.BalanceFromRates(t.Context(), l, mustRates(t, b), nil)
		if err != nil || worst.Relative.Sign() != 0 {
			t.Fatal(err, worst)
		}
		for k := range b.Phi {
			if !equal(got.Phi[k], b.Phi[k]) {
				t.Fatalf("Φ at %d is %v, want %v", k, got.Phi[k], b.Phi[k])
			}
		}
	})
}

func drawBalance(t *rapid.T, l whittle.Lattice) whittle.Balance {
	states, _ := l.States()
	b := whittle.Balance{Lattice: l, Phi: make([]*big.Rat, states)}
	for k := range b.Phi {
		b.Phi[k] = big.NewRat(
			int64(rapid.IntRange(1, 9).Draw(t, "numerator")), int64(rapid.IntRange(1, 9).Draw(t, "denominator")),
		)
	}
	b.Phi[0] = big.NewRat(1, 1)
	return b
}

// One rate raised by the factor 1+δ appears on one side of every equation that contains it, so the
// sides differ by δ/(1+δ); of two such faults the larger is named.
func TestWorstViolationIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := whittle.Box(3, 2, 3)
		phi := mustRates(t, drawBalance(t, l))
		spoil := func(k, i int, delta *big.Rat) {
			phi[k][i] = mul(phi[k][i], add(big.NewRat(1, 1), delta))
		}
		x := []int{rapid.IntRange(1, 3).Draw(t, "x0"), rapid.IntRange(1, 2).Draw(t, "x1"), 0}
		k, _ := l.Index(x)
		far, _ := l.Index([]int{0, 2, 3}) // in no equation with x, since neither is one job below the other
		i := rapid.IntRange(0, 1).Draw(t, "i")
		spoil(k, i, num.Rat("1/3"))
		spoil(far, 1, num.Rat("1/1000"))

		_, worst, err := whittle.BalanceFromRates(t.Context(), l, phi, num.Rat("1/5"))
		var be *whittle.BalanceError
		if !errors.Is(err, whittle.ErrUnbalanced) || !errors.As(err, &be) ||
			!slices.Equal(be.Worst.State, worst.State) {
			t.Fatalf("error is %v", err)
		}
		if !equal(worst.Relative, num.Rat("1/4")) {
			t.Fatalf("relative violation %v, want 1/4", worst.Relative)
		}
		at, _ := l.Index(worst.State)
		pair := []int{worst.I, worst.J}
		inState := at == k && slices.Contains(pair, i)
		other := worst.I + worst.J - i // φ_i(x) also appears in the equations of x+e_j
		if !inState && !(slices.Contains(pair, i) && previous(l, worst.State, other) == k) {
			t.Fatalf("%+v does not hold φ_%d(%v)", worst, i, x)
		}
		if _, worst, err := whittle.BalanceFromRates(t.Context(), l, phi, num.Rat("1/4")); err != nil ||
			!equal(worst.Relative, num.Rat("1/4")) {
			t.Fatalf("tolerance 1/4: %v, %v", err, worst)
		}
	})
}

// Rates rounded to float64 are balanced to a few roundings: 2 a side, each within 2^-53 and one
// more product of roundings, so 2^-50 is ample; they are not balanced exactly.
func TestFloatRatesNeedATolerance(t *testing.T) {
	rank, err := whittle.SingleServer(2, num.Rat("1"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := whittle.BalanceFromRank(t.Context(), rank, whittle.Box(6, 6))
	phi, _ := whittle.Rates(t.Context(), b)
	for _, row := range phi {
		for i := range row {
			f, _ := row[i].Float64()
			row[i] = new(big.Rat).SetFloat64(f)
		}
	}
	if _, _, err := whittle.BalanceFromRates(t.Context(), b.Lattice, phi, nil); !errors.Is(err, whittle.ErrUnbalanced) {
		t.Errorf("exact check of rounded rates: %v", err)
	}
	got, worst, err := whittle.BalanceFromRates(t.Context(), b.Lattice, phi, new(big.Rat).SetFloat64(0x1p-50))
	if err != nil || worst.Relative.Sign() == 0 {
		t.Fatal(err, worst)
	}
	for k, v := range got.Phi { // 12 roundings lead to the largest state, one per job, and 2^-53 each
		gap, _ := sub(quo(v, b.Phi[k]), num.Rat("1")).Float64()
		if gap > 0x1p-48 || gap < -0x1p-48 {
			t.Errorf("Φ at %d is off by %g", k, gap)
		}
	}
}
