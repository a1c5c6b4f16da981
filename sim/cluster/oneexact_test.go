package cluster

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/oneserver"
	"productform/sim"
	"productform/sim/internal/simtest"
)

// TestSimulationMatchesOneserver simulates 200 random models and compares the means with package
// oneserver. The z values of one class or server of each model are independent and look like a
// standard normal sample, for every measure.
//
// With 20 runs of 1e5 jumps in place of 10 of 2500, which take a minute, the 1,413 z values of all
// measures have means from -0.02 to 0.07 (-0.16 for the 81 shares) and mean squares from 0.82 to
// 1.19. The largest is 3.2. The statistics √n D of Kolmogorov and Smirnov are from 0.59 to 1.33; one
// in twenty exceeds 1.36.
func TestSimulationMatchesOneserver(t *testing.T) {
	t.Parallel()
	models := rapid.Custom(func(t *rapid.T) *cluster.Model {
		m := drawOne(t, oracle.Options{Servers: 4, Classes: 3, Count: 3})
		return oracle.ScaleTo(m, big.NewRat(int64(rapid.IntRange(4, 8).Draw(t, "tenths")), 10))
	})
	zs := make(map[string][]float64)
	for seed := range 200 {
		m := models.Example(seed)
		exact, err := oneserver.Solve(t.Context(), m, oneserver.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		settings := sim.Settings{Runs: 10, Jumps: 2500, WarmUp: 1000, Seed: uint64(seed)}
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
		add("utilization", r.Server(s, sim.Utilization), exact.Servers[s].Utilization.Float)
		at := slices.IndexFunc(m.Servers, func(s cluster.Server) bool { return s.Name == class.ServedBy[0].Server })
		if e := r.Estimate(OfServing, i*len(m.Servers)+at, ServedBy); len(class.ServedBy) > 1 {
			add("share of a server", e, class.ServedBy[0].Share.Float)
		}
	}
	for what, list := range zs {
		fitsNormal(t, what, list)
	}
}

// fitsNormal fails if independent z values do not look like a standard normal sample.
func fitsNormal(t *testing.T, what string, list []float64) {
	t.Helper()
	slices.Sort(list)
	gap, n := 0.0, float64(len(list)) // statistic of Kolmogorov and Smirnov
	for k, z := range list {
		p := distuv.UnitNormal.CDF(z)
		gap = max(gap, p-float64(k)/n, float64(k+1)/n-p)
	}
	t.Logf("%s: √n D = %.2f, from %.2f to %.2f", what, gap*math.Sqrt(n), list[0], list[len(list)-1])
	if gap*math.Sqrt(n) > 2.7 { // probability 1e-6
		t.Errorf("%s: the z values do not look normal: %.2f", what, list)
	}
	looksNormal(t, list)
}
