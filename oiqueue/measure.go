package oiqueue

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
)

// StateMeasure returns π(c)/π(∅) = Π_k λ_{c_k} / μ(c_1, ..., c_k) ([BC17] (1)), exactly, in O(n)
// evaluations of the rate for n jobs. The error is a *[num.InputError] for a malformed q or c, a
// [*RateError] if a rate function is not positive, or ctx.Err() promptly after ctx is done;
// likewise below.
func StateMeasure(ctx context.Context, q *Queue, c []int) (*big.Rat, error) {
	if err := checkOrdered(q, c); err != nil {
		return nil, err
	}
	return stateMeasure(ctx, q, c)
}

func stateMeasure(ctx context.Context, q *Queue, c []int) (*big.Rat, error) {
	p := big.NewRat(1, 1)
	for k, i := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mu, err := orderedRate(q, c[:k+1])
		if err != nil {
			return nil, err
		}
		p.Mul(p, q.ArrivalRates[i]).Quo(p, mu)
	}
	return p, nil
}

// PositionRates returns the rate μ(c_1, ..., c_k) - μ(c_1, ..., c_{k-1}) at which the job in
// each position k of state c is served, oldest first. They sum to μ(c).
func PositionRates(ctx context.Context, q *Queue, c []int) ([]*big.Rat, error) {
	if err := checkOrdered(q, c); err != nil {
		return nil, err
	}
	return positionRates(ctx, q, c)
}

func positionRates(ctx context.Context, q *Queue, c []int) ([]*big.Rat, error) {
	rates := make([]*big.Rat, len(c))
	before := new(big.Rat)
	for k := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mu, err := orderedRate(q, c[:k+1])
		if err != nil {
			return nil, err
		}
		rates[k] = new(big.Rat).Sub(mu, before)
		before = mu
	}
	return rates, nil
}

// PartialBalance returns for each class i the imbalance
//
//	π(c) λ_i - Σ_{k=1}^{n+1} π(c_1, ..., c_{k-1}, i, c_k, ..., c_n) (μ(c_1, ..., c_{k-1}, i) - μ(c_1, ..., c_{k-1})),
//
// in units of π(∅): what enters state c less what leaves for it by class i. All are 0 in every
// state of an order-independent queue ([BC17], proof of Theorem 2), and a rate that depends
// on the order shows here. Cost O(N n^2) evaluations of the rate.
func PartialBalance(ctx context.Context, q *Queue, c []int) ([]*big.Rat, error) {
	if err := checkOrdered(q, c); err != nil {
		return nil, err
	}
	pi, err := stateMeasure(ctx, q, c)
	if err != nil {
		return nil, err
	}
	imbalance := make([]*big.Rat, len(q.ArrivalRates))
	for i, lambda := range q.ArrivalRates {
		imbalance[i] = new(big.Rat).Mul(pi, lambda)
		for k := range len(c) + 1 {
			d := slices.Insert(slices.Clone(c), k, i)
			p, err := stateMeasure(ctx, q, d)
			if err != nil {
				return nil, err
			}
			rates, err := positionRates(ctx, q, d[:k+1])
			if err != nil {
				return nil, err
			}
			imbalance[i].Sub(imbalance[i], p.Mul(p, rates[k]))
		}
	}
	return imbalance, nil
}

// Balance returns the balance function Φ(x) = Σ_{i: x_i>0} Φ(x-e_i) / μ(x), Φ(0) = 1
// ([BC17] (4)), in O(N Π_i (x_i+1)) rational operations; at most 2^20 states, otherwise the error
// a [*num.TooLargeError].
func Balance(ctx context.Context, q *Queue, x []int) (*big.Rat, error) {
	phi, _, err := balanceTable(ctx, q, x)
	if err != nil {
		return nil, err
	}
	return phi[len(phi)-1], nil
}

// AggregateMeasure returns π̄(x)/π̄(0) = Φ(x) Π_i λ_i^x_i ([BC17] (3)), the measure of having
// x_i jobs of class i in any order, at the cost of [Balance].
func AggregateMeasure(ctx context.Context, q *Queue, x []int) (*big.Rat, error) {
	p, err := Balance(ctx, q, x)
	if err != nil {
		return nil, err
	}
	for i, lambda := range q.ArrivalRates {
		for range x[i] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p.Mul(p, lambda)
		}
	}
	return p, nil
}

// Allocation returns φ_i(x) = Φ(x-e_i)/Φ(x) for each class i, 0 if x_i = 0 ([BC17] (7)): by Theorem
// 2 the mean rate at which jobs of class i are served while the queue holds x, and balanced
// fairness in the capacity set of μ if μ is submodular. They sum to μ(x). Cost of [Balance].
func Allocation(ctx context.Context, q *Queue, x []int) ([]*big.Rat, error) {
	phi, l, err := balanceTable(ctx, q, x)
	if err != nil {
		return nil, err
	}
	last := len(phi) - 1
	rates := make([]*big.Rat, len(x))
	for i := range x {
		rates[i] = new(big.Rat)
		if x[i] > 0 {
			rates[i].Quo(phi[last-l.Stride[i]], phi[last])
		}
	}
	return rates, nil
}

// [MeanAllocation] visits at most maxOrders states of at most maxOrdered jobs.
const (
	maxOrders  = 1 << 20
	maxOrdered = 1000
)

// MeanAllocation returns for each class i the right-hand side of Theorem 2 ([BC17] (8)),
//
//	φ_i(x) = Σ_{c: |c|=x} π(c)/π̄(x) μ_i(c),
//
// where μ_i(c) is the rate at which jobs of class i are served in state c, by going through all (Σ
// x_i)!/Π x_i! orders, at most 2^20 of at most 1000 jobs, otherwise the error is a
// [*num.TooLargeError]. The weights leave out Π λ_i^x_i, which cancels. It equals [Allocation] if q
// is order independent.
func MeanAllocation(ctx context.Context, q *Queue, x []int) ([]*big.Rat, error) {
	if err := checkCounts(q, x); err != nil {
		return nil, err
	}
	if err := checkOrders(x); err != nil {
		return nil, err
	}
	rates := make([]*big.Rat, len(x))
	for i := range rates {
		rates[i] = new(big.Rat)
	}
	sum := new(big.Rat)
	for c, more := sortedState(x), true; more; more = nextOrder(c) {
		served, err := positionRates(ctx, q, c)
		if err != nil {
			return nil, err
		}
		weight, mu := big.NewRat(1, 1), new(big.Rat)
		for _, r := range served {
			weight.Quo(weight, mu.Add(mu, r))
		}
		sum.Add(sum, weight)
		for k, i := range c {
			rates[i].Add(rates[i], served[k].Mul(served[k], weight))
		}
	}
	for _, r := range rates {
		r.Quo(r, sum)
	}
	return rates, nil
}

// checkOrders rejects x with too many orders. The product grows with every job, so it stops early.
func checkOrders(x []int) error {
	orders, before := 1, 0
	for _, xi := range x {
		if before+xi > maxOrdered || xi > maxOrdered {
			return sizeError(
				"x", fmt.Sprint(x), new(big.Int),
				"at most %d jobs; Allocation computes the same rates from the balance function", maxOrdered,
			)
		}
		for j := 1; j <= xi; j++ {
			if orders = orders * (before + j) / j; orders > maxOrders {
				return sizeError(
					"x", fmt.Sprint(x), big.NewInt(int64(orders)),
					"jobs of at most %d orders; Allocation computes the same rates from the balance function",
					maxOrders,
				)
			}
		}
		before += xi
	}
	return nil
}

// nextOrder steps c to the next order of the same jobs, lexicographically, and reports whether
// there is one.
func nextOrder(c []int) bool {
	k := len(c) - 2
	for k >= 0 && c[k] >= c[k+1] {
		k--
	}
	if k < 0 {
		return false
	}
	l := len(c) - 1
	for c[l] <= c[k] {
		l--
	}
	c[k], c[l] = c[l], c[k]
	slices.Reverse(c[k+1:])
	return true
}

// balanceTable returns Φ(y) for every y <= x, at its index in the lattice.
func balanceTable(ctx context.Context, q *Queue, x []int) ([]*big.Rat, lattice.Lattice, error) {
	if err := checkCounts(q, x); err != nil {
		return nil, lattice.Lattice{}, err
	}
	l, err := newLattice(x, maxStates)
	if err != nil {
		return nil, lattice.Lattice{}, err
	}
	phi, err := lattice.Fractions(ctx, l, func(w *lattice.Walker) (*big.Rat, error) { return totalRate(q, w.X) })
	return phi, l, err
}

// totalRate returns μ(x) for x ≠ 0. For OrderedRate it is that of the sorted state.
func totalRate(q *Queue, x []int) (*big.Rat, error) {
	switch {
	case q.Rank != nil:
		a := ranktable.Present(x)
		if mu := q.Rank[a]; mu != nil && mu.Sign() > 0 {
			return mu, nil
		}
		return nil, ranktable.CheckSet(q.Rank, a)
	case q.TotalRate != nil:
		mu := q.TotalRate(slices.Clone(x))
		if mu != nil && mu.Sign() > 0 {
			return mu, nil
		}
		return positive(mu, sortedState(x))
	}
	c := sortedState(x)
	return positive(q.OrderedRate(slices.Clone(c)), c)
}

// orderedRate returns μ(c), 0 for the empty state.
func orderedRate(q *Queue, c []int) (*big.Rat, error) {
	if len(c) == 0 {
		return new(big.Rat), nil
	}
	if q.OrderedRate != nil {
		return positive(q.OrderedRate(slices.Clone(c)), c)
	}
	return totalRate(q, counts(len(q.ArrivalRates), c))
}

// counts returns |c|, the number of jobs of each of n classes.
func counts(n int, c []int) []int {
	x := make([]int, n)
	for _, i := range c {
		x[i]++
	}
	return x
}

// sortedState returns the state with x_i jobs of class i in increasing order of class.
func sortedState(x []int) []int {
	c := []int{}
	for i, xi := range x {
		for range xi {
			c = append(c, i)
		}
	}
	return c
}

func checkOrdered(q *Queue, c []int) error {
	if err := checkShape(q); err != nil {
		return err
	}
	for k, i := range c {
		if i < 0 || i >= len(q.ArrivalRates) {
			return input.Errorf(fmt.Sprintf("c[%d]", k), i, "a class from 0 to %d", len(q.ArrivalRates)-1)
		}
	}
	return nil
}

func checkCounts(q *Queue, x []int) error {
	if err := checkShape(q); err != nil {
		return err
	}
	if len(x) != len(q.ArrivalRates) {
		return input.Errorf("x", fmt.Sprintf("%d entries", len(x)), "one for each of the %d classes",
			len(q.ArrivalRates))
	}
	for i, xi := range x {
		if xi < 0 {
			return input.Errorf(fmt.Sprintf("x[%d]", i), xi, "a whole number >= 0")
		}
	}
	return nil
}
