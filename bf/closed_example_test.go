package bf_test

import (
	"fmt"
	"math/big"

	"productform/bf"
)

// Two classes share one server at load 3/4.
func ExampleOneServer() {
	r, err := bf.OneServer([]*big.Rat{big.NewRat(1, 2), big.NewRat(1, 4)}, big.NewRat(1, 1))
	fmt.Println(r.ClassJobs, r.Normalization, err)
	// Output: [2/1 1/1] 4/1 <nil>
}

// Figure 1 of [BC17] at load 0.8: three servers of capacity 1, the third shared.
func ExampleThreeServers() {
	one, rate := big.NewRat(1, 1), big.NewRat(6, 5)
	gamma1, gamma2, err := bf.ThreeServers(rate, rate, one, one, one)
	fmt.Println(gamma1, gamma2, err)
	// Output: 16/35 16/35 <nil>
}

// Two racks of two servers each; local jobs stay in their rack, others run on all four.
func ExampleNested() {
	rate := big.NewRat(1, 1)
	r, err := bf.Nested([]bf.NestedNode{
		{ArrivalRate: rate, Capacity: new(big.Rat), Parent: -1},
		{ArrivalRate: rate, Capacity: big.NewRat(2, 1), Parent: 0},
		{ArrivalRate: rate, Capacity: big.NewRat(2, 1), Parent: 0},
	})
	fmt.Println(r.ClassJobs, r.MeanDelay, err)
	// Output: [1/1 3/2 3/2] 4/3 <nil>
}

// Five servers at load 4/5, two drawn at random for every job.
func ExampleRandomAssignment() {
	r, err := bf.RandomAssignment(5, big.NewRat(1, 1), []bf.RandomClass{{ArrivalRate: big.NewRat(4, 1), Choose: 2}})
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

// Four servers in a line, each job on two neighbours: the ends see less of the work.
func ExampleLineLocality() {
	r, err := bf.LineLocality(4, 2, big.NewRat(2, 1), big.NewRat(1, 1))
	fmt.Println(r.MeanJobs, r.Utilization, err)
	// Output: 249/130 [5/13 8/13 8/13 5/13] <nil>
}

// The same on a ring, where all servers are alike.
func ExampleRingLocality() {
	r, err := bf.RingLocality(4, 2, big.NewRat(2, 1), big.NewRat(1, 1))
	fmt.Println(r.MeanJobs, r.Utilization, err)
	// Output: 115/66 [1/2] <nil>
}
