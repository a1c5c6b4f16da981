package plan_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/num"
	"productform/plan"
)

// Answers are proved by a routine other than the one that found them, and broken ones are rejected:
// a corner that is omitted or moved, a cost or a bound that is changed, another plan, another
// model.
func TestVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		all := everyPlan(t, p)
		drawTargets(t, p, all)
		a, err := plan.LeastCost(context.Background(), p, plan.SearchSettings{})
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
				// true, but not by a bound that is known for fewer edges
				if err != nil && what != "more for fewer edges" {
					t.Fatalf("%s, still right: %v", what, err)
				}
			} else if !errors.Is(err, plan.ErrUnproved) {
				t.Fatalf("%s: error %v", what, err)
			}
		}
		for i := range a.Proof.Corners {
			refused("a missing corner", func(b *plan.Answer) {
				b.Proof.Corners = slices.Delete(b.Proof.Corners, i, i+1)
			})
			for k := range a.Proof.Corners[i].Choice.Steps {
				for _, by := range []int{-1, 1} {
					refused("a corner moved", func(b *plan.Answer) {
						c := &b.Proof.Corners[i].Choice
						c.Steps = slices.Clone(c.Steps)
						c.Steps[k] += by
					})
				}
			}
			for what, change := range map[string]func(*plan.Corner){
				"targets that do not exist":   func(c *plan.Corner) { c.Fails = plan.FailsTarget(len(p.Targets)) },
				"a class that does not exist": func(c *plan.Corner) { c.Class = "nobody" },
			} {
				b := *a
				b.Proof.Corners = slices.Clone(a.Proof.Corners)
				if change(&b.Proof.Corners[i]); !errors.Is(verify(p, &b), plan.ErrUnproved) {
					t.Fatalf("a corner that fails at %s is accepted", what)
				}
			}
			refused("more for fewer edges", func(b *plan.Answer) { b.Proof.Corners[i].Fewer = true })
		}
		if a.Plan != nil {
			refused("another cost", func(b *plan.Answer) {
				b.Plan.Cost = new(big.Rat).Add(b.Plan.Cost, big.NewRat(1, 7))
			})
			refused("another bound", func(b *plan.Answer) {
				b.Proof.Below = new(big.Rat).Add(b.Proof.Below, big.NewRat(1, 7))
			})
			other := rapid.SampledFrom(all).Draw(t, "other")
			refused("another plan", func(b *plan.Answer) {
				b.Plan.Choice, b.Plan.Cost, b.Proof.Below = other.choice, other.cost, other.cost
			})
		}
	})
}

// isRight reports whether an answer is true and its corners prove it, plan by plan in fractions.
func isRight(t *rapid.T, p *plan.Problem, a *plan.Answer, all []measured) bool {
	at := func(c plan.Choice) *measured {
		for i := range all {
			if slices.Equal(all[i].choice.Steps, c.Steps) && slices.Equal(all[i].choice.Edges, c.Edges) {
				return &all[i]
			}
		}
		return nil
	}
	if a.Plan == nil && a.Proof.Below != nil ||
		a.Plan != nil && (a.Proof.Below == nil || a.Plan.Cost.Cmp(a.Proof.Below) != 0) {
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
			if c.Fewer && isCovered(all[i].choice, c) && !failsAt(p, all[i], all[0], c) {
				return false
			}
		}
	}
	for _, m := range all {
		if a.Proof.Below != nil && m.cost.Cmp(a.Proof.Below) >= 0 {
			continue
		}
		if !slices.ContainsFunc(a.Proof.Corners, func(c plan.Corner) bool { return isCovered(m.choice, c) }) {
			return false
		}
	}
	return true
}

// failsAt reports whether a plan misses the target of a corner.
func failsAt(p *plan.Problem, m, now measured, c plan.Corner) bool {
	alone := *p
	alone.NoWorse, alone.Targets = false, nil
	switch c.Fails {
	case plan.FailsNoWorse:
		alone.NoWorse = true
	default:
		for row, t := range p.Targets {
			if c.Fails == plan.FailsTarget(row) {
				alone.Targets = []plan.Target{t}
			}
		}
	}
	return !m.meets(&alone, now)
}

// Valid proofs that do not prove the answer are rejected.
func TestVerifyUnrelatedProofs(t *testing.T) {
	ctx := t.Context()
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p.Budget = big.NewRat(12, 1)
	cost, err := plan.LeastCost(ctx, p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	delay, err := plan.LeastDelay(ctx, p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	points, err := plan.Frontier(ctx, p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	most := p.Everything()
	least := func(a *plan.Answer, delay float64) {
		a.Proof.Delay = &delay
		a.Proof.Corners = []plan.Corner{
			{Choice: most, Fails: plan.FailsDelay}, {Choice: plan.Choice{Steps: most.Steps}, Fails: plan.FailsDelay},
		}
	}
	for what, c := range map[string]struct {
		answer *plan.Answer
		change func(*plan.Answer)
	}{
		"no plan with a tiny delay":         {delay, func(a *plan.Answer) { a.Plan = nil; least(a, 1e-300) }},
		"no plan with the delay 0":          {delay, func(a *plan.Answer) { a.Plan = nil; least(a, 0) }},
		"a plan, and no claim about delays": {delay, func(a *plan.Answer) { least(a, 0) }},
		"a plan without earlier purchases": {
			cost, func(a *plan.Answer) { a.Proof = plan.Proof{From: p.Everything(), Below: a.Plan.Cost} },
		},
		"nothing cheaper with everything bought": {
			points[0], func(a *plan.Answer) { a.Cheaper = &plan.Proof{From: p.Everything(), Below: a.Plan.Cost} },
		},
		"a cheapest plan, and a proof of another": {
			cost, func(a *plan.Answer) { a.Proof = plan.Proof{AtMost: p.Budget, Below: new(big.Rat)} },
		},
		"plans that cost at most another budget": {
			delay, func(a *plan.Answer) { a.Proof.AtMost = big.NewRat(11, 1) },
		},
		"a delay among the plans that cost less": {delay, func(a *plan.Answer) { a.Proof.Below = a.Plan.Cost }},
		"no plan, and a proof for free plans only": {
			cost, func(a *plan.Answer) { a.Plan, a.Proof.Below = nil, new(big.Rat) },
		},
	} {
		a := *c.answer
		if err := plan.Verify(ctx, p, &a, plan.Settings{}); err != nil {
			t.Fatal(err)
		}
		if c.change(&a); !errors.Is(plan.Verify(ctx, p, &a, plan.Settings{}), plan.ErrUnproved) {
			t.Errorf("%s is accepted", what)
		}
	}
}

// An answer without a load is proved by a tiny load that fails, but not by a large one.
func TestVerifyNoLoad(t *testing.T) {
	ctx := t.Context()
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	verify := func(fails *big.Rat) error {
		return plan.VerifyLoad(ctx, p, plan.Choice{}, &plan.Load{Below: fails, Complete: true}, plan.Settings{})
	}
	if err := verify(big.NewRat(2, 1)); !errors.Is(err, plan.ErrUnproved) {
		t.Errorf("a proof with twice the smallest load: %v", err)
	}
	p.Targets = append(p.Targets, plan.Target{Measure: plan.MeanDelay, Limit: big.NewRat(1, 1000)})
	l, err := plan.GreatestLoad(ctx, p, plan.Choice{}, plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Holds != nil {
		t.Fatalf("holds at %v", l.At)
	}
	if err := verify(l.Below); err != nil {
		t.Error(err)
	}
	if err := verify(new(big.Rat).Mul(l.Below, big.NewRat(1001, 1000))); !errors.Is(err, plan.ErrUnproved) {
		t.Errorf("slightly more than the smallest load: %v", err)
	}
}

// The bound on the error of double precision, 6.4e-13 for 300 servers, is more than half of the
// smallest tolerance. Enclosures then find the minimum delay. Its bound is below the delay of the
// plan by at least the tolerance and at most 1.5 times that.
func TestVerifyFineDelay(t *testing.T) {
	groups := func(first, second int) []cluster.Choice {
		return []cluster.Choice{{Server: 0, Choose: first}, {Server: 1, Choose: second}}
	}
	p := &plan.Problem{
		Model: &cluster.Model{
			Servers: []cluster.Server{
				{Name: "g", Count: 150, Capacity: big.NewRat(1, 1)},
				{Name: "h", Count: 150, Capacity: big.NewRat(1, 1)},
			},
			Classes: []cluster.Class{
				{Name: "a", ArrivalRate: big.NewRat(100, 1), Servers: groups(2, 0)[:1]},
				{Name: "b", ArrivalRate: big.NewRat(75, 1), Servers: groups(1, 1)},
			},
		},
		Upgrades: []plan.Upgrade{{Server: "g", Step: big.NewRat(1, 10), Cost: big.NewRat(1, 1), Most: 3}},
		Budget:   big.NewRat(2, 1),
	}
	s := plan.Settings{RelTol: plan.MinRelTol}
	a, err := plan.LeastDelay(t.Context(), p, plan.SearchSettings{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	var bad *num.InputError
	if _, err := plan.LeastDelay(t.Context(), p, plan.SearchSettings{
		Settings: plan.Settings{RelTol: plan.MinRelTol / 2},
	}); !errors.As(err, &bad) || bad.Path != "RelTol" {
		t.Errorf("half of the smallest tolerance: error %v", err)
	}
	if gap := a.Plan.Solution.MeanDelay.Float / *a.Proof.Delay - 1; gap > 1.5*s.RelTol {
		t.Errorf("the mean delay is %g above the bound", gap)
	}
	if err := plan.Verify(t.Context(), p, a, s); err != nil {
		t.Error(err)
	}
}

// If no engine decides a target at some factor, the factor lies in the bracket, and both ends of
// the bracket are proved. A wide bracket proves its ends, but not that it is narrow.
func TestUndecidedLoad(t *testing.T) {
	p := &plan.Problem{
		Model: &cluster.Model{
			Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(2, 1)}},
			Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0)}},
		},
		Targets: []plan.Target{{Measure: plan.Percentile, Class: "a", Limit: big.NewRat(1, 1),
			// 1 - exp(-1): at load 1 it equals the limit up to the 46th digit
			Level: num.Rat("63.2120558828557678404476229838539132554188868968")}},
	}
	for _, tol := range []float64{1e-9, 1e-3, plan.MinRelTol} {
		s := plan.Settings{RelTol: tol}
		l, err := plan.GreatestLoad(t.Context(), p, plan.Choice{}, s)
		if err != nil {
			t.Fatal(err)
		}
		one := big.NewRat(1, 1)
		if !l.Complete || l.At.Cmp(one) >= 0 || l.Below.Cmp(one) <= 0 || l.Fails.Targets[0].Verdict != plan.Failed {
			t.Errorf("holds at %v, fails at %v, complete %v", l.At, l.Below, l.Complete)
		}
		if err := plan.VerifyLoad(t.Context(), p, plan.Choice{}, l, s); err != nil {
			t.Error(err)
		}
		wide := &plan.Load{At: big.NewRat(1, 2), Below: big.NewRat(3, 2)}
		if err := plan.VerifyLoad(t.Context(), p, plan.Choice{}, wide, s); err != nil {
			t.Errorf("a wide bracket reported as wide: %v", err)
		}
		wide.Complete = true
		if err := plan.VerifyLoad(t.Context(), p, plan.Choice{}, wide, s); !errors.Is(err, plan.ErrUnproved) {
			t.Errorf("a wide bracket reported as narrow: %v", err)
		}
	}
}
