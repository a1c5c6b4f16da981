package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// seen returns the delays of each replication, divided into two classes.
func seen(delays [][]float64) *seenDelays {
	lists := make([][]Histogram, len(delays))
	for r, list := range delays {
		c := make([]Counter, 2)
		for k, v := range list {
			c[k%2].add(v)
		}
		lists[r] = []Histogram{c[0].histogram(), c[1].histogram()}
	}
	d, err := newSeenDelays(context.Background(), lists)
	if err != nil {
		panic(err) // cannot fail: the context is never done
	}
	return d
}

// estimated returns a quantile of delays given by replication, nil if there is none, and the reason
// why it is missing or unreliable.
func estimated(d *seenDelays, level, confidence float64) (*Quantile, string) {
	q := &Quantile{Level: level, Confidence: confidence, Runs: len(d.runs)}
	known, why, _ := d.estimate(q)
	if !known {
		return nil, why
	}
	return q, why
}

// The estimate is in the bin of the order statistic of all delays, and the interval matches its
// definition, computed from a list of all delays.
func TestQuantileOfSortedDelays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delays := make([][]float64, rapid.IntRange(2, 6).Draw(t, "runs"))
		for r := range delays {
			delays[r] = rapid.SliceOfN(times(), 0, 60).Draw(t, "delays")
		}
		level := rapid.Float64Range(0.02, 0.98).Draw(t, "level")
		all := slices.Sorted(slices.Values(slices.Concat(delays...)))
		n := float64(len(all))
		q, why := estimated(seen(delays), level, 0.9)
		if enough := math.Min(level, 1-level)*n >= minBeyond; !enough {
			if q != nil || !strings.Contains(why, "an estimate needs 10") {
				t.Errorf("%v of %v jobs: %+v, %s", level, n, q, why)
			}
			return
		}
		exact := all[int(math.Ceil(level*n))-1]
		bin := binOf(exact)
		low, high := binEnd(bin), binEnd(bin+1)
		var inBin, before float64
		for _, v := range all {
			switch {
			case v < low:
				before++
			case v < high:
				inBin++
			}
		}
		part := (level*n - before) / inBin
		var squares float64
		for _, list := range delays {
			off := 0.0
			for _, v := range list {
				off -= level
				switch {
				case v < low:
					off++
				case v < high:
					off += part
				}
			}
			squares += off * off
		}
		runs := float64(len(delays))
		delta := distuv.StudentsT{Sigma: 1, Nu: runs - 1}.Quantile(0.95) * math.Sqrt(squares/(runs-1)*runs) / n
		for _, end := range []float64{(level - delta) * n, (level + delta) * n} {
			if off := math.Abs(end - math.Round(end)); off < 1e-6 {
				return // rounding decides which order statistic applies
			}
		}
		if level+delta > 1 {
			if q != nil || !strings.Contains(why, "no upper end") {
				t.Errorf("δ = %v: %+v, %s", delta, q, why)
			}
			return
		}
		if q == nil {
			t.Fatal(why)
		}
		if want := low + part*(high-low); math.Abs(q.Value-want) > 1e-12*want || q.Value < low || q.Value > high {
			t.Errorf("%v, want %v for the order statistic %v", q.Value, want, exact)
		}
		if want := binEnd(binOf(all[int(math.Ceil((level+delta)*n))-1]) + 1); q.High != want {
			t.Errorf("upper end %v, want %v", q.High, want)
		}
		want := 0.0
		if level > delta {
			want = binEnd(binOf(all[int(math.Ceil((level-delta)*n))-1]))
		}
		if q.Low != want {
			t.Errorf("lower end %v, want %v", q.Low, want)
		}
		if !(q.StdError >= 0 && q.Low <= q.Value && q.Value <= q.High) {
			t.Errorf("%+v", q)
		}
	})
}

// Equal delays have quantiles without error, in the bin that contains them.
func TestQuantileOfEqualDelays(t *testing.T) {
	delays := [][]float64{slices.Repeat([]float64{1.25}, 50), slices.Repeat([]float64{1.25}, 70)}
	q, why := estimated(seen(delays), 0.5, 0.95)
	if q == nil || why != "" || q.Low != 1.25 || q.High != 1.25*(1+BinWidth*0.8) {
		t.Errorf("%+v, %s", q, why)
	}
}

// With independent delays, and half as many in some replications as in others, intervals cover the
// quantile as often as stated, on both sides, and z is standard normal.
func TestIntervalsCover(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const repeats = 200
	levels := []float64{0.1, 0.5, 0.9, 0.95}
	for _, c := range []struct{ runs, jobs int }{{3, 600}, {20, 30}} {
		var below, above, beyond [4]float64
		for range repeats {
			delays := make([][]float64, c.runs)
			for k := range delays {
				for range c.jobs/2 + r.IntN(c.jobs+1) {
					delays[k] = append(delays[k], 1+r.ExpFloat64())
				}
			}
			d := seen(delays)
			for k, level := range levels {
				exact := 1 - math.Log1p(-level)
				q, why := estimated(d, level, 0.9)
				switch {
				case q == nil:
					t.Fatal(why)
				case q.High < exact:
					below[k]++
				case q.Low > exact:
					above[k]++
				}
				if math.Abs(q.Z(exact)) > 1.644854 { // a normal variable exceeds this with probability 0.1
					beyond[k]++
				}
			}
		}
		for k, level := range levels {
			near := func(what string, count, want float64) {
				// exceeded once in 1.7 million
				if tol := 5 * math.Sqrt(want*(1-want)/repeats); math.Abs(count/repeats-want) > tol {
					t.Errorf("%d runs of %d jobs, level %v: %s in %.3f of all cases, want %v",
						c.runs, c.jobs, level, what, count/repeats, want)
				}
			}
			near("too low", below[k], 0.05)
			near("too high", above[k], 0.05)
			near("|z| > 1.64", beyond[k], 0.1)
		}
		cells := repeats * float64(len(levels))
		if missed := (Sum(below[:]) + Sum(above[:])) / cells; missed > 0.12 { // cells are not quite independent
			t.Errorf("%d runs of %d jobs: %.3f of all intervals miss, want 0.1", c.runs, c.jobs, missed)
		}
	}
}

// The sums stop when the context is cancelled.
func TestSeenDelaysEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := newSeenDelays(ctx, make([][]Histogram, 3)); err == nil {
		t.Errorf("%+v", d)
	}
}

// Problems of one kind produce one warning, about the worst. Kinds stay in the order in which they
// were added.
func TestOneWarningOfEachKind(t *testing.T) {
	var w worsts
	for _, d := range []struct {
		kind   string
		enough float64
		name   string
		words  string
	}{{"x", 3, "", "a: 3"}, {"y", 0, "", "b: 0"}, {"x", 1, "", "c: 1"}, {"x", 2, "", "d: 2"}, {"x", 1, "", "e: 1"},
		{"z", 2, "f", "2 are few"}, {"z", 1, "g", "1 is few"}, {"z", 2, "h", "2 are few"}} {
		w.add(d.kind, d.enough, d.name, d.words)
	}
	for name := range 7 {
		w.add("many", 0, fmt.Sprint(name), "none")
	}
	r := &Result{}
	if w.warn(r); !slices.Equal(r.Warnings,
		[]string{"c: 1, the worst of 4 such", "b: 0", "g, f, h: 1 is few", "0, 1, 2, 3, 4 and 2 others: none"}) {
		t.Errorf("%q", r.Warnings)
	}
}

// Delays of 0, which waiting times often are, have the quantile 0 exactly.
func TestQuantilesOfZero(t *testing.T) {
	delays := make([][]float64, 4)
	for r := range delays {
		delays[r] = append(make([]float64, 600+r), 1, 2, 3)
		for len(delays[r]) < 1000 {
			delays[r] = append(delays[r], 1+float64(len(delays[r]))/1000)
		}
	}
	q, why := estimated(seen(delays), 0.5, 0.95)
	if q == nil || q.Value != 0 || q.Low != 0 || q.High != 0 || q.StdError != 0 || why != "" {
		t.Errorf("%+v, %s", q, why)
	}
	if q, _ := estimated(seen(delays), 0.7, 0.95); !(q.Low > 1.6 && q.Value >= q.Low && q.High >= q.Value &&
		q.High < 1.8) {
		t.Errorf("%+v", q)
	}
}
