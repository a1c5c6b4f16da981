package plan_test

import (
	"context"
	"math/big"
	"testing"

	"productform/internal/oracle"
	"productform/plan"
)

// Every long computation returns promptly after its context is cancelled.
func TestEnds(t *testing.T) {
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p.Budget = big.NewRat(12, 1)
	a, err := plan.LeastCost(context.Background(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := plan.GreatestLoad(context.Background(), p, plan.Choice{}, plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	most, err := plan.GreatestLoadOfAll(context.Background(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(context.Context) error{
		"cost": func(ctx context.Context) error {
			_, err := plan.LeastCost(
				ctx, p, plan.SearchSettings{},
			)
			return err
		},
		"delay": func(ctx context.Context) error {
			_, err := plan.LeastDelay(
				ctx, p, plan.SearchSettings{},
			)
			return err
		},
		"frontier": func(ctx context.Context) error {
			_, err := plan.Frontier(
				ctx, p, plan.SearchSettings{},
			)
			return err
		},
		"load": func(ctx context.Context) error {
			_, err := plan.GreatestLoad(ctx, p, plan.Choice{}, plan.Settings{})
			return err
		},
		"most load": func(ctx context.Context) error {
			_, err := plan.GreatestLoadOfAll(ctx, p, plan.SearchSettings{})
			return err
		},
		"verify most load": func(ctx context.Context) error {
			return plan.VerifyMostLoad(
				ctx, p, most, plan.Settings{},
			)
		},
		"growth": func(ctx context.Context) error {
			_, err := plan.Growth(ctx, p, []*big.Rat{big.NewRat(1, 1)}, plan.SearchSettings{})
			return err
		},
		"evaluate": func(ctx context.Context) error {
			_, err := plan.Evaluate(ctx, p, plan.Choice{}, plan.Settings{})
			return err
		},
		"edges": func(ctx context.Context) error {
			_, err := plan.EdgeEffects(ctx, p, plan.Choice{}, plan.Settings{})
			return err
		},
		"verify": func(ctx context.Context) error { return plan.Verify(ctx, p, a, plan.Settings{}) },
		"verify load": func(ctx context.Context) error {
			return plan.VerifyLoad(ctx, p, plan.Choice{}, l, plan.Settings{})
		},
	} {
		if err := oracle.CheckEnds(ask, 100_000, 20); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
