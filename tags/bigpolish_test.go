package tags

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

	"productform/num"
)

// objective returns which problem a row of optimal cutoffs solves.
func (r refRow) objective() (o Objective, fair bool) {
	switch r.Metric {
	case "ES@opt_slowdown":
		return Objective{Slowdown: 1}, false
	case "EW@opt_waitingtime":
		return Objective{Waiting: 1}, false
	}
	return Objective{}, true
}

func (r refRow) solve(m ExactModel, start []float64) (ExactOptimum, error) {
	o, fair := r.objective()
	if fair {
		return FairExact(m, start)
	}
	return OptimizeExact(m, o, start)
}

// The optimal cutoffs of the independent computation, of 45 digits, from 8 of them and from 3.
func TestPolishAgainstReference(t *testing.T) {
	tests := 0
	for _, row := range referenceRows(t) {
		if row.Kind != "tags_opt" {
			continue
		}
		m, want := row.model(t), row.cutoffs(t)
		for _, shift := range []float64{0, 1e-3, -1e-3} {
			var start []float64
			for i, s := range want {
				f, _ := new(big.Float).SetRat(s).Float64()
				f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'e', 7, 64), 64)
				start = append(start, f*(1+shift*float64(1-2*(i%2))))
			}
			r, err := row.solve(m, start)
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
			if !agrees(t, interval(r.Objective), row.Value, 0.51) {
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

// The derivatives that the proof rests on, against differences over 2^-100 in 400 bits: their error is of the order
// 2^-200, with what α and slacks cost.
func TestStageDerivatives(t *testing.T) {
	const prec, shift = 400, 100
	rapid.Check(t, func(t *rapid.T) {
		m, cutoffs := drawExactModel(t)
		m.Load = new(big.Rat).SetFloat64(rapid.Float64Range(0.001, 0.2).Draw(t, "small load"))
		f, err := m.farm(prec)
		if err != nil {
			t.Fatal(err)
		}
		p := bigSearch{bigFarm: f, slowdown: big.NewRat(2, 1), waiting: big.NewRat(1, 3)}
		at := func(moved int, by float64) ([]bigPoint, []bigStage, bool) {
			list := []bigPoint{p.low}
			for i, s := range cutoffs {
				x := num.FromRat(s, prec)
				if i == moved {
					x = x.Add(x.Scale2(-shift).Mul(num.FromFloat64(by, prec)))
				}
				b, err := p.at(x)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, b)
			}
			list = append(list, p.high)
			stages, ok := p.stages(list)
			return list, stages, ok
		}
		points, stages, ok := at(-1, 0)
		if !ok {
			return // overloaded
		}
		for _, fair := range []bool{false, true} {
			p.fair = fair
			_, system, ok := p.system(points, stages)
			if !ok {
				t.Fatal("undecided")
			}
			for j := range cutoffs {
				up, upStages, _ := at(j, 1)
				down, downStages, _ := at(j, -1)
				upValue, above, _ := p.system(up, upStages)
				downValue, below, _ := p.system(down, downStages)
				width := points[j+1].x.Scale2(1 - shift)
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

// From the cutoffs of the float engine to proved ones, up to the greatest feasible load: cutoffs a bit off are worse,
// and the value is that of the float engine.
func TestOptimizeExactAgainstOptimize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		m := ExactModel{
			Hosts: 1 + r.IntN(5),
			Load:  big.NewRat(1, 2),
			Alpha: big.NewRat(int64(5+r.IntN(200)), 100),
			High:  num.MustRat([]string{"1e5", "1e7", "1e10"}[r.IntN(3)]),
			Mean:  big.NewRat(3000, 1),
		}
		f, err := m.Rounded()
		if err != nil {
			t.Fatal(err)
		}
		most, err := MaxLoad(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		part := []float64{0.5, 0.9, 0.99, 0.999}[r.IntN(4)]
		m.Load = new(big.Rat).SetFloat64(most * part)
		if most == 1 {
			m.Load = new(big.Rat).SetFloat64(part)
		}
		if f, err = m.Rounded(); err != nil {
			t.Fatal(err)
		}
		o := []Objective{{Slowdown: 1}, {Waiting: 1}, {Slowdown: 1, Waiting: 1}}[r.IntN(3)]
		want, err := Optimize(context.Background(), f, PolicyTAGS, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := OptimizeExact(m, o, want.Cutoffs)
		if err != nil {
			t.Errorf("%v: %v", m, err)
			continue
		}
		// Doubles lose digits of the model itself: ln k has some 1e-14, and loads near the greatest 1000 times more.
		value := got.Objective.Float
		if math.Abs(value-want.Objective.Float) > 1e-9*value {
			t.Errorf("%v: %v, float engine %v", m, value, want.Objective.Float)
		}
		for i := range got.Cutoffs {
			for _, by := range []float64{-1e-12, 1e-12} {
				moved := append([]*big.Rat{}, got.ExactCutoffs...)
				moved[i] = new(big.Rat).Mul(moved[i], new(big.Rat).SetFloat64(1+by))
				e, err := Enclose(m, moved, 1e-40)
				if errors.Is(err, ErrUnstable) {
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

// Slacks that no doubles leave: fair cutoffs with a slack of 1e-35, from cutoffs that overload the last host, and from
// others that idle it.
func TestFairExactBeyondDoubles(t *testing.T) {
	m := ExactModel{
		Hosts: 2,
		Load:  num.MustRat("0.67"),
		Alpha: num.MustRat("0.16"),
		High:  num.MustRat("1e10"),
		Mean:  num.MustRat("3000"),
	}
	var first ExactOptimum
	for i, start := range []float64{1e6, 1e8, 1.2e9, 2e9} {
		r, err := FairExact(m, []float64{start})
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
		} else if d := new(big.Rat).Sub(r.ExactCutoffs[0], first.ExactCutoffs[0]); d.Abs(d).Cmp(num.MustRat("1e-38")) > 0 {
			t.Errorf("from %g: %g, not %g", start, r.Points[0], first.Points[0])
		}
	}
}

func TestPolishErrors(t *testing.T) {
	m := ExactModel{
		Hosts: 3,
		Load:  num.MustRat("0.5"),
		Alpha: num.MustRat("1.3"),
		High:  num.MustRat("1e10"),
		Mean:  num.MustRat("3000"),
	}
	good := []float64{2760, 82970}
	o := Objective{Slowdown: 1}
	if _, err := OptimizeExact(m, o, good); err != nil {
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
		if _, err := OptimizeExact(m, o, start); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := FairExact(m, start); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := OptimizeExact(m, Objective{}, good); err == nil {
		t.Error("no error without weights")
	}
	m.Load = num.MustRat("0.95")
	if _, err := OptimizeExact(m, o, good); !errors.Is(err, ErrInfeasible) {
		t.Errorf("load 0.95: %v", err)
	}
	m.Load = big.NewRat(1, 1)
	if _, err := FairExact(m, good); err == nil {
		t.Error("no error for load 1")
	}
}

// One host has no cutoffs: Pollaczek and Khinchine.
func TestPolishOneHost(t *testing.T) {
	m := ExactModel{
		Hosts: 1,
		Load:  num.MustRat("0.7"),
		Alpha: num.MustRat("1.5"),
		High:  num.MustRat("1e7"),
		Mean:  num.MustRat("3000"),
	}
	r, err := OptimizeExact(m, Objective{Waiting: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	square, err := m.Moment(big.NewRat(2, 1), 100)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := square.Float64()
	if f := r.Objective.Float; math.Abs(f-0.7/3000*x/(2*0.3)) > 1e-14*f {
		t.Errorf("E[W] = %v", f)
	}
}

func BenchmarkPolish(b *testing.B) {
	for _, row := range referenceRows(b) {
		if row.Kind != "tags_opt" || row.P != "1e10" || row.Load != "0.5" || row.Alpha != "1" {
			continue
		}
		m := row.model(b)
		var start []float64
		for _, s := range row.cutoffs(b) {
			f, _ := s.Float64()
			start = append(start, f*(1+1e-7))
		}
		_, name, _ := strings.Cut(row.Metric, "opt_")
		b.Run("hosts="+strconv.Itoa(row.H)+"/objective="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := row.solve(m, start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
