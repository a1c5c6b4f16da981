// Package queue simulates systems whose service rates are a function of the jobs present: how many
// jobs are present, even if there is no formula? The systems are networks of processor-sharing
// queues ([Network]), and order-independent queues with returning jobs ([Queue]).
//
// For example:
//
//	system := queue.Network{
//		ArrivalRates: []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 4)},
//		Rates: func(x []int, phi []float64) error { // the second class has half the weight of the first
//			total := float64(2*x[0] + x[1])
//			phi[0], phi[1] = 2*float64(x[0])/total, float64(x[1])/total
//			return nil
//		},
//	}
//	r, err := sim.Run(context.Background(), system, sim.Settings{Runs: 10, Jumps: 2e4, Seed: 1})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for i := range 2 {
//		e := r.Class(i, sim.MeanDelay)
//		fmt.Printf("class %d: mean delay %.1f ± %.1f\n", i, e.Mean, e.HalfWidth)
//	}
//	// Output:
//	// class 0: mean delay 3.4 ± 0.2
//	// class 1: mean delay 5.1 ± 0.3
package queue
