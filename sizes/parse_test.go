package sizes

import (
	"errors"
	"math"
	"strings"
	"testing"

	"productform/internal/input"
	"productform/internal/oracle"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		scv  float64
	}{
		{"exponential", 1}, {"deterministic", 0}, {"bimodal", 3.4}, {"hyperexponential", 7.4},
		{"zipf", ok(SCV(BonaldComteZipf()))}, {"erlang:4", 0.25}, {"hyperexponential:10", 10}, {"pareto:3", 1.0 / 3},
		{"bounded-pareto:1:100", 100/math.Pow(math.Log(100)*100/99, 2) - 1}, {"lognormal:2", 2}, {"weibull:1", 1},
		{"weibull:0.5", 5}, {"bounded-pareto:1:3:300", 100/math.Pow(math.Log(100)*100/99, 2) - 1},
		{"hyperexponential:1.5e0", 1.5},
	} {
		for _, mean := range []float64{1, 0.3, 1e-90, 1e90} {
			d, err := Parse(c.text, mean)
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			if m := ok(Mean(d)); !oracle.Near(m, mean, 1e-14) {
				t.Errorf("%s: mean %v, want %v", c.text, m, mean)
			}
			if got := ok(SCV(d)); math.Abs(got-c.scv) > 1e-13*(1+c.scv) {
				t.Errorf("%s: SCV %v, want %v", c.text, got, c.scv)
			}
		}
	}
	for _, text := range []string{
		"", "exp", "Exponential", "exponential:1", "erlang", "erlang:0", "erlang:1.5", "erlang:1e7",
		"erlang:x", "erlang:2:3",
		"hyperexponential:1", "hyperexponential:NaN", "hyperexponential:+Inf", "pareto:1", "pareto:",
		"bounded-pareto:1",
		"bounded-pareto:1:1", "bounded-pareto:1:2:2", "bounded-pareto:1:0:2", "bounded-pareto:0:1:2",
		"bounded-pareto:1:2:1e301", "bounded-pareto:1:2:x", "bounded-pareto:0:10", "bounded-pareto:1:1e999",
		"lognormal:0", "weibull:0.01", " zipf",
	} {
		d, err := Parse(text, 1)
		var e *input.Error
		if !errors.As(err, &e) || e.Path != "sizes" {
			t.Errorf("%q: %v, error %v", text, d, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"erlang", "want erlang:K with K an integer in 1..1000000"}, {"exponential:1", "want exponential"},
		{
			"bounded-pareto:1:3:2",
			"want bounded-pareto:ALPHA:MIN:MAX with ALPHA in [1e-100, 1e9] and 1e-300 <= MIN < MAX <= 1e300",
		},
		{"hyperexponential:2:3", "want hyperexponential, or hyperexponential:SCV with SCV in (1, 1e8]"},
	} {
		if _, err := Parse(c.text, 1); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%q: error %v, %s", c.text, err, c.want)
		}
	}
	if _, err := Parse("?", 1); err == nil || !strings.Contains(err.Error(), strings.Join(Names(), ", ")) {
		t.Errorf("error %v does not list the names", err)
	}
}

// If min and max are given, the distribution has these ends and the mean that follows. Other names
// imply no mean.
func TestParseUnscaled(t *testing.T) {
	d, want := ok(ParseUnscaled("bounded-pareto:1.5:2:700")), ok(NewBoundedPareto(2, 700, 1.5))
	if d != want {
		t.Errorf("%v, want %v", d, want)
	}
	if d, err := ParseUnscaled("bounded-pareto:1.5:350"); d != nil || err != nil {
		t.Errorf("%v, error %v", d, err)
	}
	for _, text := range []string{"bounded-pareto:1.5:2:1", "bounded-pareto:1.5:x:3", "bounded-pareto:1", "?"} {
		d, err := ParseUnscaled(text)
		var e *input.Error
		if d != nil || !errors.As(err, &e) || e.Path != "sizes" || e.Value != text {
			t.Errorf("%q: %v, error %v", text, d, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, n := range Names() {
		f.Add(n, 1.0)
	}
	for _, n := range []string{
		"erlang:3", "hyperexponential:4", "pareto:1.5", "bounded-pareto:1.1:1e6",
		"bounded-pareto:1.1:2:5e3", "lognormal:1", "weibull:0.4",
	} {
		f.Add(n, 2.5)
	}
	f.Add("bounded-pareto:7e7:10", 40.5) // steep
	f.Fuzz(func(t *testing.T, text string, mean float64) {
		d, err := Parse(text, mean)
		if (d == nil) != (err != nil) {
			t.Fatalf("distribution %v, error %v", d, err)
		}
		if err != nil {
			return
		}
		m, err := Mean(d)
		if err != nil || !oracle.Near(m, mean, 1e-9) { // with alpha near 1, min is small compared with the mean
			t.Fatalf("%v: mean %v, want %v, error %v", d, m, mean, err)
		}
		for _, r := range []float64{-1, 0, 1, 2} {
			if v, err := d.PartialMoment(r, mean/2, 2*mean); err == nil && !(v >= 0 && v <= math.MaxFloat64) {
				t.Fatalf("%v: E[X^%v] over the middle is %v", d, r, v)
			}
		}
		for _, x := range []float64{mean / 2, mean, 3 * mean} {
			if a, b := d.CDF(x), d.Survival(x); !(a >= 0 && a <= 1 && b >= 0 && b <= 1 && math.Abs(a+b-1) < 1e-9) {
				t.Fatalf("%v: P(X <= %v) = %v, P(X > %v) = %v", d, x, a, x, b)
			}
		}
		if q, err := d.Quantile(0.5); err != nil || !(q >= 0 && q <= math.MaxFloat64) {
			t.Fatalf("%v: median %v, error %v", d, q, err)
		}
	})
}
