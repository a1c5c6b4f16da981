package plan_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/num"
	"productform/plan"
)

// At one and a half times the load of the shop, one small upgrade is the cheapest of 90 plans. All
// numbers come from an enumeration by another program.
func TestShop(t *testing.T) {
	ctx := context.Background()
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := plan.LeastCost(ctx, p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Verify(ctx, p, a, plan.Settings{}); err != nil {
		t.Error(err)
	}
	values := func(o *plan.Outcome) (text string) {
		for _, target := range o.Targets {
			text += fmt.Sprintf("%.5g %v, ", target.Value.Float, target.Verdict)
		}
		return text
	}
	if c := a.Plan.Choice; fmt.Sprint(c.Steps, c.Edges, a.Plan.Cost.RatString()) != "[1 0 0] []2" ||
		!a.Complete || !a.WithinBudget {
		t.Errorf("plan %+v of cost %v, complete %v, within budget %v, below %v",
			c, a.Plan.Cost, a.Complete, a.WithinBudget, a.Proof.Below)
	}
	if got, want := values(a.Now), "3.1944 failed, 5.1169 failed, 0.85 failed, 1.4286 met, "; got != want {
		t.Errorf("now %s, want %s", got, want)
	}
	if got, want := values(a.Plan), "1.4806 met, 3.2894 met, 0.71034 met, 1.6667 met, "; got != want {
		t.Errorf("plan %s, want %s", got, want)
	}
	edge, err := plan.Evaluate(ctx, p, plan.Choice{Edges: []int{0}}, plan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%.5g", edge.Targets[1].Value.Float); got != "5.1169" {
		t.Errorf("with the edge web's p99 is %s", got)
	}
}

// The delay of one M/M/1 queue has the tail exp(-(μ - λ) t). If the level of a percentile is 100 (1
// - 1/e) to 45 digits, no engine can compare 1/e with the remainder. The plan is reported as
// undecided, and the search finds the next plan that can be decided.
func TestUndecided(t *testing.T) {
	p := &plan.Problem{
		Model: &cluster.Model{
			Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(2, 1)}},
			Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0)}},
		},
		Upgrades: []plan.Upgrade{{Server: "s", Step: big.NewRat(1, 10), Cost: big.NewRat(3, 1), Most: 2}},
		Targets: []plan.Target{{Measure: plan.Percentile, Class: "a", Limit: big.NewRat(1, 1),
			// 1 - exp(-1), Abramowitz and Stegun, table 4.4
			Level: num.Rat("63.2120558828557678404476229838539132554188868968")}},
	}
	a, err := plan.LeastCost(t.Context(), p, plan.SearchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Complete || len(a.Undecided) != 1 || a.Undecided[0].Steps[0] != 0 || a.Plan == nil ||
		a.Plan.Choice.Steps[0] != 1 || a.Proof.Below.Sign() != 0 {
		t.Errorf("plan %+v, undecided %+v, below %v", a.Plan, a.Undecided, a.Proof.Below)
	}
	if a.Now.Targets[0].Verdict != plan.Undecided {
		t.Errorf("now %v", a.Now.Targets[0].Verdict)
	}
	if err := plan.Verify(t.Context(), p, a, plan.Settings{}); err != nil {
		t.Error(err)
	}
}
