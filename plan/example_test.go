package plan_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/plan"
	"productform/plan/problem"
)

func Example() {
	p, err := problem.Read(strings.NewReader(`
model:
  servers: [{name: big, capacity: 2}, {name: small, capacity: 1}]
  classes:
  - {name: web, arrival_rate: 1.5, servers: [big, small]}
  - {name: reports, arrival_rate: 0.6, servers: [small]}
targets: [{class: reports, mean_delay: 2}]
upgrades: [{server: small, step: 0.5, cost: 2, most: 4}, {server: big, step: 1, cost: 3, most: 2}]
`), "")
	if err != nil {
		log.Fatal(err)
	}
	a, err := plan.LeastCost(context.Background(), p, plan.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("buy %s for %s: reports take %.4f\n", p.Words(a.Plan.Choice), a.Plan.Cost.RatString(), a.Plan.Targets[0].Value.Float)
	fmt.Println("checked:", plan.Verify(context.Background(), p, a, plan.Settings{}))
	// Output:
	// buy small=1 for 2: reports take 1.4806
	// checked: <nil>
}
