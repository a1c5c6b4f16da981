package br14

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/fluid"
	"productform/internal/input"
	"productform/plots"
	"productform/plots/internal/plotstest"
)

var computed plotstest.Once

func TestFluidFigures(t *testing.T) {
	plotstest.CheckIDs(t, Figures(), "fluid-1 fluid-2 fluid-3 fluid-4 fluid-5 fluid-6")
	figures := computed.Figures(t, Figures())
	t.Run("pictures", func(t *testing.T) { plotstest.CheckPictures(t, figures, "fluid-1", "fluid-2") })
	t.Run("static", func(t *testing.T) { checkStatic(t, figures["fluid-1"]) })
	t.Run("rates", func(t *testing.T) { checkRates(t, figures["fluid-2"]) })
	t.Run("trade-off", func(t *testing.T) { checkTradeOff(t, figures["fluid-3"]) })
	t.Run("lies", func(t *testing.T) { checkLies(t, figures["fluid-4"]) })
	t.Run("tasks", func(t *testing.T) { checkTasks(t, figures["fluid-5"]) })
	t.Run("log", func(t *testing.T) { checkLog(t, figures["fluid-6"]) })
	t.Run("checks", func(t *testing.T) { checkFluidChecks(t, figures) })
	t.Run("captions", func(t *testing.T) { checkFluidCaptions(t, figures) })
	t.Run("claims", func(t *testing.T) { checkFluidClaims(t, figures) })
}

// checkStatic compares the points of fluid-1 with values computed by hand.
func checkStatic(t *testing.T, f *plots.Figure) {
	for label, want := range map[string][2]float64{
		"PF and BMF": {45.0 / 11, 18.0 / 11},
		"DRF and BF": {3, 2},
		"max-min":    {2.25, 2.25},
	} {
		s := plotstest.Series(t, f.Panels[0], label)
		if len(s) != 1 || !plotstest.CloseTo(s[0].X[0], want[0], 1e-9) || !plotstest.CloseTo(s[0].Y[0], want[1], 1e-9) {
			t.Errorf("%s: %+v, want %v", label, s, want)
		}
		if share := plotstest.Series(t, f.Panels[1], label)[0].Y; !plotstest.CloseTo(share[0], want[0]/4.5, 1e-9) ||
			!plotstest.CloseTo(share[1], want[1]/3, 1e-9) {
			t.Errorf("%s: dominant shares %v", label, share)
		}
	}
	// The level curve of PF is outside the feasible set except at its own point.
	best, edge := plotstest.Series(t, f.Panels[0], "same product of tasks as PF")[0],
		plotstest.Series(t, f.Panels[0], "feasible")[0]
	for k, x := range edge.X {
		if at := best.At(x); !math.IsNaN(at) && at < edge.High[k]-1e-9 {
			t.Errorf("at %v tasks of job 1 the level is %v, the edge %v", x, at, edge.High[k])
		}
	}
}

// checkRates compares with mean numbers of jobs from an independent program (testdata of package
// fluid): on a box of 91 by 91 states, whose edges have a probability below 1e-10 at these loads.
func checkRates(t *testing.T, f *plots.Figure) {
	text, err := os.ReadFile("../../fluid/traffic/testdata/dynamic.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		A           [2][2]float64
		Load        float64
		Lambda      []float64
		PF, DRF, BF []float64
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for k, c := range profilePairs() {
		var profile [2][2]float64
		for i, a := range c.profiles {
			for j, v := range a {
				profile[i][j], _ = v.Float64()
			}
		}
		for _, row := range rows {
			if row.A != profile || row.Load > 0.8 {
				continue
			}
			for label, mean := range map[string][]float64{"PF": row.PF, "DRF": row.DRF, "BF": row.BF} {
				for class, s := range plotstest.Series(t, f.Panels[k], label) {
					want := row.Lambda[class] / mean[class] / (1 - row.Load)
					if got := s.At(row.Load); !plotstest.CloseTo(got, want, 2e-5) {
						t.Errorf("%s, %s, class %d, load %v: %v, want %v",
							c.words(), label, class+1, row.Load, got, want)
					}
					compared++
				}
			}
		}
	}
	if compared < 12 {
		t.Errorf("only %d numbers compared", compared)
	}
}

// DRF has all its points at 1 and is not shown; PF serves all jobs at least as fast in every pair.
func checkTradeOff(t *testing.T, f *plots.Figure) {
	pf := f.Panels[0].Series[0]
	if pf.Label != "PF and BMF" || len(pf.X) != 20 {
		t.Fatalf("%s with %d points", pf.Label, len(pf.X))
	}
	for _, x := range pf.X {
		if x < 1-1e-6 {
			t.Errorf("PF serves all jobs at %v of the rate under DRF", x)
		}
	}
	for _, s := range f.Panels[1].Series {
		for _, y := range s.Y {
			if !(y > 0 && y <= 1) {
				t.Errorf("%s: the slower class over the faster is %v", s.Label, y)
			}
		}
	}
}

// For any mixture, the busiest resource has exactly the requested load.
func TestTrafficHasItsLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mixtures(1, rapid.Uint64().Draw(t, "seed"))[0]
		rho := big.NewRat(rapid.Int64Range(1, 99).Draw(t, "load"), 100)
		traffic := m.traffic(rho)
		if err := traffic.Check(); err != nil {
			t.Fatal(err)
		}
		most := new(big.Rat)
		for _, load := range traffic.Loads() {
			if load.Cmp(most) > 0 {
				most = load
			}
		}
		if most.Cmp(rho) != 0 {
			t.Errorf("%v: largest load %v, want %v", m, most, rho)
		}
		rate := traffic.Volume()
		part := new(big.Rat).Quo(rate[0], new(big.Rat).Add(rate[0], rate[1].Mul(rate[1], m.d)))
		if part.Cmp(m.u) != 0 {
			t.Errorf("%v: class 1 brings %v of the work", m, part)
		}
	})
}

// checkLies verifies that every curve starts at the truth, and that without traffic liars gain only
// under PF, at most (1 + a)(1 - a/2) = 9/8.
func checkLies(t *testing.T, f *plots.Figure) {
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if s.X[0] != p.X.Min || math.Abs(s.Y[0]-1) > 1e-9 {
				t.Errorf("%s, %s starts at (%v, %v)", p.Title, s.Name(), s.X[0], s.Y[0])
			}
		}
	}
	liar := plotstest.Series(t, f.Panels[0], "PF")[0]
	if most := slices.Max(liar.Y); !plotstest.CloseTo(most, 1.125, 1e-8) {
		t.Errorf("the best lie of a permanent job under PF brings %v, want 9/8", most)
	}
	for _, s := range f.Panels[0].Series {
		if most := slices.Max(s.Y); s.Name() != liar.Name() && most > 1+1e-12 {
			t.Errorf("%s gains %v", s.Name(), most)
		}
	}
	// up to a load of 0.95: 0.8 (1 + b)/1.5 for the need b = 0.5 + 8/30 is 0.942
	for k, want := range map[int]int{1: 16, 2: 16, 3: 9, 4: 16, 5: 16} {
		if n := len(f.Panels[k].Series[0].X); n != want {
			t.Errorf("panel %d has %d needs, want %d", k, n, want)
		}
	}
	// Lies gain in (e, f) by the amount computed from a chain in a box.
	for k, c := range lieCases()[lieGains:] {
		truth := boxRates(c, c.liar[1])
		for i, need := range c.needs(plots.Draft) {
			lied := boxRates(c, need)
			for class, s := range plotstest.Series(t, f.Panels[lieGains+k], "PF") {
				if want := lied[class] / truth[class]; !plotstest.CloseTo(s.Y[i], want, 1e-5) {
					t.Errorf("%s, need %v: class %d gains %v, want %v", c.title, need, class+1, s.Y[i], want)
				}
			}
		}
	}
	gain := plotstest.Series(t, f.Panels[5], "PF")[0].At(0.06)
	if !plotstest.CloseTo(gain, 0.445065/0.375039, 1e-5) {
		t.Errorf("(0.1, 0) declared as (0.1, 0.06) brings %v", gain)
	}
}

// boxRates returns the mean service rates of liars and honest jobs under PF, by sweeps over the
// balance equations of at most 5 liars and 200 honest jobs: at rate 0.01 and loads up to 0.81,
// larger numbers have a probability below 1e-9. PF prices only one resource, φ_k = x_k/(n a_k), if
// the other is then not full; otherwise it fills both.
func boxRates(c lieCase, need *big.Rat) [2]float64 {
	const most1, most2 = 5, 200
	f := func(v *big.Rat) float64 { x, _ := v.Float64(); return x }
	a := [2][2]float64{{f(c.liar[0]), f(need)}, {f(c.honest[0]), f(c.honest[1])}}
	rate := [2]float64{f(c.rates[0]), f(c.rates[1])}
	share := func(x, y int) (u, v float64) {
		n := float64(x + y)
		for j := range 2 {
			u, v = 0, float64(y)/n/a[1][j]
			if x > 0 {
				u = float64(x) / n / a[0][j]
			}
			if !math.IsInf(u, 1) && u*a[0][1-j]+v*a[1][1-j] <= 1+1e-12 {
				return u, v
			}
		}
		d := a[0][0]*a[1][1] - a[0][1]*a[1][0]
		return (a[1][1] - a[1][0]) / d, (a[0][0] - a[0][1]) / d
	}
	var down [most1 + 2][most2 + 2][2]float64
	var p [most1 + 2][most2 + 2]float64 // 0 beyond the box
	for x := range most1 + 1 {
		for y := range most2 + 1 {
			if x+y > 0 {
				down[x][y][0], down[x][y][1] = share(x, y)
			}
			p[x][y] = math.Pow(0.01, float64(x)) * math.Pow(0.8, float64(y))
		}
	}
	sweep := func(x, y int) (change float64) {
		in := p[x+1][y]*down[x+1][y][0] + p[x][y+1]*down[x][y+1][1]
		out := down[x][y][0] + down[x][y][1]
		if x > 0 {
			in += p[x-1][y] * rate[0]
		}
		if y > 0 {
			in += p[x][y-1] * rate[1]
		}
		if x < most1 {
			out += rate[0]
		}
		if y < most2 {
			out += rate[1]
		}
		change = math.Abs(in/out - p[x][y])
		p[x][y] = in / out
		return change
	}
	var sum float64
	for change := 1.0; change > 1e-11*sum; {
		change, sum = 0, 0
		for x := range most1 + 1 {
			for y := range most2 + 1 {
				change += sweep(x, y)
			}
			for y := most2; y >= 0; y-- {
				change += sweep(x, y)
				sum += p[x][y]
			}
		}
	}
	var mean [2]float64
	for x := range most1 + 1 {
		for y := range most2 + 1 {
			mean[0] += float64(x) * p[x][y] / sum
			mean[1] += float64(y) * p[x][y] / sum
		}
	}
	return [2]float64{rate[0] / mean[0], rate[1] / mean[1]}
}

// checkTasks verifies that without traffic the smallest tasks approximate divisible resources to
// within three tasks.
func checkTasks(t *testing.T, f *plots.Figure) {
	if len(f.Panels) != 6 {
		t.Fatalf("%d panels, want 6", len(f.Panels))
	}
	for k, label := range []string{"PF", "DRF"} {
		for class, s := range plotstest.Series(t, f.Panels[0], label) {
			want := [2][2]float64{{45.0 / 11, 18.0 / 11}, {3, 2}}[k][class]
			if got := s.At(64); math.Abs(got-want) > 3.0/64 {
				t.Errorf("%s, job %d: %v tasks with g = 64, want %v", label, class+1, got, want)
			}
		}
	}
	// Fractions of capacity do not depend on the size of tasks.
	for _, p := range taskPanels() {
		for _, g := range []int{1, 2, 8} {
			pool, err := p.at(t.Context(), g, fluid.PF)
			if err != nil {
				t.Fatal(err)
			}
			if !p.traffic {
				continue
			}
			traffic := pool.Traffic()
			for j, load := range traffic.Loads() {
				if want := big.NewRat(6, 10); load.Cmp(want) != 0 {
					t.Errorf("g = %d: load %v of resource %d, want %v", g, load, j, want)
				}
			}
		}
	}
}

// checkLog compares with results of awk on the log: 904 records have an unknown processor time, 7
// no run time, and 4813 more processor time than run time; of the other records 95.8257 % of the
// processor-seconds are used. Users 2, 4 and 3 have the most.
func checkLog(t *testing.T, f *plots.Figure) {
	u, err := logUsage()
	if err != nil {
		t.Fatal(err)
	}
	if u.jobs != 31224 || u.unknown != 904 || u.idle != 7 || u.over != 4813 {
		t.Errorf("%d counted, %d unknown, %d idle, %d over", u.jobs, u.unknown, u.idle, u.over)
	}
	if busy := u.total().busy(); !plotstest.CloseTo(busy, 0.958257, 1e-6) {
		t.Errorf("%v of the processor-seconds are used", busy)
	}
	for k, want := range []logUser{
		{2, 6654, 3.949e9, 0.981 * 3.949e9}, {4, 2138, 2.247e9, 0.934 * 2.247e9}, {3, 6479, 1.091e9, 0.990 * 1.091e9},
	} {
		if got := u.users[k]; got.user != want.user || got.jobs != want.jobs ||
			!plotstest.CloseTo(got.held, want.held, 5e-4) || !plotstest.CloseTo(got.used, want.used, 2e-3) {
			t.Errorf("user %+v, want %+v", got, want)
		}
	}
	drf := plotstest.Series(t, f.Panels[1], "DRF")[0]
	for _, y := range drf.Y {
		if !plotstest.CloseTo(y, drf.Y[0], 1e-12) {
			t.Errorf("dominant shares %v are not equal", drf.Y)
		}
	}
}

func TestReadUsage(t *testing.T) {
	const line = "1 0 5 100 4 90 -1 4 300 -1 1 3 1 -1 1 -1 -1 -1\n"
	good := "; a log\n\n" + line + "2 0 5 10 1 12 -1 4 300 -1 1 7 1 -1 1 -1 -1 -1\n" +
		"3 0 5 10 1 -1 -1 4 300 -1 1 7 1 -1 1 -1 -1 -1\n" + "4 0 5 -1 1 5 -1 4 300 -1 1 7 1 -1 1 -1 -1 -1\n"
	u, err := readUsage(strings.NewReader(good))
	want := []logUser{{3, 1, 400, 360}, {7, 1, 10, 12}}
	if err != nil || !slices.Equal(u.users, want) || u.jobs != 2 || u.idle != 1 || u.unknown != 1 || u.over != 1 {
		t.Errorf("%+v, %v", u, err)
	}
	var e *input.Error
	if _, err := readUsage(strings.NewReader(line + strings.Replace(line, "90", "x", 1))); !errors.As(err, &e) ||
		e.Path != "field 6, processor time used" || !strings.Contains(err.Error(), ":2: ") {
		t.Errorf("error %v, want one for field 6 of line 2", err)
	}
}

func checkFluidChecks(t *testing.T, figures map[string]*plots.Figure) {
	for id, f := range figures {
		seen := make(map[string]bool)
		for _, c := range f.Checks {
			name := c.Figure + c.Quantity
			if c.Simulation != nil {
				name += *c.Simulation
			}
			seen[name] = true
			if !c.OK() || (c.Solver == nil) == (c.Simulated == nil) || !strings.HasPrefix(c.Figure, id) ||
				!(c.Exact > 0) {
				t.Errorf("%s: %+v", id, c)
			}
		}
		if len(f.Checks) < 5 || len(seen) != len(f.Checks) {
			t.Errorf("%s: %d checks, %d distinct", id, len(f.Checks), len(seen))
		}
	}
}

func checkFluidCaptions(t *testing.T, figures map[string]*plots.Figure) {
	for id, words := range map[string][]string{
		"fluid-1": {"9 processors and 18 GB", "1 processor and 4 GB", "3 processors and 1 GB", "(φ₁, φ₂) = (3, 2)"},
		"fluid-2": {
			"(1, 0.5) and (0.5, 1)", "(1, 0.1) and (0.2, 1)", "(1, 0) and (0.5, 1)", "λ₁ = λ₂",
			"36 loads from 0.025 to 0.9", "4 runs of 1000 jumps", "seed 1", "95 %",
		},
		"fluid-3": {"20 random pairs", "load 0.8", "seed 1", "a, b uniform on 0.01, 0.02, ..., 0.99", "σ_kd_k = 1"},
		"fluid-4": {
			"need (1, 0.5)", "λ₁ = λ₂", "16 needs", "load above 0.95",
			"liars (0.1, 0) at rate 0.01, honest jobs (0.9, 1) at rate 0.8", "(a) 12.5 %", "(f) 19.1 %",
		},
		"fluid-5": {
			"9 processors and 18 GB", "λ₁ : λ₂ = 5 : 2", "load 0.6", "mean 6g²", "(a) g = 1, 2, 4, 8, 16, 32, 64",
			"seed 1",
		},
		"fluid-6": {
			"400 nodes", "field 6", "31224 jobs", "904 whose processor time is unknown", "has neither memory",
			"Reagan Moore and Allen Downey",
		},
	} {
		for _, w := range append(words, "Bonald and Roberts (2014), with our own parameters") {
			if !strings.Contains(figures[id].Caption+" "+figures[id].Setting, w) {
				t.Errorf("%s: the caption lacks %q: %s", id, w, figures[id].Caption+" "+figures[id].Setting)
			}
		}
		if len(figures[id].Parameters) < 4 {
			t.Errorf("%s: parameters %v", id, figures[id].Parameters)
		}
	}
}

// checkFluidClaims checks the verdicts on claims with exact numbers.
func checkFluidClaims(t *testing.T, figures map[string]*plots.Figure) {
	for id, want := range map[string]string{
		"fluid-1": "holds holds", "fluid-2": "holds holds holds holds ?", "fluid-3": "holds holds",
		"fluid-4": "holds refuted refuted holds", "fluid-6": "holds",
	} {
		var got []string
		for _, c := range figures[id].Claims {
			if strings.Contains(c.Criterion, "hyperexponential") { // by simulation
				got = append(got, "?")
			} else {
				got = append(got, string(c.Verdict))
			}
			if !c.Finding || c.Sentence == "" || c.Criterion == "" || c.Numbers == "" {
				t.Errorf("%s: %+v", id, c)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: claims %v, want %s", id, got, want)
		}
	}
	if n := len(figures["fluid-5"].Claims); n != 2+4*2 {
		t.Errorf("fluid-5 has %d claims, want 10", n)
	}
}
