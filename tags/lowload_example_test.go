package tags_test

import (
	"fmt"
	"log"

	"productform/sizes"
	"productform/tags"
)

func Example_lowload() {
	d, err := sizes.Parse("lognormal:16", 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, hosts := range []int{2, 3, 10} {
		factor, err := tags.LowLoadFactor(d, hosts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d hosts: the formula gives %.2f times the waiting time\n", hosts, factor)
	}
	// Output:
	// 2 hosts: the formula gives 2.50 times the waiting time
	// 3 hosts: the formula gives 3.54 times the waiting time
	// 10 hosts: the formula gives 6.26 times the waiting time
}
