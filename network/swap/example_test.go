package swap_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"productform/network/swap"
)

func Example() {
	m, err := swap.Read(strings.NewReader(`
servers: [{name: left, capacity: 1}, {name: right, capacity: 1}]
classes:
- {name: a, population: 2, servers: [left]}
- {name: b, population: 3, servers: [right]}
swaps: [[a, b]]
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := swap.Solve(context.Background(), m, swap.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range r.Classes {
		fmt.Printf("%s: %.3f leave a second, %.3f end\n", m.Classes[i].Name, c.Throughput.Float, c.Completions.Float)
	}
	// Output:
	// a: 0.000 leave a second, 1.000 end
	// b: 2.000 leave a second, 1.000 end
}

// Two classes that swap have one server each and share a third: delays are those of FCFS, but in
// the state a, b, a the first job never leaves.
func ExampleDepartures() {
	m, err := swap.Read(strings.NewReader(`
servers: [{name: left, capacity: 1}, {name: both, capacity: 1}, {name: right, capacity: 2}]
classes:
  - {name: a, arrival_rate: 0.9, servers: [left, both]}
  - {name: b, arrival_rate: 3/2, servers: [both, right]}
swaps: [[a, b]]
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := swap.Solve(context.Background(), m, swap.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean delays %.4f, %.4f\n", r.Classes[0].MeanDelay.Float, r.Classes[1].MeanDelay.Float)
	state := []int{0, 1, 0}
	leave, _ := swap.Departures(m, state)
	end, _ := swap.Completions(m, state)
	fmt.Printf("jobs of a leave at rate %s and end at rate %s\n", leave[0].RatString(), end[0].RatString())
	rest, class, _ := swap.Complete(m, state, 0)
	fmt.Printf("if the first ends, one of %s leaves %v\n", m.Classes[class].Name, rest)
	// Output:
	// mean delays 1.1231, 0.8259
	// jobs of a leave at rate 4 and end at rate 2
	// if the first ends, one of a leaves [0 1]
}
