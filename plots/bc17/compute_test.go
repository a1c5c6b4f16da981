package bc17

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/plots"
	"productform/plots/internal/plotstest"
	"productform/sim"
	"productform/sweep"
)

// A figure depends on the seed, but not on the number of workers, the results in the folder or the
// other figures computed with it.
func TestComputeIsDeterministic(t *testing.T) {
	folder := t.TempDir()
	var reused, total int
	small := plotstest.Small()
	one := sweep.Settings{Workers: 1, Folder: folder}
	first := plotstest.Compute(t, Figures(), small, one, "bf-6")["bf-6"]
	again := sweep.Settings{Workers: 3, Folder: folder, Progress: func(p sweep.Progress) {
		reused, total = p.Reused, p.Total
	}}
	if diff := cmp.Diff(first, plotstest.Compute(t, Figures(), small, again, "bf-6")["bf-6"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, figures(t)["bf-6"]); diff != "" {
		t.Error(diff)
	}
	if reused != total || total != 4*5 {
		t.Errorf("%d of %d runs reused, want all of 20", reused, total)
	}
	small.Seed = 2
	other := plotstest.Compute(t, Figures(), small, sweep.Settings{}, "bf-6")["bf-6"]
	if a, b := first.Panels[0].Series[1].Y[0], other.Panels[0].Series[1].Y[0]; a == b {
		t.Errorf("seeds 1 and 2 both give %v", a)
	}
}

// Mean delays at load 0.8 relative to balanced fairness match runs with another seed that are 60
// times as long, within half-widths.
func TestSimulatedDelays(t *testing.T) {
	s := plotstest.Small()
	s.Runs, s.Jumps, s.WarmUp = 10, 1e5, 5e4
	equal := equalServers().memoized()
	prepare := func(ctx context.Context, e plots.Effort, p *plots.Plan) (plots.Build, error) {
		e.Loads = []*big.Rat{big.NewRat(8, 10)} // the only load that is compared
		var compared []points
		for _, l := range sizeDistributions()[:2] {
			for _, m := range []float64{1, 5} {
				s, err := equal.simulateAt(ctx, p, e, e.Loads[0], l, m, sim.Settings{})
				if err != nil {
					return nil, err
				}
				compared = append(compared, points{l, m, []*plots.Simulation{s}})
			}
		}
		return func(ctx context.Context, f *plots.Figure) error { return equal.draw(ctx, p, e, f, compared) }, nil
	}
	specs := []plots.Spec{{ID: equal.ID, Title: equal.Title, Prepare: prepare}}
	f := plotstest.Compute(t, specs, s, sweep.Settings{})[equal.ID]
	for _, c := range []struct {
		panel      int
		label      string
		ratio, err float64
	}{
		{1, "m = 1", 1.271, 0.010}, {1, "m = 5", 1.073, 0.012}, {3, "m = 1", 1.418, 0.012}, {3, "m = 5", 1.107, 0.011},
	} {
		one, exact := plotstest.Series(t, f.Panels[c.panel], c.label)[0],
			plotstest.Series(t, f.Panels[c.panel], "balanced fairness")[0]
		want := c.ratio * exact.Y[159]
		if one.X[0] != 0.8 || exact.X[159] != 0.8 {
			t.Fatalf("loads %v and %v, want 0.8", one.X[0], exact.X[159])
		}
		// Half-widths are 2.3 standard errors (Student's t with 9 degrees of freedom); the sum of 5
		// half-widths of the short run and 3 of the long run is exceeded with probability 5e-7.
		if math.Abs(one.Y[0]-want) > 5*(one.High[0]-one.Y[0])+3*c.err*exact.Y[159] {
			t.Errorf("panel %d, %s: delay %v in [%v, %v], want %v",
				c.panel, c.label, one.Y[0], one.Low[0], one.High[0], want)
		}
	}
}

// Every simulation with a known exact answer has its rows, named after it.
func TestCheckRows(t *testing.T) {
	figures := figures(t)
	simulations := make(map[string]bool)
	for id, want := range map[string][2]int{ // solver rows; simulated rows
		"bf-1": {3 * 2, 2 * (10*3 + 3*3)}, "bf-2": {3 * 2 * 2, 2 * (10*3 + 3*3)}, "bf-3": {3 * 2, 10 * 3},
		"bf-4": {3 * 2, 10 * 3}, "bf-5": {4, 0}, "bf-6": {0, 3 * 3},
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
		settings plots.Settings
		workers  int
		want     string
	}{
		{plots.Settings{Precision: "fine"}, 0, "precision = fine: want draft, normal or paper"},
		{plots.Settings{Runs: 1}, 0, "bf-1: bf-1, bimodal, FCFS, load 0.05: Runs = 1: want an integer in 2..1000000"},
		{plots.Settings{Jumps: -1}, 0, "bf-1: bf-1, bimodal, FCFS, load 0.05: Jumps = -1: want a number in " +
			"[1000, 1e15]"},
		{plots.Settings{}, -1, "Workers = -1: want an integer >= 0"},
	} {
		runs := sweep.Settings{Workers: c.workers}
		if _, err := plots.Compute(t.Context(), Figures(), c.settings, runs); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.settings, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := plots.Compute(ctx, Figures(), plotstest.Small(), sweep.Settings{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
