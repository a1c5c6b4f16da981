package num

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// On functions with one change of sign, LastPositive finds the number that LastGood finds, with at
// most four calls per bit.
func TestLastPositiveMatchesLastGood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "ln low"))
		high := low * (1 + math.Exp(rapid.Float64Range(-30, 90).Draw(t, "ln range")))
		root := low + (high-low)*math.Exp(rapid.Float64Range(-30, 0).Draw(t, "ln part"))
		power := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "ln power"))
		kind := rapid.SampledFrom([]string{"power", "step", "infinite", "flat"}).Draw(t, "kind")
		calls := 0
		f := func(x float64) float64 {
			calls++
			switch sign := math.Copysign(1, root-x); {
			case kind == "power":
				return 1 - math.Pow(x/root, power)
			case kind == "infinite":
				return sign * math.Inf(1)
			case kind == "flat" && x > root:
				return 0
			default:
				return sign
			}
		}
		want := LastGood(low, high, func(x float64) bool { return f(x) > 0 })
		calls = 0
		if got := LastPositive(low, high, f); kind != "power" && got != want ||
			!(math.Abs(got-want) <= 1e-15*want*max(1, 1/power)) { // the power is flat where it rounds to 1
			t.Fatalf("got %v, want %v", got, want)
		}
		if calls > 4*64 {
			t.Fatalf("%d calls", calls)
		}
	})
}

// Smooth functions need about a third of the calls of a bisection, however far the ends are from the
// root.
func TestLastPositiveOfSmoothFunctions(t *testing.T) {
	calls, runs := 0, 0
	for _, power := range []float64{0.1, 0.7, 1, 2, 5} {
		for _, below := range []float64{1.5, 1e3, 1e20} {
			for _, above := range []float64{1.5, 1e10, 1e40} {
				f := func(x float64) float64 { calls++; return 1/(1+math.Pow(x, power)) - 0.5 }
				if got := LastPositive(1/below, above, f); math.Abs(got-1) > 1e-15*max(1, 1/power) {
					t.Errorf("power %v from %v to %v: root %v, want 1", power, 1/below, above, got)
				}
				runs++
			}
		}
	}
	if t.Logf("%.1f calls for a root", float64(calls)/float64(runs)); calls > 25*runs {
		t.Errorf("%d calls for %d roots", calls, runs)
	}
}
