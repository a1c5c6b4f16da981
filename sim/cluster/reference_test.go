package cluster

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"productform/internal/oracle"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/stability"
)

// below95 returns the reference models that remain stable when their arrival rates are divided by
// 0.95.
func below95(t *testing.T) (models []oracle.Reference) {
	t.Helper()
	for _, ref := range oracle.References() {
		v, err := stability.Cluster(t.Context(), ref.Model)
		if err != nil {
			t.Fatal(err)
		}
		if v.CriticalScale != nil && v.CriticalScale.Cmp(big.NewRat(100, 95)) > 0 {
			models = append(models, ref)
		}
	}
	return models
}

// looksNormal fails unless independent z values have mean 0 and mean square 1; it fails by chance
// once in 10^6.
func looksNormal(t *testing.T, zs []float64) {
	t.Helper()
	mean, square, beyond := 0.0, 0.0, 0
	n := float64(len(zs))
	for _, z := range zs {
		mean += z / n
		square += z * z
		if math.Abs(z) > 1.96 {
			beyond++
		}
	}
	t.Logf("%d runs: mean of z %.2f, of z² %.2f, %d beyond 1.96", len(zs), mean, square/n, beyond)
	chi := distuv.ChiSquared{K: n}
	if math.Abs(mean)*math.Sqrt(n) > 5 || chi.CDF(square) < 1e-6 || chi.Survival(square) < 1e-6 {
		t.Errorf("the z values of %d runs have mean %.2f and mean square %.2f, want 0 and 1: %.1f",
			len(zs), mean, square/n, zs)
	}
}

// All reference models below load 0.95 match, with exponential sizes and m = 0, 1 and 5
// interruptions: the z values of the total mean jobs look like a standard normal sample, and every
// class, server and delay is right.
func TestReferenceModels(t *testing.T) {
	models := below95(t)
	var zs []float64
	for _, ref := range models {
		for _, m := range []float64{0, 1, 5} {
			r, err := sim.Run(
				t.Context(), jump(ref.Model, m), sim.Settings{Runs: 16, Jumps: 1.5e4, WarmUp: 1e4, Seed: 2},
			)
			if err != nil {
				t.Fatalf("%s, m = %g: %v", ref.Name, m, err)
			}
			zs = append(zs, against(t, fmt.Sprintf("%s, m = %g", ref.Name, m), ref.Model, r)...)
		}
	}
	if len(zs) != 3*len(models) || len(models) < 9 {
		t.Fatalf("%d runs of %d models", len(zs), len(models))
	}
	looksNormal(t, zs)
}

// Under processor sharing only the mean of the sizes matters: the reference models below load 0.95
// match with two kinds of sizes each, of five kinds in turn.
func TestReferenceModelsUnderProcessorSharing(t *testing.T) {
	var zs []float64
	shapes := []string{"bimodal", "hyperexponential", "zipf", "deterministic", "lognormal:4"}
	for k, ref := range below95(t) {
		mean := 1.0
		if ref.Model.MeanSize != nil {
			mean, _ = ref.Model.MeanSize.Float64()
		}
		for turn := range 2 {
			shape := shapes[(2*k+turn)%len(shapes)]
			c := Cluster{Model: ref.Model, Policy: ProcessorSharing, Sizes: simtest.Sizes(t, shape, mean)}
			r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 12, Jumps: 4e3, WarmUp: 1.5e3, Seed: 5})
			if err != nil {
				t.Fatalf("%s, %s: %v", ref.Name, shape, err)
			}
			zs = append(zs, against(t, ref.Name+", "+shape, ref.Model, r)...)
		}
	}
	looksNormal(t, zs)
}
