package fluid_test

import (
	"context"
	"fmt"
	"math/big"

	"productform/fluid"
)

// Two jobs share nine processors and 18 GB: tasks of the first take <1 CPU, 4 GB>, tasks of the
// second <3 CPU, 1 GB> (Ghodsi et al., section 4.1). Both get two thirds of their dominant
// resource.
func ExampleAllocate_dominantResource() {
	n := func(x int64) *big.Rat { return big.NewRat(x, 1) }
	pool := &fluid.Pool{
		Resources: []fluid.Resource{{Name: "cpu", Capacity: n(9)}, {Name: "ram", Capacity: n(18)}},
		Jobs: []fluid.Job{
			{Name: "A", Demand: []*big.Rat{n(1), n(4)}}, {Name: "B", Demand: []*big.Rat{n(3), n(1)}},
		},
	}
	a, err := fluid.Allocate(context.Background(), pool, fluid.DRF, fluid.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range a.Jobs {
		fmt.Printf("%s: %s tasks, %s of all %s\n", job.Name, job.Tasks.Exact.RatString(),
			job.DominantShare.Exact.RatString(), job.DominantResource)
	}
	for _, r := range a.Resources {
		fmt.Printf("%s: %s used\n", r.Name, r.Utilization.Exact.RatString())
	}
	// Output:
	// A: 3 tasks, 2/3 of all ram
	// B: 2 tasks, 2/3 of all cpu
	// cpu: 1 used
	// ram: 7/9 used
}
