package net

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"productform/network"
	"productform/network/loss"
	"productform/plots"
	"productform/plots/internal/plotstest"
)

var computed plotstest.Once

func TestFigures(t *testing.T) {
	plotstest.CheckIDs(t, Figures(), "net-1 net-2 net-3 net-4 net-5 net-6")
	figures := computed.Figures(t, Figures())
	t.Run("pictures", func(t *testing.T) { plotstest.CheckPictures(t, figures) })
	t.Run("checks", func(t *testing.T) { checkChecks(t, figures) })
	t.Run("interactive", func(t *testing.T) { checkUsers(t, figures["net-1"]) })
	t.Run("textbooks", func(t *testing.T) { checkTextbooks(t, figures["net-2"]) })
	t.Run("skills", func(t *testing.T) { checkSkillOrder(t, figures["net-3"]) })
	t.Run("assignments", func(t *testing.T) { checkOrder(t, figures["net-4"]) })
	t.Run("losses", func(t *testing.T) { checkSensitive(t, figures["net-5"]) })
	t.Run("swaps", func(t *testing.T) { checkWhoLeaves(t, figures["net-6"]) })
}

// checkChecks verifies that all checks agree, and that captions and parameters are complete.
func checkChecks(t *testing.T, figures map[string]*plots.Figure) {
	for id, f := range figures {
		if len(f.Checks) < 3 || len(f.Parameters) < 3 || len(f.Caption+f.Setting) < 300 ||
			strings.Contains(f.Caption+f.Setting, "<no value>") {
			t.Errorf("%s has %d checks, %d parameters and the caption %q",
				id, len(f.Checks), len(f.Parameters), f.Caption+f.Setting)
		}
		for _, c := range f.Checks {
			if !c.OK() {
				t.Errorf("%s, %s: exact %v, solver %v, simulated %v, z %v",
					c.Figure, c.Quantity, c.Exact, value(c.Solver), value(c.Simulated), value(c.Z))
			}
		}
	}
}

func value(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// checkUsers verifies that the curves are within the bounds and approach the capacity of the
// processors: 16 cycles per second, with 2.5 visits of 1/20 s to two processors.
func checkUsers(t *testing.T, f *plots.Figure) {
	for _, p := range f.Panels {
		bounds, line := plotstest.Series(t, p, "bounds")[0], plotstest.Series(t, p, "exact")[0]
		if len(line.X) != mostUsers {
			t.Errorf("%s: %d points, want %d", p.Title, len(line.X), mostUsers)
		}
		for k, y := range line.Y {
			if y < bounds.Low[k]*(1-1e-12) || y > bounds.High[k]*(1+1e-12) {
				t.Errorf("%s: %v users: %v is not within [%v, %v]",
					p.Title, line.X[k], y, bounds.Low[k], bounds.High[k])
			}
		}
	}
	rate, delay := plotstest.Series(t, f.Panels[0], "exact")[0], plotstest.Series(t, f.Panels[1], "exact")[0]
	if first := rate.Y[0] * (thinkTime + 2.5/20 + 1.5*3/100); math.Abs(first-1) > 1e-12 {
		t.Errorf("a single user makes %v cycles in the time of one cycle", first)
	}
	if most := rate.Y[mostUsers-1]; !(most > 15.99 && most < 16) {
		t.Errorf("%v cycles per second", most)
	}
	for k, x := range rate.Y { // by Little's law
		if n := x * (thinkTime + delay.Y[k]); math.Abs(n-rate.X[k]) > 1e-9*n {
			t.Errorf("%v users, by Little's law %v", rate.X[k], n)
		}
	}
}

// checkTextbooks verifies that mean value analysis is correct for few jobs and reaches negative
// throughputs, while ours increase to the rate of the servers.
func checkTextbooks(t *testing.T, f *plots.Figure) {
	for _, servers := range manyServers() {
		x := meanValueAnalysis(mostJobs, servers)
		for _, n := range []int{1, 5, 20} {
			r, err := network.Solve(t.Context(), bookModel(n, servers), network.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if want := r.Chains[0].Throughput.Float; math.Abs(x[n-1]-want) > 1e-12*want {
				t.Errorf("%d servers, %d jobs: %v by the textbook, %v here", servers, n, x[n-1], want)
			}
		}
		if !(x[mostJobs-1] < 0) {
			t.Errorf("%d servers: %v by the textbook", servers, x[mostJobs-1])
		}
		if errors := plotstest.Series(t, f.Panels[1], fmt.Sprintf("%d servers",
			servers))[0]; !(errors.Y[mostJobs-1] > 1) {
			t.Errorf("%d servers: an error of %v", servers, errors.Y[mostJobs-1])
		}
	}
	ours := plotstest.Series(t, f.Panels[0], "convolution")[0].Y
	for k, y := range ours {
		if full := float64(shownServers) / bookSize; !(y > 0 && y <= full*(1+1e-12) &&
			(k == 0 || y >= ours[k-1]*(1-1e-12))) {
			t.Errorf("%d jobs: %v", k+1, y)
		}
	}
}

// checkSkillOrder verifies that more agents with both skills lose fewer calls.
func checkSkillOrder(t *testing.T, f *plots.Figure) {
	for _, p := range f.Panels {
		var before []float64
		for _, both := range bothSkills() {
			line := plotstest.Series(t, p, fmt.Sprintf("%d with both skills", both))[0].Y
			for k, y := range line {
				if before != nil && !(y < before[k]) {
					t.Errorf("%s: %d with both skills lose %v, fewer %v", p.Title, both, y, before[k])
				}
			}
			before = line
		}
	}
}

// checkOrder verifies that the oldest token loses less than a random server, and that the simulated
// shortest queue loses no more than that, up to noise.
func checkOrder(t *testing.T, f *plots.Figure) {
	for _, p := range f.Panels {
		random, oldest, shortest := plotstest.Series(t, p, "at random")[0], plotstest.Series(t, p, "oldest token")[0],
			plotstest.Series(t, p, "shortest queue, simulated")[0]
		for k, y := range oldest.Y {
			if !(y < random.Y[k]) {
				t.Errorf("%s: load %v: %v by the oldest token, %v at random", p.Title, oldest.X[k], y, random.Y[k])
			}
		}
		for k, x := range shortest.X {
			if !(shortest.Low[k] < oldest.At(x)) {
				t.Errorf("%s: load %v: %v for the shortest queue, %v by the oldest token",
					p.Title, x, shortest.Low[k], oldest.At(x))
			}
		}
	}
	one, err := loss.Solve(
		t.Context(),
		&loss.Model{Count: 1, Room: tokensEach, Classes: []loss.Class{{Name: "a", ArrivalRate: big.NewRat(9, 10)}}},
		loss.Settings{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := randomBlocking(0.9), one.Blocking.Float; math.Abs(got-want) > 1e-12*want {
		t.Errorf("at random %v is lost, by a queue with %d places %v", got, tokensEach, want)
	}
}

// checkSensitive verifies that under FCFS the points of different sizes are separated, in order of
// variability.
func checkSensitive(t *testing.T, f *plots.Figure) {
	p := f.Panels[3]
	line := plotstest.Series(t, p, "exact")[0]
	equal, varied := plotstest.Series(t, p, "simulated, SCV 0")[0], plotstest.Series(t, p, "simulated, SCV 10")[0]
	if k := len(equal.X) - 1; !(equal.Y[k] < line.At(equal.X[k])) {
		t.Errorf("equal sizes lose %v, exponential ones %v", equal.Y[k], line.At(equal.X[k]))
	}
	if k := len(varied.X) - 1; !(varied.Y[k] > line.At(varied.X[k])) {
		t.Errorf("sizes of SCV 10 lose %v, exponential ones %v", varied.Y[k], line.At(varied.X[k]))
	}
}

// checkWhoLeaves verifies a total departure rate of 5/2, with swaps only of class 2.
func checkWhoLeaves(t *testing.T, f *plots.Figure) {
	swaps := plotstest.Series(t, f.Panels[0], "swaps")
	order := plotstest.Series(t, f.Panels[0], "FCFS")
	for k, x := range order[0].X {
		var sum float64
		for _, s := range order {
			if s.Kind == plots.Curve {
				sum += s.Y[k]
			}
		}
		if math.Abs(sum-2.5) > 1e-9 || swaps[0].Y[k] != 0 {
			t.Errorf("%v jobs: %v leave under FCFS, %v of class 1 with swaps", x, sum, swaps[0].Y[k])
		}
	}
}
