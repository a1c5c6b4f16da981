package optimum

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/internal/oracle"
	"productform/num"
	"productform/sizes"
	"productform/sizes/exact"
	"productform/tags"
)

// objective returns the problem that a row of optimal cutoffs solves.
func objective(r oracle.Row) tags.Objective {
	switch r.Metric {
	case "ES@opt_slowdown":
		return tags.Objective{Slowdown: 1}
	case "EW@opt_waitingtime":
		return tags.Objective{Waiting: 1}
	}
	return tags.Objective{Fair: true}
}

// A paretoFarm is a model whose sizes have a bounded Pareto distribution.
type paretoFarm oracle.Farm

func (m paretoFarm) sizes() exact.BoundedPareto {
	return exact.BoundedPareto{Alpha: m.Alpha, High: m.High, Low: m.Low, Mean: m.Mean}
}

func (m paretoFarm) model() tags.ExactModel {
	return tags.ExactModel{Sizes: m.sizes(), Hosts: m.Hosts, Load: m.Load, Speeds: m.Speeds}
}

func (m paretoFarm) enclose(o tags.Objective, start []float64) (Result, error) {
	return Enclose(context.Background(), m.model(), o, start)
}

const referenceFile = "../testdata/tags_reference.csv"

func interval(v num.Value) num.Interval { return num.Interval{Low: v.Low, High: v.High} }

// The optimal cutoffs match the independent computation to 45 digits, from starts with 8 digits and
// with 3.
func TestAgainstReference(t *testing.T) {
	tests := 0
	for _, row := range oracle.Rows(t, referenceFile) {
		if row.Kind != "tags_opt" {
			continue
		}
		m, want := paretoFarm(row.Farm(t)), row.ExactCutoffs(t)
		for _, shift := range []float64{0, 1e-3, -1e-3} {
			var start []float64
			for i, s := range want {
				f, _ := new(big.Float).SetRat(s).Float64()
				f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'e', 7, 64), 64)
				start = append(start, f*(1+shift*float64(1-2*(i%2))))
			}
			r, err := m.enclose(objective(row), start)
			if err != nil {
				t.Errorf("%s, shift %v: %v", row.Row, shift, err)
				continue
			}
			for i, s := range want {
				d := new(big.Rat).Sub(r.ExactCutoffs[i], s)
				if f, _ := d.Quo(d, s).Float64(); math.Abs(f) > 1e-44 {
					t.Errorf("%s, shift %v: cutoff %d is off by %.2g", row.Row, shift, i+1, f)
				}
				if x, _ := r.Points[i].Rat(nil); x.Cmp(r.ExactCutoffs[i]) != 0 {
					t.Errorf("point %d is not the cutoff", i+1)
				}
			}
			if !oracle.Agrees(t, interval(r.Objective), row.Value, 0.51) {
				t.Errorf("%s: got %.35g", row.Row, r.Objective.Low)
			}
			if !(r.Radius > 0 && r.Radius < 0x1p-165 && r.Gradient < 1e-40 && r.Width <= 1e-30) {
				t.Errorf("%s: radius %g, gradient %g, width %g", row.Row, r.Radius, r.Gradient, r.Width)
			}
		}
		tests++
	}
	if tests != 59 {
		t.Errorf("%d rows, not 59", tests)
	}
}

// The derivatives in the proof match differences over 2^-100 in 400 bits, whose error is about
// 2^-200, plus the loss from α and slacks.
func TestStageDerivatives(t *testing.T) {
	const prec, shift = 400, 100
	rapid.Check(t, func(t *rapid.T) {
		m, cutoffs := drawFarm(t)
		f, err := m.Enclosed(context.Background(), prec)
		if err != nil {
			t.Fatal(err)
		}
		var cut *big.Rat
		if rapid.Bool().Draw(t, "resume") {
			cut = rapid.SampledFrom([]*big.Rat{new(big.Rat), big.NewRat(1, 7)}).Draw(t, "overhead")
		}
		p := search{farm: farm{f, cut}, slowdown: big.NewRat(2, 1), waiting: big.NewRat(1, 3)}
		if f.NoInverse {
			p.slowdown = new(big.Rat)
		}
		type move struct {
			cutoff int
			by     float64
		}
		known := make(map[move]exact.Point)
		inside := func(c move) exact.Point {
			if b, ok := known[c]; ok {
				return b
			}
			x := num.FromRat(cutoffs[c.cutoff], prec)
			if c.by != 0 {
				x = x.Add(x.Scale2(-shift).Mul(num.FromFloat64(c.by, prec)))
			}
			b, err := p.point(x)
			if err != nil {
				t.Fatal(err)
			}
			known[c] = b
			return b
		}
		at := func(moved int, by float64) ([]exact.Point, []stage, bool) {
			list := []exact.Point{p.start()}
			for i := range cutoffs {
				c := move{cutoff: i}
				if i == moved {
					c.by = by
				}
				list = append(list, inside(c))
			}
			list = append(list, p.High)
			stages, ok := p.stages(list)
			return list, stages, ok
		}
		points, stages, ok := at(-1, 0)
		if !ok {
			return // overloaded
		}
		for _, fair := range []bool{false, true} {
			p.fair = fair
			if fair && f.NoInverse {
				continue
			}
			_, system, ok := p.system(points, stages)
			if !ok {
				t.Fatal("undecided")
			}
			for j := range cutoffs {
				up, upStages, _ := at(j, 1)
				down, downStages, _ := at(j, -1)
				upValue, above, _ := p.system(up, upStages)
				downValue, below, _ := p.system(down, downStages)
				width := points[j+1].X.Scale2(1 - shift)
				near := func(name string, slope, up, down num.Interval, scale float64) {
					got, want := slope.Approx(), up.Sub(down).Quo(width).Approx()
					if math.Abs(got-want) > 1e-20*max(math.Abs(got), scale) {
						t.Errorf("%s: %v, difference %v", name, got, want)
					}
				}
				if !fair {
					near("gradient", system.value[j], upValue, downValue, 0)
				}
				for i := range cutoffs {
					scale := math.Abs(system.jacobian[i][i].Approx()) * 1e-10
					near("Jacobian", system.jacobian[i][j], above.value[i], below.value[i], scale)
				}
			}
		}
	})
}

// Starting from the cutoffs of the float engine, cutoffs are proved up to the greatest feasible
// load. Perturbed cutoffs are worse, and the value matches that of the float engine.
func TestAgainstOptimize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		m := paretoFarm{
			Hosts: 1 + r.IntN(5),
			Load:  big.NewRat(1, 2),
			Alpha: big.NewRat(int64(5+r.IntN(200)), 100),
			High:  num.Rat([]string{"1e5", "1e7", "1e10"}[r.IntN(3)]),
			Mean:  big.NewRat(3000, 1),
		}
		double := func(x *big.Rat) float64 { v, _ := x.Float64(); return v }
		d, err := sizes.NewBoundedParetoOfMean(double(m.Alpha), double(m.High), double(m.Mean))
		if err != nil {
			t.Fatal(err)
		}
		f := tags.Model{Sizes: d, Hosts: m.Hosts, Load: 0.5}
		most, err := tags.MaxLoad(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		part := []float64{0.5, 0.9, 0.99, 0.999}[r.IntN(4)]
		m.Load = new(big.Rat).SetFloat64(most * part)
		if most == 1 {
			m.Load = new(big.Rat).SetFloat64(part)
		}
		f.Load = double(m.Load)
		o := []tags.Objective{{Slowdown: 1}, {Waiting: 1}, {Slowdown: 1, Waiting: 1}}[r.IntN(3)]
		want, err := tags.Optimize(context.Background(), f, tags.PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.enclose(o, want.Cutoffs)
		if err != nil {
			t.Errorf("%v: %v", m, err)
			continue
		}
		// Doubles lose digits of the model itself: the error of ln k is about 1e-14, and near the
		// greatest load errors are 1000 times as large.
		value := got.Objective.Float
		if math.Abs(value-want.Objective.Float) > 1e-9*value {
			t.Errorf("%v: %v, float engine %v", m, value, want.Objective.Float)
		}
		for i := range got.Cutoffs {
			for _, by := range []float64{-1e-12, 1e-12} {
				moved := append([]*big.Rat{}, got.ExactCutoffs...)
				moved[i] = new(big.Rat).Mul(moved[i], new(big.Rat).SetFloat64(1+by))
				e, err := tags.Enclose(context.Background(), m.model(), tags.PolicyTAGS, moved, 1e-40)
				if errors.Is(err, num.ErrUnstable) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				s, w := interval(e.MeanSlowdown), interval(e.MeanWaiting)
				sum := s.Mul(num.FromFloat64(o.Slowdown, 256)).Add(w.Mul(num.FromFloat64(o.Waiting, 256)))
				if sum.Low.Cmp(got.Objective.High) <= 0 {
					t.Errorf("%v: cutoff %d moved by %g is better", m, i, by)
				}
			}
		}
	}
}

// Fair cutoffs with a slack of 1e-35, too small for doubles, are found from cutoffs that overload
// the last host, and from cutoffs that leave it idle.
func TestFairBeyondDoubles(t *testing.T) {
	m := paretoFarm{
		Hosts: 2,
		Load:  num.Rat("0.67"),
		Alpha: num.Rat("0.16"),
		High:  num.Rat("1e10"),
		Mean:  num.Rat("3000"),
	}
	var first Result
	for i, start := range []float64{1e6, 1e8, 1.2e9, 2e9} {
		r, err := m.enclose(tags.Objective{Fair: true}, []float64{start})
		if err != nil {
			t.Errorf("from %g: %v", start, err)
			continue
		}
		if slack, _ := interval(r.Hosts[1].Slack).Float64(); !(slack < 1e-30) {
			t.Errorf("slack %g", slack)
		}
		for _, h := range r.Hosts {
			a, _ := interval(h.Slowdown).Float64()
			b := r.Objective.Float
			if math.Abs(a-b) > 1e-12*b {
				t.Errorf("slowdown %v of a host, %v of all", a, b)
			}
		}
		if i == 0 {
			first = r
		} else if d := new(big.Rat).Sub(r.ExactCutoffs[0], first.ExactCutoffs[0]); d.Abs(d).Cmp(num.Rat("1e-38")) > 0 {
			t.Errorf("from %g: %g, not %g", start, r.Points[0], first.Points[0])
		}
	}
}

func TestErrors(t *testing.T) {
	m := paretoFarm{
		Hosts: 3,
		Load:  num.Rat("0.5"),
		Alpha: num.Rat("1.3"),
		High:  num.Rat("1e10"),
		Mean:  num.Rat("3000"),
	}
	good := []float64{2760, 82970}
	o := tags.Objective{Slowdown: 1}
	if _, err := m.enclose(o, good); err != nil {
		t.Fatal(err)
	}
	for want, start := range map[string][]float64{
		"start = 1 cutoffs": good[:1],
		"start[0] = NaN":    {math.NaN(), 82970},
		"start[0] = 1:":     {1, 82970},
		"start[1] = 1000:":  {2760, 1000},
		"start[1] = 1e+10":  {2760, 1e10},
		"start[1] = +Inf":   {2760, math.Inf(1)},
	} {
		var e *num.InputError
		if _, err := m.enclose(o, start); !errors.As(err, &e) || !strings.HasPrefix(e.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := m.enclose(tags.Objective{Fair: true}, start); !errors.As(err, &e) ||
			!strings.HasPrefix(e.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := m.enclose(tags.Objective{}, good); err == nil {
		t.Error("no error without weights")
	}
	m.Load = num.Rat("0.95")
	if _, err := m.enclose(o, good); !errors.Is(err, tags.ErrInfeasible) {
		t.Errorf("load 0.95: %v", err)
	}
	m.Load = big.NewRat(1, 1)
	if _, err := m.enclose(tags.Objective{Fair: true}, good); err == nil {
		t.Error("no error for load 1")
	}
}

// One host has no cutoffs and matches the formula of Pollaczek and Khinchine.
func TestOneHost(t *testing.T) {
	m := paretoFarm{
		Hosts: 1,
		Load:  num.Rat("0.7"),
		Alpha: num.Rat("1.5"),
		High:  num.Rat("1e7"),
		Mean:  num.Rat("3000"),
	}
	r, err := m.enclose(tags.Objective{Waiting: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	square, err := m.sizes().Moment(t.Context(), big.NewRat(2, 1), 100)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := square.Float64()
	if f := r.Objective.Float; math.Abs(f-0.7/3000*x/(2*0.3)) > 1e-14*f {
		t.Errorf("E[W] = %v", f)
	}
}

func BenchmarkEnclose(b *testing.B) {
	for _, row := range oracle.Rows(b, referenceFile) {
		if row.Kind != "tags_opt" || row.P != "1e10" || row.Load != "0.5" || row.Alpha != "1" {
			continue
		}
		m := paretoFarm(row.Farm(b))
		var start []float64
		for _, s := range row.ExactCutoffs(b) {
			f, _ := s.Float64()
			start = append(start, f*(1+1e-7))
		}
		_, name, _ := strings.Cut(row.Metric, "opt_")
		b.Run("hosts="+strconv.Itoa(row.H)+"/objective="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.enclose(objective(row), start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// drawFarm draws a lightly loaded farm with sizes of any distribution that has a density, and
// cutoffs.
func drawFarm(t *rapid.T) (tags.ExactModel, []*big.Rat) {
	number := func(name string, low, high float64) *big.Rat {
		return new(big.Rat).SetFloat64(rapid.Float64Range(low, high).Draw(t, name))
	}
	one := big.NewRat(1, 1)
	var d exact.Distribution
	least := 0.05
	switch rapid.IntRange(0, 4).Draw(t, "family") {
	case 0:
		d, least = exact.BoundedPareto{Alpha: number("alpha", 0.05, 3), Low: one, High: number("high", 100, 1e6)}, 1.01
	case 1:
		d, least = exact.Pareto{Alpha: number("alpha", 2.1, 5), Low: one}, 1.01
	case 2:
		d = exact.Gammas{{Weight: one, Phases: rapid.IntRange(1, 4).Draw(t, "phases"), Mean: one}}
	case 3:
		d = exact.Gammas{{Weight: one, Phases: 1, Mean: one}, {Weight: one, Phases: 2, Mean: number("mean", 1, 9)}}
	case 4:
		d = exact.Weibull{Shape: number("shape", 0.4, 3), Mean: one}
	}
	m := tags.ExactModel{Sizes: d, Hosts: rapid.IntRange(2, 4).Draw(t, "hosts"), Load: number("load", 0.001, 0.2)}
	var cutoffs []*big.Rat
	for range m.Hosts - 1 {
		least *= rapid.Float64Range(1.05, 2).Draw(t, "way")
		cutoffs = append(cutoffs, new(big.Rat).SetFloat64(least))
	}
	return m, cutoffs
}

// For the other distributions, the float64 optimum matches the proved one, up to the accuracy of
// float64.
func TestOtherDistributions(t *testing.T) {
	one := big.NewRat(1, 1)
	double := func(d sizes.Distribution, err error) sizes.Distribution {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	exponential, err := sizes.NewExponential(1)
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := sizes.NewHyperexponential([]float64{0.75, 0.25}, []float64{1, 20})
	if err != nil {
		t.Fatal(err)
	}
	three, err := sizes.NewErlang(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		exact  exact.Distribution
		double sizes.Distribution
		o      tags.Objective
	}{
		{exact.Gammas{{Weight: one, Phases: 1, Mean: one}}, exponential, tags.Objective{Waiting: 1}},
		{exact.Gammas{
			{Weight: big.NewRat(3, 1), Phases: 1, Mean: one}, {Weight: one, Phases: 1, Mean: big.NewRat(20, 1)},
		}, mixed, tags.Objective{Waiting: 1}},
		{exact.Gammas{{Weight: one, Phases: 3, Mean: one}}, three, tags.Objective{Slowdown: 1}},
		{exact.Pareto{Alpha: big.NewRat(5, 2), Low: one}, double(sizes.NewPareto(1, 2.5)), tags.Objective{Slowdown: 1}},
		{
			exact.Weibull{Shape: big.NewRat(3, 2), Mean: one}, double(sizes.NewWeibull(1.5, 1)),
			tags.Objective{Slowdown: 1, Waiting: 1},
		},
		{
			exact.Weibull{Shape: big.NewRat(1, 2), Mean: one}, double(sizes.NewWeibull(0.5, 1)),
			tags.Objective{Waiting: 1},
		},
	} {
		want, err := tags.Optimize(
			context.Background(), tags.Model{Sizes: c.double, Hosts: 3, Load: 0.2}, tags.PolicyTAGS, c.o,
		)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Enclose(
			context.Background(), tags.ExactModel{Sizes: c.exact, Hosts: 3, Load: big.NewRat(1, 5)}, c.o, want.Cutoffs,
		)
		if err != nil {
			t.Errorf("%v: %v", c.double, err)
			continue
		}
		for i, s := range got.Cutoffs { // flat to the square root of the precision of doubles
			if math.Abs(s-want.Cutoffs[i]) > 1e-6*s {
				t.Errorf("%v: cutoff %v, in doubles %v", c.double, s, want.Cutoffs[i])
			}
		}
		if v := got.Objective.Float; math.Abs(v-want.Objective.Float) > 1e-10*v {
			t.Errorf("%v: %v, in doubles %v", c.double, v, want.Objective.Float)
		}
	}
}
