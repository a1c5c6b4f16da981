package whittle

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"productform/internal/input"
)

// maxClasses bounds the number of queues: a rank function has 2^N values.
const maxClasses = 20

// A Network is the Whittle network whose balance function comes from a rank function by (4).
type Network struct {
	ArrivalRates []*big.Rat // λ_i >= 0, jobs per unit of time; 1 to 20 classes
	Rank         []*big.Rat // μ(A) > 0, nondecreasing in A, jobs per unit of time, at the bit mask of A; length 2^N, Rank[0] is not read
}

// SingleServer returns the rank function of one server of the given rate > 0 that all classes
// share, 1 to 20 of them: the multiclass processor-sharing queue.
func SingleServer(classes int, rate *big.Rat) ([]*big.Rat, error) {
	if classes < 1 || classes > maxClasses {
		return nil, input.Errorf("classes", classes, "an integer in 1..%d", maxClasses)
	}
	if rate == nil {
		return nil, input.Errorf("rate", "", "a number > 0")
	}
	if rate.Sign() <= 0 {
		return nil, input.Errorf("rate", rate.RatString(), "a number > 0")
	}
	rank := make([]*big.Rat, 1<<classes)
	rank[0] = new(big.Rat)
	for a := 1; a < len(rank); a++ {
		rank[a] = rate
	}
	return rank, nil
}

// SeparateServers returns the rank function of a server of rate rates[i] > 0 for each class i,
// μ(A) = Σ_{i∈A} rates[i]; 1 to 20 classes.
func SeparateServers(rates ...*big.Rat) ([]*big.Rat, error) {
	if len(rates) < 1 || len(rates) > maxClasses {
		return nil, input.Errorf("rates", len(rates), "1 to %d rates", maxClasses)
	}
	if err := checkNumbers("rates", rates, len(rates), true); err != nil {
		return nil, err
	}
	return setSums(rates), nil
}

// InfiniteServers returns the rates φ_i(x) = x_i rates[i] of the states of l, in the form that
// [BalanceFromRates] reads: every job of class i has a server of rate rates[i] to itself.
func InfiniteServers(l Lattice, rates ...*big.Rat) ([][]*big.Rat, error) {
	y, err := newLayout(l, MaxExactStates)
	if err != nil {
		return nil, err
	}
	if err := checkNumbers("rates", rates, y.classes, true); err != nil {
		return nil, err
	}
	phi := make([][]*big.Rat, y.states)
	for w, more := newWalker(y), true; more; more = w.next() {
		row := make([]*big.Rat, y.classes)
		for i, v := range w.x {
			row[i] = new(big.Rat).Mul(big.NewRat(int64(v), 1), rates[i])
		}
		phi[w.at] = row
	}
	return phi, nil
}

// ErrUnstable is wrapped by the error for a network that has no stationary distribution.
var ErrUnstable = errors.New("network is unstable")

// An UnstableError names the first set of classes, in the order of bit masks, that violates (5). It wraps [ErrUnstable].
type UnstableError struct {
	Classes     []int    // A
	ArrivalRate *big.Rat // Σ_{i∈A} λ_i
	Rank        *big.Rat // μ(A), at most ArrivalRate
}

func (e *UnstableError) Unwrap() error { return ErrUnstable }
func (e *UnstableError) Error() string {
	return fmt.Sprintf("%v: classes %v arrive at rate %s and are served at rate %s at most",
		ErrUnstable, e.Classes, e.ArrivalRate.RatString(), e.Rank.RatString())
}

// check returns an error of package input for rates out of range, an [UnstableError] if (5) fails.
func (n Network) check() error {
	classes := len(n.ArrivalRates)
	if classes < 1 || classes > maxClasses {
		return input.Errorf("arrival_rates", classes, "1 to %d rates", maxClasses)
	}
	if err := checkNumbers("arrival_rates", n.ArrivalRates, classes, false); err != nil {
		return err
	}
	if err := checkRank(n.Rank, classes); err != nil {
		return err
	}
	for a, rate := range setSums(n.ArrivalRates) {
		if a > 0 && rate.Cmp(n.Rank[a]) >= 0 {
			return &UnstableError{Classes: members(uint(a)), ArrivalRate: rate, Rank: n.Rank[a]}
		}
	}
	return nil
}

// checkRank checks that rank has a positive and nondecreasing value at every non-empty set of classes.
func checkRank(rank []*big.Rat, classes int) error {
	if len(rank) != 1<<classes {
		return input.Errorf("rank", len(rank), "%d values, one at every bit mask of %d classes", 1<<classes, classes)
	}
	for a := 1; a < len(rank); a++ {
		if rank[a] == nil {
			return input.Errorf(path("rank", a), "", "a number > 0")
		}
		if rank[a].Sign() <= 0 {
			return input.Errorf(path("rank", a), rank[a].RatString(), "a number > 0")
		}
		for _, i := range members(uint(a)) {
			if b := a &^ (1 << i); b > 0 && rank[a].Cmp(rank[b]) < 0 {
				return input.Errorf(path("rank", a), rank[a].RatString(), "at least rank[%d] = %s, the rank of a subset", b, rank[b].RatString())
			}
		}
	}
	return nil
}

// checkNumbers checks that v holds count numbers >= 0, or > 0 if positive.
func checkNumbers(name string, v []*big.Rat, count int, positive bool) error {
	want := "a number >= 0"
	if positive {
		want = "a number > 0"
	}
	if len(v) != count {
		return input.Errorf(name, len(v), "%d numbers, one a class", count)
	}
	for i, r := range v {
		if r == nil {
			return input.Errorf(path(name, i), "", "%s", want)
		}
		if r.Sign() < 0 || (positive && r.Sign() == 0) {
			return input.Errorf(path(name, i), r.RatString(), "%s", want)
		}
	}
	return nil
}

// setSums returns Σ_{i∈A} v_i at the bit mask of each A.
func setSums(v []*big.Rat) []*big.Rat {
	sums := make([]*big.Rat, 1<<len(v))
	sums[0] = new(big.Rat)
	for a := 1; a < len(sums); a++ {
		i := bits.TrailingZeros(uint(a))
		sums[a] = new(big.Rat).Add(sums[a&(a-1)], v[i])
	}
	return sums
}

// members lists the elements of the set with mask a.
func members(a uint) []int {
	list := make([]int, 0, bits.OnesCount(a))
	for ; a != 0; a &= a - 1 {
		list = append(list, bits.TrailingZeros(a))
	}
	return list
}

func path(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
