package windows_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"productform/bf/windows"
	"productform/cluster"
)

func Example() {
	m := &cluster.Model{}
	for i := range 60 { // servers in a ring, each of which has a class in common with its neighbour
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", i), Capacity: big.NewRat(1, 1)})
		m.Classes = append(m.Classes, cluster.Class{
			Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(i, (i+1)%60),
		})
	}
	bounds, err := windows.Delays(context.Background(), m, 6, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean delay of class 0: between %.4f and %.4f\n", bounds[0].Low, *bounds[0].High)
	// Output: mean delay of class 0: between 0.8603 and 0.8915
}

// Larger windows have closer bounds: here around a ring of sixty servers, one class between two
// neighbours each.
func ExampleDelays() {
	m := &cluster.Model{}
	for i := range 60 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", i), Capacity: big.NewRat(1, 1)})
		m.Classes = append(m.Classes, cluster.Class{
			Name:        fmt.Sprint("c", i),
			ArrivalRate: big.NewRat(1, 2),
			Servers:     cluster.On(i, (i+1)%60),
		})
	}
	for _, servers := range []int{2, 4, 8} {
		bounds, err := windows.Delays(context.Background(), m, servers, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d servers: %.4f to %.4f\n", servers, bounds[0].Low, *bounds[0].High)
	}
	// Output:
	// 2 servers: 0.6667 to 2.0000
	// 4 servers: 0.8298 to 1.0000
	// 8 servers: 0.8660 to 0.8719
}
