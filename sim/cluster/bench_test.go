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
