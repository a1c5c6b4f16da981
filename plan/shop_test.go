package plan_test

import (
	"context"
	"fmt"
	"testing"

	"productform/plan"
)

// The shop at one and a half times its load: of 90 plans one small upgrade is the cheapest. All numbers were found by enumeration in
// another program.
func TestShop(t *testing.T) {
	ctx := context.Background()
	p, err := plan.ReadFile("testdata/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := plan.LeastCost(ctx, p, plan.Settings{})
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
	if c := a.Plan.Choice; fmt.Sprint(c.Steps, c.Edges, a.Plan.Cost.RatString()) != "[1 0 0] []2" || !a.Complete || !a.WithinBudget {
		t.Errorf("plan %+v of cost %v, complete %v, within budget %v, below %v", c, a.Plan.Cost, a.Complete, a.WithinBudget, a.Proof.Below)
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
