package fluid_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/fluid"
)

func Example() {
	pool, err := fluid.ReadPool(strings.NewReader(`
resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
jobs:
- {name: a, demand: {cpu: 1, ram: 4}}
- {name: b, demand: {cpu: 3, ram: 1}}
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, policy := range []fluid.Policy{fluid.DRF, fluid.PF} {
		a, err := fluid.Allocate(context.Background(), pool, policy, fluid.Settings{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.4f tasks of a, %.4f of b\n", policy, a.Jobs[0].Tasks.Float, a.Jobs[1].Tasks.Float)
	}
	// Output:
	// drf: 3.0000 tasks of a, 2.0000 of b
	// pf: 4.0909 tasks of a, 1.6364 of b
}
