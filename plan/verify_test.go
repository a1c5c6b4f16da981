package plan_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/plan"
)

// Answers are proved, by another routine than that which found them, and what is broken on purpose is refused: a corner that is left
// out or moved, a cost or a bound that is changed, another plan, another model.
func TestVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		all := everyPlan(t, p)
		p.NoWorse = p.NoWorse && all[0].solution != nil
		drawTargets(t, p, all)
		a, err := plan.LeastCost(context.Background(), p, plan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		verify := func(p *plan.Problem, a *plan.Answer) error {
			return plan.Verify(context.Background(), p, a, plan.Settings{})
		}
		if err := verify(p, a); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, change func(b *plan.Answer)) {
			b := *a
			b.Proof.Corners = slices.Clone(a.Proof.Corners)
			if a.Plan != nil {
				found := *a.Plan
				b.Plan = &found
			}
			change(&b)
			err := verify(p, &b)
			if isRight(t, p, &b, all) {
				if err != nil && what != "more for fewer edges" { // right, but not by a bound that is known of fewer edges
					t.Fatalf("%s, still right: %v", what, err)
				}
			} else if !errors.Is(err, plan.ErrProof) {
				t.Fatalf("%s: error %v", what, err)
			}
		}
		for i := range a.Proof.Corners {
			refused("a corner less", func(b *plan.Answer) { b.Proof.Corners = slices.Delete(b.Proof.Corners, i, i+1) })
			for k := range a.Proof.Corners[i].Choice.Steps {
				for _, by := range []int{-1, 1} {
					refused("a corner moved", func(b *plan.Answer) {
						c := &b.Proof.Corners[i].Choice
						c.Steps = slices.Clone(c.Steps)
						c.Steps[k] += by
					})
				}
			}
			refused("more for fewer edges", func(b *plan.Answer) { b.Proof.Corners[i].Fewer = true })
		}
		if a.Plan != nil {
			refused("another cost", func(b *plan.Answer) { b.Plan.Cost = new(big.Rat).Add(b.Plan.Cost, big.NewRat(1, 7)) })
			refused("another bound", func(b *plan.Answer) { b.Proof.Below = new(big.Rat).Add(b.Proof.Below, big.NewRat(1, 7)) })
			other := rapid.SampledFrom(all).Draw(t, "other")
			refused("another plan", func(b *plan.Answer) {
				b.Plan.Choice, b.Plan.Cost, b.Proof.Below = other.choice, other.cost, other.cost
			})
		}
	})
}

// isRight says whether an answer says what is so, and its corners prove it, plan by plan in fractions.
func isRight(t *rapid.T, p *plan.Problem, a *plan.Answer, all []measured) bool {
	at := func(c plan.Choice) *measured {
		for i := range all {
			if slices.Equal(all[i].choice.Steps, c.Steps) && slices.Equal(all[i].choice.Edges, c.Edges) {
				return &all[i]
			}
		}
		return nil
	}
	if a.Plan == nil && a.Proof.Below != nil || a.Plan != nil && (a.Proof.Below == nil || a.Plan.Cost.Cmp(a.Proof.Below) != 0) {
		return false
	}
	if a.Plan != nil {
		if m := at(a.Plan.Choice); m == nil || m.cost.Cmp(a.Plan.Cost) != 0 || !m.meets(p, all[0]) {
			return false
		}
	}
	for _, c := range a.Proof.Corners {
		m := at(c.Choice)
		if m == nil || !failsAt(p, *m, all[0], c) {
			return false
		}
		for i := range all {
			if c.Fewer && within(all[i].choice, c) && !failsAt(p, all[i], all[0], c) {
				return false
			}
		}
	}
	for _, m := range all {
		if a.Proof.Below != nil && m.cost.Cmp(a.Proof.Below) >= 0 {
			continue
		}
		if !slices.ContainsFunc(a.Proof.Corners, func(c plan.Corner) bool { return within(m.choice, c) }) {
			return false
		}
	}
	return true
}

// failsAt says whether a plan fails at what a corner says.
func failsAt(p *plan.Problem, m, now measured, c plan.Corner) bool {
	alone := *p
	alone.NoWorse, alone.Targets = false, nil
	switch c.Fails {
	case plan.FailsTarget:
		alone.Targets = p.Targets[c.Target : c.Target+1]
	case plan.FailsNoWorse:
		alone.NoWorse = true
	}
	return !m.meets(&alone, now)
}
