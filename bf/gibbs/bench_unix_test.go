//go:build unix

package gibbs_test

import (
	"fmt"
	"math/big"
	"syscall"
	"testing"

	"productform/bf/gibbs"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sweep"
)

// processorTime returns the processor time used by this process so far, in seconds.
func processorTime(tb testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e9 }
	return seconds(u.Utime) + seconds(u.Stime)
}

// BenchmarkRun measures the time to estimate the mean number of jobs to 0.5 % with one worker;
// cpu-s is the processor time.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct {
		classes, servers int
		load             *big.Rat
	}{
		{100, 50, big.NewRat(1, 2)}, {100, 50, big.NewRat(95, 100)}, {100, 50, big.NewRat(99, 100)},
		{1000, 300, big.NewRat(9, 10)}, {10_000, 3000, big.NewRat(9, 10)},
	} {
		m := randomModel(b, size.classes, size.servers, size.load, 1)
		b.Run(fmt.Sprintf("classes=%d/servers=%d/load=%s",
			size.classes, size.servers, size.load.FloatString(2)), func(b *testing.B) {
			var r *gibbs.Result
			start := processorTime(b)
			for seed := uint64(0); b.Loop(); seed++ {
				var err error
				if r, err = gibbs.Run(
					b.Context(), m, gibbs.Settings{Precision: 0.005, Workers: 1, Seed: seed}, nil,
				); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processorTime(b)-start)/float64(b.N), "cpu-s")
			b.ReportMetric(float64(r.Chains*(r.Sweeps+r.BurnIn)), "sweeps")
			b.ReportMetric(r.Autocorrelation, "autocorrelation")
			b.ReportMetric(r.MeanJobs.Mean, "jobs")
		})
	}
}

// BenchmarkAgainstSimulation reports the ratio of the simulator's processor time to that of Run for
// the same standard error of the mean number of jobs.
func BenchmarkAgainstSimulation(b *testing.B) {
	for _, load := range []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10), big.NewRat(95, 100), big.NewRat(99, 100)} {
		m := randomModel(b, 100, 50, load, 1)
		b.Run(fmt.Sprintf("classes=100/servers=50/load=%s", load.FloatString(2)), func(b *testing.B) {
			var work, simulated float64 // sums of variance times processor time, relative to the mean
			for seed := uint64(0); b.Loop(); seed++ {
				start := processorTime(b)
				r, err := gibbs.Run(b.Context(), m, gibbs.Settings{Precision: 0.003, Workers: 1, Seed: seed}, nil)
				if err != nil {
					b.Fatal(err)
				}
				between := processorTime(b)
				plan, err := sim.NewPlan(
					b.Context(), simcluster.Cluster{Model: m},
					sim.Settings{Runs: 40, Jumps: 1e6, WarmUp: 5e5, Seed: seed},
				)
				if err != nil {
					b.Fatal(err)
				}
				s, err := plan.Run(b.Context(), sweep.Settings{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				end := processorTime(b)
				part := func(stdError, mean, time float64) float64 { return stdError / mean * stdError / mean * time }
				work += part(r.MeanJobs.StdError, r.MeanJobs.Mean, between-start)
				jobs := s.All(sim.MeanJobs)
				simulated += part(jobs.StdError, jobs.Mean, end-between)
				b.Logf("estimate %.2f ± %.2f in %.2f s; simulation %.2f ± %.2f in %.2f s, warnings %v",
					r.MeanJobs.Mean, r.MeanJobs.HalfWidth, between-start, jobs.Mean, jobs.HalfWidth,
					end-between, s.Warnings)
			}
			b.ReportMetric(simulated/work, "gain")
		})
	}
}
