package sim

import (
	"fmt"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/sizes"
)

// threeServers is the cluster of [BC17], Figure 1, at the given load.
func threeServers(load *big.Rat) *cluster.Model {
	half := new(big.Rat).Mul(load, big.NewRat(3, 2))
	one := big.NewRat(1, 1)
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "s1", Capacity: one}, {Name: "s2", Capacity: one}, {Name: "s3", Capacity: one}},
		Classes: []cluster.Class{{Name: "1", ArrivalRate: half, Servers: cluster.On(0, 2)}, {Name: "2", ArrivalRate: half, Servers: cluster.On(1, 2)}},
	}
}

// randomAssignment is the cluster of [BC17], Figures 3 and 4.
func randomAssignment(servers, d int, load *big.Rat) *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "server", Count: servers, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "job", ArrivalRate: new(big.Rat).Mul(load, big.NewRat(int64(servers), 1)),
			Servers: []cluster.Choice{{Server: 0, Choose: d}}}},
	}
}

// jumps/s counts arrivals, ends of phases and interruptions, not the steps in which an idle server does nothing.
func BenchmarkJumpChain(b *testing.B) {
	load := big.NewRat(4, 5)
	for _, m := range []struct {
		name  string
		model *cluster.Model
	}{
		{"servers=3", threeServers(load)},
		{"servers=100/d=2", randomAssignment(100, 2, load)},
		{"servers=100/d=3", randomAssignment(100, 3, load)},
	} {
		for _, jobSizes := range []string{"exponential", "bimodal"} {
			for _, interruptions := range []float64{0, 1, 5} {
				law, err := sizes.Parse(jobSizes, 1)
				if err != nil {
					b.Fatal(err)
				}
				c := Cluster{Model: m.model, Sizes: law, Interruptions: interruptions}
				if interruptions > 0 {
					c.Policy = Interrupt
				}
				b.Run(fmt.Sprintf("%s/sizes=%s/m=%g", m.name, jobSizes, interruptions), func(b *testing.B) {
					benchmarkEngine(b, c)
				})
			}
		}
	}
}

// benchmarkEngine measures 10^6 expected jumps in the stationary state.
func benchmarkEngine(b *testing.B, system System) {
	p, err := NewPlan(system, Settings{})
	if err != nil {
		b.Fatal(err)
	}
	e := p.Start(b.Context(), NewStream([32]byte{1}))
	y := NewTotals(len(p.Classes), len(p.Servers))
	if err := e.Advance(1e6/p.JumpRate, y); err != nil {
		b.Fatal(err)
	}
	y = NewTotals(len(p.Classes), len(p.Servers))
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Advance(1e6/p.JumpRate, y); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(y.Jumps/b.Elapsed().Seconds(), "jumps/s")
}
