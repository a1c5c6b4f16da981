package whittle_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"productform/internal/oracle"
	"productform/whittle"
)

// Computations of seconds to hours return promptly after their context is cancelled; without checks
// of the context, the test would not end.
func TestContextEnds(t *testing.T) {
	rates := slices.Repeat([]*big.Rat{big.NewRat(1, 30)}, 14)
	rank, err := whittle.SingleServer(14, big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	n := &whittle.Network{ArrivalRates: rates, Rank: rank}
	two := &whittle.Network{ArrivalRates: rates[:2], Rank: rank[:4]}
	l, wide := whittle.Box(slices.Repeat([]int{1}, 14)...), whittle.Box(500, 500)
	b, err := whittle.BalanceFromRank(t.Context(), rank, l)
	if err != nil {
		t.Fatal(err)
	}
	phi, err := whittle.Rates(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	ones := slices.Repeat([]*big.Rat{big.NewRat(1, 1)}, 14)
	for name, ask := range map[string]func(ctx context.Context) error{
		"Stationary, exact": func(ctx context.Context) error {
			_, err := whittle.Stationary(ctx, n, l, exactly)
			return err
		},
		"Stationary, exact, of two": func(ctx context.Context) error {
			_, err := whittle.Stationary(ctx, two, wide, exactly)
			return err
		},
		"Stationary": func(ctx context.Context) error {
			_, err := whittle.Stationary(ctx, n, l, whittle.Settings{})
			return err
		},
		"Stationary on many states": func(ctx context.Context) error {
			_, err := whittle.Stationary(ctx, two, whittle.Box(5000, 5000), whittle.Settings{})
			return err
		},
		"StationaryOfBalance": func(ctx context.Context) error {
			_, err := whittle.StationaryOfBalance(ctx, rates, b, ones)
			return err
		},
		"BalanceFromRank": func(ctx context.Context) error {
			_, err := whittle.BalanceFromRank(
				ctx, rank, l,
			)
			return err
		},
		"BalanceFromRates": func(ctx context.Context) error {
			_, _, err := whittle.BalanceFromRates(
				ctx, l, phi, nil,
			)
			return err
		},
		"Rates": func(ctx context.Context) error { _, err := whittle.Rates(ctx, b); return err },
		"LocalImbalances": func(ctx context.Context) error {
			_, err := whittle.LocalImbalances(ctx, l, rates, phi, b.Phi)
			return err
		},
		"InfiniteServers": func(ctx context.Context) error {
			_, err := whittle.InfiniteServers(
				ctx, l, rates...,
			)
			return err
		},
		"SeparateServers": func(ctx context.Context) error {
			_, err := whittle.SeparateServers(
				ctx, rates...,
			)
			return err
		},
		"Check": n.Check,
	} {
		if err := oracle.CheckEnds(ask, 600, 64); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
