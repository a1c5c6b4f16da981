package network_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/network"
	"productform/num"
)

// logPoisson returns the logarithms of P(Poisson(a) = k) for k = 0, ..., n.
func logPoisson(a float64, n int) []float64 {
	list := make([]float64, n+1)
	for k := range list {
		g, _ := math.Lgamma(float64(k) + 1)
		list[k] = float64(k)*math.Log(a) - a - g
	}
	return list
}

// Very large pools match sums over all states, by logarithms of factorials.
func TestPoolsMatchSumOverStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1<<15, 5<<13).Draw(t, "servers")
		busy := rapid.SampledFrom([]float64{0.001, 0.5, 0.99, 0.999, 0.9999}).Draw(t, "load")
		discipline := rapid.SampledFrom([]network.Discipline{
			network.FCFS, network.Sharing, network.LCFS, network.Random,
		}).Draw(t, "discipline")
		size := big.NewRat(1, 2)
		rate := new(big.Rat).SetFloat64(2 * busy * float64(n))
		m := queueOf(n, rate, size)
		m.Stations[0].Discipline = discipline
		second := m.Classes[0]
		second.Name = "b"
		m.Classes = append(m.Classes, second) // half of the load each
		m = m.Scale(half)
		q := network.Question{MaxJobs: 100}
		r, err := network.Answer(t.Context(), m, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		a := busy * float64(n)
		logs := logPoisson(a, n)
		rho := a / float64(n)
		sum := math.Exp(logs[n]) / (1 - rho) // P(all busy) e^a p0
		waits := sum
		for _, x := range logs[:n] {
			sum += math.Exp(x)
		}
		waits /= sum
		jobs := a + waits*rho/(1-rho)
		s := r.Stations[0]
		if !oracle.Near(s.MeanJobs.Float, jobs, 1e-9) || !oracle.Near(s.Visits[1].MeanJobs.Float, jobs/2, 1e-9) ||
			!oracle.Near(s.Utilization.Float, rho, 1e-12) {
			t.Fatalf("%v jobs, %v of b, utilization %v, want %v, %v",
				s.MeanJobs, s.Visits[1].MeanJobs, s.Utilization, jobs, rho)
		}
		for k, p := range s.JobsDistribution {
			// logarithms of up to 1e5 have an error of 1e-10
			if want := math.Exp(logs[k] - math.Log(sum)); !oracle.Near(p.Float, want, 1e-9) && want > 1e-300 {
				t.Fatalf("P(%d jobs) = %v, want %v", k, p.Float, want)
			}
		}
		// an enclosure takes a step for each idle server
		if busy > 0.9 || rapid.IntRange(0, 3).Draw(t, "enclose") == 0 {
			closer, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Enclose, RelTol: 1e-25})
			if err != nil {
				t.Fatal(err)
			}
			of := closer.Stations[0]
			if off := math.Abs(of.MeanJobs.Float/s.MeanJobs.Float - 1); off > r.RelativeErrorBound {
				t.Fatalf("%v jobs, want %v within %v", s.MeanJobs.Float, of.MeanJobs.Float, r.RelativeErrorBound)
			}
			if !oracle.Near(of.ProbEmpty.Float, s.ProbEmpty.Float, 1e-9) {
				t.Fatalf("empty %v, want %v", s.ProbEmpty.Float, of.ProbEmpty.Float)
			}
		}
		if discipline == network.FCFS {
			checkPoolTimes(t, m, waits, float64(n)*2*(1-rho))
		}
	})
}

// checkPoolTimes checks the times of a pool with the mean size 1/2: a job waits with a probability,
// for an exponential time.
func checkPoolTimes(t *rapid.T, m *network.Model, waits, free float64) {
	at := 1 / free
	q := network.DelayQuestion{Levels: []*big.Rat{ninetyNine}, Times: []*big.Rat{new(big.Rat).SetFloat64(at)}}
	r, err := network.Delays(t.Context(), m, q, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w := r[1].Waiting
	if !oracle.Near(w.Probability.Float, waits, 1e-9) && waits > 1e-300 {
		t.Fatalf("waits with probability %v, want %v", w.Probability.Float, waits)
	}
	if want := waits / math.E; !oracle.Near(w.Tails[0].Float, want, 1e-9) && waits > 1e-300 {
		t.Fatalf("P(W > t) = %v, want %v", w.Tails[0].Float, want)
	}
	if want := math.Max(0, math.Log(100*waits)/free); !oracle.Near(w.Quantiles[0].Float, want, 1e-8) {
		t.Fatalf("quantile %v, want %v", w.Quantiles[0].Float, want)
	}
	theta := free / 2 // in units of the service rate
	tail := func(x float64) float64 {
		both := x
		if theta != 1 {
			both = math.Expm1((1-theta)*x) / (1 - theta)
		}
		return math.Exp(-x) * (1 + waits*both)
	}
	if got := tail(2 * r[1].Quantiles[0].Float); math.Abs(got-0.01) > 1e-8 {
		t.Fatalf("quantile %v of the delay has the tail %v", r[1].Quantiles[0].Float, got)
	}
}

// If the waiting time has the rate of service, the delay of a job that waits has two equal stages.
func TestPoolWithEqualRates(t *testing.T) {
	const n = 40_000
	m := queueOf(n, big.NewRat(n-1, 1), big.NewRat(1, 1))
	q := network.DelayQuestion{Times: []*big.Rat{big.NewRat(1, 3), big.NewRat(2, 1)}}
	r, err := network.Delays(t.Context(), m, q, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range []float64{1. / 3, 2} {
		want := math.Exp(-at) * (1 + r[0].Waiting.Probability.Float*at)
		if !oracle.Near(r[0].Tails[i].Float, want, 1e-12) {
			t.Errorf("P(T > %v) = %v, want %v", at, r[0].Tails[i].Float, want)
		}
	}
}

// A million servers are solved; fractions and likely states are rejected.
func TestMillionServers(t *testing.T) {
	m := queueOf(1_000_000, big.NewRat(999_000, 1), big.NewRat(1, 1))
	r, err := network.Solve(t.Context(), m, network.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// the probability of waiting by Erlang's recursion over all servers
	inverse := 1.0
	for n := 1.0; n <= 1e6; n++ {
		inverse = 1 + n/999_000*inverse
	}
	want := 999_000 + 1/(0.001*inverse+0.999)*999
	if !oracle.Near(r.Stations[0].MeanJobs.Float, want, 1e-12) {
		t.Errorf("%v jobs, want %v", r.Stations[0].MeanJobs.Float, want)
	}
	var large *num.TooLargeError
	if _, err := network.Solve(t.Context(), m, network.Settings{Engine: num.Exact}); !errors.As(err, &large) {
		t.Errorf("fractions: %v", err)
	}
	_, err = network.Answer(t.Context(), m, network.Question{States: 1}, network.Settings{})
	if !errors.As(err, &large) {
		t.Errorf("likely states: %v", err)
	}
	if b, err := network.Bounds(t.Context(), m); err != nil || len(b) > 0 {
		t.Errorf("bounds %v, %v", b, err)
	}
}

// With m servers of rate 1 and m-1 arrivals, jobs that wait do so for an exponential time of mean 1:
// E[W] is the probability that a job waits, Erlang's C, and P(T > t) = e^-t (1 + C t).
func TestWaitsAsLongAsService(t *testing.T) {
	for m := 2; m <= 20; m++ {
		q := network.DelayQuestion{Times: []*big.Rat{big.NewRat(3, 2)}}
		model := queueOf(m, big.NewRat(int64(m-1), 1), big.NewRat(1, 1))
		list, err := network.Delays(t.Context(), model, q, network.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		a, inverse := float64(m-1), 1.0
		for j := 1; j <= m; j++ {
			inverse = 1 + float64(j)/a*inverse
		}
		wait := 1 / (inverse/float64(m) + a/float64(m))
		d := list[0]
		for _, x := range []struct {
			got  *num.Value
			want float64
		}{
			{&d.Waiting.Probability, wait}, {d.Waiting.Mean, wait}, {&d.Tails[0], math.Exp(-1.5) * (1 + 1.5*wait)},
		} {
			if x.got == nil || !(math.Abs(x.got.Float-x.want) <= 1e-13*x.want) { // a few roundings per server
				t.Errorf("%d servers: %v, want %v", m, x.got, x.want)
			}
		}
	}
}
