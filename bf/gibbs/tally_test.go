package gibbs

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// For any number of sweeps, batches have equal lengths and contain all sweeps in order. After a
// number of sweeps returned by roundToBatches, which rounds up by at most an eighth, there are 8 to
// 15 batches.
func TestBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit, asked := rapid.IntRange(1, 5).Draw(t, "unit"), rapid.IntRange(1, 2000).Draw(t, "asked")
		n := roundToBatches(max(asked, fewest*unit), unit)
		if low := max(asked, fewest*unit); n < low || 8*n > 9*low+8*unit {
			t.Fatalf("%d sweeps for %d", n, low)
		}
		y := newTally(3, 2, 1)
		for range rapid.IntRange(0, 100).Draw(t, "before") {
			y.add([]float64{9, 9}, 0)
			y.next()
		}
		y.reset(unit)
		for k := range n {
			y.add([]float64{float64(k), 1}, 0)
			if (k+1)%unit == 0 {
				y.add([]float64{float64(k)}, 2)
			}
			y.next()
		}
		full := y.full()
		if len(full) < fewest || len(full) >= mostBatches || len(full)*y.length != n || y.done != 0 {
			t.Fatalf("%d batches of %d for %d sweeps", len(full), y.length, n)
		}
		for b, got := range full {
			var want batch
			want.sums, want.squares = make([]float64, 3), make([]float64, 2)
			for k := b * y.length; k < (b+1)*y.length; k++ {
				x := float64(k)
				want.sums[0] += x
				want.sums[1]++
				want.squares[0] += x * x
				want.squares[1]++
				if (k+1)%unit == 0 {
					want.sums[2] += x
				}
			}
			for j := range want.sums {
				if got.sums[j] != want.sums[j] || j < 2 && got.squares[j] != want.squares[j] {
					t.Fatalf("batch %d: %v, want %v", b, got, want)
				}
			}
		}
	})
}

// autoregressive returns tallies of chains of the process x' = r x + √(1-r²) noise around a mean,
// with variance 1, and of its square.
func autoregressive(seed uint64, r, mean float64, sweeps int, apart float64) []*tally {
	random := newTestRandom(seed)
	var all []*tally
	for k := range chains {
		y := newTally(2, 2, 1)
		x := random.NormFloat64()
		for range sweeps {
			x = r*x + math.Sqrt(1-r*r)*random.NormFloat64()
			v := mean + x + apart*float64(k%2)
			y.add([]float64{v, v * v}, 0)
			y.next()
		}
		all = append(all, y)
	}
	return all
}

// If the correlation of a process falls as r^k, (1+r)/(1-r) values carry as much information as one
// independent value. Intervals contain the mean of the process as often as promised, and so do
// intervals of its variance, the covariance of the process with itself.
func TestCorrelatedProcess(t *testing.T) {
	const r, mean, runs = 0.5, 5., 400
	sum, outside, far := 0.0, 0, 0
	for seed := range uint64(runs) {
		x := newSample(autoregressive(seed, r, mean, 1024, 0), 0, 0.95)
		sum += x.autocorrelation(0)
		e := x.mean(0)
		if math.Abs(e.Z(mean)) > 1.96 {
			outside++
		}
		if math.Abs(x.covariance(1, 0, 0, 0).Z(1)) > 1.96 {
			far++
		}
		unseen := 3 / (8 * 1024 / x.autocorrelation(0)) * e.Mean
		if want := math.Sqrt(1.98*1.98*e.StdError*e.StdError +
			unseen*unseen); math.Abs(e.HalfWidth-want) > 0.01*e.HalfWidth {
			t.Errorf("half-width %v of standard error %v and %v for what is unseen, want %v",
				e.HalfWidth, e.StdError, unseen, want)
		}
		if hat := x.splitRHat(0); hat > 1.02 {
			t.Errorf("seed %d: R-hat %v", seed, hat)
		}
	}
	if got, want := sum/runs, (1+r)/(1-r); math.Abs(got-want) > 0.05*want {
		t.Errorf("%v values are worth an independent one, want %v", got, want)
	}
	for what, missed := range map[string]int{"mean": outside, "variance": far} {
		if math.Abs(float64(missed)-0.05*runs) > 4*math.Sqrt(0.05*0.95*runs) {
			t.Errorf("%d of %d intervals of the %s miss", missed, runs, what)
		}
	}
}

// Chains whose means are 0.7 standard deviations apart disagree.
func TestDisagreement(t *testing.T) {
	x := newSample(autoregressive(1, 0.5, 5, 1024, 0.7), 0, 0.95)
	if hat := x.splitRHat(0); !(hat > mostRHat && hat < 1.1) {
		t.Errorf("R-hat %v", hat)
	}
}
