package loss_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/network/loss"
	"productform/sim"
	simloss "productform/sim/loss"
	"productform/sizes"
)

func Example() {
	m, err := loss.Read(strings.NewReader(`
room: 10
classes: [{name: call, arrival_rate: 5}]
`))
	if err != nil {
		log.Fatal(err)
	}
	equal, err := sizes.NewDeterministic(1)
	if err != nil {
		log.Fatal(err)
	}
	r, err := sim.Run(
		context.Background(), simloss.System{Model: m, Shape: equal}, sim.Settings{Runs: 10, Jumps: 5e4, Seed: 1},
	)
	if err != nil {
		log.Fatal(err)
	}
	exact, err := loss.ErlangB(context.Background(), 10, big.NewRat(5, 1), loss.FormulaSettings{})
	if err != nil {
		log.Fatal(err)
	}
	lost := r.Class(0, simloss.Blocking)
	fmt.Printf("%.4f ± %.4f are lost, exactly %.4f\n", lost.Mean, lost.HalfWidth, exact.Float)
	// Output: 0.0179 ± 0.0010 are lost, exactly 0.0184
}

// Jobs go either to the free server whose token was released first, or to a random server.
func ExampleSystem() {
	m, err := loss.Read(strings.NewReader(`
servers: [{name: left, capacity: 1, tokens: 3}, {name: right, capacity: 1, tokens: 3}]
classes: [{name: job, arrival_rate: 1.5, servers: [left, right]}]
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, assign := range []simloss.Assignment{simloss.OldestToken, simloss.RandomServer} {
		r, err := sim.Run(
			context.Background(), simloss.System{Model: m, Assign: assign}, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1},
		)
		if err != nil {
			log.Fatal(err)
		}
		lost := r.Class(0, simloss.Blocking)
		fmt.Printf("%s: %.3f ± %.3f are lost\n", assign, lost.Mean, lost.HalfWidth)
	}
	// Output:
	// oldest token: 0.073 ± 0.005 are lost
	// random server: 0.150 ± 0.004 are lost
}
