package cluster

import (
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/sim/internal/simtest"
	"productform/sizes"
)

// jumps/s counts arrivals, ends of phases and interruptions, but not steps at idle servers.
func BenchmarkJumpChain(b *testing.B) {
	load := big.NewRat(4, 5)
	for _, m := range []struct {
		name  string
		model *cluster.Model
	}{
		{"servers=3", simtest.ThreeServers(load)},
		{"servers=100/d=2", simtest.RandomAssignment(100, 2, load)},
		{"servers=100/d=3", simtest.RandomAssignment(100, 3, load)},
		{"groups=4x25", groups(load)},
		{"classes=6", sixClasses(load)},
	} {
		for _, jobSizes := range []string{"exponential", "bimodal"} {
			for _, interruptions := range []float64{0, 1, 5} {
				distribution, err := sizes.Parse(jobSizes, 1)
				if err != nil {
					b.Fatal(err)
				}
				c := Cluster{Model: m.model, Sizes: distribution, Interruptions: interruptions}
				if interruptions > 0 {
					c.Policy = Interrupt
				}
				b.Run(fmt.Sprintf("%s/sizes=%s/m=%g", m.name, jobSizes, interruptions), func(b *testing.B) {
					simtest.Benchmark(b, c)
				})
			}
		}
	}
}

// groups returns four groups of 25 servers, each with a class that draws two of its servers and one
// that draws two of them and two of the next group.
func groups(load *big.Rat) *cluster.Model {
	m := &cluster.Model{}
	for g := range 4 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("g", g), Count: 25, Capacity: big.NewRat(1, 1)})
		rate := new(big.Rat).Mul(load, big.NewRat(25, 2))
		own, next := cluster.Choice{Server: g, Choose: 2}, cluster.Choice{Server: (g + 1) % 4, Choose: 2}
		m.Classes = append(m.Classes,
			cluster.Class{Name: fmt.Sprint("own", g), ArrivalRate: rate, Servers: []cluster.Choice{own}},
			cluster.Class{Name: fmt.Sprint("both", g), ArrivalRate: rate, Servers: []cluster.Choice{own, next}})
	}
	return m
}

// sixClasses returns six classes on a ring of eight servers, each of which uses three of them.
func sixClasses(load *big.Rat) *cluster.Model {
	m := &cluster.Model{}
	for s := range 8 {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
	}
	for i := range 6 {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i),
			ArrivalRate: new(big.Rat).Mul(load, big.NewRat(8, 6)), Servers: cluster.On(i, i+1, i+2)})
	}
	return m
}

// One server per job: a pool, and skills of a hundred servers in ten rows of which each class has
// three.
func BenchmarkOneServer(b *testing.B) {
	equal := simtest.RandomAssignment(100, 100, big.NewRat(9, 10))
	skills := &cluster.Model{}
	for k := range 10 {
		skills.Servers = append(skills.Servers, cluster.Server{
			Name: fmt.Sprint("s", k), Count: 10, Capacity: big.NewRat(int64(10+k), 10),
		})
		class := cluster.Class{Name: fmt.Sprint("c", k), ArrivalRate: big.NewRat(12, 1), Priority: k % 2}
		for _, row := range []int{k, (k + 1) % 10, (k + 3) % 10} {
			class.Servers = append(class.Servers, cluster.Choice{Server: row, Choose: 10})
		}
		skills.Classes = append(skills.Classes, class)
	}
	for _, m := range []struct {
		name  string
		model *cluster.Model
	}{
		{"pool=100", equal},
		{"pool=100/d=2", simtest.RandomAssignment(100, 2, big.NewRat(9, 10))},
		{"skills=100", skills},
	} {
		m.model.Service = cluster.OneServer
		for _, policy := range append(onePolicies[:len(onePolicies):len(onePolicies)], Power(2)) {
			b.Run(fmt.Sprintf("%s/policy=%s", m.name, policy), func(b *testing.B) {
				simtest.Benchmark(b, Cluster{Model: m.model, Policy: policy})
			})
		}
	}
}

// Jobs of 1 to 64 servers on 64 servers at 55 % of the work-conserving limit, which FCFS carries.
func BenchmarkGang(b *testing.B) {
	m := gangOf(64, []int{1, 4, 16, 64}, "88/10", "22/10", "55/100", "1375/10000")
	for _, policy := range gangPolicies {
		b.Run(fmt.Sprintf("servers=64/policy=%s", policy), func(b *testing.B) {
			simtest.Benchmark(b, Cluster{Model: m, Policy: policy})
		})
	}
}
