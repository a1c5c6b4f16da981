package traffic_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"strings"
	"testing"

	"productform/fluid"
	"productform/fluid/traffic"
)

func Example() {
	m, err := traffic.Read(strings.NewReader(`
resources: [{name: cpu, capacity: 9}, {name: ram, capacity: 18}]
jobs:
- {name: a, demand: {cpu: 1, ram: 4}, arrival_rate: 2}
- {name: b, demand: {cpu: 3, ram: 1}, arrival_rate: 1}
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} {
		r, err := traffic.Solve(context.Background(), m, policy, traffic.Settings{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: mean delays %.4f and %.4f\n", policy, *r.Classes[0].MeanDelay, *r.Classes[1].MeanDelay)
	}
	// Output:
	// pf: mean delays 0.4661 and 0.7689
	// drf: mean delays 0.5379 and 0.7927
	// bf: mean delays 0.5165 and 0.7543
}

// crossed returns two classes that each need twice as much of one resource as of the other.
func crossed(lambda *big.Rat) *traffic.Model {
	one, half := big.NewRat(1, 1), big.NewRat(1, 2)
	return &traffic.Model{
		Resources: []fluid.Resource{{Name: "cpu", Capacity: one}, {Name: "ram", Capacity: one}},
		Classes: []traffic.Class{
			{Name: "compute", Demand: []*big.Rat{one, half}, ArrivalRate: lambda},
			{Name: "cache", Demand: []*big.Rat{half, one}, ArrivalRate: lambda},
		},
	}
}

func ExampleSolve() {
	for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF, fluid.BF} {
		r, err := traffic.Solve(context.Background(), crossed(big.NewRat(8, 15)), policy, traffic.Settings{})
		if err != nil {
			fmt.Println(err)
			return
		}
		c := r.Classes[0]
		fmt.Printf("%-3s at load %s: %.4f jobs, delay %.4f, service rate %.4f\n", policy,
			r.Resources[0].Load.RatString(), c.MeanJobs, *c.MeanDelay, *c.ServiceRate)
	}
	// Output:
	// pf  at load 4/5: 2.8374 jobs, delay 5.3201, service rate 0.1880
	// drf at load 4/5: 3.3823 jobs, delay 6.3418, service rate 0.1577
	// bf  at load 4/5: 3.0153 jobs, delay 5.6538, service rate 0.1769
}

func BenchmarkSolve(b *testing.B) {
	three := crossed(big.NewRat(2, 5))
	three.Classes = append(three.Classes, traffic.Class{
		Name:        "both",
		Demand:      []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1)},
		ArrivalRate: big.NewRat(1, 10),
	})
	for _, c := range []struct {
		name   string
		t      *traffic.Model
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
				if _, err := traffic.Solve(context.Background(), c.t, c.policy, traffic.Settings{
					Limits: c.limits,
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
