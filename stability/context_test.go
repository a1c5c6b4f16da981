package stability

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"productform/internal/oracle"
)

// Computations of seconds to minutes return promptly after their context is cancelled; without
// checks of the context, the test would not end.
func TestContextEnds(t *testing.T) {
	const n = 16
	rates := slices.Repeat([]*big.Rat{big.NewRat(1, 30)}, n)
	rank := slices.Repeat([]*big.Rat{big.NewRat(1, 1)}, 1<<n)
	rank[0] = nil
	huge, _ := new(big.Int).SetString("1"+string(slices.Repeat([]byte("0"), 100)), 10)
	long := slices.Clone(rank)
	long[1<<n-1] = new(big.Rat).SetInt(huge)
	chain, ring := chainOf(3000, 1, nil), randomCluster(t, 3000, 3000, 5, 20, 999_999)
	verdict, err := Cluster(t.Context(), ring)
	if err != nil {
		t.Fatal(err)
	}
	// longer than the network needs
	digits := ring.Scale(new(big.Rat).SetFrac(huge, new(big.Int).Add(huge, big.NewInt(1))))
	for name, ask := range map[string]func(ctx context.Context) error{
		"Cluster, chain":  func(ctx context.Context) error { _, err := Cluster(ctx, chain); return err },
		"Cluster, ring":   func(ctx context.Context) error { _, err := Cluster(ctx, ring); return err },
		"Cluster, digits": func(ctx context.Context) error { _, err := Cluster(ctx, digits); return err },
		"Overload, ring":  func(ctx context.Context) error { _, err := Overload(ctx, ring); return err },
		"Verify":          func(ctx context.Context) error { return Verify(ctx, ring, verdict) },
		"Rank":            func(ctx context.Context) error { _, err := Rank(ctx, rates, rank); return err },
		"Rank, digits":    func(ctx context.Context) error { _, err := Rank(ctx, rates, long); return err },
	} {
		if err := oracle.CheckEnds(ask, 1<<16, 64); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
