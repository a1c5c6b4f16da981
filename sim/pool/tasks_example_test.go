package pool_test

import (
	"context"
	"fmt"
	"math/big"

	"productform/fluid"
	"productform/sim"
	"productform/sim/pool"
)

// Two jobs share 9 CPUs and 18 GB. In a divisible pool proportional fairness runs 45/11 = 4.09
// tasks of one and 18/11 = 1.64 of the other.
func ExampleTasks() {
	number := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	tasks := pool.Tasks{
		Resources: []string{"cpu", "ram"},
		Machines:  []pool.Machine{{Capacity: []*big.Rat{number(9), number(18)}}},
		Jobs: []pool.TaskClass{
			{Name: "a", Demand: []*big.Rat{number(1), number(4)}},
			{Name: "b", Demand: []*big.Rat{number(3), number(1)}},
		},
		Policy: fluid.PF,
		Wait:   true,
	}
	for _, smaller := range []int{1, 10, 100} {
		finer, err := pool.Finer(tasks, smaller, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := sim.Run(context.Background(), finer, sim.Settings{Runs: 5, Jumps: 1e4})
		if err != nil {
			fmt.Println(err)
			return
		}
		a, b := r.Class(0, pool.RunningTasks).Mean, r.Class(1, pool.RunningTasks).Mean
		fmt.Printf("%3d: %.2f, %.2f\n", smaller, a/float64(smaller), b/float64(smaller))
	}
	// Output:
	//   1: 3.00, 2.00
	//  10: 4.00, 1.60
	// 100: 4.08, 1.64
}
