package plan_test

import (
	"fmt"
	"log"
	"strings"

	"productform/plan"
)

func Example_problem() {
	p, err := plan.Read(strings.NewReader(`
model:
  servers: [{name: small, capacity: 1}]
  classes: [{name: reports, arrival_rate: 0.6, servers: [small]}]
targets: [{class: reports, mean_delay: 2}]
upgrades: [{server: small, step: 0.5, cost: 2, most: 4}]
new_servers: [{name: spare, capacity: 1, classes: [reports], cost: 5, most: 2}]
`), "")
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range p.Options() {
		fmt.Println(o.Name, "up to", o.Most)
	}
	fmt.Println("such as", p.Words(plan.Choice{Steps: []int{2, 1}}))
	// Output:
	// small up to 4
	// spare up to 2
	// such as small=2,spare=1
}

// Names in a file must exist in its model.
func ExampleRead() {
	_, err := plan.Read(strings.NewReader(`
model:
  servers: [{name: small, capacity: 1}]
  classes: [{name: reports, arrival_rate: 0.6, servers: [small]}]
targets: [{class: report, mean_delay: 2}]
upgrades: [{server: small, step: 0.5, cost: 2, most: 4}]
`), "")
	fmt.Println(err)
	// Output: line 5: targets[0].class = "report": want the name of a class of the model; did you mean "reports"?
}
