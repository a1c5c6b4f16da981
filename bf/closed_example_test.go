package bf_test

import (
	"context"
	"fmt"
	"math/big"

	"productform/bf"
)

// Figure 1 of [BC17] at load 0.8: three servers of capacity 1, the third shared.
func ExampleThreeServers() {
	one, rate := big.NewRat(1, 1), big.NewRat(6, 5)
	gamma1, gamma2, err := bf.ThreeServers(rate, rate, one, one, one)
	fmt.Println(gamma1, gamma2, err)
	// Output: 16/35 16/35 <nil>
}

// Five servers at load 4/5; every job is assigned two of them at random.
func ExampleRandomAssignment() {
	r, err := bf.RandomAssignment(context.Background(), 5, big.NewRat(1, 1),
		[]bf.RandomClass{{ArrivalRate: big.NewRat(4, 1), Choose: 2}})
	fmt.Println(r.MeanDelay, r.Utilization, err)
	// Output: 77/48 [4/5] <nil>
}

// Figures 3 and 4 of [BC17] at load 0.8: the mean delay on 100 servers is E[X]/λ, λ = 80.
func ExampleRandomAssignmentFloat() {
	for _, d := range []int{1, 2, 3} {
		jobs, bound, err := bf.RandomAssignmentFloat(100, d, 0.8)
		fmt.Printf("d = %d: %.6f, bound below 1e-11: %t, error %v\n", d, jobs/80, bound < 1e-11, err)
	}
	// Output:
	// d = 1: 5.000000, bound below 1e-11: true, error <nil>
	// d = 2: 1.277301, bound below 1e-11: true, error <nil>
	// d = 3: 0.781421, bound below 1e-11: true, error <nil>
}
