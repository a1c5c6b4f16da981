package oiqueue_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

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
	r, err := oiqueue.StationaryExact(context.Background(), q)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("P(empty) =", r.EmptyProbability, "E[X] =", r.MeanJobs)
	// Output: P(empty) = 9/26 E[X] = [17/39 44/39]
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

func ExampleStationaryExact() {
	r, err := oiqueue.StationaryExact(context.Background(), threeServers())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("P(empty) =", r.EmptyProbability, "E[X] =", r.MeanJobs)
	fmt.Println("P(none, only 0, only 1, both classes present) =", r.Active)
	// Output:
	// P(empty) = 9/26 E[X] = [17/39 44/39]
	// P(none, only 0, only 1, both classes present) = [9/26 3/26 9/26 5/26]
}

func ExampleStationary() {
	r, err := oiqueue.Stationary(context.Background(), threeServers())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("P(empty) = %.4f, E[X] = %.4f, relative error below 1e-14: %v\n",
		r.EmptyProbability, r.MeanJobs, r.RelativeErrorBound < 1e-14)
	// Output: P(empty) = 0.3462, E[X] = [0.4359 1.1282], relative error below 1e-14: true
}

// The oldest job, of class 0, has servers 0 and 2; the next one of class 1 gets what is left.
func ExamplePositionRates() {
	rates, err := oiqueue.PositionRates(context.Background(), threeServers(), []int{0, 0, 1, 1})
	fmt.Println(rates, err)
	// Output: [2/1 0/1 1/1 0/1] <nil>
}

// Jobs come back with probability 99/100: each class of a given x is served at the same mean
// rate as without, and this is what every job of the class receives in the limit.
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
	r, err := oiqueue.StationaryExact(context.Background(), q)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("Z =", r.Normalization, "E[X] =", r.MeanJobs)
	// Output: Z = 11/3 E[X] = [23/22 49/132 49/132]
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
