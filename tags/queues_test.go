package tags_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
	"productform/tags"
)

// isNear reports whether got equals want within a relative tolerance.
func isNear(got, want, tol float64) bool { return math.Abs(got-want) <= tol*math.Abs(want) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// paperSizes returns a bounded Pareto distribution of the paper. Its low end is solved for a mean
// of 3000, to 40 digits, by a separate computation.
func paperSizes(low, high, alpha float64) sizes.Distribution {
	return must(sizes.NewBoundedPareto(low, high, alpha))
}

const (
	low02 = 2.488305070133747561506793382436657993235e-20 // alpha = 0.2, high = 1e10
	low06 = 0.06840291402179966094522465286933882336632   // 0.6
	low10 = 167.5552881839900512674953783867575746613     // 1
	low15 = 1000.316377817423856806213997545052506034     // 1.5
	low20 = 1500.000225000033750005062500759375113906     // 2
)

// drawSizes draws a distribution with finite E[X²], and with finite E[1/X] on request.
func drawSizes(t *rapid.T, inverse bool) sizes.Distribution {
	mean := math.Exp(rapid.Float64Range(-8, 8).Draw(t, "log mean"))
	kinds := 5
	if !inverse {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		alpha := rapid.Float64Range(0.3, 2.5).Draw(t, "alpha")
		return must(sizes.NewBoundedPareto(mean, mean*math.Exp(rapid.Float64Range(0.5, 15).Draw(t, "span")), alpha))
	case 1:
		return must(sizes.NewLognormal(mean, rapid.Float64Range(0.1, 20).Draw(t, "scv")))
	case 2:
		return must(sizes.NewErlang(rapid.IntRange(2, 9).Draw(t, "phases"), mean))
	case 3:
		return must(sizes.NewPareto(mean, rapid.Float64Range(2.2, 5).Draw(t, "alpha")))
	case 4:
		return must(sizes.NewWeibull(rapid.Float64Range(1.2, 3).Draw(t, "shape"), mean))
	case 5:
		return must(sizes.NewExponential(mean))
	}
	return must(sizes.NewBalancedHyperexponential(mean, rapid.Float64Range(1.1, 30).Draw(t, "scv")))
}

// The means match an independent computation with 60 to 80 digits. Alpha = 0.2 as a float64 costs
// 1e-14.
func TestRandomReference(t *testing.T) {
	for _, c := range []struct {
		sizes             sizes.Distribution
		waiting, slowdown float64
	}{
		{paperSizes(low02, 1e10, 0.2), 0, 14884461686802221974546902530.3},
		{paperSizes(low10, 1e10, 1), 279258813.639983418779158963978, 833333.347296274015332504272291},
		{paperSizes(low15, 1e10, 1.5), 0, 948.533262504898943996005204715},
		{paperSizes(low20, 1e10, 2), 0, 5.23754424991525456217937457829},
	} {
		r, err := tags.Evaluate(
			context.Background(), tags.Model{Sizes: c.sizes, Hosts: 2, Load: 0.5}, tags.PolicyRandom, nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		if c.waiting > 0 && !isNear(r.MeanWaiting.Float, c.waiting, 1e-13) ||
			!isNear(r.MeanSlowdown.Float, c.slowdown, 1e-12) {
			t.Errorf("%v: %+v, want waiting %v, slowdown %v", c.sizes, r, c.waiting, c.slowdown)
		}
	}
}

// The formula of Lee and Longton as printed, without its factor 1/2, matches an independent
// computation with 60 to 80 digits.
func TestCentralQueueReference(t *testing.T) {
	for _, c := range []struct {
		sizes                    sizes.Distribution
		hosts                    int
		load                     float64
		printed                  bool
		queue, waiting, slowdown float64
	}{
		{paperSizes(low10, 1e10, 1), 2, 0.5, false, 31028.7570711092687532398848864, 93086271.2133278062597196546653,
			277777.782432091338444168090764},
		{paperSizes(low10, 1e10, 1), 2, 0.5, true, 62057.5141422185375064797697729, 0, 555555.564864182676888336181528},
		{paperSizes(low06, 1e10, 0.6), 4, 0.3, false, 0, 0, 103633634.508822919931129287944},
		{paperSizes(low06, 1e10, 0.6), 4, 0.3, true, 0, 0, 207267269.017645839862258575889},
		{
			paperSizes(1500.225033755063259488923338500775116267, 1e7, 2), 2, 0.7, false, 0,
			6346.48537764605511283233355190, 2.82023713228236853404517721804,
		},
		{
			paperSizes(1010.151645220496133337470892746708880227, 1e7, 1.5), 1, 0.7, false, 0,
			117257.350653030976781600032670, 0,
		},
		{
			paperSizes(1010.151645220496133337470892746708880227, 1e7, 1.5), 1, 0.7, true, 0,
			234514.701306061953563200065340, 0,
		},
	} {
		m := tags.Model{Sizes: c.sizes, Hosts: c.hosts, Load: c.load}
		policy := tags.PolicyCentral
		if c.printed {
			policy = tags.PolicyCentralPrinted
		}
		r, err := tags.Evaluate(context.Background(), m, policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		rate := c.load * float64(c.hosts) / must(c.sizes.Moment(1))
		for _, p := range [][2]float64{
			{rate * r.MeanWaiting.Float, c.queue}, {r.MeanWaiting.Float, c.waiting}, {r.MeanSlowdown.Float, c.slowdown},
		} {
			if p[1] > 0 && !isNear(p[0], p[1], 1e-13) { // a few dozen roundings
				t.Errorf("%v, h = %d: %v, want %v", c.sizes, c.hosts, p[0], p[1])
			}
		}
	}
}

// Exponential sizes give the M/M/h queue: E[W] = C/(hμ - λ); for h = 2, C = 2ρ²/(1+ρ).
func TestCentralQueueMatchesMMh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mean := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log mean"))
		load := rapid.Float64Range(0.01, 0.99).Draw(t, "load")
		v := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log speed"))
		r := must(tags.Evaluate(context.Background(), tags.Model{
			Sizes: must(sizes.NewExponential(mean)), Hosts: 2, Load: load, Speeds: []float64{v, v},
		}, tags.PolicyCentral, nil))
		want := 2 * load * load / (1 + load) * (mean / v) / (2 * (1 - load))
		if !isNear(r.MeanWaiting.Float, want, 1e-13) || !isNear(r.MeanDelay.Float, want+mean/v, 1e-13) ||
			!r.NoSlowdown ||
			r.MeanSlowdown != (num.Value{}) || r.Kind != tags.Exact {
			t.Fatalf("got %+v, want waiting %v", r, want)
		}
	})
}

// With one host there is nothing to assign, so all policies give the M/G/1 queue of Pollaczek and
// Khinchine.
func TestOneHostMatchesPollaczekKhinchine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := tags.Model{Sizes: drawSizes(t, true), Hosts: 1, Load: rapid.Float64Range(0.01, 0.999).Draw(t, "load")}
		v := 1.0
		if rapid.Bool().Draw(t, "speeds") {
			v = rapid.Float64Range(0.1, 10).Draw(t, "speed")
			m.Speeds = []float64{v}
		}
		mean, square, inverse := must(m.Sizes.Moment(1)), must(m.Sizes.Moment(2)), must(m.Sizes.Moment(-1))
		rate := m.Load * v / mean
		wait := rate * square / (v * v) / (2 * (1 - m.Load))
		slowdown := tags.Objective{Slowdown: 1}
		for _, r := range []tags.Result{
			must(tags.Evaluate(context.Background(), m, tags.PolicyRandom, nil)),
			must(tags.Evaluate(context.Background(), m, tags.PolicyRoundRobin, nil)),
			must(tags.Evaluate(context.Background(), m, tags.PolicyCentral, nil)),
			must(tags.Evaluate(context.Background(), m, tags.PolicyTAGS, nil)),
			must(tags.Evaluate(context.Background(), m, tags.PolicySITA, nil)),
			must(tags.Evaluate(context.Background(), m, tags.PolicySITAE, nil)),
			must(tags.Optimize(context.Background(), m, tags.PolicySITA, slowdown)),
		} {
			if r.Kind != tags.Exact || r.MeanWaiting.Low != nil || r.MeanSlowdown.Low != nil {
				t.Fatalf("%+v is not one number", r)
			}
			if !isNear(r.MeanWaiting.Float, wait, 1e-12) || !isNear(r.MeanSlowdown.Float, wait*inverse, 1e-12) ||
				!isNear(r.MeanDelay.Float, wait+mean/v, 1e-12) {
				t.Fatalf("%+v, want waiting %v", r, wait)
			}
		}
		a, b := must(tags.Evaluate(context.Background(), m, tags.PolicyRandom, nil)), must(tags.Evaluate(
			context.Background(), m, tags.PolicyCentral, nil,
		))
		if a.MeanWaiting != b.MeanWaiting ||
			a.MeanWaiting != must(tags.Evaluate(context.Background(), m, tags.PolicyRoundRobin, nil)).MeanWaiting {
			t.Fatal("not the same digits")
		}
		if p := must(tags.Evaluate(
			context.Background(), m, tags.PolicyCentralPrinted, nil,
		)); p.MeanWaiting.Float != 2*a.MeanWaiting.Float ||
			p.Kind != tags.Approximation {
			t.Fatalf("printed %+v, want twice %v", p, a.MeanWaiting)
		}
	})
}

// Under random assignment each host acts as a separate farm.
func TestRandomMatchesMixtureOfHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speeds := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 1, 8).Draw(t, "speeds")
		m := tags.Model{
			Sizes: drawSizes(t, true), Hosts: len(speeds), Load: rapid.Float64Range(0.01, 0.99).Draw(t, "load"),
			Speeds: speeds,
		}
		var all, waiting, slowdown, response float64
		for _, v := range speeds {
			all += v
		}
		for _, v := range speeds {
			r := must(tags.Evaluate(
				context.Background(), tags.Model{Sizes: m.Sizes, Hosts: 1, Load: m.Load, Speeds: []float64{v}},
				tags.PolicyTAGS, nil,
			))
			waiting += v / all * r.MeanWaiting.Float
			slowdown += v / all * r.MeanSlowdown.Float
			response += v / all * r.MeanDelay.Float
		}
		r := must(tags.Evaluate(context.Background(), m, tags.PolicyRandom, nil))
		if !isNear(r.MeanWaiting.Float, waiting, 1e-12) || !isNear(r.MeanSlowdown.Float, slowdown, 1e-12) ||
			!isNear(r.MeanDelay.Float, response, 1e-12) || r.Policy != tags.PolicyRandom {
			t.Fatalf("%+v, want %v, %v, %v", r, waiting, slowdown, response)
		}
	})
}

// erlangOverHyperexponential returns E[W] in the queue E_h/H_n/1: 1 = (hν/(hν+z))^h Σ_i p_i
// μ_i/(μ_i-z) for the arrival rate ν has one root z_i in each interval (μ_{i-1}, μ_i), and E[W] =
// Σ_i (1/z_i - 1/μ_i). The rates μ rise.
func erlangOverHyperexponential(hosts int, rate float64, probs, mu []float64) float64 {
	h := float64(hosts)
	var wait, from float64
	for _, to := range mu {
		low, high := from, to
		for mid := (low + high) / 2; low < mid && mid < high; mid = (low + high) / 2 {
			var service float64
			for j, m := range mu {
				service += probs[j] * m / (m - mid)
			}
			if service*math.Pow(h*rate/(h*rate+mid), h) < 1 {
				low = mid
			} else {
				high = mid
			}
		}
		wait += 1/low - 1/to
		from = to
	}
	return wait
}

// The bounds contain the exact E[W] of E_h/M/1 and E_h/H_2/1. They are no worse than known bounds,
// and differ by at most E[s]/2.
func TestRoundRobinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.IntRange(1, 40).Draw(t, "hosts")
		load := rapid.Float64Range(0.02, 0.98).Draw(t, "load")
		probs, mu := []float64{1}, []float64{1}
		jobSizes := sizes.Distribution(must(sizes.NewExponential(1)))
		if rapid.Bool().Draw(t, "two branches") {
			p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
			slow := rapid.Float64Range(0.01, 0.9).Draw(t, "slow")
			probs, mu = []float64{p, 1 - p}, []float64{slow, 1}
			jobSizes = must(sizes.NewHyperexponential(probs, []float64{1 / slow, 1}))
		}
		m := tags.Model{Sizes: jobSizes, Hosts: hosts, Load: load}
		mean, square := must(jobSizes.Moment(1)), must(jobSizes.Moment(2))
		r, random := must(tags.Evaluate(context.Background(), m, tags.PolicyRoundRobin, nil)), must(tags.Evaluate(
			context.Background(), m, tags.PolicyRandom, nil,
		))
		rate := load / mean
		exact := erlangOverHyperexponential(hosts, rate, probs, mu)
		tol := 1e-14 * (mean + exact*exact) / (1 - load) // for the smallest root, about 1/E[W] if E[W] is large
		w := rangeOf(r.MeanWaiting)
		if !(w.low <= exact+tol && exact <= w.high+tol) {
			t.Fatalf("E[W] = %v outside %v", exact, w)
		}
		h := float64(hosts)
		daley := rate * (load*(2-load)/(h*rate*rate) + square - mean*mean) / (2 * (1 - load))
		marshall := max(0, rate*(1/(h*rate*rate)+square-mean*mean)/(2*(1-load))-(load+1/h)/(2*rate))
		if w.high > random.MeanWaiting.Float*(1+1e-13) || w.high > daley*(1+1e-12) || w.high-w.low > mean/2*(1+1e-12) {
			t.Fatalf("%v is wider than known bounds: random %v, Daley %v", w, random.MeanWaiting.Float, daley)
		}
		if math.Abs(w.low-marshall) > 1e-12*(mean+square/mean)/(1-load) {
			t.Fatalf("low = %v, by Marshall's bound %v", w.low, marshall)
		}
		if d := rangeOf(r.MeanDelay); d.low != w.low+mean || d.high != w.high+mean {
			t.Fatalf("%+v: response is not waiting and service", r)
		}
	})
}

// For equal sizes, Spitzer's identity gives E[W] = Σ_n E[(n E[s] - A_1 - ... - A_n)^+]/n, with
// gamma distributions. Jobs start in order, so this is also the M/D/h queue.
func TestRoundRobinOfEqualSizes(t *testing.T) {
	for _, hosts := range []int{2, 3, 7} {
		for _, load := range []float64{0.2, 0.5, 0.8} {
			h := float64(hosts)
			var wait float64
			for n := 1.0; n < 3000; n++ { // terms fall as e^(-0.02 n) or faster
				x := h * load * n
				wait += mathext.GammaIncReg(n*h, x) - mathext.GammaIncReg(n*h+1, x)/load
			}
			r := must(tags.Evaluate(
				context.Background(), tags.Model{Sizes: must(sizes.NewDeterministic(1)), Hosts: hosts, Load: load},
				tags.PolicyRoundRobin, nil,
			))
			if w := rangeOf(r.MeanWaiting); !(w.low <= wait && wait <= w.high) {
				t.Errorf("h = %d, load %v: E[W] = %v outside %v", hosts, load, wait, w)
			}
		}
	}
}

// Multiplying sizes by c and slowing the clock by c leaves slowdowns unchanged; multiplying the
// speeds of all hosts by v divides both by v.
func TestRivalsScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := tags.Model{
			Sizes: drawSizes(t, true), Hosts: rapid.IntRange(1, 20).Draw(t, "hosts"),
			Load: rapid.Float64Range(0.01, 0.95).Draw(t, "load"),
		}
		c := math.Exp(rapid.Float64Range(-6, 6).Draw(t, "log c"))
		v := math.Exp(rapid.Float64Range(-6, 6).Draw(t, "log v"))
		n := m
		n.Sizes = must(m.Sizes.Scaled(c))
		for range m.Hosts {
			n.Speeds = append(n.Speeds, v)
		}
		for _, policy := range queuePolicies() {
			evaluate := func(m tags.Model) tags.Result {
				return must(tags.Evaluate(context.Background(), m, policy, nil))
			}
			a, b := evaluate(m), evaluate(n)
			scale := a.MeanWaiting.Float + must(m.Sizes.Moment(2))/must(m.Sizes.Moment(1))/(1-m.Load) // for rounding
			for _, p := range [][2]float64{
				{rangeOf(b.MeanWaiting).low * v / c, rangeOf(a.MeanWaiting).low},
				{rangeOf(b.MeanWaiting).high * v / c, rangeOf(a.MeanWaiting).high},
				{b.MeanDelay.Float * v / c, a.MeanDelay.Float},
				{b.MeanSlowdown.Float * v / must(m.Sizes.Moment(-1)), a.MeanSlowdown.Float / must(m.Sizes.Moment(-1))},
			} {
				if math.Abs(p[0]-p[1]) > 1e-12*scale {
					t.Fatalf("%v: %v, want %v", a.Policy, p[0], p[1])
				}
			}
		}
	})
}

func TestRivalsRejectBadInput(t *testing.T) {
	exponential := must(sizes.NewExponential(1))
	good := tags.Model{Sizes: exponential, Hosts: 2, Load: 0.5, Speeds: []float64{1, 1}}
	for _, policy := range queuePolicies() {
		name := string(policy)
		f := func(m tags.Model) (tags.Result, error) { return tags.Evaluate(context.Background(), m, policy, nil) }
		if _, err := f(good); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for path, spoil := range map[string]func(m *tags.Model){
			"Sizes":     func(m *tags.Model) { m.Sizes = nil },
			"Hosts":     func(m *tags.Model) { m.Hosts = 0 },
			"Hosts ":    func(m *tags.Model) { m.Hosts = tags.MaxQueueHosts + 1 },
			"Load":      func(m *tags.Model) { m.Load = 1 },
			"Load ":     func(m *tags.Model) { m.Load = math.NaN() },
			"Load  ":    func(m *tags.Model) { m.Load = 0 },
			"Speeds":    func(m *tags.Model) { m.Speeds = []float64{1} },
			"Speeds[1]": func(m *tags.Model) { m.Speeds = []float64{1, 0} },
			"Speeds[0]": func(m *tags.Model) { m.Speeds = []float64{math.Inf(1), 1} },
		} {
			m := good
			spoil(&m)
			_, err := f(m)
			wantPath(t, name, err, strings.TrimSpace(path))
		}
		m := good
		m.Speeds = []float64{1, 2}
		if _, err := f(m); policy == tags.PolicyRandom {
			if err != nil {
				t.Errorf("Random with unequal speeds: %v", err)
			}
		} else {
			wantPath(t, name, err, "Speeds[1]")
		}
		m = good
		m.Sizes = must(sizes.NewPareto(1, 1.5))
		if _, err := f(m); !errors.Is(err, sizes.ErrInfinite) {
			t.Errorf("%s: E[X²] = ∞: %v", name, err)
		}
		m.Sizes = must(sizes.NewBoundedPareto(1e-200, 1e145, 0.01)) // E[X²] about 1e286, E[1/X] about 1e200
		if _, err := f(m); !errors.Is(err, sizes.ErrOverflow) {
			t.Errorf("%s: E[S] beyond float64: %v", name, err)
		}
	}
}

// wantPath requires an error that names a field.
func wantPath(t *testing.T, name string, err error, path string) {
	t.Helper()
	var bad *input.Error
	if !errors.As(err, &bad) || bad.Path != path {
		t.Errorf("%s: error %v, want one that names %s", name, err, path)
	}
}

func ExampleEvaluate_queues() {
	jobSizes, err := sizes.NewBoundedParetoOfMean(1, 1e10, 3000)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := tags.Model{Sizes: jobSizes, Hosts: 2, Load: 0.5}
	for _, policy := range []tags.Policy{tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral} {
		r, err := tags.Evaluate(context.Background(), m, policy, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		low, high := r.MeanSlowdown.Bounds()
		fmt.Printf("%s (%s): E[S] in [%.6g, %.6g]\n", r.Policy, r.Kind, low, high)
	}
	// Output:
	// random (exact): E[S] in [833333, 833333]
	// round-robin (bounds): E[S] in [833329, 833333]
	// least-work-remaining (approximation): E[S] in [277778, 277778]
}

// queuePolicies are the policies that do not know sizes.
func queuePolicies() []tags.Policy {
	return []tags.Policy{tags.PolicyRandom, tags.PolicyRoundRobin, tags.PolicyCentral, tags.PolicyCentralPrinted}
}

// A span holds bounds on a number.
type span struct{ low, high float64 }

func rangeOf(v num.Value) span {
	low, high := v.Bounds()
	return span{low, high}
}

func low(v num.Value) float64  { return rangeOf(v).low }
func high(v num.Value) float64 { return rangeOf(v).high }
