package net_test

import (
	"fmt"

	"productform/plots/net"
)

func Example() {
	figures := net.Figures()
	fmt.Println(net.Source().Title)
	for _, f := range figures[:2] {
		fmt.Println(f.ID, f.Title)
	}
	// Output:
	// Networks of stations, losses, and pass-and-swap queues
	// net-1 An interactive system against its number of users
	// net-2 Many servers: textbook mean value analysis loses all digits
}
