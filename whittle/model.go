package whittle

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/lattice"
	"productform/internal/ranktable"
)

// maxClasses bounds the number of queues: a rank function has 2^N values.
const maxClasses = 20

// A Network is the Whittle network whose balance function comes from a rank function by (4).
type Network struct {
	ArrivalRates []*big.Rat // λ_i >= 0, jobs per unit of time; 1 to 20 classes
	// μ(A) > 0, nondecreasing in A, jobs per unit of time, at the bit mask of A; length 2^N,
	// Rank[0] is nil or 0
	Rank []*big.Rat
}

// FromCluster returns the network of balanced fairness in a cluster, with rates in jobs per unit of
// time and the rank function of [cluster.Model.Rank], whose errors it has. If classes differ in
// mean size, it is the network of [cluster.Model.EqualSizes], which has the numbers of jobs of m,
// but not its rates.
func FromCluster(ctx context.Context, m *cluster.Model) (*Network, error) {
	if m == nil {
		return nil, input.Errorf("", "nothing", "a cluster model")
	}
	if err := cmp.Or(m.Check(), m.RequireNoTimeouts()); err != nil {
		return nil, err
	}
	m = m.EqualSizes()
	rank, err := m.Rank(ctx)
	if err != nil {
		return nil, err
	}
	n := &Network{Rank: rank}
	for _, class := range m.Classes {
		n.ArrivalRates = append(n.ArrivalRates, class.ArrivalRate)
	}
	return n, nil
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
func SeparateServers(ctx context.Context, rates ...*big.Rat) ([]*big.Rat, error) {
	if len(rates) < 1 || len(rates) > maxClasses {
		return nil, input.Errorf("rates", len(rates), "1 to %d rates", maxClasses)
	}
	if err := checkNumbers("rates", rates, len(rates), true); err != nil {
		return nil, err
	}
	return ranktable.Sums(ctx, rates)
}

// InfiniteServers returns the rates φ_i(x) = x_i rates[i] of the states of l, in the form that
// [BalanceFromRates] reads: every job of class i has a server of rate rates[i] to itself.
func InfiniteServers(ctx context.Context, l Lattice, rates ...*big.Rat) ([][]*big.Rat, error) {
	y, err := newLayout(l, MaxExactStates)
	if err != nil {
		return nil, err
	}
	if err := checkNumbers("rates", rates, y.Classes, true); err != nil {
		return nil, err
	}
	phi := make([][]*big.Rat, y.States)
	for w, more := lattice.Walk(y), true; more; more = w.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := make([]*big.Rat, y.Classes)
		for i, v := range w.X {
			row[i] = new(big.Rat).Mul(big.NewRat(int64(v), 1), rates[i])
		}
		phi[w.At] = row
	}
	return phi, nil
}

// Check reports whether n can be worked with: 1 to 20 rates >= 0, and a rank function that is
// positive and nondecreasing. The error is a *[num.InputError].
func (n *Network) Check(ctx context.Context) error {
	if n == nil {
		return input.Errorf("", "nothing", "a network")
	}
	classes := len(n.ArrivalRates)
	if classes < 1 || classes > maxClasses {
		return input.Errorf("ArrivalRates", classes, "1 to %d rates", maxClasses)
	}
	if err := checkNumbers("ArrivalRates", n.ArrivalRates, classes, false); err != nil {
		return err
	}
	return ranktable.Check(ctx, n.Rank, classes)
}

// stable returns a [cluster.UnstableError] that names the first set of classes, in the order of bit
// masks, for which (5) fails.
func (n *Network) stable(ctx context.Context) error {
	sums, err := ranktable.Sums(ctx, n.ArrivalRates)
	if err != nil {
		return err
	}
	for a, rate := range sums {
		if a > 0 && rate.Cmp(n.Rank[a]) >= 0 {
			return &cluster.UnstableError{Classes: ranktable.Members(a), ArrivalRate: rate, Capacity: n.Rank[a]}
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
		return input.Errorf(name, len(v), "%d numbers, one per class", count)
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

func path(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
