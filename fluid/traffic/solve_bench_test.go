package traffic

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"productform/fluid"
	"productform/internal/oracle"
)

// BenchmarkSolve solves two classes with different dominant resources, near saturation of both, and
// three classes. At a load of 0.99 they need a quarter as much of the other resource, and dominant
// resource fairness has more than two thousand jobs.
func BenchmarkSolve(b *testing.B) {
	two := [][]*big.Rat{oracle.Rats("1 1/3"), oracle.Rats("1/3 1")}
	quarter := [][]*big.Rat{oracle.Rats("1 1/4"), oracle.Rats("1/4 1")}
	three := [][]*big.Rat{oracle.Rats("1 1/3 0"), oracle.Rats("0 1 1/3"), oracle.Rats("1/3 0 1")}
	for _, c := range []struct {
		profiles [][]*big.Rat
		load     string
		tol      float64
	}{{two, "0.9", 0}, {two, "0.97", 0}, {quarter, "0.99", 0}, {three, "0.7", 1e-6}} {
		for _, policy := range []fluid.Policy{fluid.PF, fluid.DRF} {
			t := trafficOf(c.profiles, oracle.Rats("1 1 1")[:len(c.profiles)]...)
			scaleTo(t, oracle.Rats(c.load)[0])
			b.Run(fmt.Sprintf("classes=%d/load=%s/policy=%s", len(c.profiles), c.load, policy), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Solve(context.Background(), t, policy, Settings{TruncationTol: c.tol}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
