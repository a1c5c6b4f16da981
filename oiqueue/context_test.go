package oiqueue

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/oracle"
)

// manyClasses has 18 classes on a ring of servers.
func manyClasses() (rates, capacities []*big.Rat, compatible [][]int) {
	const n = 18
	for i := range n {
		rates, capacities = append(rates, rat(9, int64(10+i))), append(capacities, rat(1, 1))
		compatible = append(compatible, []int{i, (i + 1) % n})
	}
	return rates, capacities, compatible
}

// Computations of seconds to days return promptly after their context is cancelled; without checks
// of the context, the test would not end.
func TestContextEnds(t *testing.T) {
	rates, capacities, compatible := manyClasses()
	flat := make([]*big.Rat, 1<<len(rates)) // one server for all classes
	for a := range flat {
		flat[a] = rat(20, 1)
	}
	flat[0] = nil
	table := &Queue{ArrivalRates: rates, Rank: flat}
	few := &Queue{ArrivalRates: rates[:9], Rank: flat[:1<<9]}
	upTo := func(most int) *Queue {
		rate := func(x []int) *big.Rat { return rat(int64(min(x[0], most)+min(x[1], most)), 7) }
		return &Queue{ArrivalRates: []*big.Rat{rat(1, 20), rat(1, 30)}, TotalRate: rate, Saturation: []int{most, most}}
	}
	steps, far := upTo(1000), upTo(40)
	long := slices.Repeat([]int{0, 1}, 1<<15)
	r := Routing{External: slices.Repeat([]*big.Rat{rat(1, 3)}, 300), Prob: make([][]*big.Rat, 300)}
	for i := range r.Prob {
		r.Prob[i] = make([]*big.Rat, 300)
		for j := range r.Prob[i] {
			r.Prob[i][j] = rat(int64(1000+i*j%7), 1_000_000)
		}
	}
	m := &cluster.Model{}
	for i := range rates {
		m.Servers = append(m.Servers, cluster.Server{Name: string(rune('a' + i)), Capacity: capacities[i]})
		m.Classes = append(m.Classes, cluster.Class{
			Name:        string(rune('A' + i)),
			ArrivalRate: rat(1, 2),
			Servers:     cluster.On(compatible[i]...),
		})
	}
	for name, ask := range map[string]func(ctx context.Context) error{
		"FromTable": func(ctx context.Context) error { _, err := FromTable(ctx, rates, flat); return err },
		"FromGraph": func(ctx context.Context) error {
			_, err := FromGraph(
				ctx, rates, capacities, compatible,
			)
			return err
		},
		"FromCluster": func(ctx context.Context) error { _, err := FromCluster(ctx, m); return err },
		"Check":       table.Check,
		"CheckOrder":  func(ctx context.Context) error { return CheckOrder(ctx, steps, 1000) },
		"Stationary":  func(ctx context.Context) error { _, err := Stationary(ctx, table, Settings{}); return err },
		"Stationary of steps": func(ctx context.Context) error {
			_, err := Stationary(ctx, steps, Settings{})
			return err
		},
		"Stationary, exact": func(ctx context.Context) error {
			_, err := Stationary(
				ctx, few, exactly,
			)
			return err
		},
		"Stationary, exact, of steps": func(ctx context.Context) error {
			_, err := Stationary(
				ctx, far, exactly,
			)
			return err
		},
		"Truncated": func(ctx context.Context) error {
			_, err := Truncated(
				ctx, steps, 500,
			)
			return err
		},
		"StateMeasure": func(ctx context.Context) error {
			_, err := StateMeasure(
				ctx, steps, long,
			)
			return err
		},
		"PositionRates": func(ctx context.Context) error {
			_, err := PositionRates(
				ctx, steps, long,
			)
			return err
		},
		"PartialBalance": func(ctx context.Context) error {
			_, err := PartialBalance(
				ctx, steps, long,
			)
			return err
		},
		"Balance": func(ctx context.Context) error {
			_, err := Balance(ctx, steps, []int{
				300, 300,
			})
			return err
		},
		"AggregateMeasure": func(ctx context.Context) error {
			_, err := AggregateMeasure(ctx, steps, []int{
				1 << 18, 0,
			})
			return err
		},
		"Allocation": func(ctx context.Context) error {
			_, err := Allocation(ctx, steps, []int{
				300, 300,
			})
			return err
		},
		"MeanAllocation": func(ctx context.Context) error {
			_, err := MeanAllocation(ctx, steps, []int{
				11, 11,
			})
			return err
		},
		"TrafficEquations, exact": func(ctx context.Context) error {
			_, err := TrafficEquations(ctx, r, exactly)
			return err
		},
		"TrafficEquations": func(ctx context.Context) error {
			_, err := TrafficEquations(
				ctx, r, Settings{},
			)
			return err
		},
	} {
		looks := 600
		if strings.HasPrefix(name, "Stationary, exact") {
			looks = 1 << 15 // the table takes many before the recursion
		}
		if err := oracle.CheckEnds(ask, looks, 64); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
