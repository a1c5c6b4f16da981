package whittle_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/whittle"
)

// relativeError returns |got - want| / want, exactly computed.
func relativeError(got float64, want *big.Rat) float64 {
	if want.Sign() == 0 {
		return got // 0 expected: any other number is off by as much
	}
	gap := sub(new(big.Rat).SetFloat64(got), want)
	v, _ := quo(gap.Abs(gap), want).Float64()
	return v
}

// Every number is within RelativeErrorBound of the exact engine, at any load.
func TestFloatWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t, 4)
		if rapid.Bool().Draw(t, "near instability") {
			worst := new(big.Rat)
			for a := 1; a < len(n.Rank); a++ {
				if r := quo(setRate(n.ArrivalRates, a), n.Rank[a]); r.Cmp(worst) > 0 {
					worst = r
				}
			}
			for i := range n.ArrivalRates {
				n.ArrivalRates[i] = mul(n.ArrivalRates[i], quo(num.Rat("999999999999/1000000000000"), worst))
			}
		}
		l := drawLattice(t, len(n.ArrivalRates))
		want := mustSolve(t, n, l)
		got, err := whittle.Stationary(t.Context(), n, l, whittle.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, v, exact num.Value) {
			if e := relativeError(v.Float, exact.Exact); e > got.RelativeErrorBound || v.Exact != nil || v.Low != nil {
				t.Fatalf("%s = %v is off by %g > %g", what, v, e, got.RelativeErrorBound)
			}
		}
		check("weight inside", got.Inside, want.Inside)
		check("weight outside", got.Outside, want.Outside)
		check("Z", got.Normalization, want.Normalization)
		check("π(0)", got.EmptyProbability, want.EmptyProbability)
		check("mass left out", got.MassLeftOut, want.MassLeftOut)
		for k := range l.All() {
			check("w", got.Weight(k), want.Weight(k))
			check("π", got.Prob(k), want.Prob(k))
			if got.Phi(k) != nil {
				t.Fatalf("Φ = %v", got.Phi(k))
			}
		}
		for i := range got.MeanJobs {
			check("mean", got.MeanJobs[i], want.MeanJobs[i])
			check("mean left out", got.MeanLeftOut[i], want.MeanLeftOut[i])
			for k, p := range got.Marginals[i] {
				check("marginal", p, want.Marginals[i][k])
			}
		}
		for k, p := range got.JobsDistribution {
			check("distribution", p, want.JobsDistribution[k])
		}
	})
}

// Weights far below 1e-200 vanish; everything else keeps its digits. X is geometric with ρ =
// 2^-140.
func TestFloatFarBelowOne(t *testing.T) {
	rho := power(num.Rat("1/2"), 140)
	r, err := whittle.Stationary(
		t.Context(), &whittle.Network{ArrivalRates: []*big.Rat{rho}, Rank: []*big.Rat{nil, num.Rat("1")}},
		whittle.Box(9), whittle.Settings{},
	)
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range r.Marginals[0] {
		want := mul(power(rho, k), sub(num.Rat("1"), rho))
		gap, _ := sub(new(big.Rat).SetFloat64(p.Float), want).Float64()
		if e := relativeError(p.Float, want); e > r.RelativeErrorBound && (gap > 1e-200 || gap < -1e-200) {
			t.Errorf("P(X = %d) = %v is off by %g", k, p, e)
		}
	}
	if e := relativeError(r.MeanJobs[0].Float, quo(rho, sub(num.Rat("1"), rho))); e > r.RelativeErrorBound {
		t.Errorf("mean %v is off by %g", r.MeanJobs[0], e)
	}
}

func TestFloatReferenceAnswers(t *testing.T) {
	for _, c := range referenceCases() {
		n := network(t, c)
		r, err := whittle.Stationary(t.Context(), n, whittle.Simplex(len(n.ArrivalRates), 4), whittle.Settings{})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for i, want := range c.Expect.MeanJobs {
			if e := relativeError(r.MeanJobs[i].Float, want); e > r.RelativeErrorBound {
				t.Errorf("%s: E[X_%d] = %v, want %s within %g", c.Name, i, r.MeanJobs[i], want, r.RelativeErrorBound)
			}
		}
	}
}

func BenchmarkStationary(b *testing.B) {
	n := network(b, referenceCases()[3]) // 5 classes, load 7/10
	for _, c := range []struct {
		name    string
		lattice whittle.Lattice
	}{
		{"states=1e5/lattice=box", whittle.Box(9, 9, 9, 9, 9)},
		{"states=1e7/lattice=box", whittle.Box(24, 24, 24, 24, 24)},
		{"states=1e7/lattice=simplex", whittle.Simplex(5, 62)},
	} {
		b.Run(c.name, func(b *testing.B) {
			states, _ := c.lattice.States()
			for b.Loop() {
				if _, err := whittle.Stationary(b.Context(), n, c.lattice, whittle.Settings{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(states), "ns/state")
		})
	}
}

func BenchmarkStationaryExact(b *testing.B) {
	n := network(b, referenceCases()[3])
	b.Run("states=7776/lattice=box", func(b *testing.B) {
		for b.Loop() {
			if _, err := whittle.Stationary(b.Context(), n, whittle.Box(5, 5, 5, 5, 5), exactly); err != nil {
				b.Fatal(err)
			}
		}
	})
}
