package tags

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"productform/num"
	"productform/sizes"
)

// drawCutoffs returns cutoffs inside the sizes of m that overload no host, or nil if a few tries
// find none.
func drawCutoffs(t *rapid.T, m Model) []float64 {
	s, _ := searchOf(m, Objective{Waiting: 1})
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "cutoffs"), 0))
	cutoffs := randomPath(r, s)
	if cutoffs == nil || m.CheckCutoffs(cutoffs) != nil {
		return nil
	}
	return cutoffs
}

func isWithinTol(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)
}

// Evaluate matches a literal implementation of the formulas in the paper's appendix, by the final
// host of a job. The distribution is a list of sizes, so all expectations are sums over the list.
func TestAnalyzeMatchesAppendix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "sizes")
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = rapid.Float64Range(0.1, 20).Draw(t, "size")
		}
		m := Model{Sizes: ok(sizes.NewEmpirical(xs)), Hosts: rapid.IntRange(1, 4).Draw(t, "hosts"), Load: 0.5}
		for range m.Hosts {
			m.Speeds = append(m.Speeds, rapid.Float64Range(1, 2).Draw(t, "speed"))
		}
		slices.Sort(m.Speeds)
		m.Load = min(0.99, ok(MaxLoad(context.Background(), m))) * rapid.Float64Range(0.1, 0.9).Draw(t, "part")
		cutoffs := drawCutoffs(t, m)
		if cutoffs == nil {
			return
		}
		got, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		if err != nil {
			t.Fatal(err)
		}

		mean := func(f func(x float64) float64) float64 {
			var sum float64
			for _, x := range xs {
				sum += f(x) / float64(n)
			}
			return sum
		}
		lambda := m.Load * m.capacity() / mean(func(x float64) float64 { return x })
		s := append(append([]float64{0}, cutoffs...), math.Inf(1))
		var waiting, slowdown, response, stretch, visitWaits, spent, sumOfLoads, excess float64
		for i := 1; i <= m.Hosts; i++ {
			v := m.Speeds[i-1]
			in := func(f func(x float64) float64) float64 {
				return mean(func(x float64) float64 {
					if s[i-1] < x && x <= s[i] {
						return f(x)
					}
					return 0
				})
			}
			p := in(func(x float64) float64 { return 1 })
			visit := mean(func(x float64) float64 {
				if x > s[i-1] && s[i] > 0 { // a host with a cutoff of 0 is skipped
					return 1
				}
				return 0
			})
			ex := mean(func(x float64) float64 { // E[X_i^visit] P(visit)
				if x > s[i-1] {
					return min(x, s[i])
				}
				return 0
			})
			ex2 := mean(func(x float64) float64 {
				if x > s[i-1] {
					return min(x, s[i]) * min(x, s[i])
				}
				return 0
			})
			load := lambda * ex / v
			visitWait := lambda * ex2 / (v * v) / (2 * (1 - load))
			visitWaits += visitWait
			h := got.Hosts[i-1]
			check := func(name string, got, want float64) {
				// Sums have at most 40 terms; 1 - load exceeds 1e-3, or a separate test below
				// covers it.
				if !isWithinTol(got, want, 1e-10) && math.Abs(got-want) > 1e-15 {
					t.Fatalf("host %d of %v, cutoffs %v: %s %v, want %v", i, xs, cutoffs, name, got, want)
				}
			}
			if load > 0.999 {
				return
			}
			check("load", h.Load.Float, load)
			check("slack", h.Slack.Float, 1-load)
			check("visits", h.Visit.Float, visit)
			check("final", h.Final.Float, p)
			check("waiting of a visit", h.VisitWait.Float, visitWait)
			check("waiting", h.Waiting.Float, visitWaits)
			if p > 0 {
				check("slowdown", h.Slowdown.Float, visitWaits*in(func(x float64) float64 { return 1 / x })/p)
				check("response", h.Delay.Float, visitWaits+spent+in(func(x float64) float64 { return x })/p/v)
				response += h.Delay.Float * p
			}
			if visit > 0 {
				check("mean of a visit", h.VisitMean.Float, ex/visit)
				check("square of a visit", h.VisitSquare.Float, ex2/visit)
			}
			waiting += visitWaits * p
			slowdown += visitWaits * in(func(x float64) float64 { return 1 / x })
			stretch += in(func(x float64) float64 { return (visitWaits + spent + x/v) / x })
			sumOfLoads += load - lambda*in(func(x float64) float64 { return x })/v
			if i < m.Hosts {
				spent += s[i] / v
				excess += lambda * s[i] / v * mean(func(x float64) float64 {
					if x > s[i] {
						return 1
					}
					return 0
				})
			}
		}
		for name, pair := range map[string][2]float64{
			"E[W]": {got.MeanWaiting.Float, waiting}, "E[S]": {got.MeanSlowdown.Float, slowdown},
			"E[T]": {got.MeanDelay.Float, response}, "E[T/X]": {got.MeanStretch.Float, stretch},
			"excess": {got.Excess.Float, excess}, "excess as sum of loads": {got.Excess.Float, sumOfLoads},
			"rate": {got.ArrivalRate.Float, lambda}, "rate of the model": {ok(m.ArrivalRate()), lambda},
		} {
			if !isWithinTol(pair[0], pair[1], 1e-10) && math.Abs(pair[0]-pair[1]) > 1e-14 {
				t.Fatalf("%v, cutoffs %v: %s %v, want %v", xs, cutoffs, name, pair[0], pair[1])
			}
		}
	})
}

// Distributions with a density match the same formulas. Moments of visits come from quadrature of
// P(min(X, b)^r > t) = P(X > t^(1/r)).
func TestVisitMomentsByQuadrature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 3)
		if _, atoms := m.Sizes.(sizes.Atomic); atoms {
			return
		}
		cutoffs := drawCutoffs(t, m)
		if cutoffs == nil {
			return
		}
		got, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs)
		if err != nil {
			t.Fatal(err)
		}
		s := append([]float64{0}, cutoffs...)
		for i := range cutoffs {
			a, b := s[i], s[i+1]
			// E[min(X,b)^r; X > a] = a^r P(X > a) + ∫_a^b r t^(r-1) P(X > t) dt, with ln t as the
			// variable if a > 0
			from := a
			low, _, _ := m.Sizes.Support()
			if a == 0 {
				from = max(low, 1e-12*min(b, ok(m.Sizes.Moment(1)))) // below, use the value at 0
			}
			moment := func(r float64) float64 {
				tail := quad.Fixed(func(u float64) float64 {
					x := math.Exp(u)
					return r * math.Pow(x, r) * m.Sizes.Survival(x)
				}, math.Log(from), math.Log(b), 1500, nil, 0)
				return math.Pow(from, r)*m.Sizes.Survival(a) + tail
			}
			h := got.Hosts[i]
			if h.Visit.Float < 1e-12 {
				continue
			}
			// Legendre's rule with 1500 points, for a smooth integrand over at most 50 units of u.
			if m1 := moment(1) / m.Sizes.Survival(a); !isWithinTol(h.VisitMean.Float, m1, 1e-9) {
				t.Errorf("%v, (%v, %v]: mean of a visit %v, by quadrature %v", m.Sizes, a, b, h.VisitMean.Float, m1)
			}
			if m2 := moment(2) / m.Sizes.Survival(a); !isWithinTol(h.VisitSquare.Float, m2, 1e-9) {
				t.Errorf("%v, (%v, %v]: square of a visit %v, by quadrature %v", m.Sizes, a, b, h.VisitSquare.Float, m2)
			}
		}
	})
}

// One host matches the formula of Pollaczek and Khinchine.
func TestOneHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 1)
		m.Speeds = []float64{rapid.Float64Range(0.1, 10).Draw(t, "speed of the host")}
		got := ok(Evaluate(context.Background(), m, PolicyTAGS, nil))
		v := m.Speeds[0]
		ex, ex2 := ok(m.Sizes.Moment(1)), ok(m.Sizes.Moment(2))
		want := m.Load * v / ex * ex2 / (v * v) / (2 * (1 - m.Load))
		if !isWithinTol(got.MeanWaiting.Float, want, 1e-12) ||
			!isWithinTol(got.MeanSlowdown.Float, want*ok(m.Sizes.Moment(-1)), 1e-12) ||
			!isWithinTol(got.MeanDelay.Float, want+ex/v, 1e-12) || got.Excess.Float != 0 || got.Lost.Float != 0 {
			t.Errorf("%+v, want E[W] = %v", got, want)
		}
	})
}

// Sizes with a density at 0 give no mean slowdown, but a mean waiting time; killed jobs have both.
func TestNoSlowdown(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewExponential(1)), Hosts: 2, Load: 0.4}
	got := ok(Evaluate(context.Background(), m, PolicyTAGS, []float64{1}))
	if !got.NoSlowdown || got.MeanSlowdown.Float != 0 || got.Hosts[0].Slowdown.Float != 0 {
		t.Errorf("%+v: want no slowdown", got)
	}
	// V_1 with M_1 = 1 - 1/e, M_2 = 2 - 4/e; host 2 gets sizes 1 + Y with mean 2 and second moment
	// 5
	e, lambda := math.E, 0.8
	v1 := lambda * (2 - 4/e) / (2 * (1 - lambda*(1-1/e)))
	v2 := lambda / e * 5 / (2 * (1 - lambda*2/e))
	if want := v1 + v2/e; !isWithinTol(got.MeanWaiting.Float, want, 1e-14) {
		t.Errorf("E[W] = %v, want %v", got.MeanWaiting.Float, want)
	}
	if got.Hosts[1].Slowdown.Float <= 0 || got.Lost.Float != 1/e {
		t.Errorf("%+v", got)
	}
}

func TestOverload(t *testing.T) {
	m := Model{Sizes: ok(sizes.NewBoundedPareto(1, 1e6, 1)), Hosts: 3, Load: 0.6}
	got, err := Evaluate(context.Background(), m, PolicyTAGS, []float64{10, 20})
	var e *UnstableError
	if !errors.As(err, &e) || !errors.Is(err, num.ErrUnstable) || e.Host != 2 || e.Load < 1 ||
		got.Hosts[2].Load.Float != e.Load ||
		got.Excess.Float <= 0 || got.MeanWaiting.Float != 0 ||
		!strings.HasPrefix(err.Error(), "tags: host 3 has load 1.") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCutoffErrors(t *testing.T) {
	pareto, jobSizes := ok(sizes.NewBoundedPareto(1, 1e6, 1)), ok(sizes.NewEmpirical([]float64{2, 3, 5}))
	for _, c := range []struct {
		moments sizes.Distribution
		hosts   int
		cutoffs []float64
		want    string
	}{
		{pareto, 2, nil, "Cutoffs = 0 cutoffs: want 1, one fewer than hosts"},
		{pareto, 1, []float64{3}, "Cutoffs = 1 cutoffs: want 0"},
		{pareto, 2, []float64{-1}, "Cutoffs[0] = -1: want a finite number >= 0"},
		{pareto, 2, []float64{math.NaN()}, "Cutoffs[0] = NaN: want a finite number >= 0"},
		{pareto, 3, []float64{5, 4.9}, "Cutoffs[1] = 4.9: want a finite number >= 5"},
		{jobSizes, 3, []float64{2, math.Inf(-1)}, "Cutoffs[1] = -Inf: want a finite number >= 2"},
		{ok(sizes.NewExponential(1)), 2, []float64{math.Inf(1)}, "Cutoffs[0] = +Inf: want a finite number >= 0"},
	} {
		_, err := Evaluate(
			context.Background(), Model{Sizes: c.moments, Hosts: c.hosts, Load: 0.1}, PolicyTAGS, c.cutoffs,
		)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.cutoffs, err, c.want)
		}
	}
	if _, err := Evaluate(context.Background(), Model{Sizes: jobSizes, Hosts: 2, Load: 0.1}, PolicyTAGS, []float64{
		2,
	}); err != nil {
		t.Error(err) // jobs of size 2 end at host 1
	}
}

func BenchmarkAnalyze(b *testing.B) {
	m := Model{Sizes: ok(sizes.NewBoundedParetoOfMean(1, 1e10, 3000)), Hosts: 4, Load: 0.3}
	cutoffs := []float64{1e3, 1e5, 1e7}
	for b.Loop() {
		if _, err := Evaluate(context.Background(), m, PolicyTAGS, cutoffs); err != nil {
			b.Fatal(err)
		}
	}
}
