package plots

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/sim"
	"productform/sweep"
)

// The figures depend on the seed, not on the workers or on what is found in the folder.
func TestComputeIsDeterministic(t *testing.T) {
	folder := t.TempDir()
	var reused, total int
	count := func(p sweep.Progress) { reused, total = p.Reused, p.Total }
	one := small()
	one.Workers, one.Folder = 1, folder
	first := compute(t, one, "bf-3", "bf-6")
	again := small()
	again.Workers, again.Folder, again.Progress = 3, folder, count
	if diff := cmp.Diff(first, compute(t, again, "bf-3", "bf-6")); diff != "" {
		t.Error(diff)
	}
	if reused != total || total != 4*(12*10+5) {
		t.Errorf("%d of %d runs reused, want all of 500", reused, total)
	}
	other := small()
	other.Seed = 2
	if a, b := first["bf-6"].Panels[0].Series[1].Y[0], compute(t, other, "bf-6")["bf-6"].Panels[0].Series[1].Y[0]; a == b {
		t.Errorf("seeds 1 and 2 both give %v", a)
	}
}

// Mean delays at load 0.8 relative to balanced fairness, from runs of another seed 60 times as long, with their half-widths.
func TestSimulatedDelays(t *testing.T) {
	s := small()
	s.Runs, s.Jumps, s.WarmUp = 10, 1e5, 5e4
	f := compute(t, s, "bf-1")["bf-1"]
	for _, c := range []struct {
		panel      int
		label      string
		ratio, err float64
	}{
		{1, "m = 1", 1.271, 0.010}, {1, "m = 5", 1.073, 0.012}, {3, "m = 1", 1.418, 0.012}, {3, "m = 5", 1.107, 0.011},
	} {
		one, exact := series(t, f.Panels[c.panel], c.label)[0], series(t, f.Panels[c.panel], "balanced fairness")[0]
		const k = 7 // load 0.8
		want := c.ratio * exact.Y[159]
		if one.X[k] != 0.8 || exact.X[159] != 0.8 {
			t.Fatalf("loads %v and %v, want 0.8", one.X[k], exact.X[159])
		}
		// Half-widths are 2.3 standard errors of Student's law with 9 degrees of freedom; 5 of them, beside those of the longer runs, are
		// exceeded with probability 5e-7.
		if math.Abs(one.Y[k]-want) > 5*(one.High[k]-one.Y[k])+3*c.err*exact.Y[159] {
			t.Errorf("panel %d, %s: delay %v in [%v, %v], want %v", c.panel, c.label, one.Y[k], one.Low[k], one.High[k], want)
		}
	}
}

// Every simulation whose exact answer is known has its rows, named after it.
func TestCheckRows(t *testing.T) {
	figures := compute(t, small(), "bf-1", "bf-2", "bf-3", "bf-4", "bf-5", "bf-6")
	simulations := make(map[string]bool)
	for id, want := range map[string][2]int{ // solver rows; simulated rows
		"bf-1": {3 * 2, 2 * (10*3 + 3*3)}, "bf-2": {3 * 2 * 2, 2 * (10*3 + 3*3)}, "bf-3": {3 * 2, 10 * 3}, "bf-4": {3 * 2, 10 * 3}, "bf-5": {4, 0}, "bf-6": {0, 3 * 3},
	} {
		var got [2]int
		quantities := make(map[string]bool)
		for _, c := range figures[id].Checks {
			quantities[c.Figure+c.Quantity] = true
			switch {
			case c.Solver != nil && c.Simulated == nil && c.Simulation == nil:
				got[0]++
				if !c.OK() {
					t.Errorf("check fails: %+v", c)
				}
			case c.Solver == nil && c.Simulated != nil && c.HalfWidth != nil && c.Z != nil && c.Simulation != nil:
				got[1]++
				simulations[*c.Simulation] = true
			default:
				t.Errorf("neither solver nor simulation: %+v", c)
			}
			if !strings.HasPrefix(c.Figure, id) || !(c.Exact > 0) {
				t.Errorf("%s: %+v", id, c)
			}
		}
		if got != want || len(quantities) != got[0]+got[1] {
			t.Errorf("%s: %v rows from solver and simulation, %d distinct, want %v", id, got, len(quantities), want)
		}
	}
	// Under FCFS the panels of bf-6 share the random numbers of bf-1 and bf-3.
	if want := 2*(10*3+3*3) + 2*10*3 + 1; len(simulations) != want {
		t.Errorf("%d simulations, want %d", len(simulations), want)
	}
}

func TestComputeRefuses(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		want     string
	}{
		{Settings{Precision: "fine"}, "precision = fine: want draft, normal or paper"},
		{Settings{Runs: 1}, "bf-1: bf-1, bimodal, FCFS, load 0.05: Runs = 1: want an integer in 2..1000000"},
		{Settings{Jumps: -1}, "bf-1: bf-1, bimodal, FCFS, load 0.05: Jumps = -1: want a number in [1000, 1e15]"},
		{Settings{Workers: -1}, "Workers = -1: want an integer >= 0"},
	} {
		if _, err := Compute(t.Context(), Catalogue(), c.settings); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.settings, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compute(ctx, Catalogue(), small()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Precisions simulate more and more.
func TestEfforts(t *testing.T) {
	jumps := 0.0
	for _, p := range Precisions() {
		e, err := Settings{Precision: p}.effort()
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(e.runs) * (e.jumps + e.warmUp) * float64(len(e.loads)); v <= jumps {
			t.Errorf("%s: %v jumps, no more than the one before", p, v)
		} else {
			jumps = v
		}
		if last := e.loads[len(e.loads)-1]; last.Cmp(big.NewRat(19, 20)) != 0 {
			t.Errorf("%s: last load %v", p, last)
		}
		for k := 1; k < len(e.loads); k++ {
			if e.loads[k].Cmp(e.loads[k-1]) <= 0 {
				t.Errorf("%s: load %v after %v", p, e.loads[k], e.loads[k-1])
			}
		}
	}
}

func TestLogInterval(t *testing.T) {
	mean, low, high, err := logInterval(&sim.Estimate{Mean: 2, HalfWidth: 0.5})
	if err != nil || mean != 2 || math.Abs(math.Log(high/2)-0.25) > 1e-15 || math.Abs(math.Log(2/low)-0.25) > 1e-15 {
		t.Errorf("[%v, %v] about %v, %v", low, high, mean, err)
	}
	for _, v := range []*sim.Estimate{nil, {}, {Mean: 1, HalfWidth: 1000}} {
		if _, _, _, err := logInterval(v); err == nil {
			t.Errorf("%v: no error", v)
		}
	}
}

func zRows(z ...float64) []Check {
	var rows []Check
	for i, v := range z {
		name := fmt.Sprint(i)
		rows = append(rows, Check{Z: &v, Simulation: &name})
	}
	return rows
}

// Standard normal z agree; shifted or too regular ones do not; dependent rows count once.
func TestSummarize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var normal, shifted, narrow []float64
	for range 1000 {
		v := r.NormFloat64()
		normal, shifted, narrow = append(normal, v), append(shifted, v+0.5), append(narrow, v/2)
	}
	rows := zRows(normal...)
	s := Summarize(rows)
	if !s.OK() || s.Rows != 1000 || s.Simulations != 1000 || s.Beyond196 < 20 || s.Beyond196 > 90 || *s.PValue < 1e-6 {
		t.Errorf("standard normal: %+v", s)
	}
	if d := Summarize(append(rows, rows...)); d.Rows != s.Rows || d.Beyond196 != s.Beyond196 || d.Simulations != s.Simulations || *d.ChiSquare != *s.ChiSquare {
		t.Errorf("every row twice: %+v", d)
	}
	others := slices.Clone(rows) // other numbers of the same simulations
	for k := range others {
		others[k].Quantity += "another"
	}
	if d := Summarize(slices.Concat(rows, others)); d.Rows != 2*s.Rows || d.Beyond196 != 2*s.Beyond196 || d.Simulations != s.Simulations || *d.ChiSquare != *s.ChiSquare {
		t.Errorf("two numbers a simulation: %+v", d)
	}
	if Summarize(zRows(shifted...)).OK() || Summarize(zRows(narrow...)).OK() {
		t.Error("shifted or narrow z agree")
	}
	if s := Summarize(zRows(-5.5)); s.OK() || s.Largest != 5.5 || s.Beyond3 != 1 || s.PValue != nil {
		t.Errorf("one large z: %+v", s)
	}
	if s := Summarize([]Check{{Exact: 1}}); !s.OK() || s.Rows != 0 {
		t.Errorf("nothing simulated: %+v", s)
	}
	// A tenth of fifty in each cell but for one moved: χ² = 2/5, and P(χ²_9 > 0.4) = 0.99999 (tables).
	var even []float64
	for k := range 50 {
		even = append(even, math.Sqrt2*math.Erfinv(2*(float64(k)+0.5)/50-1))
	}
	even[0] = 0.1
	if s := Summarize(zRows(even...)); math.Abs(*s.ChiSquare-0.4) > 1e-12 || *s.PValue < 0.9999 {
		t.Errorf("even cells: χ² = %v, p = %v", *s.ChiSquare, *s.PValue)
	}
}

func TestVerdicts(t *testing.T) {
	limit := func(low, high float64) ratio { return ratio{mean: (low + high) / 2, low: low, high: high} }
	for _, c := range []struct {
		number, limit ratio
		want          Verdict
	}{
		{limit(1, 1.1), limit(1.2, 1.2), Holds},
		{limit(1, 1.3), limit(1.2, 1.2), Open},
		{limit(1.25, 1.3), limit(1.2, 1.2), Refuted},
		{limit(1.25, 1.3), limit(1.2, 1.4), Open},
	} {
		if got := below([]ratio{c.number}, []ratio{c.limit}); got != c.want {
			t.Errorf("%v below %v: %s, want %s", c.number, c.limit, got, c.want)
		}
	}
	if got := below([]ratio{limit(1, 9), limit(2, 3)}, atMost(1.5, make([]ratio, 2))); got != Refuted {
		t.Errorf("one open, one refuted: %s", got)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		power(1e6): "10⁶", power(4e5): "4·10⁵", power(2000): "2000", significant(3.44e9): "3.4·10⁹", significant(12): "12",
		list([]string{"a", "b"}, ", "): "a, b", list(strings.Split("abcdefghijkl", ""), " "): "a b c d e f g h i j and 2 more",
		decimal(big.NewRat(19, 20)): "0.95",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
