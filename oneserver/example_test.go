package oneserver_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/cluster"
	"productform/oneserver"
)

func Example() {
	m, err := cluster.Read(strings.NewReader(`
service: one
servers: [{name: new, count: 8, capacity: 3}, {name: old, count: 16, capacity: 1}]
classes:
- {name: vision, arrival_rate: 14, servers: [new]}
- {name: text, arrival_rate: 20, servers: [new, old]}
	`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := oneserver.Solve(context.Background(), m, oneserver.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Classes {
		fmt.Printf("%s: %.3f wait, %.4f on average\n", c.Name, c.WaitProbability.Float, c.MeanWaiting.Float)
	}
	text := r.Classes[1].ServedBy
	fmt.Printf("%s serves %.2f of text\n", text[1].Server, text[1].Share.Float)
	// Output:
	// vision: 0.503 wait, 0.0917 on average
	// text: 0.323 wait, 0.0538 on average
	// old serves 0.70 of text
}

// Plain callers hang up after two minutes on average. The patience of special callers, whom only
// half of the agents serve, is three minutes.
func ExampleSolvePatience() {
	m, err := cluster.Read(strings.NewReader(`
service: one
servers: [{name: first, count: 10, capacity: 1}, {name: both, count: 8, capacity: 1}]
classes:
- {name: plain, arrival_rate: 15, servers: [first, both]}
- {name: special, arrival_rate: 8, servers: [both], mean_patience: 3, patience: deterministic}
mean_patience: 2
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := oneserver.SolvePatience(context.Background(), m, oneserver.PatienceSettings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Classes {
		fmt.Printf("%s: %.4f give up, the others wait %.4f minutes\n",
			c.Name, *c.AbandonProbability, *c.MeanWaitingServed)
	}
	// Output:
	// plain: 0.3088 give up, the others wait 0.6961 minutes
	// special: 0.0530 give up, the others wait 1.8398 minutes
}
