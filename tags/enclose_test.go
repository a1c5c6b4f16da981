package tags

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/num"
)

// metric returns the number of r that a metric of the reference rows names.
func (r EnclosedResult) metric(t testing.TB, name string) num.Enclosure {
	switch name {
	case "EW":
		return r.MeanWaiting
	case "ES":
		return r.MeanSlowdown
	case "lam":
		return r.ArrivalRate
	case "excess":
		return r.Excess
	}
	name, index, _ := strings.Cut(name, "_")
	i, err := strconv.Atoi(index)
	if err != nil {
		t.Fatalf("metric %s_%s", name, index)
	}
	h := r.Hosts[i-1]
	switch name {
	case "p":
		return h.Final
	case "pvisit":
		return h.Visit
	case "load":
		return h.Load
	case "EXvisit":
		return h.VisitMean
	case "EX2visit":
		return h.VisitSquare
	case "Wvisit":
		return h.VisitWait
	case "S":
		return h.Slowdown
	}
	t.Fatalf("metric %s", name)
	return num.Enclosure{}
}

// All rows of the independent computation, overloaded hosts included: equal to 30 digits.
func TestEncloseAgainstReference(t *testing.T) {
	tests := 0
	for _, row := range referenceRows(t) {
		if row.Kind != "tags_eval" {
			continue
		}
		metric, wasted := strings.CutSuffix(row.Metric, "_wasted")
		r, err := row.model(t).enclose(row.cutoffs(t), 1e-40, true)
		if err != nil {
			t.Errorf("%s: %v", row.Row, err)
			continue
		}
		got := r.metric(t, metric)
		if wasted { // the runs that were killed, counted as waiting: h = 2
			s := r.Cutoffs[0]
			m := row.model(t)
			weight, err := m.Tail(s, 140)
			if metric == "ES" {
				weight, err = m.PartialMoment(big.NewRat(-1, 1), s, m.High, 140)
			}
			if err != nil {
				t.Fatal(err)
			}
			x := endsOfRat(s, 140)
			sum := x.mul(ends{weight.Low, weight.High}).add(ends{got.Low, got.High})
			got = sum.enclosure()
		}
		if !agrees(t, got, row.Value, 0.51) {
			t.Errorf("%s: got %.35g", row.Row, got.Low)
		}
		tests++
	}
	if tests != 44 {
		t.Errorf("%d rows, not 44", tests)
	}
}

// goodExactModel is stable; tests spoil it.
func goodExactModel() (ExactModel, []*big.Rat) {
	m := ExactModel{
		Hosts:  3,
		Load:   num.MustRat("0.3"),
		Alpha:  num.MustRat("1.3"),
		High:   num.MustRat("1e7"),
		Low:    num.MustRat("700"),
		Speeds: []*big.Rat{num.MustRat("1"), num.MustRat("2"), num.MustRat("1/2")},
	}
	return m, []*big.Rat{num.MustRat("3000"), num.MustRat("1e5")}
}

// drawExactModel draws a model of doubles, so that the float engine sees the same one, and cutoffs, stable ones
// or not.
func drawExactModel(t *rapid.T) (ExactModel, []*big.Rat) {
	double := func(name string, low, high float64) *big.Rat {
		return new(big.Rat).SetFloat64(rapid.Float64Range(low, high).Draw(t, name))
	}
	m := ExactModel{
		Hosts: rapid.IntRange(1, 6).Draw(t, "hosts"),
		Load:  double("load", 0.01, 0.7),
		Alpha: double("alpha", 0.02, 3),
		High:  double("high", 10, 1e10),
	}
	switch rapid.IntRange(0, 5).Draw(t, "special alpha") {
	case 0:
		m.Alpha = big.NewRat(int64(rapid.IntRange(1, 2).Draw(t, "alpha")), 1)
	case 1: // next to 0, 1 or 2
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
		// A part of the way to the end that leaves room, or a very short way.
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
func (r EnclosedResult) numbers() []num.Enclosure {
	list := []num.Enclosure{r.Low, r.ArrivalRate, r.MeanWaiting, r.MeanSlowdown, r.MeanResponse, r.MeanStretch, r.Lost, r.Excess}
	for _, h := range r.Hosts {
		list = append(list, h.Load, h.Slack, h.Visit, h.Final, h.VisitMean, h.VisitSquare, h.VisitWait, h.Waiting,
			h.Slowdown, h.Response)
	}
	return list
}

// numbersOfFloats lists the same of a float result.
func numbersOfFloats(r Result, low float64) []float64 {
	list := []float64{low, r.ArrivalRate, r.MeanWaiting, r.MeanSlowdown, r.MeanResponse, r.MeanStretch, r.Lost, r.Excess}
	for _, h := range r.Hosts {
		list = append(list, h.Load, h.Slack, h.Visit, h.Final, h.VisitMean, h.VisitSquare, h.VisitWait, h.Waiting,
			h.Slowdown, h.Response)
	}
	return list
}

// Enclosures of the same number that are wider and narrower overlap, and are as narrow as was asked.
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
			for _, e := range []num.Enclosure{a[i], b[i]} {
				if e.Low.Cmp(c[i].High) > 0 || e.High.Cmp(c[i].Low) < 0 {
					t.Fatalf("number %d: %g to %g misses %g", i, e.Low, e.High, c[i].Low)
				}
			}
		}
	})
}

// The float engine on the same doubles. Its errors are some roundings, times what the slack and near cutoffs cost.
func TestEncloseAgainstAnalyze(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, cutoffs := drawExactModel(t)
		f, err := m.Rounded()
		if err != nil {
			t.Fatal(err)
		}
		var doubles []float64
		for _, s := range cutoffs {
			x, _ := s.Float64()
			doubles = append(doubles, x)
		}
		want, errFloat := Analyze(f, doubles)
		got, err := Enclose(m, cutoffs, 0)
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
			tolerance = max(tolerance, 1e-13/h.Slack)
		}
		low, _ := m.Low.Float64()
		list := numbersOfFloats(want, low)
		for i, e := range got.numbers() {
			if x, _ := e.Float64(); math.Abs(x-list[i]) > tolerance*math.Abs(x) {
				t.Errorf("number %d: Enclose %v, Analyze %v", i, x, list[i])
			}
		}
	})
}

// With speeds v times as high, all hosts do in 1/v of the time what they did.
func TestEncloseSpeeds(t *testing.T) {
	m, cutoffs := goodExactModel()
	a, err := Enclose(m, cutoffs, 1e-30)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Speeds {
		m.Speeds[i] = new(big.Rat).Mul(v, big.NewRat(3, 1))
	}
	b, err := Enclose(m, cutoffs, 1e-30)
	if err != nil {
		t.Fatal(err)
	}
	three := endsOfInt(3, 200)
	for _, pair := range [][2]num.Enclosure{
		{a.MeanWaiting, b.MeanWaiting}, {a.MeanResponse, b.MeanResponse}, {b.ArrivalRate, a.ArrivalRate},
		{a.MeanSlowdown, b.MeanSlowdown}, {a.Hosts[2].Response, b.Hosts[2].Response},
	} {
		x := three.mul(ends{pair[1].Low, pair[1].High})
		if x.lo.Cmp(pair[0].High) > 0 || x.hi.Cmp(pair[0].Low) < 0 {
			t.Errorf("3 times %g is not %g", pair[1].Low, pair[0].Low)
		}
	}
}

func TestEncloseUnstable(t *testing.T) {
	one := big.NewRat(1, 1)
	// α = 2, k = 1, p = 2, s = 3/2: E[X] = 4/3, M_1 = 8/9 + 7/18, so λ = 18/23 makes ρ_1 = 1.
	m := ExactModel{Hosts: 2, Load: big.NewRat(12, 23), Alpha: big.NewRat(2, 1), High: big.NewRat(2, 1), Low: one}
	s := []*big.Rat{big.NewRat(3, 2)}
	if _, err := Enclose(m, s, 0); !errors.Is(err, ErrPrecision) || !strings.Contains(err.Error(), "host 1") {
		t.Errorf("load 1: %v", err)
	}
	tiny := num.MustRat("1e-400")
	m.Load.Sub(m.Load, tiny)
	r, err := Enclose(m, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if slack := new(big.Rat).Mul(tiny, big.NewRat(23, 12)); !agreesRat(r.Hosts[0].Slack, slack) {
		t.Errorf("slack %g", r.Hosts[0].Slack.Low)
	}
	m.Load.Add(m.Load, tiny).Add(m.Load, tiny)
	var unstable *UnstableError
	if _, err := Enclose(m, s, 0); !errors.As(err, &unstable) || unstable.Host != 0 || unstable.Load != 1 {
		t.Errorf("load above 1: %v", err)
	}
}

// agreesRat reports whether x lies in e.
func agreesRat(e num.Enclosure, x *big.Rat) bool {
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}

func TestExactModelErrors(t *testing.T) {
	for path, spoil := range map[string]func(m *ExactModel, s []*big.Rat, tolerance *float64){
		"Hosts":       func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Hosts = 0 },
		"Load":        func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Load = big.NewRat(1, 1) },
		"Load = nil":  func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Load = nil },
		"Alpha":       func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Alpha = new(big.Rat) },
		"Alpha = nil": func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Alpha = nil },
		"High":        func(m *ExactModel, _ []*big.Rat, _ *float64) { m.High = big.NewRat(-1, 1) },
		"Low":         func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Low = m.High },
		"Low = nil":   func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Low = nil },
		"Mean":        func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Mean = big.NewRat(3000, 1) },
		"Mean = 0":    func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Low, m.Mean = nil, new(big.Rat) },
		"Speeds":      func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Speeds = m.Speeds[:2] },
		"Speeds[1]":   func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Speeds[1] = new(big.Rat) },
		"Cutoffs":     func(m *ExactModel, _ []*big.Rat, _ *float64) { m.Hosts, m.Speeds = 4, nil },
		"Cutoffs[0]":  func(m *ExactModel, s []*big.Rat, _ *float64) { s[0] = m.Low },
		"Cutoffs[0] =": func(m *ExactModel, s []*big.Rat, _ *float64) {
			m.Low, m.Mean, s[0] = nil, big.NewRat(3000, 1), big.NewRat(500, 1)
		},
		"Cutoffs[1]":   func(_ *ExactModel, s []*big.Rat, _ *float64) { s[1] = s[0] },
		"Cutoffs[1] =": func(m *ExactModel, s []*big.Rat, _ *float64) { s[1] = m.High },
		"tolerance":    func(_ *ExactModel, _ []*big.Rat, f *float64) { *f = -1 },
		"tolerance = ": func(_ *ExactModel, _ []*big.Rat, f *float64) { *f = math.NaN() },
	} {
		m, s := goodExactModel()
		tolerance := 0.0
		if _, err := Enclose(m, s, tolerance); err != nil {
			t.Fatal(err)
		}
		spoil(&m, s, &tolerance)
		_, err := Enclose(m, s, tolerance)
		var e *num.InputError
		field, _, _ := strings.Cut(path, " ")
		if !errors.As(err, &e) || e.Path != field || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Enclose takes logarithms and exponentials, one of each a cutoff.
func BenchmarkEnclose(b *testing.B) {
	for _, row := range referenceRows(b) {
		if row.Metric != "EW@opt_waitingtime" || row.P != "1e10" || row.Alpha != "1" {
			continue
		}
		m, cutoffs := row.model(b), row.cutoffs(b)
		for _, law := range []string{"low", "mean"} {
			if law == "mean" {
				m.Low, m.Mean = nil, big.NewRat(3000, 1)
			}
			b.Run("hosts="+strconv.Itoa(row.H)+"/given="+law, func(b *testing.B) {
				for b.Loop() {
					if _, err := Enclose(m, cutoffs, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Jobs sent to hosts at random find one host of the same load.
func TestEncloseOneHostIsRandom(t *testing.T) {
	for _, row := range referenceRows(t) {
		if row.Kind != "random" {
			continue
		}
		m := row.model(t)
		m.Hosts = 1
		r, err := Enclose(m, nil, 1e-40)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.metric(t, row.Metric); !agrees(t, got, row.Value, 0.51) {
			t.Errorf("%s: got %.35g", row.Row, got.Low)
		}
	}
}
