package oiqueue

import (
	"context"
	"math/big"
	"slices"

	"productform/internal/input"
	"productform/internal/ranktable"
)

// maxChecked bounds the states that [CheckOrder] visits.
const maxChecked = 1 << 22

// Check reports whether q is valid: its fields agree, rates are >= 0, and a Rank table is positive
// and nondecreasing. The error is a *[num.InputError] or a [*num.TooLargeError]. Check cannot
// examine a function; see [CheckOrder].
func (q *Queue) Check(ctx context.Context) error {
	if err := checkShape(q); err != nil || q.Rank == nil {
		return err
	}
	return ranktable.Check(ctx, q.Rank, len(q.ArrivalRates))
}

// CheckOrder reports whether the rates of q are those of an order-independent queue ([BC17] section
// 2). They must be positive in every non-empty state, must not fall when a job arrives and, for
// OrderedRate, must be the same for every order of the jobs. If Saturation is set, they may depend
// on the numbers of jobs only up to it. A Rank table is checked whole and length ignored; TotalRate
// is checked at all x with Σ x_i <= length, OrderedRate at all states of at most length jobs,
// N^length of them and at most 2^22. The error is a [*RateError] naming the first violating state,
// shortest first, and its rates, a *[num.InputError] for a malformed queue, a [*num.TooLargeError],
// or ctx.Err(). For a function, nil proves the property up to that length only.
func CheckOrder(ctx context.Context, q *Queue, length int) error {
	if err := q.Check(ctx); err != nil || q.Rank != nil {
		return err
	}
	n := len(q.ArrivalRates)
	if length < 0 {
		return input.Errorf("length", length, "a whole number >= 0")
	}
	if err := checkLength(q, length); err != nil {
		return err
	}
	for k := 1; k <= length; k++ {
		c := make([]int, k)
		for more := true; more; more = nextState(c, n, q.OrderedRate == nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkState(q, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLength rejects a length with too many states: N^length, or C(N+length-1, length) up to
// order.
func checkLength(q *Queue, length int) error {
	n := len(q.ArrivalRates)
	if length > maxOrdered {
		return sizeError("length", length, new(big.Int), "at most %d", maxOrdered)
	}
	states := new(big.Int).Binomial(int64(n+length-1), int64(length))
	if q.OrderedRate != nil {
		states.Exp(big.NewInt(int64(n)), big.NewInt(int64(length)), nil)
	}
	if states.Cmp(big.NewInt(maxChecked)) > 0 {
		return sizeError(
			"length", length, states, "a smaller one, for at most %d states; %d classes have %s of that length",
			maxChecked, n, digits(states),
		)
	}
	return nil
}

// nextState steps c to the next state of its length in lexicographic order, or to the next sorted
// one on request, and reports whether there is one.
func nextState(c []int, n int, sorted bool) bool {
	for k := len(c) - 1; k >= 0; k-- {
		if c[k]++; c[k] < n {
			for l := k + 1; l < len(c); l++ {
				c[l] = 0
				if sorted {
					c[l] = c[k]
				}
			}
			return true
		}
	}
	return false
}

// checkState compares μ(c) with 0, with the rate before the last arrival of each class, with
// the rate of the sorted state, and with that of the saturated state. For a rate of the
// counts, the states without one job of class i are all the predecessors of c.
func checkState(q *Queue, c []int) error {
	mu, err := orderedRate(q, c)
	if err != nil {
		return err
	}
	disagree := func(other []int, reason error, wrong func(before *big.Rat) bool) error {
		before, err := orderedRate(q, other)
		if err != nil {
			return err
		}
		if wrong(before) {
			return &RateError{slices.Clone(c), mu, other, before, reason}
		}
		return nil
	}
	for k := len(c) - 1; k >= 0; k-- {
		if q.OrderedRate != nil && k < len(c)-1 || k < len(c)-1 && c[k] == c[k+1] {
			continue // with the order known only the newest job can be the last arrival
		}
		before := slices.Delete(slices.Clone(c), k, k+1)
		if err := disagree(before, ErrNotMonotone, func(b *big.Rat) bool { return b.Cmp(mu) > 0 }); err != nil {
			return err
		}
	}
	if !slices.IsSorted(c) {
		if err := disagree(
			slices.Sorted(slices.Values(c)), ErrOrderDependent, func(b *big.Rat) bool { return b.Cmp(mu) != 0 },
		); err != nil {
			return err
		}
	}
	if q.Saturation != nil {
		x := counts(len(q.ArrivalRates), c)
		for i, m := range q.Saturation {
			x[i] = min(x[i], m)
		}
		if other := sortedState(x); len(other) < len(c) {
			return disagree(other, ErrNotSaturated, func(b *big.Rat) bool { return b.Cmp(mu) != 0 })
		}
	}
	return nil
}

// positive returns mu, or the error that names the state c if mu is missing or not positive.
func positive(mu *big.Rat, c []int) (*big.Rat, error) {
	if mu == nil || mu.Sign() <= 0 {
		return nil, &RateError{State: slices.Clone(c), Rate: mu, Err: ErrNotPositive}
	}
	return mu, nil
}
