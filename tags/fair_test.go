package tags

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/sizes"
)

// relativeDifference returns |a/b - 1|.
func relativeDifference(a, b float64) float64 { return math.Abs(a/b - 1) }

// checkFair checks that the slowdowns are equal in the result and, if the slacks are not tiny,
// according to Analyze. With cutoffs within a relative 1e-13, slacks are within 1e-12, or a
// relative 1e-12/slack.
func checkFair(t interface{ Errorf(string, ...any) }, m Model, o Result) {
	slack := 1.0
	for i, h := range o.Hosts {
		slack = min(slack, h.Slack.Float)
		if !(relativeDifference(h.Slowdown.Float, o.Objective.Float) < 1e-12) {
			t.Errorf("%v, %d hosts, load %v: slowdown %v at host %d, want %v",
				m.Sizes, m.Hosts, m.Load, h.Slowdown.Float, i, o.Objective.Float)
		}
	}
	if !(relativeDifference(o.MeanSlowdown.Float, o.Objective.Float) < 1e-12) || !(o.Gap >= 0 && o.Gap < 1e-12) {
		t.Errorf("%v: mean slowdown %v, gap %v", m.Sizes, o.MeanSlowdown.Float, o.Gap)
	}
	if slack < 1e-6 {
		return
	}
	r, err := Evaluate(context.Background(), m, PolicyTAGS, o.Cutoffs)
	if err != nil {
		t.Errorf("%v: %v", m.Sizes, err)
	}
	for i, h := range r.Hosts {
		if !(relativeDifference(h.Slowdown.Float, o.Objective.Float) < 1e-12+1e-12/slack) {
			t.Errorf("%v, %d hosts, load %v: Analyze has slowdown %v at host %d, want %v",
				m.Sizes, m.Hosts, m.Load, h.Slowdown.Float, i,
				o.Objective.Float)
		}
	}
}

// Fair cutoffs match an independent computation with 60 to 80 digits. As a float64, the low end of
// the sizes has an error of 1e-16, which changes the slowdown by at most 6e-15.
func TestFairReference(t *testing.T) {
	for _, c := range []struct {
		hosts          int
		load, alpha, p float64
		low, slowdown  float64
		cutoffs        []float64
	}{
		{
			2, 0.5, 0.2, 1e10, 2.488305070133747561506793e-20, 74325868439046.5732062459342858,
			[]float64{31.8771613328909961275804},
		},
		{
			2, 0.5, 1, 1e10, 167.5552881839900512674954, 323.227551001216613355282399032,
			[]float64{900623.120118495561808287},
		},
		{
			2, 0.3, 1.9, 1e10, 1421.053608725751092127476, 1.13059230320847101935348538475,
			[]float64{10339.724865103933999377812573},
		},
		{
			2, 0.7, 0.7, 1e10, 1.434208465397359386047053, 13004444.5144199312886565552098,
			[]float64{155048694.135016827961487},
		},
		{3, 0.5, 0.8, 1e10, 12.67429603020998950849381, 117.147068089971532307420694951,
			[]float64{89978.6893338002354107586886892, 82793756.9027364583273079926994}},
		{4, 0.3, 0.4, 1e10, 0.000001358409769144771279159, 51.5005469421184905655483469279,
			[]float64{
				28.8973393809758209259257567571, 1094678.04471888875292604333272, 631047930.017592067772657425389,
			}},
		{8, 0.5, 1, 1e10, 167.5552881839900512674954, 3.64698546843123342474289145581,
			[]float64{1497.30529675187773618972081464, 12478.9023280514019392012690877, 103494.350497037489880111307804,
				858078.217253110661284803071452, 7117591.31261269149216324360764, 59274227.7503815886088486570670,
				510984801.924528046393186410131}},
		{3, 0.3, 1.4, 1e7, 878.0796546896587489670705834597, 1.11991805816890006603206446151,
			[]float64{3879.54681653166706848350090384, 47646.0468348368249953659589865}},
	} {
		m := Model{Sizes: ok(sizes.NewBoundedPareto(c.low, c.p, c.alpha)), Hosts: c.hosts, Load: c.load}
		o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
		if err != nil {
			t.Fatal(err)
		}
		if !(relativeDifference(o.Objective.Float, c.slowdown) < 1e-13) {
			t.Errorf("alpha %v: slowdown %v, want %v", c.alpha, o.Objective.Float, c.slowdown)
		}
		for i, want := range c.cutoffs {
			if !(relativeDifference(o.Cutoffs[i], want) < 1e-13) {
				t.Errorf("alpha %v: cutoff %v, want %v", c.alpha, o.Cutoffs[i], want)
			}
		}
		checkFair(t, m, o)
	}
}

// In a boundary layer the slack is far below what float64 cutoffs can represent: 2.9e-29, from the
// same computation.
func TestFairBoundaryLayer(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewBoundedParetoOfMean(0.2, 1e10, 3000)), Hosts: 2, Load: 0.7}
	o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	if err != nil {
		t.Fatal(err)
	}
	if slack := o.Hosts[1].Slack.Float; !(slack > 2.85e-29 && slack < 2.95e-29) {
		t.Errorf("slack %v, want 2.9e-29", slack)
	}
	checkFair(t, m, o)
}

// All cases of the paper that have cutoffs are solved, and cases with more hosts.
func TestFairBoundedPareto(t *testing.T) {
	t.Parallel()
	solved := 0
	for _, hosts := range []int{2, 3, 4, 8, 16} {
		for _, high := range []float64{1e7, 1e10} {
			for alpha := 2.0; alpha <= 20; alpha++ {
				for _, load := range []float64{0.3, 0.5, 0.7} {
					m := Model{Sizes: ok(sizes.NewBoundedParetoOfMean(alpha/10, high, 3000)), Hosts: hosts, Load: load}
					o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
					var none *InfeasibleError
					switch {
					case errors.As(err, &none) && none.MaxLoad <= load:
						continue
					case err != nil:
						t.Fatalf("alpha %v: %v", alpha/10, err)
					}
					solved++
					checkFair(t, m, o)
				}
			}
		}
	}
	if solved != 345 { // number of cases with a MaxLoad above the load
		t.Errorf("%d cases solved", solved)
	}
}

// For two hosts, E[S_2] - E[S_1] changes its sign once, and bisection with Analyze finds the same
// cutoff.
func TestFairTwoHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d sizes.Distribution
		switch rapid.IntRange(0, 3).Draw(t, "distribution") {
		case 0:
			low := rapid.Float64Range(1, 100).Draw(t, "low")
			span := math.Exp(rapid.Float64Range(1, 20).Draw(t, "span"))
			d = ok(sizes.NewBoundedPareto(low, low*span, rapid.Float64Range(0.5, 2.5).Draw(t, "alpha")))
		case 1:
			d = ok(sizes.NewLognormal(2, math.Exp(rapid.Float64Range(-2, 4).Draw(t, "log scv"))))
		case 2:
			d = ok(sizes.NewWeibull(rapid.Float64Range(1.2, 3).Draw(t, "shape"), 3))
		case 3:
			d = ok(sizes.NewErlang(rapid.IntRange(2, 4).Draw(t, "phases"), 1))
		}
		m := Model{Sizes: d, Hosts: 2, Load: rapid.Float64Range(0.02, 0.5).Draw(t, "load")}
		o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
		if errors.Is(err, ErrInfeasible) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkFair(t, m, o)
		low, high, bounded := d.Support()
		if !bounded {
			high = 1e6
		}
		for range 200 {
			mid := low + (high-low)/2
			if low > 0 && high > 2*low {
				mid = math.Sqrt(low * high)
			}
			if !(mid > low && mid < high) {
				break
			}
			r, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{mid})
			var unstable *UnstableError
			switch {
			case errors.As(err, &unstable) &&
				unstable.Host == 1, err == nil && r.Hosts[1].Slowdown.Float > r.Hosts[0].Slowdown.Float:
				low = mid
			default:
				high = mid
			}
		}
		// The difference of the slowdowns is about as large as S and exact to 1e-13 of S/slack. Its
		// slope in ln s_1 is at least a few hundredths of S.
		tol := 1e-11 / min(o.Hosts[0].Slack.Float, o.Hosts[1].Slack.Float, 1)
		if !(relativeDifference(o.Cutoffs[0], high) < tol) {
			t.Fatalf("%v, load %v: cutoff %v, by bisection %v", d, m.Load, o.Cutoffs[0], high)
		}
	})
}

// Changing the unit of work or the speeds only scales the farm: sizes and cutoffs multiplied by c
// at the same speeds multiply all times by c, and all speeds multiplied by d divide waiting times
// by d.
func TestFairUnits(t *testing.T) {
	solved := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := Model{Hosts: 2 + r.IntN(3), Load: 0.02 + 0.3*r.Float64()}
		low, span, alpha := math.Exp(3*r.Float64()), math.Exp(5+10*r.Float64()), 0.6+r.Float64()
		m.Sizes = ok(sizes.NewBoundedPareto(low, low*span, alpha))
		for range m.Hosts {
			m.Speeds = append(m.Speeds, math.Exp(r.Float64()))
		}
		o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
		if errors.Is(err, ErrInfeasible) || errors.Is(err, ErrUnfair) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		solved++
		checkFair(t, m, o)
		const c, d = 8, 4
		scaled := m
		scaled.Sizes = ok(m.Sizes.Scaled(c))
		scaled.Speeds = nil
		for _, v := range m.Speeds {
			scaled.Speeds = append(scaled.Speeds, d*v)
		}
		p, err := Optimize(context.Background(), scaled, PolicyTAGS, Objective{Fair: true})
		if err != nil {
			t.Fatal(err)
		}
		if !(relativeDifference(p.Objective.Float*d, o.Objective.Float) < 1e-11) {
			t.Errorf("seed %d: slowdown %v, want %v", seed, p.Objective.Float*d, o.Objective.Float)
		}
		for i := range o.Cutoffs { // the loads, at least 1e-3 or so, are exact to 1e-15
			if !(relativeDifference(p.Cutoffs[i], c*o.Cutoffs[i]) < 1e-9) {
				t.Errorf("seed %d: cutoff %v, want %v", seed, p.Cutoffs[i], c*o.Cutoffs[i])
			}
		}
	}
	if solved < 20 {
		t.Errorf("only %d farms solved", solved)
	}
}

// A fairMixture is a distribution with two peaks.
type fairMixture struct {
	a, b sizes.Distribution
	p    float64 // weight of a
}

func (x fairMixture) PartialMoment(order, low, high float64) (float64, error) {
	u, err1 := x.a.PartialMoment(order, low, high)
	v, err2 := x.b.PartialMoment(order, low, high)
	return x.p*u + (1-x.p)*v, errors.Join(err1, err2)
}
func (x fairMixture) Moment(order float64) (float64, error) {
	return x.PartialMoment(order, 0, math.Inf(1))
}
func (x fairMixture) CDF(t float64) float64 { return x.p*x.a.CDF(t) + (1-x.p)*x.b.CDF(t) }
func (x fairMixture) Survival(t float64) float64 {
	return x.p*x.a.Survival(t) + (1-x.p)*x.b.Survival(t)
}
func (x fairMixture) MeanExcess(t float64) float64 {
	return x.p*x.a.MeanExcess(t) + (1-x.p)*x.b.MeanExcess(t)
}
func (x fairMixture) Support() (low, high float64, bounded bool) {
	a, b, _ := x.a.Support()
	c, d, _ := x.b.Support()
	return min(a, c), max(b, d), true
}
func (x fairMixture) Quantile(float64) (float64, error)          { panic("not used") }
func (x fairMixture) Sample(*rand.Rand) float64                  { panic("not used") }
func (x fairMixture) Scaled(float64) (sizes.Distribution, error) { panic("not used") }
func (x fairMixture) String() string {
	return fmt.Sprintf("%v of %v, otherwise %v", x.p, x.a, x.b)
}

// A distribution with two peaks can have several solutions: here one with slowdown 1.109 and the
// smaller one, 0.906, which is expected.
func TestFairSmallest(t *testing.T) {
	m := Model{Hosts: 4, Load: 0.237555516, Sizes: fairMixture{
		ok(sizes.NewBoundedPareto(1.276816089263044, 1847.7778132140356, 0.5982209783808738)),
		ok(sizes.NewBoundedPareto(9.794664318818981, 1309.6553950203092, 2.0098193130567488)),
		0.10293000403009211,
	}}
	r, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{
		10.025020242772925, 17.137804712230206, 55.94275149664536,
	})
	if least, largest := r.slowdowns(); err != nil ||
		!(relativeDifference(least, 1.1093) < 1e-4 && relativeDifference(least, largest) < 1e-12) {
		t.Errorf("slowdowns from %v to %v, error %v: want a solution", least, largest, err)
	}
	o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	if err != nil {
		t.Fatal(err)
	}
	checkFair(t, m, o)
	if !(o.Objective.Float < 0.906) {
		t.Errorf("slowdown %v, want the smaller one, 0.9056", o.Objective.Float)
	}
}

// Equality may be impossible: on a fine grid of cutoffs the slowdowns always differ by more than 10
// %.
func TestFairImpossible(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewBoundedPareto(340, 2e8, 1.9)), Hosts: 3, Load: 0.1, Speeds: []float64{1, 8, 3}}
	_, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	if none := new(UnfairError); !errors.As(err, &none) || !none.Proved || !errors.Is(err, ErrUnfair) {
		t.Errorf("error %v, want a proof", err)
	}
	const points = 400
	at := func(k int) float64 { return 340 * math.Pow(2e8/340, float64(k)/points) }
	closest := math.Inf(1)
	for i := 1; i < points; i++ {
		for j := i + 1; j < points; j++ {
			if r, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{at(i), at(j)}); err == nil {
				least, largest := r.slowdowns()
				closest = min(closest, largest/least)
			}
		}
	}
	if !(closest > 1.1) {
		t.Errorf("slowdowns within a factor of %v", closest)
	}
}

func lognormalSizes(n int, sigma float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	jobSizes := make([]float64, n)
	for i := range jobSizes {
		jobSizes[i] = math.Exp(sigma * r.NormFloat64())
	}
	return jobSizes
}

// For a list of sizes, the result matches a trial of all cutoffs. Sums of partial moments are exact
// to 1e-14.
func TestFairAtoms(t *testing.T) {
	tried := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 4))
		jobSizes := lognormalSizes(2+r.IntN(40), 0.3+2*r.Float64(), seed)
		jobSizes = append(jobSizes, jobSizes[0])
		m := Model{Sizes: ok(sizes.NewEmpirical(jobSizes)), Hosts: 2 + r.IntN(2), Load: 0.05 + 0.4*r.Float64()}
		if r.IntN(3) == 0 {
			m.Speeds = []float64{1, 2, 0.5}[:m.Hosts]
		}
		want, least := math.Inf(1), 0.0
		try := func(cutoffs ...float64) {
			if o, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs); err == nil {
				l, w := o.slowdowns()
				if w < want*(1-1e-13) || w < want*(1+1e-13) && l > least {
					want, least = min(w, want), l
				}
			}
		}
		atoms := append([]float64{0}, m.Sizes.(sizes.Atomic).Atoms()...)
		for i, a := range atoms {
			if m.Hosts == 2 {
				try(a)
				continue
			}
			for _, b := range atoms[i:] {
				try(a, b)
			}
		}
		o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
		if errors.Is(err, ErrInfeasible) && math.IsInf(want, 1) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v, brute force %v", seed, err, want)
		}
		tried++
		if !(relativeDifference(o.Objective.Float, want) < 1e-12) {
			t.Errorf("seed %d: %v, by brute force %v", seed, o.Objective.Float, want)
		}
		if got := 1 - o.Gap; !(got <= least/want*(1+1e-12)) || m.Hosts == 2 && got < least/want*(1-1e-12) {
			t.Errorf("seed %d: gap %v, by brute force %v", seed, o.Gap, 1-least/want)
		}
	}
	if tried < 300 {
		t.Errorf("only %d lists are feasible", tried)
	}
}

// For a long list, the result matches brute force for two hosts. For four, it is no worse than any
// cutoffs on a coarse grid.
func TestFairLongList(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewEmpirical(lognormalSizes(2000, 2, 1))), Hosts: 2, Load: 0.4}
	o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	if err != nil {
		t.Fatal(err)
	}
	atoms := m.Sizes.(sizes.Atomic).Atoms()
	want := math.Inf(1)
	for _, a := range atoms[:len(atoms)-1] {
		if r, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{a}); err == nil {
			_, w := r.slowdowns()
			want = min(want, w)
		}
	}
	if !(relativeDifference(o.Objective.Float, want) < 1e-12) {
		t.Errorf("two hosts: %v, by brute force %v", o.Objective.Float, want)
	}
	m.Hosts, m.Load = 4, 0.3
	if o, err = Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true}); err != nil {
		t.Fatal(err)
	}
	for i := 900; i < 1900; i += 20 {
		for j := i + 20; j < 1960; j += 20 {
			for k := j + 10; k < 1999; k += 10 {
				if r, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{
					atoms[i], atoms[j], atoms[k],
				}); err == nil {
					if _, w := r.slowdowns(); w < o.Objective.Float*(1-1e-12) {
						t.Fatalf("%v at %v, found %v", w, r.Cutoffs, o.Objective.Float)
					}
				}
			}
		}
	}
}

func TestFairErrors(t *testing.T) {
	good := Model{Sizes: ok(sizes.NewBoundedPareto(1, 1e6, 1)), Hosts: 2, Load: 0.5}
	if _, err := Optimize(context.Background(), good, PolicyTAGS, Objective{Fair: true}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(m *Model)
		want  string
	}{
		"no sizes":          {func(m *Model) { m.Sizes = nil }, "Sizes"},
		"no hosts":          {func(m *Model) { m.Hosts = 0 }, "Hosts"},
		"load NaN":          {func(m *Model) { m.Load = math.NaN() }, "Load"},
		"speed 0":           {func(m *Model) { m.Speeds = []float64{1, 0} }, "Speeds[1]"},
		"E[1/X] infinite":   {func(m *Model) { m.Sizes = ok(sizes.NewExponential(1)) }, "E[1/X]"},
		"E[X²] infinite":    {func(m *Model) { m.Sizes = ok(sizes.NewPareto(1, 1.5)) }, "E[X²]"},
		"E[1/X] of Weibull": {func(m *Model) { m.Sizes = ok(sizes.NewWeibull(0.5, 1)) }, "E[1/X]"},
		"no cutoffs at all": {func(m *Model) { m.Load = 0.99 }, "no cutoffs keep"},
		"none for the atoms": {
			func(m *Model) { m.Sizes, m.Load = ok(sizes.NewDeterministic(1)), 0.6 }, "no cutoffs keep",
		},
	} {
		m := good
		c.spoil(&m)
		if o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, result %v", name, err, o)
		}
	}
}

// One host leaves no choice, and jobs of one size need no second host.
func TestFairWithoutChoice(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewLognormal(1, 3)), Hosts: 1, Load: 0.6}
	o, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	r, err2 := Evaluate(context.Background(), m, PolicyTAGS, nil)
	if err != nil || err2 != nil || o.Objective.Float != r.MeanSlowdown.Float || o.Gap != 0 {
		t.Errorf("one host: %v, %v; want %v", o, err, r.MeanSlowdown.Float)
	}
	m = Model{Sizes: ok(sizes.NewDeterministic(2)), Hosts: 3, Load: 0.2}
	o, err = Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true})
	// M/D/1 at load 0.6
	if err != nil || !(relativeDifference(o.Objective.Float, 0.6/(2*(1-0.6))) < 1e-14) || o.Gap != 0 {
		t.Errorf("one size: %v, %v", o, err)
	}
}

// Sizes from 16 seconds to 12 days, two hosts.
func ExampleOptimize_fair() {
	jobSizes, err := sizes.NewBoundedPareto(16, 1e6, 1.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := Optimize(
		context.Background(), Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}, PolicyTAGS, Objective{Fair: true},
	)
	fmt.Printf("cutoff %.1f, slowdowns %.4f and %.4f, error: %v\n",
		r.Cutoffs[0], r.Hosts[0].Slowdown.Float, r.Hosts[1].Slowdown.Float, err)
	// Output: cutoff 1729.5, slowdowns 15.0174 and 15.0174, error: <nil>
}

func BenchmarkFair(b *testing.B) {
	for _, c := range []struct {
		hosts       int
		load, alpha float64
	}{{2, 0.7, 1.5}, {4, 0.5, 0.8}, {8, 0.5, 1}, {8, 0.3, 1.6}, {16, 0.3, 1}} {
		m := Model{Sizes: ok(sizes.NewBoundedParetoOfMean(c.alpha, 1e10, 3000)), Hosts: c.hosts, Load: c.load}
		b.Run(fmt.Sprintf("hosts=%d/distribution=boundedPareto/alpha=%v", c.hosts, c.alpha), func(b *testing.B) {
			for b.Loop() {
				if _, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, hosts := range []int{2, 4, 5} {
		m := Model{Sizes: ok(sizes.NewEmpirical(lognormalSizes(2000, 2, 1))), Hosts: hosts, Load: 0.2}
		b.Run(fmt.Sprintf("hosts=%d/distribution=empirical/sizes=2000", hosts), func(b *testing.B) {
			for b.Loop() {
				if _, err := Optimize(context.Background(), m, PolicyTAGS, Objective{Fair: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
