package exact

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
	"productform/sizes"
)

func TestLawAgainstReference(t *testing.T) {
	tests := 0
	for _, row := range oracle.Rows(t, "../../tags/testdata/tags_reference.csv") {
		var got num.Interval
		var err error
		switch row.Kind {
		case "bp_k":
			got, err = farmSizes(row.Farm(t)).LowEnd(t.Context(), 140)
		case "bp_moment":
			order := strings.TrimSuffix(strings.TrimPrefix(row.Metric, "E[X^"), "]")
			got, err = farmSizes(row.Farm(t)).Moment(t.Context(), oracle.Rat(t, order), 140)
		case "bp_dist":
			f := map[string]func(BoundedPareto, context.Context, *big.Rat, uint) (num.Interval, error){
				"tail": BoundedPareto.Tail, "cdf": BoundedPareto.CDF, "pdf": BoundedPareto.Density,
			}[row.Metric]
			got, err = f(farmSizes(row.Farm(t)), t.Context(), row.ExactCutoffs(t)[0], 140)
		default:
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.Row, err)
			continue
		}
		if !oracle.Agrees(t, got, row.Value, 0.51) {
			t.Errorf("%s: got %.35g", row.Row, got.Low)
		}
		tests++
	}
	if tests != 36 {
		t.Errorf("%d rows, not 36", tests)
	}
}

// drawBoundedPareto draws a distribution with double-precision parameters, sometimes with α near 0,
// 1 or 2.
func drawBoundedPareto(t *rapid.T) BoundedPareto {
	alpha := rapid.Float64Range(0.02, 4).Draw(t, "alpha")
	switch rapid.IntRange(0, 3).Draw(t, "special alpha") {
	case 0:
		alpha = float64(rapid.IntRange(1, 2).Draw(t, "alpha"))
	case 1:
		more := rapid.SampledFrom([]float64{1e-10, 1e-6}).Draw(t, "more")
		alpha = float64(rapid.IntRange(0, 2).Draw(t, "alpha")) + more
	}
	high := rapid.Float64Range(1e-3, 1e10).Draw(t, "high")
	low := high * math.Exp(-rapid.Float64Range(0.01, 60).Draw(t, "ln high/low"))
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	return BoundedPareto{Alpha: rat(alpha), High: rat(high), Low: rat(low)}
}

// The enclosures contain the values of the float distributions, which evaluate the same formulas in
// another way.
func TestLawAgainstDist(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawBoundedPareto(t)
		low, _ := m.Low.Float64()
		high, _ := m.High.Float64()
		alpha, _ := m.Alpha.Float64()
		d, err := sizes.NewBoundedPareto(low, high, alpha)
		if err != nil {
			t.Fatal(err)
		}
		place := func(name string) float64 {
			return low * math.Pow(high/low, rapid.Float64Range(-0.1, 1.1).Draw(t, name))
		}
		a, b := place("a"), place("b")
		if rapid.IntRange(0, 4).Draw(t, "near") == 0 {
			b = a * (1 + 0x1p-23)
		}
		a, b = min(a, b), max(a, b)
		x, y := new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)
		near := func(name string, got num.Interval, err error, want float64) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			// the error of package sizes is a few roundings times the exponents, which are below
			// 300
			if f, _ := got.Float64(); math.Abs(f-want) > 2e-13*math.Abs(f) {
				t.Errorf("%s: %v, package sizes %v", name, f, want)
			}
		}
		for _, order := range []float64{-1, 0, 0.5, 1, 2, 3} {
			want, err := d.PartialMoment(order, a, b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.PartialMoment(t.Context(), new(big.Rat).SetFloat64(order), x, y, 60)
			near("partial moment", got, err, want)
		}
		got, err := m.Tail(t.Context(), x, 60)
		near("tail", got, err, d.Survival(a))
		got, err = m.CDF(t.Context(), x, 60)
		near("cdf", got, err, d.CDF(a))
	})
}

// Enclosures of all precisions overlap and are as narrow as promised; the parts of a moment add up
// to it.
func TestLawEnclosures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawBoundedPareto(t)
		if rapid.Bool().Draw(t, "mean") {
			low, _ := m.Low.Float64()
			high, _ := m.High.Float64()
			m.Low, m.Mean = nil, new(big.Rat).SetFloat64(low+(high-low)*rapid.Float64Range(0.001, 0.3).Draw(t, "mean"))
		}
		order := new(big.Rat).SetFloat64(rapid.SampledFrom([]float64{-1, 0, 0.7, 1, 2, 2.5}).Draw(t, "order"))
		x := new(big.Rat).Mul(m.High, new(big.Rat).SetFloat64(rapid.Float64Range(0.5, 0.99).Draw(t, "x")))
		fine, err := m.PartialMoment(t.Context(), order, x, m.High, 500)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := m.Moment(t.Context(), order, 400)
		if err != nil {
			t.Fatal(err)
		}
		below, err := m.PartialMoment(t.Context(), order, new(big.Rat), x, 400)
		if err != nil {
			t.Fatal(err)
		}
		sum := num.Interval{Low: fine.Low, High: fine.High}.Add(num.Interval{Low: below.Low, High: below.High})
		if sum.Low.Cmp(whole.High) > 0 || sum.High.Cmp(whole.Low) < 0 {
			t.Errorf("parts add to %g, not %g", sum.Low, whole.Low)
		}
		for _, prec := range []uint{53, 100, 200, 400} {
			e, err := m.PartialMoment(t.Context(), order, x, m.High, prec)
			if err != nil {
				t.Fatal(err)
			}
			if e.Low.Cmp(fine.High) > 0 || e.High.Cmp(fine.Low) < 0 || e.RelWidth() > math.Ldexp(1, 1-int(prec)) {
				t.Errorf("%d bits: %g to %g, not %g", prec, e.Low, e.High, fine.Low)
			}
		}
		if m.Mean != nil {
			if e, err := m.Moment(t.Context(), big.NewRat(1, 1), 300); err != nil || !agreesRat(e, m.Mean) {
				t.Errorf("mean %g to %g, %v", e.Low, e.High, err)
			}
		}
	})
}

// The low end has the closed forms k = E[X]²/p for α = 1/2 and E[X]/(2 - E[X]/p) for α = 2; with α
// near 0 it is far below doubles.
func TestLowEndClosedForms(t *testing.T) {
	for _, high := range []string{"3000.0000001", "3001", "1e5", "1e10", "1e300"} {
		p, mean := num.Rat(high), big.NewRat(3000, 1)
		ratio := new(big.Rat).Quo(mean, p)
		for _, c := range []struct{ alpha, k *big.Rat }{
			{big.NewRat(1, 2), new(big.Rat).Mul(mean, ratio)},
			{big.NewRat(2, 1), new(big.Rat).Quo(mean, new(big.Rat).Sub(big.NewRat(2, 1), ratio))},
		} {
			e, err := BoundedPareto{Alpha: c.alpha, High: p, Mean: mean}.LowEnd(t.Context(), 300)
			if err != nil || !agreesRat(e, c.k) || e.RelWidth() > 1e-89 {
				t.Errorf("p = %s, α = %v: %g to %g, %v", high, c.alpha, e.Low, e.High, err)
			}
		}
	}
	for _, alpha := range []string{"0.001", "1e-6", "1e-30"} {
		m := BoundedPareto{Alpha: num.Rat(alpha), High: num.Rat("1e10"), Mean: big.NewRat(3000, 1)}
		k, err := m.LowEnd(t.Context(), 100)
		if err != nil || k.High.MantExp(nil) > -10000 {
			t.Errorf("α = %s: %g, %v", alpha, k.Low, err)
		}
		if e, err := m.Moment(t.Context(), big.NewRat(1, 1), 100); err != nil || !agreesRat(e, m.Mean) {
			t.Errorf("α = %s: mean %g, %v", alpha, e.Low, err)
		}
	}
	// With such a small α and large p, k is beyond big.Float.
	m := BoundedPareto{Alpha: num.Rat("1e-30"), High: num.Rat("1e30"), Mean: big.NewRat(1, 1)}
	if _, err := m.LowEnd(t.Context(), 100); !errors.Is(err, num.ErrRange) {
		t.Errorf("k below e^-2e8: %v", err)
	}
}

// At k itself, results are exact if k is given, and undecided if it is computed from the mean. They
// are never wrong.
func TestLawAtTheEnds(t *testing.T) {
	given := BoundedPareto{Alpha: big.NewRat(1, 2), High: num.Rat("1e10"), Low: num.Rat("0.0009")}
	solved := BoundedPareto{Alpha: given.Alpha, High: given.High, Mean: num.Rat("3000")}
	k := given.Low
	is := func(name string, want float64) func(num.Interval, error) {
		return func(e num.Interval, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if f, _ := e.Float64(); f != want {
				t.Errorf("%s = %v, not %v", name, f, want)
			}
		}
	}
	undecided := func(name string) func(num.Interval, error) {
		return func(e num.Interval, err error) {
			t.Helper()
			if !errors.Is(err, ErrMoreBits) {
				t.Errorf("%s: %v %v", name, e, err)
			}
		}
	}
	zero, half := new(big.Rat), num.Rat("0.00045")
	is("P(X <= k)", 0)(given.CDF(t.Context(), k, 0))
	is("P(X > k)", 1)(given.Tail(t.Context(), k, 0))
	is("f(k/2)", 0)(given.Density(t.Context(), half, 0))
	is("f(k/2)", 0)(solved.Density(t.Context(), half, 0))
	is("f(2p)", 0)(solved.Density(t.Context(), num.Rat("2e10"), 0))
	is("P(X <= k/2)", 0)(solved.CDF(t.Context(), half, 0))
	is("P(X <= 0)", 0)(solved.CDF(t.Context(), zero, 0))
	is("P(X > 0)", 1)(solved.Tail(t.Context(), zero, 0))
	is("P(X > p)", 0)(solved.Tail(t.Context(), solved.High, 0))
	is("P(X > 2p)", 0)(solved.Tail(t.Context(), num.Rat("2e10"), 0))
	is("P(X <= p)", 1)(solved.CDF(t.Context(), solved.High, 0))
	is("P(X > k)", 1)(solved.Tail(t.Context(), k, 0))
	undecided("P(X <= k)")(solved.CDF(t.Context(), k, 0))
	undecided("f(k)")(solved.Density(t.Context(), k, 0))
}

func TestLawErrors(t *testing.T) {
	m := BoundedPareto{Alpha: num.Rat("1.3"), High: num.Rat("1e7"), Low: num.Rat("700")}
	one := big.NewRat(1, 1)
	call := map[string]func() (num.Interval, error){
		"x = -1":      func() (num.Interval, error) { return m.Tail(t.Context(), big.NewRat(-1, 1), 0) },
		"x = nil":     func() (num.Interval, error) { return m.CDF(t.Context(), nil, 0) },
		"x = -1/":     func() (num.Interval, error) { return m.Density(t.Context(), big.NewRat(-1, 1), 0) },
		"order = nil": func() (num.Interval, error) { return m.Moment(t.Context(), nil, 0) },
		"low = -1": func() (num.Interval, error) {
			return m.PartialMoment(t.Context(), one, big.NewRat(-1, 1), one, 0)
		},
		"high = 0":    func() (num.Interval, error) { return m.PartialMoment(t.Context(), one, one, new(big.Rat), 0) },
		"prec = 1001": func() (num.Interval, error) { return m.LowEnd(t.Context(), 1001) },
		"High = nil": func() (num.Interval, error) {
			return BoundedPareto{Alpha: one, Low: one}.Tail(t.Context(), one, 0)
		},
		"Low = nil": func() (num.Interval, error) {
			return BoundedPareto{Alpha: one, High: one}.Moment(t.Context(), one, 0)
		},
		"Alpha = nil": func() (num.Interval, error) { return BoundedPareto{High: one}.LowEnd(t.Context(), 0) },
	}
	for want, f := range call {
		var e *num.InputError
		if _, err := f(); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), strings.TrimSuffix(want, "/")) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// farmSizes returns the sizes of a row.
func farmSizes(f oracle.Farm) BoundedPareto {
	return BoundedPareto{Alpha: f.Alpha, High: f.High, Low: f.Low, Mean: f.Mean}
}

// agreesRat reports whether x lies in e.
func agreesRat(e num.Interval, x *big.Rat) bool {
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Cmp(x) <= 0 && x.Cmp(high) <= 0
}
