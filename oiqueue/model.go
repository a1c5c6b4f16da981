package oiqueue

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
	"productform/internal/ranktable"
)

// A Queue is an order-independent queue with N = len(ArrivalRates) classes of jobs.
// Exactly one of Rank, TotalRate and OrderedRate gives the total rate μ, in jobs per unit
// of time; the two functions must be pure and are never called for the empty queue,
// whose rate is 0.
type Queue struct {
	ArrivalRates []*big.Rat // λ_i >= 0, jobs per unit of time; effective rates if jobs come back
	// μ(A) > 0, nondecreasing, at the bit mask of A; length 2^N, Rank[0] is nil or 0
	Rank      []*big.Rat
	TotalRate func(x []int) *big.Rat // μ(x) > 0 with x_i jobs of class i
	// μ(c) > 0 with jobs of classes c_1, ..., c_n, oldest first; [CheckOrder] checks whether the
	// order matters
	OrderedRate func(c []int) *big.Rat
	// m_i >= 1 such that μ(x) depends on x only through min(x_i, m_i); nil if there are none, or
	// with Rank, where m_i = 1
	Saturation []int
}

// maxClasses bounds the tables over sets of classes: 2^20 rationals take about 0.1 GB.
const maxClasses = 20

// FromTable returns the queue with rank function rank[A], at the bit mask of A (class i is bit i).
// The error is a *[num.InputError] for a bad length or entry, or for the first set, by mask, at
// which the table is not positive and nondecreasing. Neither slice is copied. O(N 2^N) comparisons.
func FromTable(ctx context.Context, arrivalRates, rank []*big.Rat) (*Queue, error) {
	q := &Queue{ArrivalRates: arrivalRates, Rank: rank}
	if err := q.Check(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

// FromGraph returns the multi-server queue of [BC17] section 2: server s has capacity μ_s =
// capacities[s] >= 0 and class i can be served by all servers compatible[i] together. Hence μ(A) is
// the capacity of all servers compatible with a class of A. It takes O(N 2^N) additions and O(2^N)
// memory; N is at most 20, otherwise the error is a [*num.TooLargeError].
func FromGraph(ctx context.Context, arrivalRates, capacities []*big.Rat, compatible [][]int) (*Queue, error) {
	n := len(arrivalRates)
	if err := checkRates("ArrivalRates", arrivalRates); err != nil {
		return nil, err
	}
	if n > maxClasses {
		return nil, classLimitError(n)
	}
	for s, c := range capacities {
		if c == nil || c.Sign() < 0 {
			return nil, input.Errorf(fmt.Sprintf("capacities[%d]", s), show(c), "a number >= 0")
		}
	}
	if len(compatible) != n {
		return nil, input.Errorf("compatible", fmt.Sprintf("%d lists", len(compatible)),
			"one list of servers for each of the %d classes",
			n)
	}
	for i, servers := range compatible {
		total, seen := new(big.Rat), make(map[int]bool)
		for k, s := range servers {
			if s < 0 || s >= len(capacities) || seen[s] {
				return nil, input.Errorf(fmt.Sprintf("compatible[%d][%d]", i, k),
					s, "a server from 0 to %d, named once",
					len(capacities)-1)
			}
			seen[s] = true
			total.Add(total, capacities[s])
		}
		if total.Sign() == 0 {
			return nil, input.Errorf(
				fmt.Sprintf("compatible[%d]", i), fmt.Sprint(servers), "servers of positive total capacity",
			)
		}
	}
	rank, err := ranktable.OfServers(ctx, compatible, capacities)
	if err != nil {
		return nil, err
	}
	return &Queue{ArrivalRates: arrivalRates, Rank: rank}, nil
}

// FromCluster returns the queue of a cluster model, with rates in jobs per unit of time and the
// rank function of [cluster.Model.Rank], whose errors it has: one is for classes that differ in
// mean size.
func FromCluster(ctx context.Context, m *cluster.Model) (*Queue, error) {
	if m == nil {
		return nil, input.Errorf("", "nothing", "a cluster model")
	}
	rank, err := m.Rank(ctx)
	if err := cmp.Or(err, m.RequireNoTimeouts()); err != nil {
		return nil, err
	}
	q := &Queue{Rank: rank}
	for _, class := range m.Classes {
		q.ArrivalRates = append(q.ArrivalRates, class.ArrivalRate)
	}
	return q, nil
}

// checkShape checks everything about q but the values of its rates: fields, lengths, arrival rates.
func checkShape(q *Queue) error {
	if q == nil {
		return input.Errorf("", "nothing", "a queue")
	}
	n := len(q.ArrivalRates)
	if err := checkRates("ArrivalRates", q.ArrivalRates); err != nil {
		return err
	}
	given := 0
	for _, set := range []bool{q.Rank != nil, q.TotalRate != nil, q.OrderedRate != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		return input.Errorf(
			"Rank, TotalRate, OrderedRate", fmt.Sprintf("%d of the three", given), "exactly one of them",
		)
	}
	if q.Rank != nil {
		if n > maxClasses {
			return classLimitError(n)
		}
		if err := ranktable.CheckShape(q.Rank, n); err != nil {
			return err
		}
		if q.Saturation != nil {
			return input.Errorf("Saturation", fmt.Sprint(q.Saturation),
				"nil, since Rank saturates at one job per class")
		}
	}
	if q.Saturation != nil && len(q.Saturation) != n {
		return input.Errorf("Saturation", fmt.Sprintf("%d entries", len(q.Saturation)),
			"one for each of the %d classes, or nil",
			n)
	}
	for i, m := range q.Saturation {
		if m < 1 {
			return input.Errorf(fmt.Sprintf("Saturation[%d]", i), m, "a whole number >= 1")
		}
	}
	return nil
}

func checkRates(path string, rates []*big.Rat) error {
	if len(rates) == 0 {
		return input.Errorf(path, "an empty list", "at least one class")
	}
	for i, l := range rates {
		if l == nil || l.Sign() < 0 {
			return input.Errorf(fmt.Sprintf("%s[%d]", path, i), show(l), "a number >= 0")
		}
	}
	return nil
}

// show formats a rational for a message; a missing one is empty, as in input.Error.
func show(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return r.RatString()
}
