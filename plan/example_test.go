package plan_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/plan"
)

func Example() {
	p, err := plan.Read(strings.NewReader(`
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
	a, err := plan.LeastCost(context.Background(), p, plan.SearchSettings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("buy %s for %s: reports take %.4f\n",
		p.Words(a.Plan.Choice), a.Plan.Cost.RatString(), a.Plan.Targets[0].Value.Float)
	fmt.Println("checked:", plan.Verify(context.Background(), p, a, plan.Settings{}))
	// Output:
	// buy small=1 for 2: reports take 1.4806
	// checked: <nil>
}

// With one step of capacity, up to which load do reports finish within two seconds?
func ExampleGreatestLoad() {
	p, err := plan.Read(strings.NewReader(`
model:
  servers: [{name: small, capacity: 1}]
  classes: [{name: reports, arrival_rate: 0.6, servers: [small]}]
targets: [{class: reports, mean_delay: 2}]
upgrades: [{server: small, step: 0.5, cost: 2, most: 4}]
`), "")
	if err != nil {
		log.Fatal(err)
	}
	l, err := plan.GreatestLoad(context.Background(), p, plan.Choice{Steps: []int{1}}, plan.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	at, _ := l.At.Float64()
	fmt.Printf("%.6f times the arrival rate, since 1/(1.5 - 0.6 x) = 2\n", at)
	// Output: 1.666667 times the arrival rate, since 1/(1.5 - 0.6 x) = 2
}

// A faster server or a second one? The cheapest plan that meets the target, then better plans at
// higher cost.
func ExampleFrontier() {
	p, err := plan.Read(strings.NewReader(`
model:
  servers: [{name: old, capacity: 1}]
  classes: [{name: jobs, arrival_rate: 0.8, servers: [old]}]
targets: [{class: jobs, mean_delay: 3}]
upgrades: [{server: old, step: 0.25, cost: 2, most: 3}]
new_servers: [{name: new, capacity: 1, classes: [jobs], cost: 5, most: 1}]
`), "")
	if err != nil {
		log.Fatal(err)
	}
	list, err := plan.Frontier(context.Background(), p, plan.SearchSettings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range list {
		fmt.Printf("%s for %s: %.4f\n", p.Words(a.Plan.Choice), a.Plan.Cost.RatString(), a.Plan.Targets[0].Value.Float)
	}
	// Output:
	// old=1 for 2: 2.2222
	// old=2 for 4: 1.4286
	// new=1 for 5: 0.8333
	// old=1,new=1 for 7: 0.6897
	// old=2,new=1 for 9: 0.5882
	// old=3,new=1 for 11: 0.5128
}

// What to buy as the load grows, in addition to the existing servers, to keep the utilization of a
// disk at most 0.7.
func ExampleGrowth() {
	p, err := plan.Read(strings.NewReader(`
model:
  servers: [{name: disk, capacity: 100}]
  classes: [{name: reads, arrival_rate: 50, servers: [disk]}]
targets: [{server: disk, utilization: 0.7}]
upgrades: [{server: disk, step: 20, cost: 3, most: 10}]
`), "")
	if err != nil {
		log.Fatal(err)
	}
	loads := []*big.Rat{big.NewRat(1, 1), big.NewRat(3, 2), big.NewRat(3, 1)}
	list, err := plan.Growth(context.Background(), p, loads, plan.SearchSettings{})
	if err != nil {
		log.Fatal(err)
	}
	for k, a := range list {
		fmt.Printf("load %s: %s\n", loads[k].RatString(), p.Words(a.Plan.Choice))
	}
	// Output:
	// load 1: none
	// load 3/2: disk=1
	// load 3: disk=6
}
