package gibbs_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/bf/gibbs"
	"productform/cluster"
	"productform/stability"
)

// randomModel draws classes that each use three servers of capacity 1, and scales their rates to a load of the critical one.
func randomModel(tb testing.TB, classes, servers int, load *big.Rat, seed uint64) *cluster.Model {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &cluster.Model{}
	for s := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", s), Capacity: big.NewRat(1, 1)})
	}
	for i := range classes {
		m.Classes = append(m.Classes, cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(50+r.Int64N(100), 100), Servers: cluster.On(r.Perm(servers)[:3]...)})
	}
	v, err := stability.Cluster(tb.Context(), m)
	if err != nil {
		tb.Fatal(err)
	}
	return m.Scale(new(big.Rat).Mul(v.CriticalScale, load))
}

// BenchmarkRun takes the time to know the mean number of jobs to 0.5 %, with one worker.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct {
		classes, servers int
		load             *big.Rat
	}{{100, 50, big.NewRat(95, 100)}, {100, 50, big.NewRat(99, 100)}, {1000, 300, big.NewRat(9, 10)}} {
		m := randomModel(b, size.classes, size.servers, size.load, 1)
		b.Run(fmt.Sprintf("classes=%d/servers=%d/load=%s", size.classes, size.servers, size.load.FloatString(2)), func(b *testing.B) {
			var r *gibbs.Result
			for seed := uint64(0); b.Loop(); seed++ {
				var err error
				if r, err = gibbs.Run(b.Context(), m, gibbs.Settings{Precision: 0.005, Workers: 1, Seed: seed}, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Chains*(r.Sweeps+r.BurnIn)), "sweeps")
			b.ReportMetric(r.Autocorrelation, "autocorrelation")
			b.ReportMetric(r.MeanJobs.Mean, "jobs")
		})
	}
}
