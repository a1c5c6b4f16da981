package logstats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/cluster"
	"productform/dispatch/joblog"
	"productform/internal/input"
)

// ofAccount is the index of the account in [Job.Numbers].
var ofAccount = slices.Index(fields[:], "account")

// A fit keeps the number of jobs and the work of every group, puts each job into one class, and
// reads back from its file as it is.
func TestFitKeepsWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog(t)
		most := rapid.SampledFrom([]int64{1, 7, 64}).Draw(t, "processors")
		by := rapid.SampledFrom([]string{"account", Size}).Draw(t, "by")
		work, count := map[string]float64{}, map[string]int{} // by group
		first, last := math.Inf(1), math.Inf(-1)
		var empty, large int
		for i := range log.Jobs {
			switch j := &log.Jobs[i]; {
			case j.RunTime == 0:
				empty++
			case j.Processors > most:
				large++
			default:
				group := Size
				if by != Size {
					group = strings.Replace(fmt.Sprint(j.Numbers[ofAccount]), "-1", "unknown", 1)
				}
				first, last = min(first, j.Submit), max(last, j.Submit)
				work[group] += float64(j.Processors) * j.RunTime
				count[group]++
			}
		}
		f, err := FitModel(t.Context(), log, by, most)
		isKnown := by == Size || slices.ContainsFunc(log.Jobs, func(j Job) bool { return j.Numbers[ofAccount] >= 0 })
		if first >= last || !isKnown {
			if err == nil {
				t.Fatal("no span, or no account")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.Empty != empty || f.TooLarge != large || f.Span != last-first {
			t.Fatalf("%+v", f)
		}
		isOne, load := true, 0.0
		for i, c := range f.Classes {
			group, _, _ := strings.Cut(c.Name, "/")
			rate, _ := f.Model.Classes[i].ArrivalRate.Float64()
			size, _ := f.Model.MeanSizeOf(i).Float64()
			brings := rate * size * float64(c.Needs)
			work[group] -= brings * f.Span
			load += brings / float64(most)
			isOne = isOne && c.Largest == 1
			if count[group] -= c.Jobs; !closeTo(rate*f.Span, float64(c.Jobs)) ||
				!closeTo(c.Load, brings/float64(most)) {
				t.Errorf("%s: %v jobs, rate %v, load %v", c.Name, c.Jobs, rate, c.Load)
			}
			if !(c.Smallest <= int64(c.Needs) && int64(c.Needs) <= c.Largest && c.Largest <= max(1, 2*c.Smallest)) {
				t.Errorf("%+v", c)
			}
		}
		for group, left := range work {
			if math.Abs(left) > 1e-6 || count[group] != 0 { // of at most 60 x 40 x 2e5
				t.Errorf("group %q: work %v and %d jobs are lost", group, left, count[group])
			}
		}
		if (f.Service == cluster.OneServer) != isOne || !closeTo(f.Load, load) {
			t.Errorf("service %s, load %v, want %v", f.Service, f.Load, load)
		}
		var text bytes.Buffer
		if err := f.Model.WriteYAML(&text, cluster.Comments{}); err != nil {
			t.Fatal(err)
		}
		again, err := cluster.ReadYAML(&text)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range again.Classes {
			if c.Name != f.Classes[i].Name || c.ArrivalRate.Cmp(f.Model.Classes[i].ArrivalRate) != 0 ||
				c.MeanSize.Cmp(f.Model.Classes[i].MeanSize) != 0 {
				t.Errorf("class %d: %+v", i, c)
			}
		}
	})
}

// Frequent numbers of processors have separate classes, and the others bands by powers of two;
// names of classes differ.
func TestFitClasses(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("submit,run_time,cpus,account\n")
	jobs := 0
	add := func(group string, times int, processors ...int64) {
		for range times {
			for _, p := range processors {
				fmt.Fprintf(&csv, "%d,1,%d,%s\n", jobs, p, group)
				jobs++
			}
		}
	}
	add("a", 20, 1, 8)
	add("a", 19, 2, 6)
	add("a", 1, 5, 7, 33, 60)
	add("a/2", 3, 4)
	add("", 2, 5)
	log, err := Read(t.Context(), joblog.NewReader(strings.NewReader(csv.String()), "log", joblog.Dialect{}), "log")
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]string{
		"account": "a/1:1 a/2:2 a/5-7:6 a/8:8 a/33-60:47 a/2/4:4 unknown:5",
		Size:      "size/1:1 size/2:2 size/4:4 size/5-7:6 size/8:8 size/33-60:47",
	} {
		f, err := FitModel(t.Context(), log, by, 64)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range f.Classes {
			got = append(got, fmt.Sprintf("%s:%d", c.Name, c.Needs))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// drawn returns a log of a model: rates per second, mean sizes and processors by class.
func drawn(seed uint64, n int, rates, means []float64, needs []int64) *Log {
	r := rand.New(rand.NewPCG(seed, 0))
	var total, now float64
	for _, rate := range rates {
		total += rate
	}
	log := &Log{}
	for range n {
		now += r.ExpFloat64() / total
		k, left := 0, r.Float64()*total
		for ; k < len(rates)-1 && left >= rates[k]; k++ {
			left -= rates[k]
		}
		j := Job{Submit: now, Wait: float64(k), RunTime: r.ExpFloat64() * means[k], Processors: needs[k]}
		j.Numbers[ofAccount] = int64(k)
		log.Jobs = append(log.Jobs, j)
	}
	return log
}

// A log drawn from a model gives the model back. Estimates of N jobs have standard errors of about
// 1/√N, and 2/√N for squared coefficients of variation; all are within 6 of them, and distances
// within that of the Dvoretzky-Kiefer-Wolfowitz inequality at 10^-7, √(ln(2·10^7)/2N) = 2.9/√N.
func TestFitRecoversModel(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rates, means []float64
		var needs []int64
		for range 1 + r.IntN(4) {
			rates, means = append(rates, 0.2+r.Float64()), append(means, 100*r.Float64()+1)
			needs = append(needs, 1+r.Int64N(16))
		}
		f, err := FitModel(t.Context(), drawn(seed, 5000, rates, means, needs), "account", 16)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Classes) != len(rates) {
			t.Fatalf("seed %d: %d classes, want %d", seed, len(f.Classes), len(rates))
		}
		for k, c := range f.Classes {
			root := math.Sqrt(float64(c.Jobs))
			for _, x := range []struct {
				what              string
				got, want, errors float64
			}{
				{"arrival rate", c.Rate, rates[k], 6 / root},
				{"mean size", c.MeanSize, means[k], 6 / root},
				{"SCV of sizes", c.SizeSCV, 1, 12 / root},
				{"SCV of gaps", *c.GapSCV, 1, 12 / root},
				{"1 + distance", 1 + c.Distance, 1, 2.9 / root},
			} {
				if !(math.Abs(x.got-x.want) <= x.errors*x.want) {
					t.Errorf("seed %d, class %d of %d jobs: %s %v, want %v", seed, k, c.Jobs, x.what, x.got, x.want)
				}
			}
			if int64(c.Needs) != needs[k] || *c.MeanWait != float64(k) {
				t.Errorf("seed %d, class %d: needs %d, want %d; wait %v", seed, k, c.Needs, needs[k], *c.MeanWait)
			}
		}
	}
}

// The distance from the exponential distribution is that at the sizes and just before them.
func TestExponentialDistance(t *testing.T) {
	// n equal sizes have no mass below their mean: 1 - 1/e just before it
	if got, want := exponentialDistance([]float64{3, 3, 3}, 3), 1-1/math.E; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Float64Range(0.001, 10), 1, 20).Draw(t, "sizes")
		var want float64
		for _, at := range sizes {
			for _, x := range []float64{math.Nextafter(at, 0), at} {
				share := 0.0
				for _, s := range sizes {
					if s <= x {
						share += 1 / float64(len(sizes))
					}
				}
				want = max(want, math.Abs(share-(1-math.Exp(-x/2))))
			}
		}
		if got := exponentialDistance(slices.Clone(sizes), 2); math.Abs(got-want) > 1e-12 { // rounding of both sums
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// Exponential sizes exceed the chance distance in 5 % of 4000 samples, of standard error 0.35 %;
// the table has errors of a few tenths of a percent.
func TestChanceDistance(t *testing.T) {
	for _, n := range []int{5, 20, 100} {
		r := rand.New(rand.NewPCG(uint64(n), 0))
		beyond := 0
		sizes := make([]float64, n)
		for range 4000 {
			mean := 0.0
			for i := range sizes {
				sizes[i] = r.ExpFloat64()
				mean += sizes[i] / float64(n)
			}
			if exponentialDistance(sizes, mean) > chanceDistance(n) {
				beyond++
			}
		}
		if share := float64(beyond) / 4000; math.Abs(share-0.05) > 0.02 {
			t.Errorf("%d sizes: %v beyond, want 0.05", n, share)
		}
	}
}

// Bad input is named, and a cancelled fit ends.
func TestBadFits(t *testing.T) {
	job := func(submit float64, processors int64) Job {
		return Job{Submit: submit, RunTime: 2, Processors: processors, Numbers: [...]int64{-1, -1, 3, -1, -1}}
	}
	good := []Job{job(1, 1), job(2, 2)}
	for _, c := range []struct {
		jobs       []Job
		by         string
		processors int64
		want       string
	}{
		{[]Job{{RunTime: 1, Wait: -1, Processors: 1}}, Size, 0,
			"Processors = 0: want an integer in 1..1000000: the log has neither MaxProcs nor waiting times"},
		{good, Size, -1, "Processors = -1: want an integer in 1..1000000"},
		{good, Size, 1_000_001, "Processors = 1000001: want an integer in 1..1000000"},
		{good, "user", 4, "By = user: want one of account, size, which the log has"},
		{good, "place", 4, "By = place: want one of account, size, which the log has"},
		{[]Job{job(1, 9)}, Size, 4, "want a job with a run time > 0 and at most 4 processors, not a log with none"},
		{good[:1], Size, 4, "submit time = 1 of all jobs: want at least two different times"},
	} {
		_, err := FitModel(t.Context(), &Log{Jobs: c.jobs}, c.by, c.processors)
		var bad *input.Error
		if !errors.As(err, &bad) || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitModel(ctx, &Log{Jobs: good}, Size, 4); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	tiny := &Log{Jobs: []Job{job(1, 1), job(1+1e-12, 1)}}
	f, err := FitModel(t.Context(), tiny, "account", 1)
	if err != nil || f.Model.Classes[0].ArrivalRate.Cmp(big.NewRat(1e12, 1)) < 0 {
		t.Errorf("%+v, error %v", f, err)
	}
}
