package oiqueue_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/num"
	"productform/oiqueue"
)

func Example() {
	rat := big.NewRat
	q, err := oiqueue.FromGraph(context.Background(),
		[]*big.Rat{rat(1, 2), rat(1, 1)},            // arrival rates of two classes
		[]*big.Rat{rat(1, 1), rat(1, 1), rat(1, 1)}, // capacities of three servers
		[][]int{{0, 2}, {1, 2}})                     // each class can use two of them
	if err != nil {
		log.Fatal(err)
	}
	r, err := oiqueue.Stationary(context.Background(), q, oiqueue.Settings{Engine: num.Exact})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("P(empty) =", r.EmptyProbability.Exact, "E[X] =", r.MeanJobs[0].Exact, r.MeanJobs[1].Exact)
	// Output: P(empty) = 9/26 E[X] = 17/39 44/39
}

// Two classes, each with its own server of rate 1, share a third.
func threeServers() *oiqueue.Queue {
	one := big.NewRat(1, 1)
	q, err := oiqueue.FromGraph(
		context.Background(), []*big.Rat{big.NewRat(1, 2), one}, []*big.Rat{one, one, one}, [][]int{{0, 2}, {1, 2}},
	)
	if err != nil {
		panic(err)
	}
	return q
}

func ExampleStationary_exact() {
	r, err := oiqueue.Stationary(context.Background(), threeServers(), oiqueue.Settings{Engine: num.Exact})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, jobs := range r.MeanJobs {
		fmt.Printf("E[X_%d] = %v\n", i, jobs.Exact)
	}
	for a, present := range []string{"no class", "only class 0", "only class 1", "both classes"} {
		fmt.Printf("P(%s present) = %v\n", present, r.Active[a].Exact)
	}
	// Output:
	// E[X_0] = 17/39
	// E[X_1] = 44/39
	// P(no class present) = 9/26
	// P(only class 0 present) = 3/26
	// P(only class 1 present) = 9/26
	// P(both classes present) = 5/26
}

func ExampleStationary() {
	r, err := oiqueue.Stationary(context.Background(), threeServers(), oiqueue.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("P(empty) = %.4f, E[X] = %.4f and %.4f, relative error below 1e-14: %v\n",
		r.EmptyProbability.Float, r.MeanJobs[0].Float, r.MeanJobs[1].Float, r.RelativeErrorBound < 1e-14)
	// Output: P(empty) = 0.3462, E[X] = 0.4359 and 1.1282, relative error below 1e-14: true
}

// The oldest job, of class 0, has servers 0 and 2; the next one of class 1 gets what is left.
func ExamplePositionRates() {
	rates, err := oiqueue.PositionRates(context.Background(), threeServers(), []int{0, 0, 1, 1})
	fmt.Println(rates, err)
	// Output: [2/1 0/1 1/1 0/1] <nil>
}

// Jobs come back with probability 99/100: each class of a given x is served at the same mean rate
// as without returns, and this is what every job of the class receives in the limit.
func ExampleReentrant() {
	q, routing, err := oiqueue.Reentrant(context.Background(), threeServers(), big.NewRat(1, 100))
	if err != nil {
		fmt.Println(err)
		return
	}
	phi, err := oiqueue.Allocation(context.Background(), q, []int{2, 1})
	fmt.Println("external", routing.External, "effective", q.ArrivalRates)
	fmt.Println("shares with x = (2, 1):", phi, err)
	// Output:
	// external [1/200 1/100] effective [1/2 1/1]
	// shares with x = (2, 1): [12/7 9/7] <nil>
}

// Two printers, at most one job of each user at a time.
func ExampleMSCCC() {
	q, err := oiqueue.MSCCC([]*big.Rat{big.NewRat(1, 2), big.NewRat(1, 4), big.NewRat(1, 4)}, 2, big.NewRat(1, 1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := oiqueue.Stationary(context.Background(), q, oiqueue.Settings{Engine: num.Exact})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("Z =", r.Normalization.Exact)
	for i, jobs := range r.MeanJobs {
		fmt.Printf("E[X_%d] = %v\n", i, jobs.Exact)
	}
	// Output:
	// Z = 11/3
	// E[X_0] = 23/22
	// E[X_1] = 49/132
	// E[X_2] = 49/132
}

func ExampleCheckOrder() {
	// The first job in the queue chooses the speed: the order matters.
	q := &oiqueue.Queue{
		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 2)},
		OrderedRate:  func(c []int) *big.Rat { return big.NewRat(int64(c[0]+1), 1) },
	}
	fmt.Println(oiqueue.CheckOrder(context.Background(), q, 3))
	// Output: oiqueue: the rate depends on the order of the jobs: μ(1 0) = 2 but μ(0 1) = 1
}
