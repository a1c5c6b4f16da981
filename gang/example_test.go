package gang_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/big"
	"strings"

	"productform/cluster"
	"productform/gang"
)

// A cluster of 16 GPUs runs jobs that need one of them or all 16.
func Example() {
	m, err := cluster.Read(strings.NewReader(`
service: gang
servers: [{name: gpu, count: 16}]
classes:
- {name: small, arrival_rate: 2, servers: [gpu], needs: 1}
- {name: large, arrival_rate: 0.2, servers: [gpu], needs: 16}
`))
	if err != nil {
		log.Fatal(err)
	}
	r, err := gang.Solve(context.Background(), m, gang.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	s := r.Stability
	fmt.Printf("limit %.3f jobs per unit of time, %.0f %% lost to blocking\n",
		s.ThroughputLimit.Float, 100*s.FIFOWaste.Float)
	for _, c := range r.Classes {
		fmt.Printf("%s: %.2f wait, %.2f on average\n", c.Name, c.WaitProbability.Float, c.MeanWaiting.Float)
	}
	// Output:
	// limit 3.194 jobs per unit of time, 53 % lost to blocking
	// small: 0.53 wait, 2.14 on average
	// large: 0.95 wait, 3.77 on average
}

// Jobs need GPUs and memory at the same time.
func ExampleCheckStability() {
	m := &cluster.Model{
		Service: cluster.Gang,
		Servers: []cluster.Server{{Name: "gpu", Count: 8}, {Name: "memory", Count: 64}},
		Classes: []cluster.Class{
			{Name: "training", ArrivalRate: big.NewRat(1, 2), Needs: []cluster.Choice{{Server: 0, Choose: 4},
				{Server: 1, Choose: 8}}},
			{Name: "cache", ArrivalRate: big.NewRat(1, 1), Needs: []cluster.Choice{{Server: 1, Choose: 32}}},
		},
	}
	s, err := gang.CheckStability(context.Background(), m, gang.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s up to %s jobs per unit of time, by %s\n", s.Verdict, s.ThroughputLimit.Exact.RatString(), s.Method)
	// Output: stable up to 54/25 jobs per unit of time, by convolution
}

// More jobs arrive than the cluster carries.
func ExampleSolve_unstable() {
	m := &cluster.Model{
		Service: cluster.Gang,
		Servers: []cluster.Server{{Name: "s", Count: 3}},
		Classes: []cluster.Class{
			{Name: "pairs", ArrivalRate: big.NewRat(1, 1), Needs: []cluster.Choice{{Server: 0, Choose: 2}}},
		},
	}
	_, err := gang.Solve(context.Background(), m, gang.Settings{})
	var unstable *gang.UnstableError
	fmt.Println(errors.As(err, &unstable))
	fmt.Println(err)
	// Output:
	// true
	// unstable: jobs arrive at rate 1, and at most about 1 can start, first come, first served
}
