package sim_test

import (
	"math/big"
	"slices"
	"testing"

	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sim/internal/simtest"
)

// Every measure is listed once, with its part of the system and its unit, and can be looked up by
// that part.
func TestMeasures(t *testing.T) {
	c := simcluster.Cluster{Model: simtest.ThreeServers(big.NewRat(1, 2))}
	r := simtest.Run(t, c, sim.Settings{Runs: 2, Jumps: 1000, Distribution: 2})
	if len(r.Measures) != 3+2*4+3 || len(r.Distribution) != 3 {
		t.Errorf("%d measures, %d probabilities", len(r.Measures), len(r.Distribution))
	}
	for _, m := range r.Measures {
		if got := r.Estimate(m.Kind, m.Index, m.Name); got != m.Estimate || got == nil {
			t.Errorf("%+v is found as %v", m, got)
		}
		if (m.Unit == "") != (m.Name == sim.Utilization) || (m.Of == "") != (m.Kind == sim.OfAll) {
			t.Errorf("%+v", m)
		}
	}
	same := func(a, b sim.Measure) bool { return a.Kind == b.Kind && a.Index == b.Index && a.Name == b.Name }
	if len(slices.CompactFunc(slices.Clone(r.Measures), same)) != len(r.Measures) {
		t.Error("a measure is listed twice")
	}
	for _, none := range []*sim.Estimate{
		r.All(sim.Utilization), r.Class(2, sim.MeanJobs), r.Class(-1, sim.MeanJobs), r.Server(3, sim.Utilization),
		r.Estimate("host", 0, sim.Utilization),
	} {
		if none != nil {
			t.Errorf("%+v for an unknown measure", none)
		}
	}
}
