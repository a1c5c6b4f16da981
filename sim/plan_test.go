package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/num"
	"productform/sim"
	simcluster "productform/sim/cluster"
	"productform/sim/internal/simtest"
	"productform/sizes"
	"productform/sweep"
)

// The digits do not depend on the number of workers, on stored samples, or on other simulations.
func TestSameDigits(t *testing.T) {
	c := jump(simtest.ThreeServers(big.NewRat(1, 2)), 1)
	c.Sizes = simtest.Sizes(t, "zipf", 1)
	s := sim.Settings{Runs: 12, Jumps: 2e4, Seed: 9, Distribution: 3}
	first := simtest.SameDigits(t, c, s)
	p, err := sim.NewPlan(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	q, err := sim.NewPlan(t.Context(), jump(simtest.ThreeServers(big.NewRat(1, 3)), 0), s)
	if err != nil {
		t.Fatal(err)
	}
	results, err := sim.RunAll(t.Context(), []*sim.Plan{q, p, p}, sweep.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*sim.Result{first, first}, results[1:]); diff != "" {
		t.Error(diff)
	}
	s.Precision = 0.1
	if q, err = sim.NewPlan(t.Context(), c, s); err != nil {
		t.Fatal(err)
	}
	var bad *num.InputError
	if _, err := sim.RunAll(t.Context(), []*sim.Plan{p, q}, sweep.Settings{}); !errors.As(err, &bad) ||
		bad.Path != "plans[1].Precision" {
		t.Errorf("precision of a plan among several: %v", err)
	}
	s.Precision = 0
	s.Seed++
	if other, err := sim.Run(t.Context(), c, s); err != nil ||
		other.All(sim.MeanJobs).Mean == first.All(sim.MeanJobs).Mean {
		t.Errorf("another seed gives %v, %v", *other.All(sim.MeanJobs), err)
	}
}

// Everything that a sample depends on changes its key, and nothing else does.
func TestKeys(t *testing.T) {
	base := jump(simtest.ThreeServers(big.NewRat(1, 2)), 1)
	keyOf := func(c simcluster.Cluster, s sim.Settings, replication int) string {
		t.Helper()
		p, err := sim.NewPlan(t.Context(), c, s)
		if err != nil {
			t.Fatal(err)
		}
		key, err := p.Key(replication)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	keys := map[string]string{}
	add := func(what string, key string) {
		t.Helper()
		if other, known := keys[key]; known {
			t.Errorf("%s has the key of %s", what, other)
		}
		keys[key] = what
	}
	add("base", keyOf(base, sim.Settings{}, 0))
	add("replication", keyOf(base, sim.Settings{}, 1))
	add("seed", keyOf(base, sim.Settings{Seed: 1}, 0))
	add("jumps", keyOf(base, sim.Settings{Jumps: 2e6}, 0))
	add("warm-up", keyOf(base, sim.Settings{WarmUp: 2e6}, 0))
	add("horizon", keyOf(base, sim.Settings{Horizon: 7}, 0))
	add("distribution", keyOf(base, sim.Settings{Distribution: 7}, 0))
	add("levels", keyOf(base, sim.Settings{Levels: []float64{0.5}}, 0))
	if keyOf(base, sim.Settings{Levels: []float64{0.1, 0.9}}, 0) != keyOf(base,
		sim.Settings{Levels: []float64{0.5}}, 0) {
		t.Error("samples with delays are reused for some levels only")
	}
	other := base
	other.Interruptions = 2
	add("interruptions", keyOf(other, sim.Settings{}, 0))
	other = base
	other.Model = simtest.ThreeServers(big.NewRat(1, 4))
	add("arrival rates", keyOf(other, sim.Settings{}, 0))
	other = base
	other.Sizes = simtest.Sizes(t, "erlang:2", 1)
	add("sizes", keyOf(other, sim.Settings{}, 0))
	other = base
	other.Calendar = true
	add("calendar", keyOf(other, sim.Settings{}, 0))
	if keyOf(base, sim.Settings{Runs: 7, Confidence: 0.5, Precision: 0.1}, 0) != keyOf(base,
		sim.Settings{}, 0) {
		t.Error("runs, confidence or precision change the key")
	}
	named := base
	named.Model = simtest.ThreeServers(big.NewRat(1, 2))
	named.Model.Classes[0].Name = "other"
	if keyOf(named, sim.Settings{}, 0) != keyOf(base, sim.Settings{}, 0) {
		t.Error("a name changes the key")
	}
}

// A stopped run resumes where it stopped and ends with the same digits.
func TestStoppedRunResumes(t *testing.T) {
	c := jump(simtest.RandomAssignment(20, 2, big.NewRat(4, 5)), 1)
	plan, err := sim.NewPlan(t.Context(), c, sim.Settings{Runs: 30, Jumps: 2e4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := sweep.Settings{Workers: 2}
	want, err := plan.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Folder = t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s.Progress = func(p sweep.Progress) {
		if p.Done == 10 {
			stop()
		}
	}
	if _, err := plan.Run(ctx, s); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped run: %v", err)
	}
	var last sweep.Progress
	s.Progress = func(p sweep.Progress) { last = p }
	got, err := plan.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if last.Reused < 10 || last.Reused > 13 || last.Total != 30 {
		t.Errorf("%+v, want 10 to 13 of 30 reused", last)
	}
	files, err := filepath.Glob(filepath.Join(s.Folder, "*", "*"))
	if err != nil || len(files) != 30 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// A cancelled replication stops within a second.
func TestCancelledRunStops(t *testing.T) {
	for _, c := range []simcluster.Cluster{
		jump(simtest.ThreeServers(big.NewRat(1, 2)), 1),
		{Model: simtest.ThreeServers(big.NewRat(1, 2)), Calendar: true},
		{Model: simtest.ThreeServers(big.NewRat(1, 2)), Policy: simcluster.ProcessorSharing},
		jump(simtest.RandomAssignment(20000, 10000, big.NewRat(1, 2)), 0),
		{Model: simtest.RandomAssignment(20000, 10000, big.NewRat(1, 2)), Calendar: true},
	} {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		_, err := sim.Run(ctx, c, sim.Settings{Runs: 2, Jumps: 1e10})
		// within one second, or more on a busy machine
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
			t.Errorf("%+v: stopped after %v with %v", c, took, err)
		}
		stop()
	}
}

// Runs are added until the precision is reached, on any number of cores.
func TestPrecision(t *testing.T) {
	c := jump(simtest.ThreeServers(big.NewRat(1, 2)), 0)
	s := sim.Settings{Runs: 1000, Jumps: 5000, Seed: 1, Precision: 0.01}
	plan, err := sim.NewPlan(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	var last sweep.Progress // counts the replications of all batches
	r, err := plan.Run(t.Context(), sweep.Settings{Workers: 1, Progress: func(p sweep.Progress) {
		if p.Done != last.Done+1 || p.Elapsed < last.Elapsed || p.Total < last.Total {
			t.Errorf("progress %+v after %+v", p, last)
		}
		last = p
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != r.Runs || last.Total != r.Runs {
		t.Errorf("progress ends with %+v after %d runs", last, r.Runs)
	}
	if !r.PrecisionMet || r.Runs < 20 || r.Runs > 640 {
		t.Errorf("%d runs, met: %v", r.Runs, r.PrecisionMet)
	}
	for i, class := range r.Classes {
		if !(r.Class(i, sim.MeanJobs).HalfWidth <= 0.01*r.Class(i, sim.MeanJobs).Mean) {
			t.Errorf("class %s: %+v", class.Name, *r.Class(i, sim.MeanJobs))
		}
	}
	again, err := plan.Run(t.Context(), sweep.Settings{Workers: 3})
	if diff := cmp.Diff(r, again); diff != "" || err != nil {
		t.Error(diff, err)
	}
	s.Precision, s.Runs = 1e-6, 25
	r, err = sim.Run(t.Context(), c, s)
	if err != nil || r.PrecisionMet || r.Runs != 25 ||
		!strings.Contains(strings.Join(r.Warnings, "\n"), "precision 1e-06 is not reached after 25 runs") {
		t.Errorf("%d runs, met: %v, %q, %v", r.Runs, r.PrecisionMet, r.Warnings, err)
	}
}

// Results warn when they should not be trusted.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		load int64 // in percent
		s    sim.Settings
		want string
	}{
		{99, sim.Settings{Runs: 20, Jumps: 1000, WarmUp: 1000, Seed: 1}, "the runs are too short"},
		{90, sim.Settings{Runs: 200, Jumps: 5000, WarmUp: sim.NoWarmUp, Seed: 1}, "the warm-up looks too short"},
	} {
		r, err := sim.Run(t.Context(), jump(simtest.ThreeServers(big.NewRat(c.load, 100)), 0), c.s)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), c.want) {
			t.Errorf("%+v: warnings %q, want %q", c.s, r.Warnings, c.want)
		}
	}
	r, err := sim.Run(
		t.Context(), jump(simtest.ThreeServers(big.NewRat(1, 2)), 0), sim.Settings{Runs: 20, Jumps: 5e4, Seed: 1},
	)
	if err != nil || len(r.Warnings) > 0 || r.EffectiveSamples < 20*10 {
		t.Errorf("warnings %q, %g effective samples, %v", r.Warnings, r.EffectiveSamples, err)
	}
}

// Results warn about rare but important sizes, which runs and their intervals miss.
func TestWarningsOfRareSizes(t *testing.T) {
	s := sim.Settings{Runs: 20, Jumps: 2e4, WarmUp: 2e3, Seed: 1}
	for _, c := range []struct {
		shape  string
		policy simcluster.Policy
		want   string
	}{
		{"exponential", simcluster.FCFS, ""},
		{"zipf", simcluster.FCFS, ""},
		{"lognormal:4", simcluster.ProcessorSharing, ""},
		{"hyperexponential:1e7", simcluster.FCFS, "more or longer runs are needed"},
		{"pareto:2.1", simcluster.FCFS, "more or longer runs are needed"},
		{"pareto:1.5", simcluster.FCFS, "the mean square of the sizes is infinite"},
		{"pareto:1.1", simcluster.ProcessorSharing, "more or longer runs are needed"},
	} {
		r, err := sim.Run(
			t.Context(),
			simcluster.Cluster{Model: simtest.OneServer(), Sizes: simtest.Sizes(t, c.shape, 1), Policy: c.policy},
			s,
		)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(r.Warnings, "\n")
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s, %s: warnings %q, want %q", c.shape, c.policy, said, c.want)
		}
	}
}

// If classes have different sizes, one warning of rare sizes names the class that misses most:
// the one with the fewest jobs.
func TestWarningOfOwnRareSizes(t *testing.T) {
	m := simtest.OneServer()
	m.Classes = nil
	for i, name := range []string{"a", "b", "c"} {
		m.Classes = append(m.Classes, cluster.Class{
			Name: name, ArrivalRate: big.NewRat(1, 10), MeanSize: big.NewRat(int64(i+1), 2),
			Servers: cluster.On(0),
		})
	}
	m.Classes[1].ArrivalRate.SetFrac64(1, 50)
	for shape, want := range map[string]string{
		"pareto:2.1": `^class b: more or longer runs are needed: sizes of mean 1 above .* of the mean square of the ` +
			`sizes of mean 1, on which delays depend, the worst of 3 such$`,
		"pareto:1.5": "^class a: the mean square of the sizes of mean 0.5 is infinite, .*, the worst of 3 such$",
	} {
		system := simcluster.Cluster{Model: m, Sizes: simtest.Sizes(t, shape, 1), Policy: simcluster.FCFS}
		r := simtest.Run(t, system, sim.Settings{Runs: 2, Jumps: 2e4, Seed: 1})
		said := 0
		for _, w := range r.Warnings {
			if regexp.MustCompile(want).MatchString(w) {
				said++
			} else if strings.Contains(w, "sizes of mean") {
				t.Errorf("%s: %s", shape, w)
			}
		}
		if said != 1 {
			t.Errorf("%s: warnings %q, want %s", shape, r.Warnings, want)
		}
	}
}

// withVacations is a cluster whose engine also claims to draw vacations.
type withVacations struct {
	simcluster.Cluster
	vacations sim.Moment
}

func (v withVacations) Describe(ctx context.Context, o sim.Observation) (*sim.Description, error) {
	d, err := v.Cluster.Describe(ctx, o)
	if err == nil {
		d.Moments = append(d.Moments, v.vacations)
	}
	return d, err
}

// Draws that are rarer than sizes are judged by their own number. With a survival function of x^-4,
// the fraction of the second moment that n draws miss is n^-1/2: 1 in 450 for 200,000 draws and 1
// in 14 for 200. For the mean it is n^-3/4.
func TestWarningsOfRareVacations(t *testing.T) {
	for _, c := range []struct {
		orders []float64
		rate   float64
		shape  string
		want   string
	}{
		{[]float64{2}, 0, "pareto:4", ""},
		{[]float64{2}, 0.5, "pareto:4", ""},
		{[]float64{2}, 0.5e-3, "pareto:4", "more or longer runs are needed: vacations above 2.82, of which all runs " +
			"together see about one, make up 7.07 % of the mean square of the vacations, on which delays depend"},
		{[]float64{1}, 0.5e-5, "pareto:4", "make up 59.5 % of the mean of the vacations, on which delays depend"},
		{[]float64{2}, 0.5e-3, "pareto:2", "the mean square of the vacations is infinite, and delays depend on it"},
	} {
		system := withVacations{
			simcluster.Cluster{Model: simtest.OneServer()},
			sim.Moment{Sizes: simtest.Sizes(t, c.shape, 1), Orders: c.orders, Rate: c.rate, Words: "vacations"},
		}
		said := strings.Join(simtest.Run(t, system, sim.Settings{Runs: 20, Jumps: 2e4, Seed: 1}).Warnings, "\n")
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s at rate %g: warnings %q, want %q", c.shape, c.rate, said, c.want)
		}
	}
}

// A class with only a few jobs in each run causes a warning if, and only if, its interval is wide;
// the estimates of the other classes are precise.
func TestWarningOfWideIntervals(t *testing.T) {
	m := simtest.OneServer()
	m.Classes = append(m.Classes, cluster.Class{Name: "rare", ArrivalRate: big.NewRat(1, 500), Servers: cluster.On(0)})
	for runs, warned := range map[int]bool{2: true, 40: false} {
		r, err := sim.Run(t.Context(), jump(m, 0), sim.Settings{Runs: runs, Jumps: 2e4, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		e := r.Class(1, sim.MeanJobs)
		if said := strings.Join(r.Warnings, "\n"); (e.HalfWidth > e.Mean/2) != warned ||
			strings.Contains(said, "class rare: its mean number of jobs") != warned {
			t.Errorf("%d runs: %v ± %v, warnings %q", runs, e.Mean, e.HalfWidth, said)
		}
	}
}

// A class with few observations does not reach any precision.
func TestWarningOfRareClass(t *testing.T) {
	m := simtest.OneServer()
	m.Classes = append(m.Classes, cluster.Class{Name: "rare", ArrivalRate: big.NewRat(1, 1e9), Servers: cluster.On(0)})
	r, err := sim.Run(t.Context(), jump(m, 0), sim.Settings{Runs: 20, Jumps: 1e4, Seed: 1, Precision: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(r.Warnings, "\n"); r.PrecisionMet || r.Runs != 20 ||
		!strings.Contains(said, "class rare: only 0 jobs were done in all runs") {
		t.Errorf("precision met: %v after %d runs, warnings %q", r.PrecisionMet, r.Runs, said)
	}
}

// Units far from 1 do not matter: delays and their intervals scale, and nothing exceeds the range
// of float64.
func TestUnits(t *testing.T) {
	var first *sim.Result
	for _, exponent := range []int64{0, 200, -160} {
		unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(exponent, -exponent)), nil))
		if exponent < 0 {
			unit.Inv(unit)
		}
		m := simtest.OneServer()
		m.Servers[0].Capacity = unit
		m.Classes[0].ArrivalRate = new(big.Rat).Mul(unit, big.NewRat(1, 2))
		r, err := sim.Run(t.Context(), jump(m, 0), sim.Settings{Runs: 10, Jumps: 1e4, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		scale, _ := unit.Float64()
		for what, e := range map[string][2]*sim.Estimate{
			"delay":          {r.All(sim.MeanDelay), first.All(sim.MeanDelay)},
			"measured delay": {r.Class(0, sim.MeasuredDelay), first.Class(0, sim.MeasuredDelay)},
		} {
			got, want := e[0].Scaled(scale), e[1]
			if spread := want.HalfWidth; !(math.Abs(got.Mean-want.Mean) < 4*spread && got.HalfWidth > spread/4 &&
				got.HalfWidth < 4*spread) {
				t.Errorf("unit 1e%d: %s %+v, want about %+v", exponent, what, *got, *want)
			}
		}
	}
}

// If almost all steps would be at idle servers, a calendar is used.
func TestVeryLowLoad(t *testing.T) {
	for _, m := range []float64{0, 1} {
		model := simtest.OneServer()
		model.Classes[0].ArrivalRate = big.NewRat(1, 1e9)
		r, err := sim.Run(t.Context(), jump(model, m), sim.Settings{Runs: 4, Jumps: 1000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if z := r.Class(0, sim.MeasuredDelay).Z(1); !(math.Abs(z) < 5) {
			t.Errorf("m = %g: %s: measured delay %+v, want 1", m, r.Method, *r.Class(0, sim.MeasuredDelay))
		}
	}
}

// The effective number of samples matches a closed form: for M/M/1 with μ = 1, whose number of jobs
// is a birth-death process, the asymptotic variance of its time average is 2ρ(1+ρ)/(1-ρ)^4 (Whitt,
// "Planning queueing simulations", Management Science 35, 1989).
func TestEffectiveSamples(t *testing.T) {
	rho := 0.5
	model := &cluster.Model{
		Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0)}},
	}
	r, err := sim.Run(t.Context(), jump(model, 0), sim.Settings{Runs: 400, Jumps: 5e3, WarmUp: 1e3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Using expected instead of drawn holding times reduces the variance, but at least half of it
	// remains.
	asymptotic := 2 * rho * (1 + rho) / math.Pow(1-rho, 4)
	want := rho / (1 - rho) / (1 - rho) / (asymptotic / r.Time / float64(r.Runs))
	if ratio := r.EffectiveSamples / want; ratio < 0.8 || ratio > 2.5 {
		t.Errorf("%g effective samples, %g if times were drawn", r.EffectiveSamples, want)
	}
}

// A nil system is an error, not a crash.
func TestNoSystem(t *testing.T) {
	if _, err := sim.Run(t.Context(), nil, sim.Settings{}); err == nil ||
		err.Error() != "system is missing: want a system to simulate, such as a cluster" {
		t.Error(err)
	}
}

// A valid run is accepted, and each invalid setting or field gives its own error.
func TestBadSettings(t *testing.T) {
	good := simcluster.Cluster{
		Model:         simtest.ThreeServers(big.NewRat(1, 2)),
		Policy:        simcluster.Interrupt,
		Interruptions: 1,
	}
	if _, err := sim.NewPlan(t.Context(), good, sim.Settings{}); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]sim.Settings{
		"Runs = 1: want an integer in 2..1000000":                         {Runs: 1},
		"Jumps = 999: want a number in [1000, 1e15]":                      {Jumps: 999},
		"Jumps = NaN: want a number in [1000, 1e15]":                      {Jumps: math.NaN()},
		"WarmUp = -2: want a number in (0, 1e15], or NoWarmUp":            {WarmUp: -2},
		"Horizon = +Inf: want a number in [1e-300, 1e300], or 0 for none": {Horizon: math.Inf(1)},
		"Precision = 1: want a number in (0, 1), or 0 for none":           {Precision: 1},
		"Confidence = 1: want a number in (0, 0.999999]":                  {Confidence: 1},
		"Distribution = -1: want an integer in 0..100000":                 {Distribution: -1},
		"Horizon = 5: want 0 with Jumps or WarmUp":                        {Horizon: 5, Jumps: 1e5},
	} {
		if _, err := sim.NewPlan(t.Context(), good, s); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
	long, err := sizes.NewExponential(1 + 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*simcluster.Cluster){
		"Model": func(c *simcluster.Cluster) { c.Model = nil },
		"Model.classes[0].arrival_rate": func(c *simcluster.Cluster) {
			c.Model.Classes[0].ArrivalRate, _ = new(big.Rat).SetString("1e-400") // rounds to 0 in float64
		},
		"servers[0].capacity = -1: want a number >= 0": func(c *simcluster.Cluster) {
			c.Model.Servers[0].Capacity = big.NewRat(
				-1, 1,
			)
		},
		"Policy = lifo: want fcfs, interrupt or ps": func(c *simcluster.Cluster) {
			c.Policy = "lifo"
		},
		"Interruptions = 1: want 0 with the policy fcfs": func(c *simcluster.Cluster) {
			c.Policy = simcluster.FCFS
		},
		"Interruptions = 0: want a number in [1e-6, 1e6] with the policy interrupt": func(c *simcluster.Cluster) {
			c.Interruptions = 0
		},
		"Interruptions = NaN: want a number in [1e-6, 1e6] with the policy interrupt": func(c *simcluster.Cluster) {
			c.Interruptions = math.NaN()
		},
		"Sizes = exponential of mean 1.000000001, of mean 1.000000001: want a distribution of the mean": func(
			c *simcluster.Cluster,
		) {
			c.Sizes = long
		},
		"Model.classes": func(c *simcluster.Cluster) {
			c.Model.Classes[0].ArrivalRate, c.Model.Classes[1].ArrivalRate = new(big.Rat), new(big.Rat)
		},
	} {
		c := good
		c.Model = simtest.ThreeServers(big.NewRat(1, 2))
		spoil(&c)
		if _, err := sim.NewPlan(t.Context(), c, sim.Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// An unstable model is rejected with the set of classes that overloads its servers; over a horizon,
// it is simulated.
func TestUnstable(t *testing.T) {
	c := jump(simtest.ThreeServers(big.NewRat(1, 1)), 0)
	_, err := sim.Run(t.Context(), c, sim.Settings{})
	var u *cluster.UnstableError
	if !errors.As(err, &u) || fmt.Sprint(u.Classes) != "[0 1]" || u.ArrivalRate.Cmp(u.Capacity) < 0 {
		t.Errorf("%v", err)
	}
	r, err := sim.Run(t.Context(), c, sim.Settings{Runs: 4, Horizon: 1000})
	if r != nil && (r.All(sim.MeanDelay) != nil || r.Class(0, sim.MeanDelay) != nil ||
		r.Class(0, sim.ServiceRate) != nil || r.Class(0, sim.MeasuredDelay) == nil) {
		t.Errorf("over a horizon Little's law does not hold: %+v", r)
	}
	if r != nil && !strings.Contains(strings.Join(r.Warnings, "\n"), "the cluster is unstable") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if err != nil || r.Time != 1000 || r.WarmUp != 0 || r.All(sim.MeanJobs).Mean < 10 {
		t.Errorf("%+v, %v", r, err)
	}
}

// An unwritable folder is reported before any work starts.
func TestBadFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := sim.NewPlan(t.Context(), jump(simtest.ThreeServers(big.NewRat(1, 2)), 0), sim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(t.Context(), sweep.Settings{Folder: file}); err == nil {
		t.Error("a file as the folder is accepted")
	}
}
