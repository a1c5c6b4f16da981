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
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(i, (i+1)%60)})
	}
	bounds, err := windows.Delays(context.Background(), m, 6, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean delay of class 0: between %.4f and %.4f\n", bounds[0].Low, *bounds[0].High)
	// Output: mean delay of class 0: between 0.8603 and 0.8915
}
