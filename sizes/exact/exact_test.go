package exact_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// A pair holds one distribution, exact and in doubles.
type pair struct {
	exact  exact.Distribution
	double sizes.Distribution
}

func draw(t *rapid.T) pair {
	mean := rapid.Float64Range(0.1, 10).Draw(t, "mean")
	switch rapid.IntRange(0, 6).Draw(t, "family") {
	case 0:
		k, ratio, alpha := mean, rapid.Float64Range(1.5, 1e4).Draw(t, "ratio"), rapid.Float64Range(
			0.1, 3,
		).Draw(t, "alpha")
		return pair{
			exact.BoundedPareto{Alpha: rat(alpha), Low: rat(k), High: rat(k * ratio)},
			must(sizes.NewBoundedPareto(k, k*ratio, alpha)),
		}
	case 1:
		alpha := rapid.Float64Range(2.1, 9).Draw(t, "alpha")
		return pair{exact.Pareto{Alpha: rat(alpha), Low: rat(mean)}, must(sizes.NewPareto(mean, alpha))}
	case 2:
		return pair{exact.Gammas{{Weight: rat(1), Phases: 1, Mean: rat(mean)}}, must(sizes.NewExponential(mean))}
	case 3:
		n := rapid.IntRange(2, 9).Draw(t, "phases")
		return pair{
			exact.Gammas{{Weight: rat(1), Phases: n, Mean: rat(mean)}}, must(sizes.NewErlang(n, mean*float64(n))),
		}
	case 4:
		return pair{exact.Gammas{
			{Weight: rat(0.25), Phases: 1, Mean: rat(mean)}, {Weight: rat(0.75), Phases: 1, Mean: rat(mean * 5)},
		},
			must(sizes.NewHyperexponential([]float64{0.25, 0.75}, []float64{mean, mean * 5}))}
	case 5:
		shape := rapid.SampledFrom([]float64{0.25, 0.5, 0.7, 1, 1.5, 2, 3.3}).Draw(t, "shape")
		return pair{exact.Weibull{Shape: rat(shape), Mean: rat(mean)}, must(sizes.NewWeibull(shape, mean))}
	}
	list, doubles := exact.List{}, []float64{}
	for range rapid.IntRange(1, 9).Draw(t, "sizes") {
		x := float64(rapid.IntRange(1, 6).Draw(t, "size")) / 4
		list, doubles = append(list, rat(x)), append(doubles, x)
	}
	return pair{list, must(sizes.NewEmpirical(doubles))}
}

// All moments agree with those in double precision, which use other formulas, and enclosures with
// few bits contain those with many.
func TestMomentsAgainstDoubles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		if err := d.exact.Check(); err != nil {
			t.Fatal(err)
		}
		mean := must(sizes.Mean(d.double))
		a := mean * math.Exp(rapid.Float64Range(-3, 1).Draw(t, "log a"))
		b := a * math.Exp(rapid.Float64Range(0, 1.5).Draw(t, "log b/a"))
		coarse, fine := must(d.exact.Enclose(context.Background(), 100)), must(d.exact.Enclose(
			context.Background(), 300,
		))
		point := func(e *exact.Enclosure, x float64) exact.Point { return must(e.At(rat(x))) }
		coarseA, coarseB, fineA, fineB := point(coarse, a), point(coarse, b), point(fine, a), point(fine, b)
		for j := -1; j <= 2; j++ {
			whole, err := d.double.Moment(float64(j))
			if infinite := errors.Is(err, sizes.ErrInfinite); infinite != (j == -1 && fine.NoInverse) {
				t.Fatalf("%v: E[X^%d] infinite in doubles: %v", d.double, j, err)
			} else if !infinite {
				check(t, fmt.Sprintf("%v: E[X^%d]", d.double, j), coarse.Low.Above[j+1], fine.Low.Above[j+1], whole)
			}
			want := must(d.double.PartialMoment(float64(j), a, b))
			check(
				t, fmt.Sprintf("%v: E[X^%d; %v < X <= %v]", d.double, j, a, b), coarseA.Part(j, coarseB),
				fineA.Part(j, fineB), want,
			)
			want = must(d.double.PartialMoment(float64(j), a, math.Inf(1)))
			check(t, fmt.Sprintf("%v: E[X^%d; X > %v]", d.double, j, a), coarseA.Above[j+1], fineA.Above[j+1], want)
		}
		if u, ok := d.double.(sizes.Unimodal); ok && !fineA.Same(fine.Low) && !fineA.Same(fine.High) {
			density := func(e *exact.Enclosure) num.Interval {
				return must(e.Inside(num.FromRat(rat(a), e.Prec))).Density
			}
			check(t, fmt.Sprintf("%v: density at %v", d.double, a), density(coarse), density(fine), u.Density(a))
		}
		if work, tail := d.exact.Fractions(rat(a)); work != nil {
			for i, v := range []*big.Rat{tail, work} {
				if e := fineA.Above[i+1]; e.Low.Cmp(e.High) > 0 || !holds(e, v) {
					t.Errorf("%v: moment %d above %v is %v, not in %g to %g", d.double, i, a, v, e.Low, e.High)
				}
			}
		}
	})
}

func holds(e num.Interval, v *big.Rat) bool {
	low, _ := e.Low.Rat(nil)
	high, _ := e.High.Rat(nil)
	return low.Cmp(v) <= 0 && v.Cmp(high) <= 0
}

// check compares moments; doubles have a relative error of 1e-11 if much cancels.
func check(t *rapid.T, name string, coarse, fine num.Interval, want float64) {
	t.Helper()
	if fine.Low.Cmp(coarse.High) > 0 || fine.High.Cmp(coarse.Low) < 0 {
		t.Errorf("%s: %g to %g misses %g", name, coarse.Low, coarse.High, fine.Low)
	}
	if got := fine.Approx(); math.Abs(got-want) > 1e-11*math.Abs(want)+1e-290 {
		t.Errorf("%s: %v, in doubles %v", name, got, want)
	}
}

// The slope of the density matches difference quotients.
func TestSlopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		e := must(d.exact.Enclose(context.Background(), 300))
		if !e.Smooth {
			return
		}
		x := e.Mean().Approx() * math.Exp(rapid.Float64Range(-1, 1).Draw(t, "log x"))
		h := rat(x * 1e-12)
		p := must(e.At(rat(x)))
		up, down := must(e.At(new(big.Rat).Add(rat(x), h))), must(e.At(new(big.Rat).Sub(rat(x), h)))
		if p.Same(e.Low) || up.Same(e.High) || down.Same(e.Low) {
			return
		}
		for _, q := range []*exact.Point{&p, &up, &down} {
			*q = must(e.Inside(q.X))
		}
		want := up.Density.Sub(down.Density).Quo(num.FromRat(new(big.Rat).Add(h, h), 300)).Approx()
		scale := math.Abs(want) + p.Density.Approx()/x
		if got := p.Slope.Approx(); math.Abs(got-want) > 1e-9*scale { // h² f'''/6, with f''' at most about 1e6 f'/x²
			t.Errorf("%v at %v: slope %v, by differences %v", d.double, x, got, want)
		}
		// The slope of the tail is minus the density.
		want = down.Tail().Sub(up.Tail()).Quo(num.FromRat(new(big.Rat).Add(h, h), 300)).Approx()
		if got := p.Density.Approx(); math.Abs(got-want) > 1e-9*(got+1/x) {
			t.Errorf("%v at %v: density %v, by differences %v", d.double, x, got, want)
		}
	})
}

func TestChecks(t *testing.T) {
	one := big.NewRat(1, 1)
	for path, d := range map[string]exact.Distribution{
		"Alpha":      exact.BoundedPareto{High: one, Low: one},
		"High":       exact.BoundedPareto{Alpha: one, Low: one},
		"Low":        exact.BoundedPareto{Alpha: one, High: one, Low: one},
		"Mean":       exact.BoundedPareto{Alpha: one, High: one, Mean: one},
		"Shape":      exact.Weibull{Shape: big.NewRat(1, 100), Mean: one},
		"[0].Weight": exact.Gammas{{Phases: 1, Mean: one}},
		"[0].Phases": exact.Gammas{{Weight: one, Mean: one}},
		"Branches":   exact.Gammas{},
		"Sizes":      exact.List{one, new(big.Rat)},
	} {
		var bad *input.Error
		if err := d.Check(); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := (exact.Pareto{Alpha: big.NewRat(2, 1), Low: one}).Check(); !errors.Is(err, sizes.ErrInfinite) {
		t.Error(err)
	}
}

// A text names the same distribution as in package sizes.
func TestParse(t *testing.T) {
	mean := big.NewRat(7, 2)
	for _, text := range []string{
		"exponential", "deterministic", "bimodal", "hyperexponential", "zipf", "erlang:4", "hyperexponential:6",
		"pareto:2.5", "weibull:0.7",
	} {
		d, err := exact.Parse(text, mean)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		e, double := must(d.Enclose(context.Background(), 200)), must(sizes.Parse(text, 3.5))
		if !holds(e.Mean(), mean) {
			t.Errorf("%s: mean %g", text, e.Mean().Low)
		}
		for _, x := range []float64{0.4, 2, 9} {
			want, got := must(double.PartialMoment(2, x, math.Inf(1))), must(e.At(rat(x))).Above[3].Approx()
			if math.Abs(got-want) > 1e-10*want {
				t.Errorf("%s: E[X²; X > %v] = %v, in doubles %v", text, x, got, want)
			}
		}
	}
	for _, text := range []string{
		"lognormal:2", "bounded-pareto:1:10", "erlang:0", "erlang", "pareto:1", "weibull:x", "zipf:3", "",
	} {
		var bad *input.Error
		if _, err := exact.Parse(text, mean); !errors.As(err, &bad) || bad.Path != "sizes" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Points found by their work or logarithm match, up to rounding, those of their sizes.
func TestPointsOfWorkAndLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		e := must(d.exact.Enclose(context.Background(), 300))
		x := e.Mean().Approx() * math.Exp(rapid.Float64Range(-1, 1).Draw(t, "log x"))
		want := must(e.At(rat(x)))
		if !e.Smooth || want.Same(e.Low) || want.Same(e.High) {
			return
		}
		want = must(e.Inside(want.X))
		found := []exact.Point{must(e.AtLog(want.Log.Point()))}
		if p, ok, err := e.WithWork(want.Above[2].Point()); err != nil {
			t.Fatal(err)
		} else if ok {
			found = append(found, p)
		}
		for _, p := range found {
			for name, v := range map[string][2]num.Interval{"x": {p.X, want.X}, "P(X > x)": {p.Tail(), want.Tail()},
				"ln x": {p.Log, want.Log}, "f(x)": {p.Density, want.Density}, "f'(x)": {p.Slope, want.Slope}} {
				if off := math.Abs(v[0].Sub(v[1]).Approx()); off > 1e-60*(1+math.Abs(v[1].Approx())) {
					t.Errorf("%v at %v: %s is off by %v", d.double, x, name, off)
				}
			}
		}
	})
}
