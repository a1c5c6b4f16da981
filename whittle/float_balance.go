package whittle

import (
	"math"
	"math/big"

	"productform/internal/input"
)

// A FloatBalance is a balance function in float64, found from rates.
type FloatBalance struct {
	Lattice            Lattice
	Phi                []float64 // Φ(x) at Lattice.Index(x), Φ(0) = 1
	Worst              Violation // of (6), its numbers exact for the rates given; Relative 0 if none was seen
	RelativeErrorBound float64   // proved bound on the rounding of Phi, along the way it was computed
}

// FloatBalanceFromRates is [BalanceFromRates] in float64 for lattices of up to [MaxStates] states, with φ_i(x)
// at position l.Index(x)·N + i of rates: 0 where x_i = 0, in [2^-500, 2^500] elsewhere. It looks for the worst violation
// of (6) to within 2^-50 of its relative size, and accepts it up to tol, in [2^-50, 1): rounding a balanced
// set of rates to float64 causes about 2^-51. Φ takes one division a job, so with n the most jobs in a
// state RelativeErrorBound is nu/(1-nu), u = 2^-53. The error is a *[BalanceError] or an *[cluster.InputError],
// also for a Φ(x) outside the range of float64.
func FloatBalanceFromRates(l Lattice, rates []float64, tol float64) (*FloatBalance, error) {
	y, err := newLayout(l, MaxStates)
	if err != nil {
		return nil, err
	}
	if !(tol >= 0x1p-50 && tol < 1) {
		return nil, input.Errorf("tol", tol, "a number in [2^-50, 1)")
	}
	if len(rates) != y.states*y.classes {
		return nil, input.Errorf("rates", len(rates), "%d numbers, one a state and class", y.states*y.classes)
	}
	for w, more := newWalker(y), true; more; more = w.next() {
		for i, v := range w.x {
			r := rates[w.at*y.classes+i]
			if v == 0 && r != 0 {
				return nil, input.Errorf(path("rates", w.at*y.classes+i), r, "0, since no job of class %d is in state %v", i, w.x)
			}
			if v > 0 && !(r >= 0x1p-500 && r <= 0x1p500) {
				return nil, input.Errorf(path("rates", w.at*y.classes+i), r, "a number in 2^-500..2^500, the rate of class %d in state %v", i, w.x)
			}
		}
	}
	nu := float64(y.total) * 0x1p-53
	b := &FloatBalance{
		Lattice:            l,
		Phi:                make([]float64, y.states),
		Worst:              Violation{Relative: new(big.Rat)},
		RelativeErrorBound: nu / (1 - nu) * (1 + 0x1p-50),
	}
	if bad := divideOut(newWalker(y), rates, b.Phi); bad >= 0 {
		return nil, input.Errorf("rates", y.state(bad), "rates whose balance function stays in 1e-300..1e300 up to this state")
	}
	at, i, j := worstPair(newWalker(y), rates)
	if at < 0 {
		return b, nil
	}
	b.Worst = exactViolation(y, rates, at, i, j)
	if b.Worst.Relative.Cmp(new(big.Rat).SetFloat64(tol)) > 0 {
		return nil, &BalanceError{Worst: b.Worst}
	}
	return b, nil
}

// divideOut fills phi by Φ(x) = Φ(x-e_i)/φ_i(x), i the first class present, and returns the first
// state that is out of range, or -1.
func divideOut(w *walker, rates, phi []float64) int {
	phi[0] = 1
	for w.next() {
		i := 0
		for w.x[i] == 0 {
			i++
		}
		v := phi[w.at-w.drop[i]] / rates[w.at*len(w.x)+i]
		if !(v >= 1e-300 && v <= 1e300) {
			return w.at
		}
		phi[w.at] = v
	}
	return -1
}

// worstPair returns the state and pair of classes with the largest relative violation of (6), state -1 if there is none.
// No product leaves the range of float64; each is rounded once, the difference of near ones not at all.
func worstPair(w *walker, rates []float64) (at, i, j int) {
	at = -1
	worst, n := 0.0, len(w.x)
	for w.next() {
		here := rates[w.at*n:][:n]
		for b := 1; b < n; b++ {
			if w.x[b] == 0 {
				continue
			}
			lessB := rates[(w.at-w.drop[b])*n:][:n]
			for a := range b {
				if w.x[a] == 0 {
					continue
				}
				left := float64(here[a] * rates[(w.at-w.drop[a])*n+b])
				right := float64(lessB[a] * here[b])
				if gap := math.Abs(left-right) / max(left, right); gap > worst {
					worst, at, i, j = gap, w.at, a, b
				}
			}
		}
	}
	return at, i, j
}

// exactViolation works out (6) at one state and pair in rationals.
func exactViolation(y layout, rates []float64, at, i, j int) Violation {
	x := y.state(at)
	rate := func(class, less int) *big.Rat { // φ_class(x), or φ_class(x-e_less) if less >= 0
		k := at
		if less >= 0 {
			x[less]--
			k = y.index(x)
			x[less]++
		}
		return new(big.Rat).SetFloat64(rates[k*y.classes+class])
	}
	v := Violation{State: x, I: i, J: j}
	v.Left = new(big.Rat).Mul(rate(i, -1), rate(j, i))
	v.Right = new(big.Rat).Mul(rate(i, j), rate(j, -1))
	v.Relative = relativeGap(v.Left, v.Right)
	return v
}
