package bf

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"productform/cluster"
	"productform/internal/arithmetic"
	"productform/internal/oracle"
	"productform/num"
)

var allLevels = oracle.Rats("0.001 1/2 19/20 99/100 0.999 0.999999999")

func shopModel() *cluster.Model {
	return &cluster.Model{
		Servers: []cluster.Server{{Name: "big", Capacity: big.NewRat(2, 1)},
			{Name: "small", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "web", ArrivalRate: big.NewRat(1, 1), Servers: cluster.On(0, 1)},
			{Name: "reports", ArrivalRate: big.NewRat(2, 5), Servers: cluster.On(1)}}}
}

// The percentiles of the README's cluster match an independent computation to three decimals.
func TestShopPercentiles(t *testing.T) {
	want := [][]float64{{0.433, 1.872, 2.878}, {1.424, 5.337, 8.021}}
	for _, lattice := range []Lattice{"", ClassLattice, ServerLattice, SymmetricLattice} {
		r, err := delaysOf(t.Context(), shopModel(), Question{Levels: oracle.Rats("0.5 0.95 0.99")},
			Settings{Lattice: lattice})
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range want {
			for j, w := range list {
				if got := r.Classes[i].Quantiles[j].Float; math.Abs(got-w) > 0.0005 {
					t.Errorf("%s: quantile %d of class %d is %v, want %v", lattice, j, i, got, w)
				}
			}
		}
	}
}

// One class on one server is M/M/1: P(T > t) = exp(-(μ-λ) t).
func TestDelayOfOneServer(t *testing.T) {
	for _, load := range []float64{0.001, 0.5, 0.9999} {
		rate := new(big.Rat).SetFloat64(load)
		m := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(3, 1)}},
			MeanSize: big.NewRat(3, 1),
			Classes:  []cluster.Class{{Name: "c", ArrivalRate: rate, Servers: cluster.On(0)}}}
		times := oracle.Rats("0 0.001 1 7 100")
		r, err := delaysOf(t.Context(), m, Question{Levels: allLevels, Times: times, Moments: 5}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if r.RelativeErrorBound > 1e-9 {
			t.Errorf("bound %v", r.RelativeErrorBound)
		}
		decay := 1 - load
		near := func(what string, got num.Value, want float64) {
			t.Helper()
			if e := math.Abs(got.Float/want - 1); e > r.RelativeErrorBound+4e-15 { // logarithms and powers in float64
				t.Errorf("load %v: %s = %v, want %v", load, what, got.Float, want)
			}
		}
		c := r.Classes[0]
		for j, p := range allLevels {
			level, _ := p.Float64()
			want := -math.Log1p(-level) / decay
			if p.Cmp(big.NewRat(1, 2)) > 0 {
				tail, _ := new(big.Rat).Sub(big.NewRat(1, 1), p).Float64()
				want = -math.Log(tail) / decay
			}
			near("quantile", c.Quantiles[j], want)
		}
		for j, at := range times {
			x, _ := at.Float64()
			near("tail", c.Tails[j], math.Exp(-decay*x))
		}
		factorial := 1.0
		for k := range c.Moments {
			factorial *= float64(k+1) / decay
			near("moment", c.Moments[k], factorial)
		}
	}
}

func TestBadDelayQuestions(t *testing.T) {
	half := oracle.Rats("1/2")
	for _, c := range []struct {
		name string
		q    Question
		s    Settings
		path string
	}{
		{"level 0", Question{Levels: []*big.Rat{big.NewRat(1, 2), new(big.Rat)}}, Settings{}, "Levels[1]"},
		{"level 1", Question{Levels: oracle.Rats("1")}, Settings{}, "Levels[0]"},
		{"no level", Question{Levels: []*big.Rat{nil}}, Settings{}, "Levels[0]"},
		{"time before 0", Question{Times: oracle.Rats("-1")}, Settings{}, "Times[0]"},
		{"of all without levels", Question{OfAll: true, Moments: 1}, Settings{}, "Levels"},
		{"classes without a distribution", Question{ByClass: true, Moments: 1}, Settings{}, "MaxJobs"},
		{"too many moments", Question{Moments: MostMoments + 1}, Settings{}, "Moments"},
		{"a negative number of moments", Question{Moments: -1}, Settings{}, "Moments"},
		{"fractions of logarithms", Question{Levels: half}, Settings{Engine: num.Exact}, "Engine"},
		{"connected sets", Question{Levels: half}, Settings{Lattice: ConnectedLattice}, "Lattice"},
		{"settings", Question{}, Settings{RelTol: -1}, "RelTol"},
	} {
		_, err := delaysOf(t.Context(), shopModel(), c.q, c.s)
		var bad *num.InputError
		if !errors.As(err, &bad) || bad.Path != c.path {
			t.Errorf("%s: error %v, want one about %s", c.name, err, c.path)
		}
	}
	sizes := shopModel()
	sizes.Classes[1].MeanSize = big.NewRat(2, 1)
	_, err := delaysOf(t.Context(), sizes, Question{Levels: half}, Settings{})
	var bad *num.InputError
	if !errors.As(err, &bad) || bad.Path != "classes[1].mean_size" {
		t.Errorf("two mean sizes: error %v", err)
	}
	unstable := shopModel().Scale(big.NewRat(15, 7))
	if _, err := delaysOf(t.Context(), unstable, Question{Levels: half}, Settings{}); !errors.Is(err, num.ErrUnstable) {
		t.Errorf("on the boundary of stability: error %v", err)
	}
}

// A class chooses half of many servers, in more ways than a word can count. The engines agree with
// each other and with the fractions of the moments.
func TestDelaysOfLongWays(t *testing.T) {
	m := halfModel(70)
	exact, err := delaysOf(t.Context(), m, Question{Moments: 2}, Settings{Engine: num.Exact})
	if err != nil {
		t.Fatal(err)
	}
	var results []*delayAnswer
	for _, engine := range []num.Engine{num.Float, num.Enclose} {
		r, err := delaysOf(t.Context(), m, Question{Levels: oracle.Rats("1/2 0.999"), Times: oracle.Rats("1"),
			Moments: 2}, Settings{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		for i := range m.Classes {
			for k, v := range r.Classes[i].Moments {
				if e := relativeError(v.Float, exact.Classes[i].Moments[k].Exact); e > r.RelativeErrorBound ||
					r.RelativeErrorBound > 1e-9 {
					t.Errorf("%s: moment %d = %v, error %g, bound %g", engine, k+1, v.Float, e, r.RelativeErrorBound)
				}
			}
		}
	}
	for i := range m.Classes {
		a, b := results[0].Classes[i], results[1].Classes[i]
		for j, v := range append(a.Quantiles, a.Tails...) {
			if w := append(b.Quantiles, b.Tails...)[j]; v.Low.Cmp(w.High) > 0 || w.Low.Cmp(v.High) > 0 {
				t.Errorf("class %d: number %d in [%v, %v] and in [%v, %v]", i, j, v.Low, v.High, w.Low, w.High)
			}
		}
	}
}

// A question that takes too much memory or too many steps gets an error with numbers before it is
// solved.
func TestDelaysTooLarge(t *testing.T) {
	q := Question{Levels: oracle.Rats("0.99")}
	near := &cluster.Model{Servers: []cluster.Server{{Name: "s", Capacity: big.NewRat(1, 1)},
		{Name: "t", Capacity: big.NewRat(1, 1)}},
		Classes: []cluster.Class{{Name: "a", ArrivalRate: new(big.Rat).Sub(big.NewRat(1, 1), oracle.Rats("1e-14")[0]),
			Servers: cluster.On(0)},
			{Name: "b", ArrivalRate: big.NewRat(1, 2), Servers: cluster.On(0, 1)}}}
	for _, c := range []struct {
		model   *cluster.Model
		lattice Lattice
	}{{sparseModel(32), ""}, {near, ClassLattice}} {
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose} {
			_, err := delaysOf(t.Context(), c.model, q, Settings{Engine: engine, Lattice: c.lattice})
			var large *num.TooLargeError
			if !errors.As(err, &large) || large.States == 0 {
				t.Errorf("%d classes, %s: error %v", len(c.model.Classes), engine, err)
			}
		}
	}
	if r, err := delaysOf(t.Context(), near, q, Settings{Engine: num.Float}); err != nil ||
		!(r.RelativeErrorBound < 1e-2) {
		t.Errorf("by elimination: %v, %v", r, err)
	}
}

// Near the stability limit, percentiles are correct or come without a bound: class reports of the
// shop at load factors of 1.0001 and 1.00001.
func TestDelaysNearInstability(t *testing.T) {
	for _, load := range oracle.Rats("0.9999 0.99999") {
		m := oracle.ScaleTo(shopModel(), load)
		levels := oracle.Rats("0.5 0.99 0.999999999")
		r, err := delaysOf(t.Context(), m, Question{Levels: levels}, Settings{Engine: num.Float})
		if err != nil {
			t.Fatal(err)
		}
		if load.Cmp(big.NewRat(9999, 10000)) == 0 && r.RelativeErrorBound > 1e-9 {
			t.Errorf("load %v: bound %v", load, r.RelativeErrorBound)
		}
		// The shop is nested: web is exponential of rate 3 - λ_0 - λ_1.
		drain := big.NewRat(3, 1)
		for _, c := range m.Classes {
			drain.Sub(drain, c.ArrivalRate)
		}
		rate, _ := drain.Float64()
		for j, p := range levels {
			rest, _ := new(big.Rat).Sub(big.NewRat(1, 1), p).Float64()
			want := -math.Log(rest) / rate
			if e := math.Abs(r.Classes[0].Quantiles[j].Float/want - 1); e > r.RelativeErrorBound+1e-15 {
				t.Errorf("load %v, level %v: %v, want %v, bound %g", load, p, r.Classes[0].Quantiles[j].Float, want,
					r.RelativeErrorBound)
			}
		}
	}
}

// Whenever a context is cancelled, the solver returns the error of the context, and the kernels
// check it only a few more times.
func TestDelaysCancelled(t *testing.T) {
	racks := racksModel().Scale(big.NewRat(1, 8))
	for s := range racks.Servers {
		racks.Servers[s].Count = 4
	}
	for name, m := range map[string]*cluster.Model{"sparse": sparseModel(6), "racks": racks,
		"long ways": halfModel(70)} {
		for _, engine := range []num.Engine{num.Float, num.Enclose, num.Exact} {
			q := Question{Levels: oracle.Rats("1/2 0.9"), Times: oracle.Rats("1"), Moments: 1}
			if engine == num.Exact {
				q = Question{Moments: 1}
			}
			ask := func(ctx context.Context) error {
				_, err := delaysOf(ctx, m, q, Settings{Engine: engine})
				return err
			}
			if err := oracle.CheckEnds(ask, 100, 64); err != nil {
				t.Errorf("%s, %s: %v", name, engine, err)
			}
		}
	}
}

// Delays and their powers that float64 cannot represent get the same error as in [Solve]. Tails,
// which have no unit, are returned.
func TestDelaysBeyondDoubles(t *testing.T) {
	faster := func(exponent string) *cluster.Model { // all capacities and rates of the shop
		m := shopModel()
		for s := range m.Servers {
			m.Servers[s].Capacity.Mul(m.Servers[s].Capacity, num.Rat(exponent))
		}
		return m.Scale(num.Rat(exponent))
	}
	levels := oracle.Rats("0.5 0.99")
	for _, c := range []struct {
		speed string
		q     Question
	}{
		{"1e-310", Question{Levels: levels}}, {"1e-310", Question{Moments: 1}},
		{"1e310", Question{Levels: levels}}, {"1e310", Question{Moments: 1}},
		{"1e-10", Question{Moments: 40}}, {"1e10", Question{Moments: 50}},
		{"1e-200", Question{Levels: levels, Moments: 2}},
	} {
		for _, engine := range []num.Engine{num.Auto, num.Float, num.Enclose, num.Exact} {
			if engine == num.Exact && c.q.Levels != nil {
				continue
			}
			r, err := delaysOf(t.Context(), faster(c.speed), c.q, Settings{Engine: engine})
			var bad *num.InputError
			if ok := errors.As(err, &bad) && err.Error() == arithmetic.BeyondFloat().Error(); !ok &&
				!(engine == num.Float && errors.Is(err, num.ErrFloatRange)) {
				t.Errorf("speed %s, engine %s, %d moments: %v, error %v", c.speed, engine, c.q.Moments, r, err)
			}
		}
	}
	for _, speed := range []string{"1e-310", "1e310"} {
		m := faster(speed)
		_, want := Solve(t.Context(), m, Settings{})
		if _, err := quantilesOf(t.Context(), m, levels, Settings{}); err == nil || err.Error() != want.Error() {
			t.Errorf("speed %s: error %v, want %v", speed, err, want)
		}
		at := []*big.Rat{new(big.Rat).Inv(num.Rat(speed))}
		r, err := delaysOf(t.Context(), m, Question{Times: at}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		shop, err := delaysOf(t.Context(), shopModel(), Question{Times: oracle.Rats("1")}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Classes {
			got, want := r.Classes[i].Tails[0].Float, shop.Classes[i].Tails[0].Float
			if math.Abs(got-want) > 2e-9*want {
				t.Errorf("speed %s: the tail of class %d is %v, want %v", speed, i, got, want)
			}
		}
	}
	for _, speed := range []string{"1e-150", "1e150"} { // large or small, but in range
		q := Question{Levels: levels, Moments: 2}
		if _, err := delaysOf(t.Context(), faster(speed), q, Settings{}); err != nil {
			t.Errorf("speed %s: %v", speed, err)
		}
	}
}
