package tags_test

import (
	"context"
	"fmt"
	"log"

	"productform/sizes"
	"productform/tags"
)

func Example() {
	jobSizes, err := sizes.Parse("bounded-pareto:1.1:10000", 3)
	if err != nil {
		log.Fatal(err)
	}
	m := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}
	r, err := tags.Optimize(context.Background(), m, tags.PolicyTAGS, tags.Objective{Slowdown: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("kill jobs after %.1f units of work: mean slowdown %.2f\n", r.Cutoffs[0], r.MeanSlowdown.Float)
	// Output: kill jobs after 7.9 units of work: mean slowdown 3.48
}
