package hb02

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/plots"
	"productform/plots/internal/plotstest"
	"productform/sweep"
	"productform/tags"
)

var computed plotstest.Once

func TestTAGSFigures(t *testing.T) {
	plotstest.CheckIDs(
		t, Figures(),
		"tags-3 tags-4 tags-6 tags-7 tags-8 tags-9 tags-10 tags-12 tags-13 tags-14 tags-15 tags-16 tags-17",
	)
	figures := computed.Figures(t, Figures())
	t.Run("pictures", func(t *testing.T) { plotstest.CheckPictures(t, figures, "tags-9", "tags-15", "tags-17") })
	t.Run("numbers", func(t *testing.T) { checkTAGSNumbers(t, figures) })
	t.Run("checks", func(t *testing.T) { checkTAGSChecks(t, figures) })
	t.Run("captions", func(t *testing.T) { checkTAGSCaptions(t, figures) })
	t.Run("claims", func(t *testing.T) { checkTAGSClaims(t, figures) })
	t.Run("shape", func(t *testing.T) { checkTAGSShape(t, figures) })
}

// checkTAGSNumbers compares the figures with computations in 60 or more digits by independent
// programs. The tolerance allows for α, which float64 rounds by 1e-16 while k grows by a factor of
// e^310 from α = 0.2 to 1.2, and for sums over hosts.
func checkTAGSNumbers(t *testing.T, figures map[string]*plots.Figure) {
	for _, c := range []struct {
		id    string
		panel int
		label string
		x     float64
		want  float64
	}{
		{"tags-4", 0, "p = 10¹⁰ s", 0.05, 1.31053192212830890575809025431e-95},
		{"tags-4", 0, "p = 10¹⁰ s", 1, 167.555288183990051267495378387},
		{"tags-4", 0, "p = 10¹⁰ s", 1.9, 1421.05360872575109212747623039},
		{"tags-4", 1, "p = 10¹⁰ s", 0.2, 13333333333333.3333333333609812},
		{"tags-6", 0, "TAGS-opt-slowdown", 0.2, 1477056122413.62890529072638827},
		{"tags-6", 0, "TAGS-opt-slowdown", 0.4, 256633.625436493090900171720161},
		{"tags-6", 0, "TAGS-opt-slowdown", 1, 32.8110868899010523666627561451},
		{"tags-6", 0, "TAGS-opt-slowdown", 1.9, 3.27112727386876130256749900065},
		{"tags-6", 0, "LWR", 1, 277777.782432091338444168090764},
		{"tags-6", 0, "LWR as printed", 1, 555555.564864182676888336181528},
		{"tags-6", 0, "Random", 0.2, 14884461686802221974546902530.3},
		{"tags-6", 0, "Random", 1.5, 948.533262504898943996005204715},
		{"tags-6", 0, "TAGS-opt-fairness", 0.2, 74325868439046.5732062459342858},
		{"tags-6", 0, "TAGS-opt-fairness", 1, 323.227551001216613355282399032},
		{"tags-7", 0, "TAGS-opt-waitingtime", 0.2, 1080458.31875868278638842917430},
		{"tags-7", 0, "TAGS-opt-waitingtime", 1.5, 37050.8037578841802505870919628},
		{"tags-7", 0, "LWR", 1, 93086271.2133278062597196546593},
		{"tags-7", 0, "Random", 1, 279258813.639983418779158963978},
		{"tags-9", 0, "TAGS-opt-slowdown", 0.2, 36845882.0650842202279972940792},
		{"tags-9", 0, "TAGS-opt-slowdown", 1.6, 1.65711796049381816263492304042},
		{"tags-9", 2, "TAGS-opt-slowdown", 0.2, 25052831274094900488051137044.2},
		{"tags-9", 2, "TAGS-opt-slowdown", 1.5, 104.072547465400456493815447338},
		{"tags-12", 0, "LWR", 0.6, 103633634.508822919931129287944},
		{"tags-12", 0, "LWR as printed", 0.6, 207267269.017645839862258575889},
		{"tags-13", 0, "TAGS-opt-slowdown", 0.2, 3},
		{"tags-13", 0, "TAGS-opt-slowdown", 1, 1},
		{"tags-13", 0, "LWR", 0.2, 27},
		{"tags-13", 0, "LWR", 0.6, 11},
		{"tags-13", 0, "LWR as printed", 0.6, 12},
		{"tags-13", 1, "Random", 0.2, 6946082120507703588121887847},
		{"tags-13", 1, "Random", 0.6, 3654940786},
		{"tags-13", 1, "Random", 1, 388889},
		{"tags-15", 0, "TAGS-opt-slowdown", 0.25, 29759.4122316782792476624004000},
		{"tags-15", 0, "TAGS-opt-slowdown", 1, 4.87602336555634160538868292766},
		{"tags-16", 0, "α = 1", 2, 13.9043486858803638875559368808},
		{"tags-16", 2, "α = 0.6", 2, 1088300718.00644710012947545188},
	} {
		got := plotstest.Series(t, figures[c.id].Panels[c.panel], c.label)[0].At(c.x)
		if !plotstest.CloseTo(got, c.want, 1e-9) {
			t.Errorf("%s, panel %d, %s at %g: %v, want %v", c.id, c.panel, c.label, c.x, got, c.want)
		}
	}
}

// checkTAGSChecks verifies that every figure has checks of one kind or both, named after their
// source, and that they agree.
func checkTAGSChecks(t *testing.T, figures map[string]*plots.Figure) {
	simulations := make(map[string]bool)
	for id, f := range figures {
		quantities := make(map[string]bool)
		for _, c := range f.Checks {
			quantities[c.Figure+c.Quantity] = true
			if !c.OK() || (c.Solver == nil) == (c.Simulated == nil) || !strings.HasPrefix(c.Figure, id) ||
				!(c.Exact > 0) {
				t.Errorf("%s: %+v", id, c)
			}
			if c.Simulation != nil {
				simulations[*c.Simulation] = true
			}
		}
		if len(f.Checks) < 2 || len(quantities) != len(f.Checks) {
			t.Errorf("%s: %d checks, %d distinct", id, len(f.Checks), len(quantities))
		}
	}
	if len(simulations) != 6+10 { // eight farms with the paper's sizes, two of them in several figures; the log
		t.Errorf("%d simulations are checked, want 16: %v", len(simulations), simulations)
	}
}

func checkTAGSCaptions(t *testing.T, figures map[string]*plots.Figure) {
	pareto := []string{
		"density proportional to x^(−α−1)", "E[X] = 3000 s", "p = 10¹⁰ s", "Poisson process of rate λ = hρ/E[X]",
		"Harchol-Balter (2002), Figure ",
	}
	simulated := []string{"4 runs of 1000 jumps (arrivals, kills, ends of jobs) after 1000, seed 1"}
	exponents := []string{"α = 0.2, 0.2125, ..., 0.5 and 0.55, 0.6, ..., 2"}
	rivals := []string{"lacks the 2 (thin line)", "overstates"}
	log := []string{"SDSC-Par-1996", "Parallel Workloads Archive", "Reagan Moore and Allen Downey", "32128"}
	for id, words := range map[string][]string{
		"tags-3": slices.Concat(log, []string{
			"mean 8755 s", "C² = 3.4", "largest 12 % of the jobs", "α = 0.0329", "mean 2.98·10⁵ processor-s",
			"α = 0.021",
		}),
		"tags-4": {"α = 0.05, 0.0625, ..., 0.5 and 0.55, 0.6, ..., 2", "p = 10¹⁰ s", "E[X] = 3000 s", "Figure 4"},
		"tags-6": slices.Concat(pareto, simulated, exponents, rivals, []string{"h = 2", "ρ = 0.5", "Figure 6"}),
		"tags-7": slices.Concat(pareto, simulated, exponents, rivals, []string{
			"h = 2", "ρ = 0.5", "Figure 7", "The caption of the paper says TAGS-opt-slowdown",
		}),
		"tags-8": slices.Concat(pareto, simulated, exponents, []string{"h = 2", "ρ = 0.5", "Figure 8"}),
		"tags-9": slices.Concat(pareto, simulated, exponents, rivals, []string{
			"h = 2", "(a) 0.3, (b) 0.5 and (c) 0.7", "Figure 9", "exist at all points",
		}),
		"tags-10": slices.Concat(pareto, simulated, exponents, []string{
			"h = 2", "(a) 0.3, (b) 0.5 and (c) 0.7", "Figure 10",
		}),
		"tags-12": slices.Concat(pareto, simulated, exponents, rivals, []string{"h = 4", "ρ = 0.3", "Figure 12"}),
		"tags-13": slices.Concat(pareto, rivals, []string{
			"α = 0.2, 0.25, ..., 2", "h = 2", "ρ = 0.7", "at most 3", "Figure 13",
		}),
		"tags-14": slices.Concat(exponents, []string{"p = 10⁷ s", "E[X] = 3000 s", "Figure 14"}),
		"tags-15": slices.Concat(simulated, exponents, rivals, []string{"p = 10⁷ s", "h = 2", "ρ = 0.5", "Figure 15"}),
		"tags-16": {
			"h = 1, ..., 6", "(a) 0.3, (b) 0.5 and (c) 0.7", "h = 4 at load 0.5, α = 0.2", "h = 3 at load 0.7, α = 1.4",
		},
		"tags-17": slices.Concat(log, simulated, []string{
			"h = 2 and 4", "0.705 with 2 hosts, 0.426 with 4 hosts", "4 times as many",
			"19 loads from 0.05 to 0.95", "95 %",
		}),
	} {
		f := figures[id]
		for _, w := range words {
			if !strings.Contains(f.Caption+" "+f.Setting, w) {
				t.Errorf("%s: the caption lacks %q: %s", id, w, f.Caption+" "+f.Setting)
			}
		}
		if len(f.Parameters) < 4 {
			t.Errorf("%s: parameters %v", id, f.Parameters)
		}
	}
}

// checkTAGSClaims checks the claims decided by exact numbers: their first words and verdicts.
func checkTAGSClaims(t *testing.T, figures map[string]*plots.Figure) {
	for _, c := range []struct {
		id, start string
		want      plots.Verdict
		words     string
	}{
		{"tags-4", "A tiny fraction", plots.Refuted, "0.0129 % at α = 1"},
		{"tags-4", "At α = 0.2 the longest", plots.Holds, "0.911 and 0.99999998"},
		{"tags-6", "Least-Work-Remaining consistently", plots.Refuted, "3 for every α; 1.5 with"},
		{"tags-6", "At α = 1.5", plots.Holds, "1.58 orders of magnitude; 1.88 with"},
		{
			"tags-6", "At α ≈ 1", plots.Refuted,
			"3.93 orders of magnitude; 4.23 with Least-Work-Remaining as printed. It holds only",
		},
		{
			"tags-6", "At α = 0.4", plots.Refuted,
			"8.71 orders of magnitude; 9.01 with Least-Work-Remaining as printed. It holds only",
		},
		{"tags-6", "The performance of TAGS-opt-fairness", plots.Refuted, "50.3, at α = 0.2"},
		{"tags-9", "For not-too-high loads", plots.Refuted, "4.11 at 0.8, 0.82 at 1"},
		{"tags-7", "Again TAGS", plots.Holds, "2.63 orders"},
		{"tags-7", "(Caption)", plots.Refuted, "1.04·10¹³ s against 7.41·10⁸ s"},
		{"tags-7", "TAGS-opt-fairness", plots.Refuted, ""},
		{"tags-8", "For very low α", plots.Holds, ""},
		{"tags-8", "For high α", plots.Holds, "0.81 and 0.28"},
		{"tags-8", "In the middle range", plots.Holds, "1.08 for TAGS-opt-slowdown"},
		{
			"tags-9", "At load 0.3 TAGS-opt-slowdown improves upon the other", plots.Refuted,
			"worse at α = 2; with Least-Work-Remaining as printed at no α. It holds only",
		},
		{
			"tags-9", "At load 0.5 TAGS-opt-slowdown improves upon the other", plots.Refuted,
			"worse at α = 2; with Least-Work-Remaining as printed at no α. It holds only",
		},
		{
			"tags-9", "At load 0.7 TAGS-opt-slowdown improves upon the other", plots.Refuted,
			"worse at α = 0.2, 0.3, 1.8, 1.9, 2; with Least-Work-Remaining as printed at α = 1.9, 2.",
		},
		{
			"tags-9", "At load 0.3 TAGS-opt-slowdown improves upon Least", plots.Refuted,
			"3.77 orders of magnitude; 4.07 with Least-Work-Remaining as printed. It holds only",
		},
		{
			"tags-9", "At load 0.3 by 7", plots.Refuted,
			"6.79 orders of magnitude; 7.09 with Least-Work-Remaining as printed. It holds only",
		},
		{"tags-9", "At load 0.3 by almost 20", plots.Holds, "19.60 orders"},
		{"tags-9", "At load 0.7 the improvement", plots.Holds, "3.96 orders"},
		{"tags-10", "At loads 0.3 and 0.5", plots.Holds, ""},
		{"tags-10", "At load 0.7", plots.Holds, ""},
		{"tags-10", "α ≈ 1 is where", plots.Holds, "1.08 at load 0.3, 1.08 at load 0.5, 1.08 at load 0.7"},
		{"tags-12", "The performance of Random", plots.Holds, ""},
		{"tags-12", "Least-Work-Remaining improved", plots.Refuted, "7.47 times at α = 2, 7.47 times at α = 0.2"},
		{"tags-12", "The mean slowdown under", plots.Refuted, "Largest 6.15, at α = 0.2; over 6 at 1 of 19"},
		{"tags-12", "At α ≈ 1", plots.Holds, "4.42 orders of magnitude; 4.72"},
		{"tags-12", "At α = 0.6", plots.Holds, "8.87 orders of magnitude; 9.17"},
		{"tags-12", "At α = 0.2", plots.Holds, "25.51 orders of magnitude; 25.81"},
		{"tags-13", "For TAGS-opt-slowdown", plots.Refuted, "At most 3"},
		{"tags-13", "For Least-Work-Remaining", plots.Holds, "1 to 27; 1 to 27"},
		{"tags-13", "Random requires", plots.Holds, "3.89·10⁵"},
		{"tags-13", "At α = 0.6 the mean slowdown", plots.Holds, "1.09·10⁹, then 0.315"},
		{
			"tags-13", "At α = 0.6 that of Least", plots.Holds,
			"1.82·10⁸ with four hosts; 2.38 with 13, and 13 hosts are the fewest. As printed it would take 14.",
		},
		{"tags-13", "At α = 0.6 Random", plots.Holds, "3.65·10⁹"},
		{"tags-14", "The coefficient of variation", plots.Refuted, "C = 1.84 and 38.5"},
		{"tags-14", "At α = 1 sizes span", plots.Holds, "k = 167.56 and 286.82; log₁₀(p/k) = 7.78 and 4.54"},
		{
			"tags-15", "For α ≈ 1", plots.Refuted,
			"1.76 orders of magnitude; 2.06 with Least-Work-Remaining as printed. It holds only",
		},
		{"tags-15", "As α drops", plots.Holds, ""},
		{"tags-16", "The performance of a distributed", plots.Holds, "1.02 with three hosts, 1.51 with four"},
		{"tags-16", "For system load 0.7", plots.Holds, ""},
	} {
		var found []plots.Claim
		for _, claim := range figures[c.id].Claims {
			if strings.HasPrefix(claim.Sentence, c.start) {
				found = append(found, claim)
			}
		}
		if len(found) != 1 {
			t.Errorf("%s: %d claims begin with %q, want 1", c.id, len(found), c.start)
			continue
		}
		got := found[0]
		if got.Verdict != c.want || !strings.Contains(got.Numbers, c.words) || got.Criterion == "" {
			t.Errorf("%s: %+v, want %s with %q", c.id, got, c.want, c.words)
		}
	}
}

// checkTAGSShape checks properties that hold for any numbers.
func checkTAGSShape(t *testing.T, figures map[string]*plots.Figure) {
	for _, c := range []struct {
		id     string
		panels []int // panels in which TAGS and Random cover all α
	}{
		{"tags-6", []int{0}}, {"tags-7", []int{0}}, {"tags-9", []int{0, 1, 2}}, {"tags-12", []int{0}},
		{"tags-15", []int{0}},
	} {
		for _, k := range c.panels {
			p := figures[c.id].Panels[k]
			least, printed := plotstest.Series(t, p, "LWR")[0], plotstest.Series(t, p, "LWR as printed")[0]
			for i, v := range least.Y {
				if len(p.Series[0].X) != 25+30 || p.Series[0].X[i] != least.X[i] ||
					!plotstest.CloseTo(printed.Y[i], 2*v, 1e-15) || !printed.Thin {
					t.Fatalf("%s, panel %d: %v", c.id, k, p.Series[0].X)
				}
			}
		}
	}
	for k, load := range paperLoads() {
		p := figures["tags-10"].Panels[k]
		first, second, sum := plotstest.Series(t, p, "host 1")[0], plotstest.Series(t, p, "host 2")[0],
			plotstest.Series(t, p, "sum")[0]
		for i := range sum.X {
			if sum.Y[i] < 2*load || first.Y[i] >= 1 || second.Y[i] > 1 ||
				!plotstest.CloseTo(sum.Y[i], first.Y[i]+second.Y[i], 1e-15) {
				t.Errorf("load %g, α = %g: loads %v, %v, sum %v", load, sum.X[i], first.Y[i], second.Y[i], sum.Y[i])
			}
		}
	}
	for k, f := range figures["tags-17"].Panels {
		forTAGS, random, bySize, equal := plotstest.Series(t, f, "TAGS")[0], plotstest.Series(t, f, "Random")[0],
			plotstest.Series(t, f, "SITA")[0], plotstest.Series(t, f, "SITA-E")[0]
		turns := plotstest.Series(t, f, "Round-Robin")[0]
		if last := forTAGS.X[len(forTAGS.X)-1]; last != []float64{0.7, 0.4, 0.7, 0.4}[k] {
			t.Errorf("panel %d: TAGS up to load %g", k, last)
		}
		for i, x := range bySize.X {
			if bySize.Y[i] > equal.Y[i]*(1+1e-9) || forTAGS.At(x) < bySize.Y[i] {
				t.Errorf("panel %d, load %g: SITA %v, SITA-E %v, TAGS %v", k, x, bySize.Y[i], equal.Y[i], forTAGS.At(x))
			}
		}
		for i, x := range turns.X {
			if turns.High[i] > random.At(x)*(1+1e-12) {
				t.Errorf("panel %d, load %g: Round-Robin up to %v, Random %v", k, x, turns.High[i], random.At(x))
			}
		}
	}
}

// A series omits points without cutoffs; other errors are returned.
func TestSeriesLeavesGaps(t *testing.T) {
	loads := plots.Grid(1, 9, 10)
	at := func(load float64) (tags.Model, error) { return farm(2, wide, 2, load) }
	s, err := forSlowdown().series(t.Context(), loads, at, slowdownOf)
	if err != nil || !slices.Equal(s.X, plots.Grid(1, 7, 10)) { // up to 3/4
		t.Errorf("loads %v, %v", s.X, err)
	}
	broken := method{
		label: "broken",
		means: func(context.Context, tags.Model) (means, error) { return means{}, errors.New("broken") },
	}
	if _, err := broken.series(t.Context(), loads, at, slowdownOf); err == nil ||
		err.Error() != "broken at 0.1: broken" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := forSlowdown().series(ctx, loads, at, slowdownOf); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	q := quotient(plots.Series{X: []float64{1, 2, 3}, Y: []float64{2, 8, 6}}, plots.Series{
		X: []float64{0, 2, 3, 4},
		Y: []float64{1, 2, 3, 4},
	})
	if !slices.Equal(q.X, []float64{2, 3}) || !slices.Equal(q.Y, []float64{4, 2}) {
		t.Errorf("quotient %v", q)
	}
}

// No digit of a figure depends on the number of workers.
func TestTAGSFiguresAreDeterministic(t *testing.T) {
	one := plotstest.Compute(t, Figures(), plotstest.Small(), sweep.Settings{Workers: 1}, "tags-8")["tags-8"]
	if diff := cmp.Diff(computed.Figures(t, Figures())["tags-8"], one); diff != "" {
		t.Error(diff)
	}
}

func TestSpans(t *testing.T) {
	for want, a := range map[string][]float64{
		"0.1, 0.2, ..., 0.9": plots.Grid(1, 9, 10), "0.2, 0.2125, ..., 0.5 and 0.55, 0.6, ..., 2": paperAlphas(),
		"0.2 and 0.6":   {0.2, 0.6},
		"1 and 2 and 4": {1, 2, 4}, "0.5, 1, ..., 2 and 4": {0.5, 1, 1.5, 2, 4}, "1 and 2 and 3": {1, 2, 3},
	} {
		if got := plots.Spans(a); got != want {
			t.Errorf("%v: %q, want %q", a, got, want)
		}
	}
}
