package network

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
)

// A quantile is between times whose tails, computed by uniformization in float64, enclose the
// requested tail.
func TestQuantileAgainstUniformization(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := waitingQueue{Servers: rapid.IntRange(1, 6).Draw(t, "servers"), Rest: new(big.Float)}
		q.Rate = big.NewRat(rapid.Int64Range(1, 1000).Draw(t, "rate"), 100)
		weights := rapid.SliceOfN(rapid.Int64Range(0, 9), 1, 40).Draw(t, "weights")
		weights[rapid.IntRange(0, len(weights)-1).Draw(t, "certain")]++
		var sum int64
		for _, w := range weights {
			sum += w
		}
		shares := make([]float64, len(weights))
		for n, w := range weights {
			q.Seen = append(q.Seen, num.FromRat(big.NewRat(w, sum), waitingPrecision))
			shares[n] = float64(w) / float64(sum)
		}
		share := big.NewRat(rapid.Int64Range(1, 9999).Draw(t, "share"), 10000)
		q.BeforeService = rapid.Bool().Draw(t, "before service")
		x, err := q.Quantile(t.Context(), share, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		if x.Low == nil || x.Low.Sign() == 0 { // at most that share waits
			waits := uniformized(q.Servers, 1, shares, 0, true)
			if most, _ := share.Float64(); !q.BeforeService || waits > most*(1+1e-12) {
				t.Errorf("quantile 0, but the share %v waits", waits)
			}
			return
		}
		low, _ := x.Low.Float64()
		high, _ := x.High.Float64()
		want, _ := share.Float64()
		rate, _ := q.Rate.Float64()
		before, after := uniformized(q.Servers, rate, shares, low, q.BeforeService),
			uniformized(q.Servers, rate, shares, high, q.BeforeService)
		if before < want*(1-1e-9) || after > want*(1+1e-9) {
			t.Errorf("tails %v at %v and %v at %v, want %v between them", before, low, after, high, want)
		}
		if !(high-low <= 1e-9*high) {
			t.Errorf("[%v, %v] is too wide", low, high)
		}
	})
}

// uniformized returns the tail at time t by uniformization: at the times of a Poisson process with
// rate mν, a waiting job moves up one position, and a job in service finishes with probability 1/m.
// Waits counts only the jobs that are not in service.
func uniformized(servers int, rate float64, found []float64, t float64, waits bool) float64 {
	places := make([]float64, max(len(found)-servers, 0)+1) // index 0 means in service, k means k - 1 jobs ahead
	for n, p := range found {
		places[max(n-servers+1, 0)] += p
	}
	mean := rate * float64(servers) * t
	weight, tail := math.Exp(-mean), 0.0
	for j := 1; ; j++ {
		left := 0.0
		for k, p := range places {
			if k > 0 || !waits {
				left += p
			}
		}
		tail += weight * left
		if float64(j) > 2*mean && weight < 1e-30 {
			return tail
		}
		weight *= mean / float64(j)
		places[0] *= 1 - 1/float64(servers)
		for k := 1; k < len(places); k++ {
			places[k-1] += places[k]
			places[k] = 0
		}
	}
}

// The delay in M/M/1 is exponential with rate ν - λ, even if λ is very close to ν.
func TestQuantileNearFullLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := new(big.Rat).SetFrac64(rapid.Int64Range(1, 9).Draw(t, "digit"),
			int64(math.Pow10(rapid.IntRange(1, 17).Draw(t, "exponent"))))
		rate := big.NewRat(rapid.Int64Range(1, 1000).Draw(t, "rate"), 10)
		idle := num.FromRat(gap, waitingPrecision)
		wait := num.FromRat(new(big.Rat).Sub(big.NewRat(1, 1), gap), waitingPrecision)
		q := waitingQueue{Servers: 1, Rate: rate, Rest: new(big.Float), Seen: []num.Interval{idle}, Wait: &wait,
			Free: new(big.Rat).Mul(gap, rate)}
		share := big.NewRat(1, rapid.Int64Range(2, 1_000_000).Draw(t, "one in"))
		x, err := q.Quantile(t.Context(), share, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := share.Float64()
		free, _ := q.Free.Float64()
		if want := -math.Log(s) / free; math.Abs(x.Float-want) > 1e-9*want {
			t.Errorf("quantile %v, want %v", x, want)
		}
	})
}

// Probes around the mean find a quantile with thousands of jobs using far fewer tails than a
// bisection.
func TestApproachOfManyJobs(t *testing.T) {
	q := waitingQueue{Servers: 4, Rate: big.NewRat(1, 1), Rest: new(big.Float), Seen: make([]num.Interval, 801)}
	for n := range q.Seen {
		q.Seen[n] = num.FromInt(0, waitingPrecision)
	}
	q.Seen[800] = num.FromInt(1, waitingPrecision)
	for _, share := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 100), big.NewRat(1, 10000)} {
		s := q.approach(t.Context(), num.FromRat(share, waitingPrecision), 1e-9)
		if !(s.above-s.below <= 1e-10*s.above) {
			t.Errorf("share %v: between %v and %v", share, s.below, s.above)
		}
	}
}
