package cluster

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/gang"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
)

// TestSimulationMatchesGang simulates random models under FCFS and compares the means with package
// gang. The z values of one class of each model are independent and look like a standard normal
// sample, for every measure.
func TestSimulationMatchesGang(t *testing.T) {
	t.Parallel()
	models := rapid.Custom(func(t *rapid.T) *cluster.Model { return drawGang(t, FCFS) })
	zs := make(map[string][]float64)
	for seed := range 100 {
		m := models.Example(seed)
		limit, err := gang.CheckStability(t.Context(), m, gang.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		scale := new(big.Rat).SetFloat64(limit.CriticalScale.Float)
		m = m.Scale(scale.Mul(scale, big.NewRat(int64(4+seed%5), 10))) // 40 to 80 % of the limit
		exact, err := gang.Solve(t.Context(), m, gang.Settings{})
		var large *num.TooLargeError
		if errors.As(err, &large) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		settings := sim.Settings{Runs: 10, Jumps: 3500, WarmUp: 1000, Seed: uint64(seed)}
		r := simtest.Run(t, Cluster{Model: m}, settings)
		i, s := seed%len(m.Classes), seed%len(m.Servers)
		add := func(what string, e *sim.Estimate, exact float64) {
			if !e.Skewed && e.StdError > 0 {
				zs[what] = append(zs[what], e.Z(exact))
			}
		}
		class := exact.Classes[i]
		add("mean queue", r.All(MeanQueue), exact.MeanQueue.Float)
		add("mean jobs", r.All(sim.MeanJobs), exact.MeanJobs.Float)
		add("wait probability", r.Class(i, WaitProbability), class.WaitProbability.Float)
		add("mean waiting", r.Class(i, MeanWaiting), class.MeanWaiting.Float)
		add("mean delay", r.Class(i, sim.MeanDelay), class.MeanDelay.Float)
		add("measured waiting", r.Class(i, MeasuredWaiting), class.MeanWaiting.Float)
		add("mean busy", r.Server(s, MeanBusy), exact.Servers[s].MeanBusy.Float)
	}
	for what, list := range zs {
		if len(list) < 80 { // of 100: some models are too large for package gang, some estimates too skewed
			t.Errorf("%s: only %d z values", what, len(list))
		}
		fitsNormal(t, what, list)
	}
	if len(zs) != 7 {
		t.Errorf("%d measures, want 7", len(zs))
	}
}
