package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The p-value of dependent estimates is the p-value of the most distant one times their number.
func TestJointP(t *testing.T) {
	for _, c := range []struct {
		z    []float64
		want float64
	}{
		{nil, 0},
		{[]float64{0}, 1},
		{[]float64{1.959963984540054}, 0.05},
		{[]float64{0.3, -2.5758293035489004, 1}, 0.03},
		{[]float64{38, -38}, 0},
	} {
		if got := JointP(c.z); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.z, got, c.want)
		}
	}
}

// Estimates are skewed if an event occurs never or always in most replications, but not if the
// means of replications are normal.
func TestSkewedEstimates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 200).Draw(t, "replications")
		rare := make([]float64, n)
		rare[rapid.IntRange(0, n-1).Draw(t, "first")] = rapid.Float64Range(1, 2).Draw(t, "seen first")
		if n > 8 {
			rare[rapid.IntRange(0, n-1).Draw(t, "second")] = rapid.Float64Range(0.5, 1).Draw(t, "seen second")
		}
		sign, shift := rapid.SampledFrom([]float64{1, -1}).Draw(t, "sign"), rapid.Float64Range(-3, 3).Draw(t, "shift")
		for k := range rare {
			rare[k] = sign*rare[k] + shift
		}
		if !estimate(rare, 0.95).Skewed {
			t.Fatalf("%v is not skewed", rare)
		}
	})
	skewed := 0
	for range 2000 {
		values := make([]float64, 4+r.IntN(100))
		for k := range values {
			values[k] = r.NormFloat64()
		}
		if estimate(values, 0.95).Skewed {
			skewed++
		}
	}
	if skewed > 100 { // about 30, most of them with few values
		t.Errorf("%d of 2000 normal samples are skewed, want at most 100", skewed)
	}
}
