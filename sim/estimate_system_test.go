package sim_test

import (
	"math"
	"math/big"
	"testing"

	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sim/internal/simtest"
)

// Few replications, if any, observe many jobs: the p-value of all probabilities of an M/M/1 queue
// is right only without the skewed estimates. A load that is off by 4 % is detected.
func TestJointPOfRareEvents(t *testing.T) {
	const load = 0.8
	exact := func(load float64, n int) float64 { return (1 - load) * math.Pow(load, float64(n)) }
	joint := func(r *sim.Result, load float64, all bool) float64 {
		var z []float64
		for n, e := range r.Distribution {
			if e.StdError > 0 && (all || !e.Skewed) {
				z = append(z, e.Z(exact(load, n)))
			}
		}
		return sim.JointP(z)
	}
	m := simtest.OneServer()
	m.Classes[0].ArrivalRate = big.NewRat(8, 10)
	var p []float64
	naive, missed := 0, 0
	for seed := range uint64(100) {
		settings := sim.Settings{Runs: 10 + 30*int(seed%2), Jumps: 4000, WarmUp: 1000, Seed: seed, Distribution: 60}
		r := simtest.Run(t, simcluster.Cluster{Model: m}, settings)
		p = append(p, joint(r, load, false))
		if joint(r, load, true) < 0.001 {
			naive++
		}
		if joint(r, load/1.04, false) > 0.01 {
			missed++
		}
	}
	simtest.NotTooSmall(t, p)
	if naive < 10 {
		t.Errorf("with skewed estimates only %d of 100 p-values are below 0.001: the test is too weak", naive)
	}
	if missed > 50 {
		t.Errorf("a load that is 4 %% off is missed in %d of 100 simulations", missed)
	}
}
