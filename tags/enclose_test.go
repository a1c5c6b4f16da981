package tags

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
)

// metric returns the number of r named by a metric of the reference rows.
func (r Result) metric(t testing.TB, name string) num.Interval {
	switch name {
	case "EW":
		return interval(r.MeanWaiting)
	case "ES":
		return interval(r.MeanSlowdown)
	case "lam":
		return interval(r.ArrivalRate)
	case "excess":
		return interval(r.Excess)
	}
	name, index, _ := strings.Cut(name, "_")
	i, err := strconv.Atoi(index)
	if err != nil {
		t.Fatalf("metric %s_%s", name, index)
	}
	h := r.Hosts[i-1]
	switch name {
	case "p":
		return interval(h.Final)
	case "pvisit":
		return interval(h.Visit)
	case "load":
		return interval(h.Load)
	case "EXvisit":
		return interval(h.VisitMean)
	case "EX2visit":
		return interval(h.VisitSquare)
	case "Wvisit":
		return interval(h.VisitWait)
	case "S":
		return interval(h.Slowdown)
	}
	t.Fatalf("metric %s", name)
	return num.Interval{}
}

// All rows of the independent computation match to 30 digits, including those with overloaded
// hosts.
func TestEncloseAgainstReference(t *testing.T) {
	tests := 0
	for _, row := range referenceRows(t) {
		if row.Kind != "tags_eval" {
			continue
		}
		metric, wasted := strings.CutSuffix(row.Metric, "_wasted")
		r, err := row.model(t).enclose(row.cutoffs(t), 1e-40, true)
		if err != nil {
			t.Errorf("%s: %v", row.Row.Row, err)
			continue
		}
		got := r.metric(t, metric)
		if wasted { // killed runs counted as waiting, for h = 2
			s := r.ExactCutoffs[0]
			m := row.model(t)
			weight, err := m.sizes().Tail(t.Context(), s, 140)
			if metric == "ES" {
				weight, err = m.sizes().PartialMoment(t.Context(), big.NewRat(-1, 1), s, m.High, 140)
			}
			if err != nil {
				t.Fatal(err)
			}
			x := num.FromRat(s, 140)
			sum := x.Mul(num.Interval{Low: weight.Low, High: weight.High}).Add(num.Interval{
				Low:  got.Low,
				High: got.High,
			})
			got = sum
		}
		if !oracle.Agrees(t, got, row.Value, 0.51) {
			t.Errorf("%s: got %.35g", row.Row.Row, got.Low)
		}
		tests++
	}
	if tests != 44 {
		t.Errorf("%d rows, not 44", tests)
	}
}

// goodExactModel returns a stable model; tests corrupt it.
func goodExactModel() (paretoFarm, []*big.Rat) {
	m := paretoFarm{
		Hosts:  3,
		Load:   num.Rat("0.3"),
		Alpha:  num.Rat("1.3"),
		High:   num.Rat("1e7"),
		Low:    num.Rat("700"),
		Speeds: []*big.Rat{num.Rat("1"), num.Rat("2"), num.Rat("1/2")},
	}
	return m, []*big.Rat{num.Rat("3000"), num.Rat("1e5")}
}

// drawExactModel draws a model of doubles, which the float engine represents exactly, and cutoffs
// that may overload hosts.
func drawExactModel(t *rapid.T) (paretoFarm, []*big.Rat) {
	double := func(name string, low, high float64) *big.Rat {
		return new(big.Rat).SetFloat64(rapid.Float64Range(low, high).Draw(t, name))
	}
	m := paretoFarm{
		Hosts: rapid.IntRange(1, 6).Draw(t, "hosts"),
		Load:  double("load", 0.01, 0.7),
		Alpha: double("alpha", 0.02, 3),
		High:  double("high", 10, 1e10),
	}
	switch rapid.IntRange(0, 5).Draw(t, "special alpha") {
	case 0:
		m.Alpha = big.NewRat(int64(rapid.IntRange(1, 2).Draw(t, "alpha")), 1)
	case 1: // near 0, 1 or 2
		m.Alpha = new(big.Rat).SetFloat64(float64(rapid.IntRange(0, 2).Draw(t, "alpha")) + 1e-10)
	}
	ratio := rapid.Float64Range(0.5, 40).Draw(t, "ln high/low")
	f, _ := m.High.Float64()
	m.Low = new(big.Rat).SetFloat64(f * math.Exp(-ratio))
	if rapid.Bool().Draw(t, "speeds") {
		for range m.Hosts {
			m.Speeds = append(m.Speeds, double("speed", 0.5, 2))
		}
	}
	cutoffs := []*big.Rat{}
	at := f * math.Exp(-ratio)
	for i := range m.Hosts - 1 {
		// a fraction of the way to the end that leaves room, or a tiny step
		way := math.Exp(ratio * rapid.Float64Range(0.05, 0.5).Draw(t, "way") / float64(m.Hosts))
		if i > 0 && rapid.IntRange(0, 5).Draw(t, "near") == 0 {
			way = 1 + 0x1p-23
		}
		at *= way
		cutoffs = append(cutoffs, new(big.Rat).SetFloat64(at))
	}
	return m, cutoffs
}

// numbers lists all enclosures of r.
func (r Result) numbers() []num.Interval {
	list := []num.Interval{
		interval(r.ArrivalRate), interval(r.MeanWaiting), interval(r.MeanSlowdown), interval(r.MeanDelay),
		interval(r.MeanStretch), interval(r.Lost), interval(r.Excess),
	}
	for _, h := range r.Hosts {
		list = append(
			list, interval(h.Load), interval(h.Slack), interval(h.Visit), interval(h.Final),
			interval(h.VisitMean), interval(h.VisitSquare), interval(h.VisitWait), interval(h.Waiting),
			interval(h.Slowdown), interval(h.Delay),
		)
	}
	return list
}

// numbersOfFloats lists the same numbers of a float result.
func numbersOfFloats(r Result) []float64 {
	list := []float64{
		r.ArrivalRate.Float, r.MeanWaiting.Float, r.MeanSlowdown.Float, r.MeanDelay.Float, r.MeanStretch.Float,
		r.Lost.Float, r.Excess.Float,
	}
	for _, h := range r.Hosts {
		list = append(
			list, h.Load.Float, h.Slack.Float, h.Visit.Float, h.Final.Float, h.VisitMean.Float, h.VisitSquare.Float,
			h.VisitWait.Float, h.Waiting.Float, h.Slowdown.Float, h.Delay.Float,
		)
	}
	return list
}

// Wider and narrower enclosures of the same number overlap, and meet the requested width.
func TestEnclosuresOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, cutoffs := drawExactModel(t)
		wide, err := m.enclose(cutoffs, 1e-3, true)
		if err != nil {
			t.Fatal(err)
		}
		middle, err := m.enclose(cutoffs, 1e-15, true)
		if err != nil {
			t.Fatal(err)
		}
		fine, err := m.enclose(cutoffs, 1e-120, true)
		if err != nil {
			t.Fatal(err)
		}
		if !(wide.Width <= 1e-3 && middle.Width <= 1e-15 && fine.Width <= 1e-120) {
			t.Fatalf("widths %g %g %g", wide.Width, middle.Width, fine.Width)
		}
		a, b, c := wide.numbers(), middle.numbers(), fine.numbers()
		for i := range c {
			for _, e := range []num.Interval{a[i], b[i]} {
				if e.Low.Cmp(c[i].High) > 0 || e.High.Cmp(c[i].Low) < 0 {
					t.Fatalf("number %d: %g to %g misses %g", i, e.Low, e.High, c[i].Low)
				}
			}
		}
	})
}

// The enclosures match the float engine on the same doubles. Its errors are a few roundings,
// amplified by small slacks and close cutoffs.
func TestEncloseAgainstAnalyze(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pareto, cutoffs := drawExactModel(t)
		f, err := pareto.Rounded()
		if err != nil {
			t.Fatal(err)
		}
		mean, err := f.Sizes.Moment(1)
		if err != nil {
			t.Fatal(err)
		}
		m := pareto.model()
		f.Resume = drawResume(t, mean)
		m.Resume = f.exactResume()
		var doubles []float64
		for _, s := range cutoffs {
			x, _ := s.Float64()
			doubles = append(doubles, x)
		}
		want, errFloat := Evaluate(context.Background(), f, PolicyTAGS, doubles)
		got, err := Enclose(context.Background(), m, PolicyTAGS, cutoffs, 0)
		var a, b *UnstableError
		if errors.As(errFloat, &a) && errors.As(err, &b) {
			if a.Host != b.Host || math.Abs(a.Load-b.Load) > 1e-12*a.Load {
				t.Errorf("Analyze: %v, Enclose: %v", errFloat, err)
			}
			return
		}
		if errFloat != nil || err != nil {
			t.Fatalf("Analyze: %v, Enclose: %v", errFloat, err)
		}
		tolerance := 1e-12
		for _, h := range want.Hosts {
			tolerance = max(tolerance, 1e-13/h.Slack.Float)
		}
		for _, s := range doubles {
			if d := f.Resume.Redone(s); f.Resume.Rule == ResumeEvery && d > 0 { // s minus a rounded multiple of τ
				tolerance = max(tolerance, 1e-15*s/d)
			}
		}
		list := numbersOfFloats(want)
		for i, e := range got.numbers() {
			if x, _ := e.Float64(); math.Abs(x-list[i]) > tolerance*math.Abs(x) {
				t.Errorf("number %d: Enclose %v, Analyze %v", i, x, list[i])
			}
		}
	})
}

// If all speeds are multiplied by v, all times are divided by v.
func TestEncloseSpeeds(t *testing.T) {
	m, cutoffs := goodExactModel()
	a, err := encloseFarm(m, cutoffs, 1e-30)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Speeds {
		m.Speeds[i] = new(big.Rat).Mul(v, big.NewRat(3, 1))
	}
	b, err := encloseFarm(m, cutoffs, 1e-30)
	if err != nil {
		t.Fatal(err)
	}
	three := num.FromInt(3, 200)
	for _, pair := range [][2]num.Interval{
		{interval(a.MeanWaiting), interval(b.MeanWaiting)}, {interval(a.MeanDelay), interval(b.MeanDelay)},
		{interval(b.ArrivalRate), interval(a.ArrivalRate)},
		{interval(a.MeanSlowdown), interval(b.MeanSlowdown)}, {interval(a.Hosts[2].Delay), interval(b.Hosts[2].Delay)},
	} {
		x := three.Mul(num.Interval{Low: pair[1].Low, High: pair[1].High})
		if x.Low.Cmp(pair[0].High) > 0 || x.High.Cmp(pair[0].Low) < 0 {
			t.Errorf("3 times %g is not %g", pair[1].Low, pair[0].Low)
		}
	}
}

func TestEncloseUnstable(t *testing.T) {
	one := big.NewRat(1, 1)
	// α = 2, k = 1, p = 2, s = 3/2: E[X] = 4/3 and M_1 = 8/9 + 7/18, so λ = 18/23 gives ρ_1 = 1.
	m := paretoFarm{Hosts: 2, Load: big.NewRat(12, 23), Alpha: big.NewRat(2, 1), High: big.NewRat(2, 1), Low: one}
	s := []*big.Rat{big.NewRat(3, 2)}
	var unstable *UnstableError
	if _, err := encloseFarm(m, s, 0); !errors.As(err, &unstable) || unstable.Host != 0 || unstable.Load != 1 {
		t.Errorf("load 1: %v", err)
	}
	// α = 1/2, k = 1, p = 16, s = 4: up to a factor E[X] = 6 and M_1 = 4, so ρ = 3/4 gives ρ_1 = 1
	// (square roots).
	roots := paretoFarm{Hosts: 2, Load: big.NewRat(3, 4), Alpha: big.NewRat(1, 2), High: big.NewRat(16, 1), Low: one}
	if _, err := encloseFarm(roots, []*big.Rat{big.NewRat(4, 1)}, 0); !errors.Is(err, ErrPrecision) ||
		!strings.Contains(err.Error(), "host 1") {
		t.Errorf("load 1 by square roots: %v", err)
	}
	tiny := num.Rat("1e-400")
	m.Load.Sub(m.Load, tiny)
	r, err := encloseFarm(m, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if slack := new(big.Rat).Mul(tiny, big.NewRat(23, 12)); !agreesRat(interval(r.Hosts[0].Slack), slack) {
		t.Errorf("slack %g", interval(r.Hosts[0].Slack).Low)
	}
	m.Load.Add(m.Load, tiny).Add(m.Load, tiny)
	if _, err := encloseFarm(m, s, 0); !errors.As(err, &unstable) || unstable.Host != 0 || unstable.Load != 1 {
		t.Errorf("load above 1: %v", err)
	}
}

// agreesRat reports whether x lies in e.
func agreesRat(e num.Interval, x *big.Rat) bool {
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}

// For cutoffs below, at and above the sizes, and for equal ones, the bounds contain the results of
// Analyze, whose error is about 1e-13 divided by the slack.
func TestEncloseHostsWithoutJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := paretoFarm{
			Hosts: rapid.IntRange(2, 4).Draw(t, "hosts"),
			Load:  big.NewRat(rapid.Int64Range(1, 60).Draw(t, "load"), 100),
			Alpha: big.NewRat(rapid.Int64Range(1, 20).Draw(t, "alpha"), 8),
			High:  big.NewRat(64, 1),
			Low:   big.NewRat(2, 1),
		}
		if rapid.Bool().Draw(t, "mean") {
			m.Low, m.Mean = nil, big.NewRat(5, 1)
		}
		for range m.Hosts {
			m.Speeds = append(m.Speeds, big.NewRat(rapid.Int64Range(1, 8).Draw(t, "speed"), 2))
		}
		var cutoffs []*big.Rat
		var rounded []float64
		for range m.Hosts - 1 {
			cutoffs = append(cutoffs, num.Rat(rapid.SampledFrom([]string{
				"0", "0.125", "1", "4", "16", "16.5", "60", "64", "1000",
			}).Draw(t, "cutoff")))
		}
		slices.SortFunc(cutoffs, (*big.Rat).Cmp)
		for _, s := range cutoffs {
			rounded = append(rounded, doubleOf(s))
		}
		want, err := Evaluate(context.Background(), ok(m.Rounded()), PolicyTAGS, rounded)
		got, errExact := encloseFarm(m, cutoffs, 0)
		if (err == nil) != (errExact == nil) {
			t.Fatalf("cutoffs %v: errors %v and %v", rounded, err, errExact)
		}
		if err != nil {
			return
		}
		near := func(name string, e num.Interval, v float64) {
			if f, _ := e.Float64(); !(math.Abs(f-v) <= 1e-10*math.Abs(v)) {
				t.Fatalf("cutoffs %v: %s %v, want %v", rounded, name, f, v)
			}
		}
		for i, h := range want.Hosts {
			if h.Slack.Float < 1e-3 {
				return
			}
			e := got.Hosts[i]
			near("load", interval(e.Load), h.Load.Float)
			near("slack", interval(e.Slack), h.Slack.Float)
			near("visits", interval(e.Visit), h.Visit.Float)
			near("final", interval(e.Final), h.Final.Float)
			near("waiting", interval(e.Waiting), h.Waiting.Float)
			near("slowdown", interval(e.Slowdown), h.Slowdown.Float)
			near("response", interval(e.Delay), h.Delay.Float)
			near("visit waiting", interval(e.VisitWait), h.VisitWait.Float)
		}
		near("E[W]", interval(got.MeanWaiting), want.MeanWaiting.Float)
		near("E[S]", interval(got.MeanSlowdown), want.MeanSlowdown.Float)
		near("E[T]", interval(got.MeanDelay), want.MeanDelay.Float)
		near("E[T/X]", interval(got.MeanStretch), want.MeanStretch.Float)
		near("lost work", interval(got.Lost), want.Lost.Float)
		near("excess", interval(got.Excess), want.Excess.Float)
	})
}

func TestExactModelErrors(t *testing.T) {
	for path, spoil := range map[string]func(m *paretoFarm, s []*big.Rat, tolerance *float64){
		"Hosts":            func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Hosts = 0 },
		"Load":             func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Load = big.NewRat(1, 1) },
		"Load = nil":       func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Load = nil },
		"Alpha":            func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Alpha = new(big.Rat) },
		"Alpha = nil":      func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Alpha = nil },
		"High":             func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.High = big.NewRat(-1, 1) },
		"Low":              func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Low = m.High },
		"Low = nil":        func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Low = nil },
		"Mean":             func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Mean = big.NewRat(3000, 1) },
		"Mean = 0":         func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Low, m.Mean = nil, new(big.Rat) },
		"Speeds":           func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Speeds = m.Speeds[:2] },
		"Speeds[1]":        func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Speeds[1] = new(big.Rat) },
		"Cutoffs":          func(m *paretoFarm, _ []*big.Rat, _ *float64) { m.Hosts, m.Speeds = 4, nil },
		"Cutoffs[0]":       func(_ *paretoFarm, s []*big.Rat, _ *float64) { s[0] = big.NewRat(-1, 9) },
		"Cutoffs[0] = nil": func(_ *paretoFarm, s []*big.Rat, _ *float64) { s[0] = nil },
		"Cutoffs[1]": func(_ *paretoFarm, s []*big.Rat, _ *float64) {
			s[1] = new(big.Rat).Sub(
				s[0], big.NewRat(1, 1000),
			)
		},
		"tolerance":    func(_ *paretoFarm, _ []*big.Rat, f *float64) { *f = -1 },
		"tolerance = ": func(_ *paretoFarm, _ []*big.Rat, f *float64) { *f = math.NaN() },
	} {
		m, s := goodExactModel()
		tolerance := 0.0
		if _, err := encloseFarm(m, s, tolerance); err != nil {
			t.Fatal(err)
		}
		spoil(&m, s, &tolerance)
		_, err := encloseFarm(m, s, tolerance)
		var e *num.InputError
		field, _, _ := strings.Cut(path, " ")
		if !errors.As(err, &e) || e.Path != field || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Enclose computes one logarithm and one exponential per cutoff.
func BenchmarkEnclose(b *testing.B) {
	for _, row := range referenceRows(b) {
		if row.Metric != "EW@opt_waitingtime" || row.P != "1e10" || row.Alpha != "1" {
			continue
		}
		m, cutoffs := row.model(b), row.cutoffs(b)
		for _, given := range []string{"low", "mean"} {
			if given == "mean" {
				m.Low, m.Mean = nil, big.NewRat(3000, 1)
			}
			b.Run("hosts="+strconv.Itoa(row.H)+"/given="+given, func(b *testing.B) {
				for b.Loop() {
					if _, err := encloseFarm(m, cutoffs, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Under random assignment, a job sees a single host with the same load.
func TestEncloseOneHostMatchesRandom(t *testing.T) {
	for _, row := range referenceRows(t) {
		if row.Kind != "random" {
			continue
		}
		m := row.model(t)
		m.Hosts = 1
		r, err := encloseFarm(m, nil, 1e-40)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.metric(t, row.Metric); !oracle.Agrees(t, got, row.Value, 0.51) {
			t.Errorf("%s: got %.35g", row.Row.Row, got.Low)
		}
	}
}

// With α = 2 loads are fractions, so a load of exactly 1 is recognized, which no number of bits
// could prove. The load is chosen so that a cutoff gives it to a host.
func TestEncloseLoadOfExactlyOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high int64) *big.Rat {
			return big.NewRat(rapid.Int64Range(low, high).Draw(t, name), 8)
		}
		m := paretoFarm{Hosts: 2, Alpha: big.NewRat(2, 1), Low: draw("low", 4, 16), Load: big.NewRat(1, 2)}
		m.High = add(m.Low, draw("above", 8, 800))
		s := add(
			m.Low, mul(new(big.Rat).Sub(m.High, m.Low), big.NewRat(rapid.Int64Range(1, 99).Draw(t, "cutoff"), 100)),
		)
		// E[X] = 2k/(1 + k/p), and E[min(X, s)] = E[X] - E[X - s; X > s] with f(x) = 2 k² x^-3/(1 -
		// k²/p²).
		k, p := m.Low, m.High
		mean := quo(mul(big.NewRat(2, 1), k), add(big.NewRat(1, 1), quo(k, p)))
		c := quo(mul(mul(big.NewRat(2, 1), k), k), new(big.Rat).Sub(big.NewRat(1, 1), mul(quo(k, p), quo(k, p))))
		first := mul(c, new(big.Rat).Sub(quo(big.NewRat(1, 1), s), quo(big.NewRat(1, 1), p))) // E[X; X > s]
		inverse := func(x *big.Rat) *big.Rat { return quo(big.NewRat(1, 1), mul(x, x)) }
		tail := mul(mul(c, big.NewRat(1, 2)), new(big.Rat).Sub(inverse(s), inverse(p)))
		work := []*big.Rat{add(new(big.Rat).Sub(mean, first), mul(s, tail)), first}
		host := rapid.IntRange(0, 1).Draw(t, "host")
		m.Load = quo(mean, mul(big.NewRat(2, 1), work[host]))
		if m.Load.Cmp(big.NewRat(1, 1)) >= 0 {
			return
		}
		_, err := encloseFarm(m, []*big.Rat{s}, 0)
		var unstable *UnstableError
		if !errors.As(err, &unstable) {
			t.Fatalf("error %v, want load 1 at host %d", err, host+1)
		}
		m.Load = mul(m.Load, big.NewRat(1e15-1, 1e15))
		other := mul(m.Load, quo(mul(big.NewRat(2, 1), work[1-host]), mean))
		if _, err := encloseFarm(m, []*big.Rat{s}, 0); (err == nil) != (other.Cmp(big.NewRat(1, 1)) < 0) {
			t.Fatalf("a little less load: error %v, load of the other host %v", err, other)
		}
	})
}

// interval returns the bounds on a value.
func interval(v num.Value) num.Interval { return num.Interval{Low: v.Low, High: v.High} }

// For TAGS and SITA and all distributions with enclosures, the bounds contain the float64 values,
// up to their rounding.
func TestEncloseOtherDistributions(t *testing.T) {
	texts := []string{
		"exponential", "deterministic", "bimodal", "hyperexponential", "erlang:4", "hyperexponential:6",
		"pareto:3", "weibull:0.7", "weibull:2", "list",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "sizes")
		var d exact.Distribution = exact.List{num.Rat("1/8"), num.Rat("1/8"), num.Rat("2"), num.Rat("7/4")}
		double := sizes.Distribution(ok(sizes.NewEmpirical([]float64{0.125, 0.125, 2, 1.75})))
		if text != "list" {
			d, double = ok(exact.Parse(text, big.NewRat(1, 1))), ok(sizes.Parse(text, 1))
		}
		hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
		load := rapid.Float64Range(0.01, 0.4).Draw(t, "load")
		doubles := []float64{}
		for range hosts - 1 {
			doubles = append(doubles, rapid.SampledFrom([]float64{0, 0.125, 0.5, 0.75, 1, 1.75, 2, 3}).Draw(
				t, "cutoff",
			))
		}
		slices.Sort(doubles)
		var cutoffs []*big.Rat
		for _, s := range doubles {
			cutoffs = append(cutoffs, new(big.Rat).SetFloat64(s))
		}
		policy := rapid.SampledFrom([]Policy{PolicyTAGS, PolicySITA}).Draw(t, "policy")
		want, err := Evaluate(context.Background(), Model{Sizes: double, Hosts: hosts, Load: load}, policy, doubles)
		got, errExact := Enclose(
			context.Background(), ExactModel{Sizes: d, Hosts: hosts, Load: new(big.Rat).SetFloat64(load)},
			policy, cutoffs, 0,
		)
		if (err == nil) != (errExact == nil) {
			t.Fatalf("%s, %s, cutoffs %v: errors %v and %v", text, policy, doubles, err, errExact)
		}
		if err != nil {
			return
		}
		if got.NoSlowdown != want.NoSlowdown || got.Kind != want.Kind || got.Policy != want.Policy {
			t.Errorf("%+v, in doubles %+v", got, want)
		}
		list := numbersOfFloats(want)
		for i, e := range got.numbers() {
			if x, _ := e.Float64(); math.Abs(x-list[i]) > 1e-11*(math.Abs(x)+1e-3) { // 1e-14 of moments, over slacks
				t.Errorf("%s, %s, cutoffs %v, number %d: %v, in doubles %v", text, policy, doubles, i, x, list[i])
			}
		}
	})
}

// For a list, a load of exactly 1 is distinguished from one just below.
func TestEncloseListAtLoadOne(t *testing.T) {
	m := ExactModel{Sizes: exact.List{num.Rat("1/3"), num.Rat("1")}, Hosts: 2, Load: num.Rat("0.5")} // λ = 3/2
	cutoff := []*big.Rat{num.Rat("1/3")}
	m.Speeds = []*big.Rat{num.Rat("1/2"), num.Rat("3/2")} // host 1 gets λ/3 = 1/2
	var unstable *UnstableError
	if _, err := Enclose(context.Background(), m, PolicyTAGS, cutoff, 0); !errors.As(err, &unstable) ||
		unstable.Host != 0 || unstable.Load != 1 {
		t.Errorf("load 1: %v", err)
	}
	m.Load.Sub(m.Load, num.Rat("1e-30"))
	if r, err := Enclose(context.Background(), m, PolicyTAGS, cutoff, 0); err != nil ||
		!(r.Hosts[0].Slack.Float > 1e-31 && r.Hosts[0].Slack.Float < 1e-29) {
		t.Errorf("load just below 1: %v, slack %v", err, r.Hosts)
	}
}

// A countedContext is done after more than most calls of its methods.
type countedContext struct {
	context.Context
	asked, most int
}

func (c *countedContext) Err() error {
	if c.asked++; c.asked > c.most {
		return context.Canceled
	}
	return nil
}

// Cutoffs far out in the tail need no more terms than the number of bits, and P(X > s) matches the
// distribution.
func TestEncloseFarCutoffs(t *testing.T) {
	for _, c := range []struct {
		sizes  string
		cutoff int64
		log    float64 // ln P(X > s); 0 skips the comparison
	}{
		{"exponential", 100000, -100000}, {"exponential", 3000, -3000}, {"hyperexponential:8", 100000, 0},
		{"zipf", 100000, 0}, {"erlang:3", 10000, 0},
		{"weibull:2", 10000, -math.Pi / 4 * 1e8}, {"weibull:0.5", 1e10, -math.Sqrt(2e10)}, {"weibull:3.3", 200, 0},
	} {
		d, err := exact.Parse(c.sizes, big.NewRat(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		ctx := &countedContext{context.Background(), 0, 10000}
		m := ExactModel{Sizes: d, Hosts: 2, Load: big.NewRat(1, 4)}
		cutoff := []*big.Rat{big.NewRat(c.cutoff, 1)}
		r, err := Enclose(ctx, m, PolicyTAGS, cutoff, 0)
		if err != nil {
			t.Errorf("%s, cutoff %d: %v, asked %d times", c.sizes, c.cutoff, err, ctx.asked)
			continue
		}
		if load := r.Hosts[0].Load.Float; load != 0.5 {
			t.Errorf("%s, cutoff %d: host 1 has load %v", c.sizes, c.cutoff, load)
		}
		visit, _ := r.Hosts[1].Visit.Interval()
		log, err := visit.Log()
		if err != nil || c.log != 0 && math.Abs(log.Approx()/c.log-1) > 1e-14 {
			t.Errorf("%s, cutoff %d: ln P(X > s) = %v, want %v; %v", c.sizes, c.cutoff, log.Approx(), c.log, err)
		}
	}
	// The load of host 1 is 1 - (s+1)e^-s + s e^-s: its slack is e^-s, far below the precision of
	// the load.
	far := ExactModel{
		Sizes: exact.Gammas{{Weight: big.NewRat(1, 1), Phases: 1, Mean: big.NewRat(1, 1)}},
		Hosts: 2,
		Load:  big.NewRat(1, 2),
	}
	ctx := &countedContext{context.Background(), 0, 300}
	r, err := Enclose(ctx, far, PolicyTAGS, []*big.Rat{big.NewRat(100000, 1)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	slack, _ := r.Hosts[0].Slack.Interval()
	if log, err := slack.Log(); err != nil || math.Abs(log.Approx()+100000) > 1e-9 {
		t.Errorf("a load of 1 - e^-100000: the logarithm of its slack is %v; %v", log.Approx(), err)
	}
	// Near t = bits the series is long. It stops with its context.
	ctx = &countedContext{context.Background(), 0, 10}
	if _, err := Enclose(ctx, far, PolicyTAGS, []*big.Rat{big.NewRat(800, 1)}, 1e-290); !errors.Is(err,
		context.Canceled) ||
		ctx.asked > 11 {
		t.Errorf("cancelled under way: %v, asked %d times", err, ctx.asked)
	}
}

// If a host would have a load of 1 with all the work, its slack is the work that it leaves to
// others. With enough bits, it also equals 1 minus the load.
func TestSlackOfFullHost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := big.NewRat(rapid.Int64Range(5, 30).Draw(t, "shape in tenths"), 10)
		m := ExactModel{Sizes: exact.Weibull{Shape: shape, Mean: big.NewRat(1, 1)}, Hosts: 2, Load: big.NewRat(1, 2)}
		cutoff := big.NewRat(rapid.Int64Range(1, 40).Draw(t, "cutoff in tenths"), 10)
		f, err := m.Enclosed(t.Context(), 400)
		if err != nil {
			t.Fatal(err)
		}
		at, err := f.points(t.Context(), []*big.Rat{cutoff})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Policy{PolicyTAGS, PolicySITA} {
			r, _, err := f.evaluate(p, at, m.resumptions(p, []*big.Rat{cutoff}), true)
			if err != nil {
				t.Fatal(err)
			}
			slack, _ := r.Hosts[0].Slack.Interval()
			load, _ := r.Hosts[0].Load.Interval()
			if one := slack.Add(load); !one.Contains(big.NewFloat(1)) || one.RelWidth() > 1e-100 {
				t.Errorf("%s: slack %v and load %v add to %v", p, slack.Approx(), load.Approx(), one)
			}
		}
	})
}
