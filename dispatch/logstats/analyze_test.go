package logstats

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/joblog"
	"productform/dispatch/swf"
	"productform/internal/input"
	"productform/traces"
)

// anyLog draws a log of jobs with whole seconds.
func anyLog(t *rapid.T) *Log {
	longest := rapid.SampledFrom([]int64{3, 500, 200_000}).Draw(t, "longest")
	job := rapid.Custom(func(t *rapid.T) Job {
		seconds := func(name string, least int64) float64 {
			return float64(rapid.Int64Range(least, longest).Draw(t, name))
		}
		j := Job{Submit: seconds("submit", 0), Wait: seconds("wait", -1), RunTime: seconds("run", 0),
			Processors: rapid.Int64Range(1, 40).Draw(t, "processors")}
		for f := range j.Numbers {
			j.Numbers[f] = rapid.Int64Range(-1, int64(f)-1).Draw(t, "number")
		}
		return j
	})
	return &Log{Jobs: rapid.SliceOfN(job, 1, 60).Draw(t, "jobs")}
}

// closeTo reports whether two sums of at most a few hundred terms agree up to rounding.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// Loads, peaks and the usage over time equal sums over single seconds.
func TestLoadsMatchSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog(t)
		for i := range log.Jobs { // few seconds
			j := &log.Jobs[i]
			j.Submit, j.RunTime = math.Mod(j.Submit, 100), math.Mod(j.RunTime, 100)
			if j.Wait > 0 {
				j.Wait = math.Mod(j.Wait, 100)
			}
		}
		busy := make([]float64, 300)
		for _, j := range log.Jobs {
			if j.Wait != swf.Unknown {
				for s := j.Submit + j.Wait; s < j.Submit+j.Wait+j.RunTime; s++ {
					busy[int(s)] += float64(j.Processors)
				}
			}
		}
		const m = 64
		r, err := Analyze(t.Context(), log, Settings{Processors: m})
		if err != nil {
			t.Fatal(err)
		}
		if most := slices.Max(busy); r.Peak == nil && most > 0 || r.Peak != nil && float64(*r.Peak) != most {
			t.Fatalf("peak %v, want %v", r.Peak, most)
		}
		if r.Span > 0 && r.Peak != nil {
			var done float64
			for _, n := range busy[int(r.First):int(r.Last)] {
				done += n
			}
			if want := done / m / r.Span; !closeTo(*r.Carried, want) {
				t.Fatalf("carried load %v, want %v", *r.Carried, want)
			}
		}
		if r.Span > 0 && !closeTo(*r.Offered*m*r.Span, r.Work) {
			t.Fatalf("offered load %v", *r.Offered)
		}
		each := rapid.SampledFrom([]int{1, 2, 25, 300}).Draw(t, "seconds of a part")
		for k, got := range Usage(log.Jobs, 0, 300, 300/each) {
			var want float64
			for _, n := range busy[k*each : (k+1)*each] {
				want += n / float64(each)
			}
			if !closeTo(got, want) {
				t.Fatalf("part %d of %d s: %v, want %v", k, each, got, want)
			}
		}
	})
}

// Groups hold the waiting times and slowdowns of their jobs, and are complete.
func TestGroupsMatchFilter(t *testing.T) {
	check := func(t *rapid.T, what string, got *dispatch.Spread, values []float64) {
		if got == nil || len(values) == 0 {
			if got != nil || len(values) > 0 {
				t.Fatalf("%s: %v of %v", what, got, values)
			}
			return
		}
		levels, err := dispatch.Quantiles(values, []*big.Rat{big.NewRat(1, 2), big.NewRat(19, 20), big.NewRat(99, 100)})
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, v := range values {
			sum += v
		}
		if !closeTo(got.Mean, sum/float64(len(values))) || got.Count != len(values) || got.Max != slices.Max(values) ||
			!slices.Equal(levels, []float64{got.P50, got.P95, got.P99}) {
			t.Fatalf("%s: %v of %v", what, *got, values)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog(t)
		r, err := Analyze(t.Context(), log, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		all := Group{Jobs: len(log.Jobs), UnknownWaits: r.UnknownWaits, Waiting: r.Waiting, Slowdown: r.Slowdown}
		jobs, share := map[string]int{}, map[string]float64{}
		for _, g := range append(r.Groups, all) {
			var waits, slowdowns []float64
			count, unknown, work := 0, 0, 0.0
			for i := range log.Jobs {
				j := &log.Jobs[i]
				if name := log.NameOf(g.Kind, j); g.Kind != "" && (g.Name == nil) != (name == "") ||
					g.Name != nil && *g.Name != name {
					continue
				}
				count++
				work += float64(j.Processors) * j.RunTime
				if j.Wait == swf.Unknown {
					unknown++
					continue
				}
				slow := 1.0
				if j.RunTime >= 10 {
					slow = (j.Wait + j.RunTime) / j.RunTime
				} else if j.Wait+j.RunTime > 10 {
					slow = (j.Wait + j.RunTime) / 10
				}
				waits, slowdowns = append(waits, j.Wait), append(slowdowns, slow)
			}
			check(t, "waiting", g.Waiting, waits)
			check(t, "slowdown", g.Slowdown, slowdowns)
			if g.Jobs != count || g.UnknownWaits != unknown || g.Share != nil && !closeTo(*g.Share*r.Work, work) {
				t.Fatalf("%+v, %d jobs, work %v", g, count, work)
			}
			jobs[g.Kind] += g.Jobs
			if g.Share != nil {
				share[g.Kind] += *g.Share
			}
		}
		for kind, n := range jobs {
			if n != len(log.Jobs) || r.Work > 0 && kind != "" && !closeTo(share[kind], 1) {
				t.Fatalf("%s: %d jobs, share %v", kind, n, share[kind])
			}
		}
	})
}

// The index of dispersion equals that of an array of counts, and the squared coefficients of
// variation equal E[X²]/E[X]² - 1.
func TestVariationMatchesMoments(t *testing.T) {
	moments := func(values []float64) (mean, square float64) {
		for _, v := range values {
			mean += v / float64(len(values))
			square += v * v / float64(len(values))
		}
		return mean, square
	}
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog(t)
		r, err := Analyze(t.Context(), log, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var submits, gaps, runs, works []float64
		for _, j := range log.Jobs {
			submits, runs = append(submits, j.Submit), append(runs, j.RunTime)
			works = append(works, float64(j.Processors)*j.RunTime)
		}
		slices.Sort(submits)
		for i := range submits[1:] {
			gaps = append(gaps, submits[i+1]-submits[i])
		}
		for _, c := range []struct {
			got    *float64
			values []float64
		}{{r.GapSCV, gaps}, {r.RunTimeSCV, runs}, {r.WorkSCV, works}} {
			mean, square := moments(c.values)
			if (c.got != nil) != (mean > 0) || c.got != nil && !closeTo(*c.got+1, square/mean/mean) {
				t.Fatalf("%v of %v", c.got, c.values)
			}
		}
		for _, d := range r.Dispersion {
			counts := make([]float64, int(r.Span/d.Window))
			for _, s := range submits {
				if k := int((s - r.First) / d.Window); k < len(counts) {
					counts[k]++
				}
			}
			mean, square := moments(counts)
			n := float64(len(counts))
			if want := (square - mean*mean) * n / (n - 1) / mean; d.Windows != n || !closeTo(d.Index, want) {
				t.Fatalf("%+v, want %v", d, want)
			}
		}
		if (r.Span >= 120) != (len(r.Dispersion) > 0) || r.Zone != nil {
			t.Fatalf("span %v, %v, zone %v", r.Span, r.Dispersion, r.Zone)
		}
	})
}

// Hours and weekdays are those of the clocks of the zone: of the settings, the comments or UTC.
func TestHoursMatchClocks(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	log, err := Read(t.Context(), joblog.NewReader(from, "log", joblog.Dialect{}), "log")
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []*time.Location{nil, berlin} {
		r, err := Analyze(t.Context(), log, Settings{Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		if zone == nil {
			if zone, err = time.LoadLocation("US/Pacific"); err != nil { // zone of the comments
				t.Fatal(err)
			}
		}
		counts := map[string]int{}
		for _, j := range log.Jobs {
			at := time.Unix(820090437, 0).Add(time.Duration(j.Submit) * time.Second).In(zone)
			counts[at.Format("15")]++
			counts[at.Format("Monday")]++
		}
		if *r.Zone != zone.String() || len(r.Hours) != 24 || len(r.Weekdays) != 7 || r.Weekdays[0].When != "Monday" {
			t.Fatalf("%v %v %v", *r.Zone, r.Hours, r.Weekdays)
		}
		for _, a := range append(r.Hours, r.Weekdays...) {
			if a.Jobs != counts[a.When] {
				t.Errorf("%v: %s: %d jobs, want %d", zone, a.When, a.Jobs, counts[a.When])
			}
		}
	}
}

// Dates are Unix times; names and comments are those of the log.
func TestReadKeepsNamesAndComments(t *testing.T) {
	const text = "; MaxProcs: 8\nid,submit,start,run_time,cpus,user,account,partition\n" +
		"1,2026-03-01T23:30:00,2026-03-01T23:30:05,7,2,ann,phys,gpu\n2,2026-03-01T23:31:00,,7,2,,,\n" +
		"3,2026-03-02T00:00:00,2026-03-02T00:00:05,9,3,bob,phys,gpu\n"
	log, err := Read(t.Context(), joblog.NewReader(strings.NewReader(text), "log", joblog.Dialect{}), "log")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Analyze(t.Context(), log, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if *r.Zone != "UTC" || r.Hours[23].Jobs != 1 || r.Hours[0].Jobs != 1 || r.Weekdays[6].Jobs != 1 || *r.Users != 2 ||
		*r.Processors != 8 || r.Source != OfHeader || *r.Peak != 3 || *r.End != log.Jobs[1].Submit+14 {
		t.Errorf("%+v", r)
	}
	var groups []string
	for _, g := range r.Groups {
		groups = append(groups, g.Kind+"="+*g.Name)
	}
	if got := strings.Join(groups, " "); got != "partition=gpu account=phys user=ann user=bob size=2 size=3-4" {
		t.Errorf("groups %s", got)
	}
}

// Bad logs and settings are named, and a cancelled context ends reading and analysing.
func TestBadLogs(t *testing.T) {
	const row = "1 5 5 120 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"
	for text, want := range map[string]string{
		"1 5 5 1e51 4 118.5 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n": "log:1: run time = 1e+51: want a number of seconds " +
			"in [0, 1e50]",
		strings.Replace(row, "120 4", "120 1000000001", 1): "log:1: processors = 1000000001: want an integer in " +
			"[0, 1000000000], or -1 if unknown",
		row + "x": "log:2: field 1, job number = x: want an integer from 0 to 2^53, or -1 if unknown",
	} {
		_, err := Read(t.Context(), joblog.NewReader(strings.NewReader(text), "log", joblog.Dialect{}), "log")
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	read := func(ctx context.Context, text string) (*Log, error) {
		return Read(ctx, joblog.NewReader(strings.NewReader(text), "log", joblog.Dialect{}), "log")
	}
	empty, err := read(t.Context(), strings.Replace(row, "120", "-1", 1))
	if err != nil || empty.Skipped != 1 {
		t.Fatalf("%+v, error %v", empty, err)
	}
	var bad *input.Error
	if _, err := Analyze(t.Context(), empty, Settings{}); !errors.As(err, &bad) {
		t.Errorf("error %v", err)
	}
	log, err := read(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Analyze(t.Context(), log, Settings{Processors: -1}); !errors.As(err, &bad) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Analyze(ctx, log, Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := read(ctx, row); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
