package oiqueue

import (
	"fmt"
	"math/big"

	"productform/cluster"
	"productform/internal/input"
)

// A Queue is an order-independent queue with N = len(ArrivalRates) classes of jobs.
// Exactly one of Rank, TotalRate and OrderedRate gives the total rate μ, in jobs per unit
// of time; the two functions must be pure and are never called for the empty queue,
// whose rate is 0.
type Queue struct {
	ArrivalRates []*big.Rat             // λ_i >= 0, jobs per unit of time; effective rates if jobs come back
	Rank         []*big.Rat             // μ(A) > 0, nondecreasing, at the bit mask of A; length 2^N, Rank[0] is nil or 0
	TotalRate    func(x []int) *big.Rat // μ(x) > 0 with x_i jobs of class i
	OrderedRate  func(c []int) *big.Rat // μ(c) > 0 with jobs of classes c_1, ..., c_n, oldest first; [Check] tells whether the order matters
	Saturation   []int                  // m_i >= 1 such that μ(x) depends on x only through min(x_i, m_i); nil if there are none, or with Rank, where m_i = 1
}

// maxClasses bounds the tables over sets of classes: 2^20 rationals take about 0.1 GB.
const maxClasses = 20

// FromTable returns the queue with rank function rank[A], at the bit mask of A (class i is
// bit i). The error is an *input.Error for a bad length or entry, or a [*RateError] naming
// two sets if the table is not positive and nondecreasing. Neither slice is copied.
func FromTable(arrivalRates, rank []*big.Rat) (*Queue, error) {
	q := &Queue{ArrivalRates: arrivalRates, Rank: rank}
	if err := Check(q, 0); err != nil {
		return nil, err
	}
	return q, nil
}

// FromGraph returns the multi-server queue of [BC17] section 2: server s has capacity
// μ_s = capacities[s] >= 0 and class i can be served by the servers compatible[i], all of
// them at once, so that μ(A) is the capacity of all servers compatible with a class of A.
// Time and memory O(2^N); N is at most 20, else the error wraps [ErrTooLarge].
func FromGraph(arrivalRates, capacities []*big.Rat, compatible [][]int) (*Queue, error) {
	n := len(arrivalRates)
	if err := checkRates("arrival_rates", arrivalRates); err != nil {
		return nil, err
	}
	if n > maxClasses {
		return nil, tooManyClasses(n)
	}
	for s, c := range capacities {
		if c == nil || c.Sign() < 0 {
			return nil, input.Errorf(fmt.Sprintf("capacities[%d]", s), show(c), "a number >= 0")
		}
	}
	if len(compatible) != n {
		return nil, input.Errorf("compatible", fmt.Sprintf("%d lists", len(compatible)), "one list of servers for each of the %d classes", n)
	}
	for i, servers := range compatible {
		total, seen := new(big.Rat), make(map[int]bool)
		for k, s := range servers {
			if s < 0 || s >= len(capacities) || seen[s] {
				return nil, input.Errorf(fmt.Sprintf("compatible[%d][%d]", i, k), s, "a server from 0 to %d, named once", len(capacities)-1)
			}
			seen[s] = true
			total.Add(total, capacities[s])
		}
		if total.Sign() == 0 {
			return nil, input.Errorf(fmt.Sprintf("compatible[%d]", i), fmt.Sprint(servers), "servers of positive total capacity")
		}
	}
	return &Queue{ArrivalRates: arrivalRates, Rank: graphRank(n, capacities, compatible)}, nil
}

// graphRank tabulates μ(A) as the capacities of the servers in the union, by removing from
// the total the servers whose classes all lie outside A: with w(B) the capacity of the
// servers whose set of classes is exactly B, the capacity inside a set is a subset sum of w.
func graphRank(n int, capacities []*big.Rat, compatible [][]int) []*big.Rat {
	inside := make([]*big.Rat, 1<<n)
	for b := range inside {
		inside[b] = new(big.Rat)
	}
	classes := make([]int, len(capacities)) // bit mask of the classes of each server
	for i, servers := range compatible {
		for _, s := range servers {
			classes[s] |= 1 << i
		}
	}
	for s, b := range classes {
		inside[b].Add(inside[b], capacities[s])
	}
	for i := range n {
		for b := range inside {
			if b>>i&1 == 1 {
				inside[b].Add(inside[b], inside[b^1<<i])
			}
		}
	}
	all := len(inside) - 1
	rank := make([]*big.Rat, len(inside))
	for a := range rank {
		rank[a] = new(big.Rat).Sub(inside[all], inside[all^a])
	}
	return rank
}

// FromCluster returns the queue of a cluster model, with rates in jobs per unit of time:
// capacities are divided by the mean size. A group of equal servers that every class takes
// whole counts as one server; a class that chooses some of a group is an error, since it
// stands for as many classes as there are choices (package bf solves such models).
func FromCluster(m *cluster.Model) (*Queue, error) {
	if m == nil {
		return nil, input.Errorf("", "nothing", "a cluster model")
	}
	size := big.NewRat(1, 1)
	if m.MeanSize != nil {
		size = m.MeanSize
	}
	if size.Sign() <= 0 {
		return nil, input.Errorf("mean_size", show(size), "a number > 0")
	}
	capacities := make([]*big.Rat, len(m.Servers))
	for s, server := range m.Servers {
		if server.Count < 0 {
			return nil, input.Errorf(fmt.Sprintf("servers[%d].count", s), server.Count, "a whole number >= 1")
		}
		if server.Capacity == nil || server.Capacity.Sign() < 0 {
			return nil, input.Errorf(fmt.Sprintf("servers[%d].capacity", s), show(server.Capacity), "a number >= 0")
		}
		c := new(big.Rat).Mul(server.Capacity, new(big.Rat).SetInt64(int64(server.Size())))
		capacities[s] = c.Quo(c, size)
	}
	if len(m.Classes) == 0 {
		return nil, input.Errorf("classes", "an empty list", "at least one class")
	}
	arrivalRates := make([]*big.Rat, len(m.Classes))
	compatible := make([][]int, len(m.Classes))
	for i, class := range m.Classes {
		path := fmt.Sprintf("classes[%d]", i)
		if class.ArrivalRate == nil || class.ArrivalRate.Sign() < 0 {
			return nil, input.Errorf(path+".arrival_rate", show(class.ArrivalRate), "a number >= 0")
		}
		arrivalRates[i] = class.ArrivalRate
		total := new(big.Rat)
		for k, choice := range class.Servers {
			path := fmt.Sprintf("%s.servers[%d]", path, k)
			if choice.Server < 0 || choice.Server >= len(m.Servers) {
				return nil, input.Errorf(path, choice.Server, "the index of one of the %d servers", len(m.Servers))
			}
			if whole := m.Servers[choice.Server].Size(); choice.Choose != whole {
				return nil, input.Errorf(path+".choose", choice.Choose, "the whole group of %d; package bf solves models whose jobs choose some servers of a group", whole)
			}
			compatible[i] = append(compatible[i], choice.Server)
			total.Add(total, capacities[choice.Server])
		}
		if total.Sign() == 0 {
			return nil, input.Errorf(path+".servers", fmt.Sprint(compatible[i]), "servers of positive total capacity")
		}
	}
	return FromGraph(arrivalRates, capacities, compatible)
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
		return input.Errorf("Rank, TotalRate, OrderedRate", fmt.Sprintf("%d of the three", given), "exactly one of them")
	}
	if q.Rank != nil {
		if n > maxClasses {
			return tooManyClasses(n)
		}
		if len(q.Rank) != 1<<n {
			return input.Errorf("Rank", fmt.Sprintf("%d entries", len(q.Rank)), "2^%d = %d entries, one for each set of classes", n, 1<<n)
		}
		if q.Rank[0] != nil && q.Rank[0].Sign() != 0 {
			return input.Errorf("Rank[0]", show(q.Rank[0]), "0 or nil, the rate of the empty queue")
		}
		if q.Saturation != nil {
			return input.Errorf("Saturation", fmt.Sprint(q.Saturation), "nil, since Rank saturates at one job a class")
		}
	}
	if q.Saturation != nil && len(q.Saturation) != n {
		return input.Errorf("Saturation", fmt.Sprintf("%d entries", len(q.Saturation)), "one for each of the %d classes, or nil", n)
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

// show writes a rational for a message; a missing one is empty, as input.Error has it.
func show(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return r.RatString()
}
