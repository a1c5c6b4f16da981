// Package simtest holds helpers shared by the tests of simulated systems: does a system keep the
// promises of package sim?
package simtest

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

	"productform/cluster"
	"productform/internal/oracle"
	"productform/sim"
	"productform/sizes"
	"productform/sweep"
)

// Run simulates a valid system.
func Run(t testing.TB, system sim.System, s sim.Settings) *sim.Result {
	t.Helper()
	r, err := sim.Run(t.Context(), system, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// EndsWithContext fails if two runs of about the given number of jumps do not end promptly after
// cancellation; the other arguments are those of [oracle.CheckEnds].
func EndsWithContext(t *testing.T, system sim.System, jumps float64, looks, more int) {
	t.Helper()
	err := oracle.CheckEnds(func(ctx context.Context) error {
		p, err := sim.NewPlan(ctx, system, sim.Settings{Runs: 2, Jumps: jumps})
		if err == nil {
			_, err = p.Run(ctx, sweep.Settings{Workers: 1})
		}
		return err
	}, looks, more)
	if err != nil {
		t.Error(err)
	}
}

// AllocatesNothing fails if a thousand jumps of a system make more than the given number of
// allocations, after a start of some jumps.
func AllocatesNothing(t *testing.T, system sim.System, start, most float64) {
	t.Helper()
	p, err := sim.NewPlan(t.Context(), system, sim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	e, y := p.Start(t.Context(), sim.NewStream([32]byte{1})), p.NewTotals()
	advance := func(jumps float64) {
		if err := e.Advance(jumps/p.JumpRate, y); err != nil {
			t.Fatal(err)
		}
	}
	advance(start)
	if n := testing.AllocsPerRun(5, func() { advance(1e3) }); n > most {
		t.Errorf("%v allocations in 1000 jumps, want at most %v", n, most)
	}
}

// SameDigits fails if the result depends on the number of workers or on stored samples, and returns
// the result.
func SameDigits(t *testing.T, system sim.System, s sim.Settings) *sim.Result {
	t.Helper()
	p, err := sim.NewPlan(t.Context(), system, s)
	if err != nil {
		t.Fatal(err)
	}
	run := func(how sweep.Settings) *sim.Result {
		t.Helper()
		r, err := p.Run(t.Context(), how)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, folder := run(sweep.Settings{Workers: 1}), t.TempDir()
	for _, other := range []sweep.Settings{{Workers: 2}, {Workers: 7}, {Folder: folder}, {Folder: folder}} {
		if r := run(other); !reflect.DeepEqual(first, r) {
			t.Errorf("%d workers, folder %q: %s", other.Workers, other.Folder, cmp.Diff(first, r))
		}
	}
	return first
}

// Conforms fails if a system violates the contract of package sim. Its digits must not depend on
// the number of workers or on stored samples, nor the path of its engine on how time is divided
// into advances, nor its observations on events before a restart. It must report all delays, with
// the right mean. A run must observe the requested time or number of jumps, which is only
// approximate if no jobs arrive. It does not suit jump chains with equal steps, which draw random
// numbers for many steps at once: their path depends on the advances.
func Conforms(t *testing.T, system sim.System) {
	t.Helper()
	s := sim.Settings{Runs: 3, Jumps: 5e3, WarmUp: 1e3, Seed: 9, Distribution: 3, Levels: []float64{0.5, 0.9}}
	r := SameDigits(t, system, s)
	var arrivals float64
	for _, c := range r.Classes {
		arrivals += c.ArrivalRate
	}
	if perRun := r.Jumps / float64(s.Runs); arrivals > 0 && math.Abs(perRun-s.Jumps) > 0.05*s.Jumps {
		t.Errorf("%g jumps per run, want %g", perRun, s.Jumps)
	}
	p, err := sim.NewPlan(t.Context(), system, s)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 { // of equal lengths, so means of time averages are unbiased
		one, err := p.Replicate(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(one.Time-r.Time) > 1e-9*r.Time {
			t.Errorf("replication %d observes the time %v, want %v", k, one.Time, r.Time)
		}
		checkDelays(t, one)
		checkReadsBack(t, one)
	}
	length := 1000 / p.JumpRate
	whole, seenWhole := path(t, p, length, 1)
	for _, advances := range []int{2, 7, 5000} {
		pieces, seen := path(t, p, length, advances)
		CompareTotals(t, pieces, whole)
		if diff := cmp.Diff(seenWhole, seen, toRounding); diff != "" {
			t.Errorf("%d advances: %s", advances, diff)
		}
	}
}

// checkReadsBack fails unless a sample equals what is read back from its JSON.
func checkReadsBack(t *testing.T, s *sim.Sample) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := new(sim.Sample)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("a sample is read back with differences: %s", cmp.Diff(s, again))
	}
}

// checkDelays fails if the mean of the counted delays differs from the mean delay by more than the
// width of a bin.
func checkDelays(t *testing.T, s *sim.Sample) {
	t.Helper()
	for i, h := range s.Delays {
		bin, low := uint64(0), 0.0
		for k, gap := range h.Gaps {
			bin += uint64(gap)
			end := math.Float64frombits(bin << 42) // of 10 bits of a mantissa
			low += float64(h.Counts[k]) * end / s.Left[i]
		}
		if mean := s.Sojourn[i]; low > mean*(1+1e-9) || low*(1+sim.BinWidth) < mean*(1-1e-9) {
			t.Errorf("row %d: the mean of the counted delays is %v to %v, want %v", i, low, low*(1+sim.BinWidth), mean)
		}
	}
}

// toRounding reports whether numbers of two records of one path agree up to rounding.
var toRounding = cmp.Comparer(func(a, b float64) bool {
	// NaN if no time passes
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
})

// path simulates a warm-up and the same time after it, each in a number of advances, and returns
// the observations after the warm-up. It fails if a restart does not discard the warm-up.
func path(t *testing.T, p *sim.Plan, length float64, advances int) (*sim.Totals, map[string][]*float64) {
	t.Helper()
	e := p.Start(t.Context(), sim.NewStream([32]byte{1}))
	observer, observes := e.(sim.Observer)
	observed := func(seen *sim.Totals) map[string][]*float64 {
		if !observes {
			return nil
		}
		own, err := observer.Observed(seen)
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	var seen *sim.Totals
	left := p.NewTotals() // a job of each class, so empty means are 0, not nil
	for i := range left.Left {
		left.Left[i] = 1
	}
	var nothing [2]map[string][]*float64
	for half := range nothing {
		seen = p.NewTotals()
		if observes {
			observer.Restart()
		}
		nothing[half] = observed(left)
		for range advances {
			if err := e.Advance(length/float64(advances), seen); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(nothing[0], nothing[1], toRounding); diff != "" {
		t.Errorf("a restart does not forget everything: %s", diff)
	}
	return seen, observed(seen)
}

// Golden fails if the mean jobs of one short replication differ from want. If a system uses its
// random numbers in a new way, also change the version of package sim, which keeps old samples from
// being mistaken for new ones. The tolerance allows for machines that fuse x*y + z.
func Golden(t *testing.T, system sim.System, want float64) {
	t.Helper()
	p, err := sim.NewPlan(t.Context(), system, sim.Settings{Jumps: 1000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Replicate(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := sim.Sum(s.Jobs); math.Abs(got-want) > 1e-9*want {
		t.Errorf("%s: mean jobs %.17g, golden %.17g: either its random numbers changed, or its seeds did, "+
			"as they do if a new field of a model has no omitempty", p.Method, got, want)
	}
}

// Near fails if an estimate is farther from the exact value than chance allows once in 1.7 million:
// 5 standard errors of the normal distribution, to which [sim.Estimate.Z] converts Student's t.
// With 20 replications that is 7.4 standard errors. All seeds are fixed.
func Near(t *testing.T, what string, e *sim.Estimate, exact float64) {
	t.Helper()
	if e == nil {
		t.Errorf("%s: no estimate, exact %v", what, exact)
		return
	}
	if z := e.Z(exact); !(math.Abs(z) < 5) {
		t.Errorf("%s = %.6g ± %.2g, exact %.6g, z = %.1f", what, e.Mean, e.StdError, exact, z)
	}
}

// NotTooSmall fails if independent p-values are small too often: if uniform p-values would be below
// some level as often only with a probability of less than 1e-7. All seeds are fixed.
func NotTooSmall(t *testing.T, p []float64) {
	t.Helper()
	for _, level := range []float64{0.2, 0.05, 0.01, 0.001} {
		below := 0
		for _, v := range p {
			if v <= level {
				below++
			}
		}
		n := distuv.Binomial{N: float64(len(p)), P: level}
		if n.Survival(float64(below)-1) < 1e-7 {
			t.Errorf("%d of %d p-values are at most %v", below, len(p), level)
		}
	}
}

// Sizes returns a shape of sizes scaled to a mean.
func Sizes(t testing.TB, shape string, mean float64) sizes.Distribution {
	t.Helper()
	d, err := sizes.Parse(shape, mean)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func InfiniteMean(t testing.TB) sizes.Distribution {
	t.Helper()
	d, err := sizes.NewPareto(1, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Rationals parses numbers.
func Rationals(values ...string) []*big.Rat {
	var list []*big.Rat
	for _, v := range values {
		r, ok := new(big.Rat).SetString(v)
		if !ok {
			panic(v)
		}
		list = append(list, r)
	}
	return list
}

// ThreeServers is the cluster of [BC17], Figure 1, at the given load.
func ThreeServers(load *big.Rat) *cluster.Model {
	half := new(big.Rat).Mul(load, big.NewRat(3, 2))
	one := big.NewRat(1, 1)
	return &cluster.Model{
		Servers: []cluster.Server{
			{Name: "s1", Capacity: one}, {Name: "s2", Capacity: one}, {Name: "s3", Capacity: one},
		},
		Classes: []cluster.Class{
			{Name: "1", ArrivalRate: half, Servers: cluster.On(0, 2)},
			{Name: "2", ArrivalRate: half, Servers: cluster.On(1, 2)},
		},
	}
}

// RandomAssignment is the cluster of [BC17], Figures 3 and 4.
func RandomAssignment(servers, d int, load *big.Rat) *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "server", Count: servers, Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "job", ArrivalRate: new(big.Rat).Mul(load, big.NewRat(int64(servers), 1)),
			Servers: []cluster.Choice{{Server: 0, Choose: d}}}},
	}
}

// OneServer is the M/G/1 queue with mean size 1 and load 1/2.
func OneServer() *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
	}
}

// CompareTotals compares two records of one trajectory whose times are rounded differently: 1e-9 is
// far above the rounding of about 1000 events, and far below the time of one.
func CompareTotals(t interface{ Errorf(string, ...any) }, got, want *sim.Totals) {
	near := func(what string, got, want []float64, unit float64) {
		for i := range max(len(got), len(want)) {
			var x, y float64 // one of them may lack a state that lasts no time
			if i < len(got) {
				x = got[i]
			}
			if i < len(want) {
				y = want[i]
			}
			if !(math.Abs(x-y) <= 1e-9*max(unit, y)) {
				t.Errorf("%s: %v, literally %v", what, got, want)
				return
			}
		}
	}
	near("time", []float64{got.Time}, []float64{want.Time}, 0)
	near("jumps", []float64{got.Jumps}, []float64{want.Jumps}, 0)
	near("jobs", got.Jobs, want.Jobs, want.Time)
	near("number", []float64{got.Number}, []float64{want.Number}, want.Time)
	near("square", []float64{got.Square}, []float64{want.Square}, want.Time)
	near("count", got.Count, want.Count, want.Time)
	near("busy", got.Busy, want.Busy, want.Time)
	near("sojourn", got.Sojourn, want.Sojourn, want.Time)
	near("left", got.Left, want.Left, 0)
}

// Benchmark measures 10^6 expected jumps in the stationary state. jumps/s counts arrivals, ends of
// phases and interruptions, but not steps at idle servers.
func Benchmark(b *testing.B, system sim.System) {
	p, err := sim.NewPlan(b.Context(), system, sim.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	e := p.Start(b.Context(), sim.NewStream([32]byte{1}))
	seen := p.NewTotals()
	if err := e.Advance(1e6/p.JumpRate, seen); err != nil {
		b.Fatal(err)
	}
	seen = p.NewTotals()
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Advance(1e6/p.JumpRate, seen); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(seen.Jumps/b.Elapsed().Seconds(), "jumps/s")
}
