package hb02

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
	"productform/sizes"
	"productform/tags"
)

// closeTo reports whether two numbers agree up to a relative difference.
func closeTo(a, b, part float64) bool { return math.Abs(a-b) <= part*math.Abs(b) }

// The literal formulas of the Appendix agree with package tags, which uses another method, on
// random farms. Cancellation loses at most 1e-16 times the largest term of p_i or of a moment, here
// about 1e-9.
func TestAppendixAgreesWithTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.SampledFrom([]float64{0.7, 1, 1.3, 2}).Draw(t, "alpha")
		hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
		load := rapid.Float64Range(0.05, 0.9).Draw(t, "load")
		jobSizes, err := sizes.NewBoundedParetoOfMean(alpha, 1e7, 3000)
		if err != nil {
			t.Fatal(err)
		}
		low, high, _ := jobSizes.Support()
		m := tags.Model{Sizes: jobSizes, Hosts: hosts, Load: load}
		q := ParetoFarm{Low: low, High: high, Alpha: alpha, Hosts: hosts, Load: load}
		var cutoffs []float64
		at := math.Log(q.Low)
		for range hosts - 1 {
			at += rapid.Float64Range(0.5, 2).Draw(t, "ratio")
			cutoffs = append(cutoffs, math.Exp(at))
		}
		r, err := tags.Evaluate(context.Background(), m, tags.PolicyTAGS, cutoffs)
		if errors.Is(err, num.ErrUnstable) {
			if all, _ := q.Evaluate(cutoffs...); !math.IsInf(all.Slowdown, 1) {
				t.Fatalf("%v, the Appendix gives %v", err, all)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		all, seen := q.Evaluate(cutoffs...)
		part := 1e-9
		for i, host := range r.Hosts {
			part = max(part, 1e-12/host.Slack.Float)
			if !closeTo(seen[i].Load, host.Load.Float, 1e-9) {
				t.Fatalf("load %v of host %d, want %v", seen[i].Load, i+1, host.Load.Float)
			}
		}
		if !closeTo(all.Slowdown, r.MeanSlowdown.Float, part) || !closeTo(all.Waiting, r.MeanWaiting.Float, part) {
			t.Fatalf("%v, want %v and %v", all, r.MeanSlowdown.Float, r.MeanWaiting.Float)
		}
	})
}

// Jobs wait in M/M/1 with probability ρ, and in M/M/2 with probability 2ρ²/(1 + ρ).
func TestWaitProbability(t *testing.T) {
	for _, rho := range []float64{0.01, 0.5, 0.99} {
		if got := WaitProbability(1, rho); !closeTo(got, rho, 1e-14) {
			t.Errorf("one host: %v, want %v", got, rho)
		}
		if got, want := WaitProbability(2, rho), 2*rho*rho/(1+rho); !closeTo(got, want, 1e-14) {
			t.Errorf("two hosts: %v, want %v", got, want)
		}
	}
}
