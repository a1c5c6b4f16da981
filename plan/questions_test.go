package plan_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/plan"
)

// aimed returns the mean delay that a problem minimizes.
func (m measured) aimed(p *plan.Problem) *big.Rat {
	return m.value(p, plan.Target{Measure: plan.MeanDelay, Class: p.Minimize})
}

// drawQuestion draws a problem with targets, and often a class whose mean delay is minimized.
func drawQuestion(t *rapid.T) (*plan.Problem, []measured) {
	p := drawProblem(t)
	all := everyPlan(t, p)
	drawTargets(t, p, all)
	if rapid.Bool().Draw(t, "minimize") {
		p.Minimize = p.Model.Classes[0].Name
	}
	return p, all
}

// The search finds the smallest mean delay of all plans within a budget, checked one by one in
// fractions.
func TestLeastDelayMatchesBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawQuestion(t)
		p.Budget = rapid.SampledFrom(all).Draw(t, "budget").cost
		a, err := plan.LeastDelay(context.Background(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		var want *big.Rat
		for _, m := range all {
			if m.cost.Cmp(p.Budget) <= 0 && m.meets(p, all[0]) && (want == nil || m.aimed(p).Cmp(want) < 0) {
				want = m.aimed(p)
			}
		}
		if want == nil {
			if a.Plan != nil || !a.Complete || a.Proof.Delay != nil {
				t.Fatalf("plan %+v, want none", a.Plan)
			}
		} else {
			found := measure(t, p, a.Plan.Choice)
			low, _ := want.Float64()
			got, _ := found.aimed(p).Float64()
			if !a.Complete || !found.meets(p, all[0]) || found.cost.Cmp(p.Budget) > 0 || got > low*(1+2e-9) ||
				*a.Proof.Delay > low || *a.Proof.Delay < low*(1-2e-9) {
				t.Fatalf("mean delay %v, none below %v, want %v", got, *a.Proof.Delay, low)
			}
		}
		if err := plan.Verify(context.Background(), p, a, plan.Settings{}); err != nil {
			t.Fatal(err)
		}
		if a.Plan != nil {
			larger := *a
			delay := *a.Proof.Delay * (1 + 1e-6)
			larger.Proof.Delay = &delay
			if err := plan.Verify(context.Background(), p, &larger, plan.Settings{}); !errors.Is(
				err, plan.ErrUnproved,
			) {
				t.Fatalf("a bound above the mean delay of the plan: %v", err)
			}
		}
	})
}

// The frontier matches that of all plans, in fractions: every plan that costs no more has a larger
// mean delay.
func TestFrontierMatchesBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawQuestion(t)
		if rapid.Bool().Draw(t, "limited") {
			p.Budget = rapid.SampledFrom(all).Draw(t, "budget").cost
		}
		points, err := plan.Frontier(context.Background(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		var good []measured
		for _, m := range all {
			if m.meets(p, all[0]) && (p.Budget == nil || m.cost.Cmp(p.Budget) <= 0) {
				good = append(good, m)
			}
		}
		slices.SortStableFunc(good, func(x, y measured) int {
			if c := x.cost.Cmp(y.cost); c != 0 {
				return c
			}
			return x.aimed(p).Cmp(y.aimed(p))
		})
		var want []measured
		for _, m := range good {
			if len(want) == 0 || m.aimed(p).Cmp(want[len(want)-1].aimed(p)) < 0 {
				want = append(want, m)
			}
		}
		if len(want) == 0 {
			if len(points) != 1 || points[0].Plan != nil && points[0].WithinBudget {
				t.Fatalf("%d points, want none", len(points))
			}
			return
		}
		if len(points) != len(want) {
			t.Fatalf("%d points, want %d", len(points), len(want))
		}
		for i, a := range points {
			got, _ := measure(t, p, a.Plan.Choice).aimed(p).Float64()
			best, _ := want[i].aimed(p).Float64()
			if a.Plan.Cost.Cmp(want[i].cost) != 0 || math.Abs(got-best) > 2e-9*best || !a.Complete {
				t.Fatalf("point %d: cost %v, mean delay %v; want %v, %v", i, a.Plan.Cost, got, want[i].cost, best)
			}
			if err := plan.Verify(context.Background(), p, a, plan.Settings{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever the limit on solves, all answers of a frontier but the last are complete, and all are
// proved.
func TestFrontierLimit(t *testing.T) {
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p.Budget = big.NewRat(12, 1)
	// because these take longest
	p.Targets = slices.DeleteFunc(p.Targets, func(t plan.Target) bool { return t.Measure == plan.Percentile })
	whole, err := plan.Frontier(t.Context(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	solves := 0
	for _, a := range whole {
		solves += a.Solves
	}
	for limit := 1; limit <= solves; limit += 1 + solves/30 {
		points, err := plan.Frontier(t.Context(), p, plan.SearchSettings{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range points {
			last := i == len(points)-1
			if a.Plan == nil && i > 0 || i > 0 && a.Plan.Cost.Cmp(points[i-1].Proof.Below) != 0 ||
				!a.Complete && !last || a.Complete && last && len(points) != len(whole) {
				t.Fatalf("limit %d: point %d of %d is complete: %v, plan %v",
					limit, i, len(points), a.Complete, a.Plan != nil)
			}
			if err := plan.Verify(t.Context(), p, a, plan.Settings{}); err != nil {
				t.Fatalf("limit %d: point %d: %v", limit, i, err)
			}
		}
	}
}

// Targets hold at the greatest load and below it, and fail above it.
func TestGreatestLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawQuestion(t)
		p.NoWorse = false
		c := rapid.SampledFrom(all).Draw(t, "plan").choice
		l, err := plan.GreatestLoad(context.Background(), p, c, plan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		meets := func(factor *big.Rat) bool {
			at := *p
			at.Scale = new(big.Rat).Mul(num.OrOne(p.Scale), factor)
			m := measure(t, &at, c)
			return m.meets(&at, m)
		}
		if l.Holds == nil {
			if tiny := new(big.Rat).Quo(l.Below, big.NewRat(1<<30, 1)); meets(l.Below) || len(p.Targets) == 0 {
				t.Fatalf("no load holds, but %v does", tiny)
			}
			return
		}
		ratio, _ := new(big.Rat).Quo(l.Below, l.At).Float64()
		if !meets(l.At) || !meets(new(big.Rat).Mul(l.At, big.NewRat(2, 3))) || meets(l.Below) || ratio > 1+2e-9 {
			t.Fatalf("holds at %v, fails at %v", l.At, l.Below)
		}
	})
}

// At each load, growth buys the minimum addition to the previous purchases.
func TestGrowth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawQuestion(t)
		p.NoWorse = false
		loads := []*big.Rat{big.NewRat(1, 1), big.NewRat(5, 4), big.NewRat(2, 1)}
		answers, err := plan.Growth(context.Background(), p, loads, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		var before plan.Choice
		for i, a := range answers {
			at := *p
			at.Scale = new(big.Rat).Mul(num.OrOne(p.Scale), loads[i])
			var want *big.Rat
			for _, m := range everyPlan(t, &at) {
				holds := true
				for k, n := range before.Steps {
					holds = holds && m.choice.Steps[k] >= n
				}
				for _, k := range before.Edges {
					holds = holds && slices.Contains(m.choice.Edges, k)
				}
				if holds && (want == nil || m.cost.Cmp(want) < 0) && m.meets(&at, m) {
					want = m.cost
				}
			}
			if err := plan.Verify(context.Background(), &at, a, plan.Settings{}); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				if a.Plan != nil || i != len(answers)-1 {
					t.Fatalf("a plan at load %v, want none", loads[i])
				}
				return
			}
			if a.Plan == nil || a.Plan.Cost.Cmp(want) != 0 {
				t.Fatalf("load %v: plan %+v, want cost %v", loads[i], a.Plan, want)
			}
			before = a.Plan.Choice
		}
		if len(answers) != len(loads) {
			t.Fatalf("%d answers", len(answers))
		}
	})
}

// A search that stops at its limit reports how far its plan may be from the best one. The plans
// that it excludes are indeed excluded, and its plan meets the targets.
func TestLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawQuestion(t)
		a, err := plan.LeastCost(
			context.Background(), p, plan.SearchSettings{Limit: rapid.IntRange(1, 20).Draw(t, "limit")},
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Verify(context.Background(), p, a, plan.Settings{}); err != nil {
			t.Fatal(err)
		}
		p.Budget = rapid.SampledFrom(all).Draw(t, "budget").cost
		d, err := plan.LeastDelay(
			context.Background(), p, plan.SearchSettings{Limit: rapid.IntRange(1, 20).Draw(t, "limit")},
		)
		if err == nil {
			err = plan.Verify(context.Background(), p, d, plan.Settings{})
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if d.Proof.Delay != nil && m.cost.Cmp(p.Budget) <= 0 && m.meets(p, all[0]) {
				if low, _ := m.aimed(p).Float64(); low < *d.Proof.Delay {
					t.Fatalf("%+v has a mean delay of %v, below %v", m.choice, low, *d.Proof.Delay)
				}
			}
		}
		want := cheapest(p, all)
		switch {
		case a.Complete && (want == nil) != (a.Plan == nil):
			t.Fatalf("plan %+v, want cost %v", a.Plan, want)
		case !a.Complete && a.Proof.Below == nil:
			t.Fatal("no bound")
		case want == nil:
		case a.Proof.Below == nil || a.Proof.Below.Cmp(want) > 0:
			t.Fatalf("nothing below %v, want at most %v", a.Proof.Below, want)
		case a.Plan != nil && (a.Plan.Cost.Cmp(want) < 0 || !measure(t, p, a.Plan.Choice).meets(p, all[0])):
			t.Fatalf("plan %+v, want cost %v", a.Plan, want)
		}
	})
}

// A sensitivity is the limit of difference quotients, here of a tiny fraction of a step, in
// fractions.
func TestSensitivities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawQuestion(t)
		c := rapid.SampledFrom(all).Draw(t, "plan").choice
		before := measure(t, p, c)
		list, err := plan.Sensitivities(context.Background(), p, c, plan.Settings{})
		if before.solution() == nil {
			if !errors.Is(err, num.ErrUnstable) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		part := big.NewRat(1, 1_000_000_000_000) // differences of exact fractions lose no digits
		for _, x := range list {
			if want := p.Options()[x.Option].Name; x.Name != want {
				t.Errorf("option %d is named %q, want %q", x.Option, x.Name, want)
			}
			m, err := plan.Apply(p, c)
			if err != nil {
				t.Fatal(err)
			}
			at := *p
			at.Model, at.Scale, at.Upgrades, at.NewServers, at.Edges, at.Targets = m, nil, nil, nil, nil, nil
			var each plan.Choice
			if u := len(p.Upgrades); x.Option < u {
				up := p.Upgrades[x.Option]
				at.Upgrades = []plan.Upgrade{
					{Server: up.Server, Step: new(big.Rat).Mul(up.Step, part), Cost: up.Cost, Most: 1},
				}
			} else {
				s := p.NewServers[x.Option-u]
				classes := slices.Clone(s.Classes)
				for _, k := range c.Edges {
					if p.Edges[k].Server == s.Name {
						classes = append(classes, p.Edges[k].Class)
					}
				}
				at.NewServers = []plan.NewServer{{
					Name:     "another",
					Capacity: new(big.Rat).Mul(s.Capacity, part),
					Classes:  classes,
					Cost:     s.Cost,
					Most:     1,
				}}
			}
			each.Steps = []int{1}
			after := measure(t, &at, each)
			change := new(big.Rat).Sub(after.aimed(p), before.aimed(p))
			got, _ := change.Quo(change, part).Float64()
			scale, _ := before.aimed(p).Float64()
			if want := x.PerStep.Float; math.Abs(got-want) > 1e-6*math.Abs(want)+1e-12*scale {
				t.Fatalf("option %d: %v, differences give %v", x.Option, want, got)
			}
		}
	})
}

// The plan with the greatest load matches the best of all plans within the budget, each at its
// greatest load; the proof is valid, and broken proofs are rejected.
func TestGreatestLoadOfAllMatchesBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawQuestion(t)
		p.NoWorse = false
		if rapid.Bool().Draw(t, "limited") {
			p.Budget = rapid.SampledFrom(all).Draw(t, "budget").cost
		}
		s := plan.Settings{RelTol: 1e-2}
		a, err := plan.GreatestLoadOfAll(context.Background(), p, plan.SearchSettings{Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		var low, high *big.Rat // load of the best plan
		meets := func(c plan.Choice, load *big.Rat) bool {
			at := *p
			at.Scale = new(big.Rat).Mul(num.OrOne(p.Scale), load)
			return measure(t, &at, c).meets(&at, measured{})
		}
		for _, m := range slices.Backward(all) {
			if p.Budget != nil && m.cost.Cmp(p.Budget) > 0 || low != nil && !meets(m.choice, low) {
				continue // too expensive, or its greatest load is below that of another plan
			}
			l, err := plan.GreatestLoad(context.Background(), p, m.choice, s)
			if err != nil {
				t.Fatal(err)
			}
			if l.At != nil && (low == nil || l.At.Cmp(low) > 0) {
				low = l.At
			}
			if high == nil || l.Below.Cmp(high) > 0 {
				high = l.Below
			}
		}
		verify := func(a plan.MostLoad) error { return plan.VerifyMostLoad(context.Background(), p, &a, s) }
		if err := verify(*a); err != nil || !a.Complete {
			t.Fatalf("complete %v: %v", a.Complete, err)
		}
		if low == nil {
			if a.Plan != nil {
				t.Fatalf("plan %+v, want none", a.Plan.Choice)
			}
			return
		}
		if ratio, _ := new(big.Rat).Quo(a.Below, a.At).Float64(); ratio > 1+s.RelTol {
			t.Fatalf("holds at %v, fails at %v, further than %g", a.At, a.Below, s.RelTol)
		}
		if a.Plan == nil || a.At.Cmp(high) >= 0 || a.Below.Cmp(low) <= 0 || !meets(a.Plan.Choice, a.At) {
			t.Fatalf("holds at %v, fails at %v, want %v to %v", a.At, a.Below, low, high)
		}
		for what, change := range map[string]func(*plan.MostLoad){
			"a larger load": func(b *plan.MostLoad) { b.At, b.Complete = high, false },
			"a smaller bound": func(b *plan.MostLoad) {
				b.Below = new(big.Rat).Mul(low, big.NewRat(999, 1000))
				b.At = new(big.Rat).Mul(low, big.NewRat(9989, 10000))
			},
			"no corner":          func(b *plan.MostLoad) { b.Proof.Corners = nil },
			"another budget":     func(b *plan.MostLoad) { b.Proof.AtMost = big.NewRat(1000, 1) },
			"plans that hold it": func(b *plan.MostLoad) { b.Proof.From = p.Everything() },
			"a small load":       func(b *plan.MostLoad) { b.At = new(big.Rat).Mul(b.At, big.NewRat(1, 2)) },
			"no plan":            func(b *plan.MostLoad) { b.At, b.Plan = nil, nil },
		} {
			b := *a
			if change(&b); what == "plans that hold it" && len(p.Upgrades)+len(p.NewServers)+len(p.Edges) == 0 {
				continue
			}
			if err := verify(b); !errors.Is(err, plan.ErrUnproved) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	})
}

// A search that reaches its limit reports what it knows, with proofs.
func TestGreatestLoadOfAllLimit(t *testing.T) {
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p.Budget = big.NewRat(12, 1)
	whole, err := plan.GreatestLoadOfAll(t.Context(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit <= whole.Solves; limit += 1 + whole.Solves/20 {
		a, err := plan.GreatestLoadOfAll(t.Context(), p, plan.SearchSettings{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if a.Below.Cmp(whole.Below) < 0 || a.At != nil && a.At.Cmp(whole.At) > 0 {
			t.Errorf("limit %d: holds at %v, fails at %v", limit, a.At, a.Below)
		}
		if err := plan.VerifyMostLoad(t.Context(), p, a, plan.Settings{}); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// The percentile for a tree of 20 servers matches an independent trial. Tables would take 2^20 sets
// of servers for each step in time.
func TestPercentileOfTree(t *testing.T) {
	p, err := plan.ReadFile("testdata/tree20.json")
	if err != nil {
		t.Fatal(err)
	}
	a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	// The upgrade is not needed: the delay is 0.827975 at the 99th percentile by elimination, below
	// the limit of 1.
	if !a.Complete || a.Plan == nil || a.Plan.Cost.Sign() != 0 || a.Plan.Targets[0].Verdict != plan.Met {
		t.Errorf("%+v", a.Plan)
	}
}
