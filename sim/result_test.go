package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The mean and interval of five numbers match a calculation with the quantile of Student's t from a
// table: t(0.975; 4) = 2.7764.
func TestEstimate(t *testing.T) {
	v := []float64{2, 4, 4, 7, 8}
	e := estimate(v, 0.95)
	mean, deviation := stat.MeanStdDev(v, nil)
	if se := deviation / math.Sqrt(5); math.Abs(e.Mean-mean) > 1e-15*mean || math.Abs(e.StdError-se) > 1e-15*se ||
		math.Abs(e.HalfWidth-2.7764*se) > 1e-4*se {
		t.Errorf("%+v, want mean %g and standard error %g", e, mean, se)
	}
	if e.Runs != 5 || e.Confidence != 0.95 {
		t.Errorf("%+v", e)
	}
	big := estimate([]float64{1e15 + 1, 1e15 + 2, 1e15 + 3}, 0.95) // squares keep all digits
	if want := math.Sqrt(1.0 / 3); math.Abs(big.StdError-want) > 1e-12 {
		t.Errorf("standard error %g of large numbers, want %g", big.StdError, want)
	}
}

// z is the normal quantile of the probability of Student's t: t = 2.7764 with 4 degrees of freedom
// is the 0.975 quantile, so z is 1.95996.
func TestZ(t *testing.T) {
	e := Estimate{Mean: 10, StdError: 2, Runs: 5}
	for _, c := range []struct{ exact, want float64 }{
		{10 - 2*2.776445, 1.959964}, {10 + 2*2.776445, -1.959964}, {10, 0},
	} {
		if z := e.Z(c.exact); math.Abs(z-c.want) > 1e-5 {
			t.Errorf("z = %g at %g, want %g", z, c.exact, c.want)
		}
	}
	if z := (Estimate{Mean: 1, Runs: 100}).Z(2); z != -38 { // all replications agree on a wrong value
		t.Errorf("z = %g of a certain error, want -38", z)
	}
	if z := (Estimate{Mean: 1, Runs: 100}).Z(1); z != 0 {
		t.Errorf("z = %g of a certain answer, want 0", z)
	}
	// For means of a few normal numbers, z is standard normal, but t is not.
	r := rand.New(rand.NewPCG(1, 2))
	beyond := 0
	const n = 20000
	for range n {
		v := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		if math.Abs(estimate(v, 0.95).Z(0)) > 1.959964 {
			beyond++
		}
	}
	if p := distuv.UnitNormal.Survival(math.Abs(float64(beyond)-0.05*n) / math.Sqrt(0.05*0.95*n)); p < 1e-6 {
		t.Errorf("%d of %d values of z beyond 1.96, want 5 %%", beyond, n)
	}
}

// A multiple and an inverse keep the relative error, to first order.
func TestScaledAndInverse(t *testing.T) {
	e := Estimate{Mean: 4, HalfWidth: 0.2, StdError: 0.1, Confidence: 0.9, Runs: 7}
	if got, want := *e.Scaled(0.5),
		(Estimate{Mean: 2, HalfWidth: 0.1, StdError: 0.05, Confidence: 0.9, Runs: 7}); got != want {
		t.Errorf("half is %+v, want %+v", got, want)
	}
	if got, want := *e.inverse(8),
		(Estimate{Mean: 2, HalfWidth: 0.1, StdError: 0.05, Confidence: 0.9, Runs: 7}); got != want {
		t.Errorf("inverse is %+v, want %+v", got, want)
	}
	if got := (Estimate{Runs: 3}).inverse(1); got != nil {
		t.Errorf("inverse of 0 is %+v", got)
	}
}

// MSER-5 cuts a biased start, and removes little of an unbiased series.
func TestMSER5(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		v := make([]float64, parts)
		for k := range v {
			v[k] = 10 + 0.1*r.NormFloat64()
			if k < 12 {
				v[k] -= float64(12 - k)
			}
		}
		if cut := mser5(v); cut < 11 || cut > parts/2 {
			t.Errorf("%d of %v omitted, want at least 11 and at most half", cut, v)
		}
	}
	if cut := mser5(make([]float64, parts)); cut != 0 {
		t.Errorf("%d of a constant series omitted, want 0", cut)
	}
}
