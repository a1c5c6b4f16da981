package sim_test

import (
	"errors"
	"math"
	"math/big"
	"runtime"
	"testing"

	"productform/cluster"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sim/internal/simtest"
)

// jump returns the cluster with exponential sizes and m interruptions per job.
func jump(m *cluster.Model, interruptions float64) simcluster.Cluster {
	c := simcluster.Cluster{Model: m, Interruptions: interruptions}
	if interruptions > 0 {
		c.Policy = simcluster.Interrupt
	}
	return c
}

// For every distribution a run has the requested number of jumps, on a Markov chain or a calendar.
func TestRequestedJumps(t *testing.T) {
	for _, shape := range []string{
		"exponential", "bimodal", "hyperexponential", "zipf", "erlang:3", "erlang:60", "deterministic", "pareto:3",
	} {
		for _, m := range []float64{0, 2} {
			c := jump(simtest.RandomAssignment(10, 2, big.NewRat(1, 2)), m)
			c.Sizes = simtest.Sizes(t, shape, 1)
			r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 10, Jumps: 1e4, WarmUp: 1e3, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if perRun := r.Jumps / 10; math.Abs(perRun-1e4) > 0.05*1e4 {
				t.Errorf("%s, m = %g, %s: %g jumps per run, want 10000", shape, m, r.Method, perRun)
			}
		}
	}
}

// The system of the example satisfies the contract of package sim and agrees with theory.
func TestSingleServer(t *testing.T) {
	for _, shape := range []string{"erlang:2", "deterministic", "bimodal"} {
		m := singleServer{ArrivalRate: 0.7, Sizes: simtest.Sizes(t, shape, 1)}
		simtest.Conforms(t, m)
		square, err := m.Sizes.Moment(2)
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0.7 * square / 2 / (1 - 0.7) // Pollaczek and Khinchine
		r := simtest.Run(t, m, sim.Settings{Runs: 40, Jumps: 1e4, WarmUp: 2e3, Seed: 1})
		simtest.Near(t, shape+": mean waiting", r.All(meanWaiting), waiting)
		simtest.Near(t, shape+": mean delay", r.All(sim.MeanDelay), waiting+1)
		simtest.Near(t, shape+": utilization", r.Server(0, sim.Utilization), 0.7)
	}
	if _, err := sim.NewPlan(
		t.Context(), singleServer{ArrivalRate: 1, Sizes: simtest.Sizes(t, "exponential", 1)}, sim.Settings{},
	); !errors.Is(err, num.ErrUnstable) {
		t.Errorf("load 1: %v", err)
	}
	simtest.Golden(t, singleServer{ArrivalRate: 0.7, Sizes: simtest.Sizes(t, "erlang:2", 1)}, 1.4749764262424376)
}

// The parts of the series add up to the total time for any end of the warm-up, and the warm-up
// counts only in the series.
func TestSeriesCoversTheTime(t *testing.T) {
	for _, warmUp := range []float64{sim.NoWarmUp, 0.01, 1, 333, 1000, 2e4, 1e6} {
		p, err := sim.NewPlan(t.Context(), jump(simtest.ThreeServers(big.NewRat(1, 2)), 0), sim.Settings{
			Jumps:  2e4,
			WarmUp: warmUp,
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Replicate(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Series) != 50 {
			t.Fatalf("%d parts, want 50", len(s.Series))
		}
		step := 1 / p.StepRate
		if math.Abs(s.Time-2e4/p.JumpRate) > 2*step {
			t.Errorf("warm-up %g: observed for %g, want %g", warmUp, s.Time, 2e4/p.JumpRate)
		}
		if warmUp == sim.NoWarmUp {
			if mean := sim.Sum(s.Series) / 50; math.Abs(mean-sim.Sum(s.Jobs)) > 1e-2*mean {
				t.Errorf("parts of mean %g, all of %g", mean, sim.Sum(s.Jobs))
			}
		}
		for k, v := range s.Series {
			if !(v >= 0 && v < 1000) {
				t.Errorf("warm-up %g: part %d has %g jobs", warmUp, k, v)
			}
		}
	}
}

// A replication of the paper's clusters takes less than 1 MB, and no memory per event: a run ten
// times as long needs as much.
func TestMemoryOfAReplication(t *testing.T) {
	for _, m := range []*cluster.Model{
		simtest.ThreeServers(big.NewRat(9, 10)), simtest.RandomAssignment(100, 2, big.NewRat(9, 10)),
		simtest.RandomAssignment(100, 3, big.NewRat(9, 10)),
	} {
		for _, calendar := range []bool{false, true} {
			c := jump(m, 1)
			c.Sizes, c.Calendar = simtest.Sizes(t, "bimodal", 1), calendar
			p, err := sim.NewPlan(t.Context(), c, sim.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			taken := func(jumps float64) uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				e := p.Start(t.Context(), sim.NewStream([32]byte{7}))
				y := sim.NewTotals(len(p.Classes), len(p.Servers))
				if err := e.Advance(jumps/p.JumpRate, y); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			short, long := taken(3e4), taken(3e5)
			if long > 1e6 || long > 2*short+1e5 { // the longer run has longer queues
				t.Errorf("%s, %d rows of servers: %d bytes for 3e4 jumps, %d for 3e5",
					p.Method, len(m.Servers), short, long)
			}
		}
	}
}
