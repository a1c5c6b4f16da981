package cluster

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"productform/bf"
	"productform/cluster"
	"productform/num"
	"productform/sim"
	"productform/sim/internal/simtest"
	"productform/stability"
)

// randomCluster returns a cluster of two to four servers and as many classes, at a load of about
// 1/2 to 4/5.
func randomCluster(t *testing.T, r *rand.Rand) *cluster.Model {
	t.Helper()
	m := &cluster.Model{MeanSize: big.NewRat(1+r.Int64N(3), 2)}
	servers := 2 + r.IntN(3)
	for k := range servers {
		m.Servers = append(m.Servers, cluster.Server{Name: fmt.Sprint("s", k), Capacity: big.NewRat(1+r.Int64N(3), 1)})
	}
	for i := range servers {
		row := cluster.Class{Name: fmt.Sprint("c", i), ArrivalRate: big.NewRat(1+r.Int64N(5), 1)}
		for k := range servers {
			if k == i || r.IntN(3) == 0 {
				row.Servers = append(row.Servers, cluster.Choice{Server: k, Choose: 1})
			}
		}
		m.Classes = append(m.Classes, row)
	}
	v, err := stability.Cluster(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return m.Scale(new(big.Rat).Mul(v.CriticalScale, big.NewRat(50+r.Int64N(30), 100)))
}

// Simulated quantiles of random FCFS clusters match theory: about a hundred z values look standard
// normal, except for correlations within each cluster.
func TestQuantilesMatchTheory(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	levels := []float64{0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}
	var exact []*big.Rat
	for _, level := range levels {
		exact = append(exact, new(big.Rat).SetFloat64(level))
	}
	var count, square, outside float64
	for seed := range uint64(15) {
		m := randomCluster(t, r)
		theory, err := bf.Answer(t.Context(), m, bf.Question{Levels: exact, OfAll: true}, bf.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := simtest.Run(t, Cluster{Model: m}, sim.Settings{
			Runs:   20,
			Jumps:  7e3,
			WarmUp: 1e3,
			Seed:   seed,
			Levels: levels,
		})
		compare := func(kind sim.Kind, i int, theory []num.Value) {
			for k, level := range levels {
				q := s.Quantile(kind, i, level)
				if q == nil {
					t.Errorf("seed %d: %s %d has no quantile at %v: %q", seed, kind, i, level, s.Warnings)
					continue
				}
				z := q.Z(theory[k].Float)
				if !(math.Abs(z) < 5) { // exceeded once in 1.7 million
					t.Errorf("seed %d: %s %d, level %v: %.5g ± %.2g, exact %.5g, z = %.1f",
						seed, kind, i, level, q.Value, q.StdError, theory[k].Float, z)
				}
				count++
				square += z * z
				if math.Abs(z) > 1.96 {
					outside++
				}
			}
		}
		compare(sim.OfAll, 0, theory.Quantiles)
		for i, c := range theory.Classes {
			compare(sim.OfClass, i, c.Quantiles)
		}
	}
	if rms := math.Sqrt(square / count); count < 400 || math.Abs(rms-1) > 0.2 || outside > 0.1*count {
		t.Errorf("of %g quantiles the root mean square of z is %.3f, and %g are beyond 1.96", count, rms, outside)
	}
}
