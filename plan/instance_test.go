package plan_test

import (
	"math/big"
	"testing"

	"productform/cluster"
	"productform/plan"
)

// A plan scales rates, raises capacities and has a cost.
func TestApply(t *testing.T) {
	p := &plan.Problem{
		Model: &cluster.Model{
			Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
			Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
		},
		Scale:    big.NewRat(3, 2),
		Upgrades: []plan.Upgrade{{Server: "s", Step: big.NewRat(1, 2), Cost: big.NewRat(2, 3), Most: 1}},
	}
	c := plan.Choice{Steps: []int{1}}
	cost, err := plan.Cost(p, c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.Apply(p, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := cost.RatString() + " " + m.Servers[0].Capacity.RatString() + " " +
		m.Classes[0].ArrivalRate.RatString(); got != "2/3 3/2 3/4" {
		t.Errorf("cost, capacity and rate %s", got)
	}
}
