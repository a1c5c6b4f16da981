package fluid_test

import (
	"fmt"
	"math/big"
	"testing"

	"productform/fluid"
)

// crossed is two classes that each need one resource twice as much as the other.
func crossed(lambda *big.Rat) *fluid.Traffic {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	return &fluid.Traffic{
		Resources: []fluid.Resource{{Name: "cpu", Capacity: one}, {Name: "ram", Capacity: one}},
		Classes: []fluid.Class{
			{Name: "compute", Demand: []*big.Rat{one, half}, ArrivalRate: lambda},
			{Name: "cache", Demand: []*big.Rat{half, one}, ArrivalRate: lambda},
		},
	}
}

func ExampleSolve() {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} {
		r, err := fluid.Solve(crossed(big.NewRat(8, 15)), policy, fluid.TrafficSettings{})
		if err != nil {
			fmt.Println(err)
			return
		}
		c := r.Classes[0]
		fmt.Printf("%-3s at load %s: %.4f jobs, delay %.4f, service rate %.4f\n", policy, r.Loads[0].RatString(), c.MeanJobs, *c.MeanDelay, *c.ServiceRate)
	}
	// Output:
	// pf  at load 4/5: 2.8374 jobs, delay 5.3201, service rate 0.1880
	// drf at load 4/5: 3.3823 jobs, delay 6.3418, service rate 0.1577
	// bf  at load 4/5: 3.0153 jobs, delay 5.6538, service rate 0.1769
}

func BenchmarkSolve(b *testing.B) {
	three := crossed(big.NewRat(2, 5))
	three.Classes = append(three.Classes, fluid.Class{Name: "both", Demand: []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1)}, ArrivalRate: big.NewRat(1, 10)})
	for _, c := range []struct {
		name   string
		t      *fluid.Traffic
		policy fluid.Policy
		limits []int
	}{
		{"states=40000/classes=2/policy=pf", crossed(big.NewRat(3, 5)), fluid.PF, []int{199, 199}},
		{"states=40000/classes=2/policy=drf", crossed(big.NewRat(3, 5)), fluid.DRF, []int{199, 199}},
		{"states=40000/classes=2/policy=bf", crossed(big.NewRat(3, 5)), fluid.BF, []int{199, 199}},
		{"states=125000/classes=3/policy=drf", three, fluid.DRF, []int{49, 49, 49}},
		{"states=125000/classes=3/policy=bf", three, fluid.BF, []int{49, 49, 49}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := fluid.Solve(c.t, c.policy, fluid.TrafficSettings{Limits: c.limits}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
