package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"productform/bf"
	"productform/internal/oracle"
	"productform/num"
	"productform/plan"
	"productform/stability"
)

// A measured plan has all its measures in fractions, computed when a test first asks for them.
type measured struct {
	choice    plan.Choice
	cost      *big.Rat
	stability func() *stability.Result
	solution  func() *bf.Result // nil if unstable
}

// everyPlan returns all plans of a problem, measured in fractions.
func everyPlan(t *rapid.T, p *plan.Problem) (all []measured) {
	t.Helper()
	for _, c := range everyChoice(p) {
		all = append(all, measure(t, p, c))
	}
	return all
}

// everyChoice returns all plans of a problem, the one that buys nothing first.
func everyChoice(p *plan.Problem) (all []plan.Choice) {
	lists := [][]int{{}}
	for _, most := range p.Everything().Steps {
		var longer [][]int
		for _, steps := range lists {
			for n := range most + 1 {
				longer = append(longer, append(slices.Clone(steps), n))
			}
		}
		lists = longer
	}
	for edges := range 1 << len(p.Edges) {
		var rows []int
		for k := range p.Edges {
			if edges>>k&1 == 1 {
				rows = append(rows, k)
			}
		}
		for _, steps := range lists {
			all = append(all, plan.Choice{Steps: steps, Edges: rows})
		}
	}
	return all
}

// costOf returns the cost of a plan.
func costOf(p *plan.Problem, c plan.Choice) *big.Rat {
	sum := new(big.Rat)
	for k, n := range c.Steps {
		each := new(big.Rat)
		if upgrades := len(p.Upgrades); k < upgrades {
			each = p.Upgrades[k].Cost
		} else {
			each = p.NewServers[k-upgrades].Cost
		}
		sum.Add(sum, new(big.Rat).Mul(each, big.NewRat(int64(n), 1)))
	}
	for _, k := range c.Edges {
		sum.Add(sum, p.Edges[k].Cost)
	}
	return sum
}

func measure(t *rapid.T, p *plan.Problem, c plan.Choice) measured {
	t.Helper()
	m, err := plan.Apply(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return measured{
		choice: c,
		cost:   costOf(p, c),
		stability: sync.OnceValue(func() *stability.Result {
			r, err := stability.Cluster(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}),
		solution: sync.OnceValue(func() *bf.Result {
			r, err := bf.Solve(context.Background(), m, bf.Settings{Engine: num.Exact})
			if err != nil && !errors.Is(err, num.ErrUnstable) {
				t.Fatal(err)
			}
			return r
		}),
	}
}

// meets reports whether a plan meets all targets and is no worse than now for any class, in
// fractions.
func (m measured) meets(p *plan.Problem, now measured) bool {
	if m.solution() == nil {
		return false
	}
	for _, target := range p.Targets {
		if v := m.value(p, target); v != nil && v.Cmp(target.Limit) != 0 &&
			(v.Cmp(target.Limit) > 0) == isUpperBound(target) {
			return false
		}
	}
	for i, c := range m.solution().Classes {
		if p.NoWorse && now.solution() != nil && c.MeanDelay != nil &&
			c.MeanDelay.Exact.Cmp(now.solution().Classes[i].MeanDelay.Exact) > 0 {
			return false
		}
	}
	return true
}

func isUpperBound(t plan.Target) bool {
	return t.Measure != plan.LoadFactor && t.Measure != plan.Margin
}

// value returns the measure of a target, or nil if there is none.
func (m measured) value(p *plan.Problem, t plan.Target) *big.Rat {
	switch t.Measure {
	case plan.LoadFactor:
		return m.stability().CriticalScale
	case plan.Margin:
		return m.stability().Margin
	case plan.Utilization:
		for s, server := range p.Model.Servers {
			if server.Name == t.Server {
				return m.solution().Servers[s].Utilization.Exact
			}
		}
	}
	for i, c := range p.Model.Classes {
		if c.Name == t.Class {
			return m.solution().Classes[i].MeanDelay.Exact
		}
	}
	return m.solution().MeanDelay.Exact
}

// drawProblem draws a problem of at most a few hundred plans. Limits are often the measures of one
// of its plans, which then meets them exactly.
func drawProblem(t *rapid.T) *plan.Problem {
	p := &plan.Problem{Model: oracle.DrawModel(t, oracle.Options{Servers: 3, Classes: 3, Count: 2, Stable: true})}
	if rapid.Bool().Draw(t, "scaled") {
		p.Scale = big.NewRat(rapid.Int64Range(1, 8).Draw(t, "scale"), 4)
	}
	number := func(what string) *big.Rat {
		return big.NewRat(rapid.Int64Range(1, 6).Draw(t, what), rapid.Int64Range(1, 3).Draw(t, what+" over"))
	}
	for _, server := range p.Model.Servers {
		if rapid.Bool().Draw(t, "upgrade") {
			p.Upgrades = append(p.Upgrades, plan.Upgrade{
				Server: server.Name,
				Step:   number("step"),
				Cost:   number("cost"),
				Most:   rapid.IntRange(1, 3).Draw(t, "most"),
			})
		}
	}
	for k := range rapid.IntRange(0, 1).Draw(t, "new servers") {
		var classes []string
		for _, c := range p.Model.Classes {
			if len(classes) == 0 || rapid.Bool().Draw(t, "serves") {
				classes = append(classes, c.Name)
			}
		}
		p.NewServers = append(p.NewServers, plan.NewServer{
			Name:     fmt.Sprint("new", k),
			Capacity: number("capacity"),
			Classes:  classes,
			Cost:     number("cost"),
			Most:     rapid.IntRange(1, 2).Draw(t, "most"),
		})
	}
	for _, c := range p.Model.Classes {
		for s, server := range p.Model.Servers {
			has := false
			for _, k := range c.Servers {
				has = has || k.Server == s
			}
			if !has && len(p.Edges) < 2 && rapid.Bool().Draw(t, "edge") {
				p.Edges = append(p.Edges, plan.Edge{
					Class:  c.Name,
					Server: server.Name,
					Choose: rapid.IntRange(1, server.Size()).Draw(t, "choose"),
					Cost:   number("cost"),
				})
			}
		}
	}
	for _, s := range p.NewServers {
		for _, c := range p.Model.Classes {
			if c.ArrivalRate.Sign() > 0 && !slices.Contains(s.Classes, c.Name) && len(p.Edges) < 2 &&
				rapid.Bool().Draw(t, "edge to new servers") {
				p.Edges = append(p.Edges, plan.Edge{Class: c.Name, Server: s.Name, Cost: number("cost")})
			}
		}
	}
	p.NoWorse = rapid.Bool().Draw(t, "no worse")
	return p
}

// drawTargets gives a problem targets near the measures of its plans, often equal to them.
func drawTargets(t *rapid.T, p *plan.Problem, all []measured) {
	near := rapid.SampledFrom(all).Draw(t, "near")
	add := func(target plan.Target) {
		if near.solution() == nil {
			return
		}
		target.Limit = near.value(p, target)
		if target.Limit == nil || rapid.Bool().Draw(t, "off") {
			target.Limit = new(big.Rat).Mul(
				rapid.SampledFrom([]*big.Rat{big.NewRat(9, 10), big.NewRat(11, 10)}).Draw(t, "by"),
				num.OrOne(target.Limit),
			)
		}
		if target.Limit.Sign() > 0 && (target.Measure != plan.Utilization || target.Limit.Cmp(big.NewRat(1, 1)) < 0) {
			p.Targets = append(p.Targets, target)
		}
	}
	for _, c := range p.Model.Classes {
		if rapid.Bool().Draw(t, "delay") {
			add(plan.Target{Measure: plan.MeanDelay, Class: c.Name})
		}
	}
	for _, kind := range []plan.Measure{plan.MeanDelay, plan.LoadFactor, plan.Margin} {
		if rapid.IntRange(0, 3).Draw(t, "target") == 0 {
			add(plan.Target{Measure: kind})
		}
	}
	if len(p.Upgrades) > 0 && rapid.Bool().Draw(t, "utilization") {
		add(plan.Target{Measure: plan.Utilization, Server: p.Upgrades[0].Server})
	}
}

// cheapest returns the smallest cost of the plans that meet the targets, or nil if none does.
func cheapest(p *plan.Problem, all []measured) (least *big.Rat) {
	for _, m := range all {
		if (least == nil || m.cost.Cmp(least) < 0) && m.meets(p, all[0]) {
			least = m.cost
		}
	}
	return least
}

// The search finds the smallest cost of all plans, as checked one by one in fractions.
func TestLeastCostMatchesBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		all := everyPlan(t, p)
		drawTargets(t, p, all)
		a, err := plan.LeastCost(context.Background(), p, plan.SearchSettings{})
		if err != nil {
			t.Fatal(err)
		}
		want := cheapest(p, all)
		switch {
		case !a.Complete || len(a.Undecided) > 0:
			t.Fatalf("not complete, %d undecided", len(a.Undecided))
		case want == nil:
			if a.Plan != nil || a.Most == nil || a.Proof.Below != nil {
				t.Fatalf("plan %+v, want none", a.Plan)
			}
		case a.Plan == nil || a.Plan.Cost.Cmp(want) != 0 || a.Proof.Below.Cmp(want) != 0:
			t.Fatalf("plan %+v, want one of cost %v", a.Plan, want)
		default:
			found := measure(t, p, a.Plan.Choice)
			if !found.meets(p, all[0]) || found.cost.Cmp(want) != 0 {
				t.Fatalf("plan %+v does not meet the targets at cost %v", a.Plan.Choice, want)
			}
			for row, target := range a.Plan.Targets {
				if target.Verdict != plan.Met {
					t.Fatalf("target %d is %v", row, target.Verdict)
				}
			}
		}
		covers(t, p, a.Proof, all)
	})
}

// covers checks a proof plan by plan, in fractions.
func covers(t *rapid.T, p *plan.Problem, proof plan.Proof, all []measured) {
	t.Helper()
	for _, c := range proof.Corners {
		if m := measure(t, p, c.Choice); m.meets(p, all[0]) && proof.Delay == nil {
			t.Fatalf("corner %+v meets the targets", c)
		}
	}
	for _, m := range all {
		if proof.Below != nil && m.cost.Cmp(proof.Below) >= 0 || proof.AtMost != nil && m.cost.Cmp(proof.AtMost) > 0 {
			continue
		}
		covered := false
		for _, c := range proof.Corners {
			covered = covered || isCovered(m.choice, c)
		}
		if !covered {
			t.Fatalf("no corner of %+v covers %+v", proof, m.choice)
		}
	}
}

func isCovered(c plan.Choice, corner plan.Corner) bool {
	for k, n := range c.Steps {
		if n > corner.Choice.Steps[k] {
			return false
		}
	}
	has := map[int]bool{}
	for _, k := range corner.Choice.Edges {
		has[k] = true
	}
	for _, k := range c.Edges {
		if !has[k] {
			return false
		}
	}
	return corner.Fewer || len(c.Edges) == len(corner.Choice.Edges)
}
