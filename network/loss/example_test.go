package loss_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/network/loss"
	"productform/num"
)

func Example() {
	m, err := loss.Read(strings.NewReader(`
room: 30
classes:
- {name: call, arrival_rate: 12}
- {name: conference, arrival_rate: 2, units: 6}
limits:
- {classes: [conference], most: 18}
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := loss.Solve(context.Background(), m, loss.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for k, c := range r.Classes {
		fmt.Printf("%s: %.4f lost, %.3f in the system\n", m.Classes[k].Name, c.Blocking.Float, c.MeanJobs.Float)
	}
	fmt.Printf("channels in use: %.3f\n", r.Room.MeanUnits.Float)
	// Output:
	// call: 0.0360 lost, 11.567 in the system
	// conference: 0.2838 lost, 1.432 in the system
	// channels in use: 20.162
}

// Ten servers without a queue have a load of five.
func ExampleErlangB() {
	b, err := loss.ErlangB(context.Background(), 10, big.NewRat(5, 1), loss.FormulaSettings{Engine: num.Exact})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f = %s\n", b.Float, b.Exact)
	// Output: 0.018385 = 390625/21247437
}

// 50 agents answer 48 calls a minute, of one minute each. Callers wait two minutes on average before
// they give up.
func ExampleErlangA() {
	r, err := loss.ErlangA(context.Background(), &loss.Queue{
		Servers: 50, ArrivalRate: big.NewRat(48, 1), MeanDuration: big.NewRat(1, 1), MeanPatience: big.NewRat(2, 1),
	}, loss.QueueQuestion{Within: []*big.Rat{big.NewRat(1, 6)}}, loss.FormulaSettings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f wait, %.4f give up\n", r.WaitProbability.Float, r.AbandonProbability.Float)
	fmt.Printf("%.4f are answered within ten seconds\n", r.Within[0].ServedWithin.Float)
	// Output:
	// 0.4678 wait, 0.0309 give up
	// 0.8326 are answered within ten seconds
}

// Two classes of jobs have one server each and share a third; each server has three tokens.
func ExampleSolve_tokens() {
	m, err := loss.Read(strings.NewReader(`
servers:
  - {name: left, capacity: 1, tokens: 3}
  - {name: both, capacity: 1, tokens: 3}
  - {name: right, capacity: 1, tokens: 3}
classes:
  - {name: a, arrival_rate: 1, servers: [left, both]}
  - {name: b, arrival_rate: 1.5, servers: [both, right]}
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := loss.Solve(context.Background(), m, loss.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("lost: %.4f of a, %.4f of b\n", r.Classes[0].Blocking.Float, r.Classes[1].Blocking.Float)
	for s, server := range r.Servers {
		fmt.Printf("%-5s busy %.4f, jobs %.3f\n", m.Servers[s].Name, server.Utilization.Float, server.MeanJobs.Float)
	}
	// Output:
	// lost: 0.0720 of a, 0.1197 of b
	// left  busy 0.6688, jobs 1.203
	// both  busy 0.8102, jobs 1.667
	// right busy 0.7695, jobs 1.522
}
