package l14

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/plots"
	"productform/plots/internal/plotstest"
)

var computed plotstest.Once

func TestDispatchFigures(t *testing.T) {
	plotstest.CheckIDs(
		t, Figures(),
		"dispatch-1 dispatch-2 dispatch-3 dispatch-4 dispatch-5 dispatch-6 dispatch-7 dispatch-8 dispatch-9",
	)
	figures := computed.Figures(t, Figures())
	t.Run("pictures", func(t *testing.T) { plotstest.CheckPictures(t, figures, "dispatch-7") })
	t.Run("failure", func(t *testing.T) { checkFailure(t, figures["dispatch-1"]) })
	t.Run("few samples", func(t *testing.T) { checkFewSamples(t, figures) })
	t.Run("many samples", func(t *testing.T) { checkManySamples(t, figures["dispatch-6"]) })
	t.Run("sensitivity", func(t *testing.T) { checkSensitivity(t, figures["dispatch-7"]) })
	t.Run("baselines", func(t *testing.T) { checkBaselines(t, figures["dispatch-8"]) })
	t.Run("live", func(t *testing.T) { checkLive(t, figures["dispatch-9"]) })
	t.Run("checks", func(t *testing.T) { checkDispatchChecks(t, figures) })
	t.Run("captions", func(t *testing.T) { checkDispatchCaptions(t, figures) })
	t.Run("claims", func(t *testing.T) { checkDispatchClaims(t, figures) })
}

// secondBySecond is an independent simulation of one job on equal workers in steps of one second,
// since all times are whole seconds. It plans ⌈tasks left × mean / time left⌉ workers at each
// event.
func secondBySecond(outage bool) (planned, working []float64) {
	works, _ := allWorks()
	type busy struct{ task, end int }
	hands := make([]*busy, failingWorkers)
	var fresh, again []int
	for k := range works {
		fresh = append(fresh, k)
	}
	var seen []float64
	for left, now := len(works), 0; now <= jobDeadline; now++ {
		before := left
		for order := range works { // tasks in order of their start
			for w, h := range hands {
				if h != nil && h.task == order && h.end == now {
					hands[w], left, seen = nil, left-1, append(seen, works[h.task])
				}
			}
		}
		if now > 0 && left == before && !(outage && (now == outageFrom || now == outageTo)) {
			planned, working = append(planned, planned[now-1]), append(working, working[now-1])
			continue
		}
		down := outage && now >= outageFrom && now < outageTo
		for w, h := range hands {
			if down && w >= stayingWorkers && h != nil {
				again, hands[w] = append(again, h.task), nil
			}
		}
		up := failingWorkers
		if down {
			up = stayingWorkers
		}
		estimate := defaultWork
		if last := seen[max(0, len(seen)-learntFrom):]; len(last) > 0 {
			estimate = 0
			for _, w := range last {
				estimate += w / float64(len(last))
			}
		}
		plan := 0
		if left > 0 {
			plan = min(up, left)
			if now < jobDeadline {
				plan = min(plan, max(1, int(math.Ceil(float64(left)*estimate/(jobDeadline-float64(now))-1e-7))))
			}
		}
		held := 0
		for _, h := range hands {
			if h != nil {
				held++
			}
		}
		for w := 0; w < up && held < plan; w++ {
			if hands[w] != nil {
				continue
			}
			var next int
			switch {
			case len(again) > 0:
				next, again = again[len(again)-1], again[:len(again)-1]
			case len(fresh) > 0:
				next, fresh = fresh[0], fresh[1:]
			}
			hands[w] = &busy{next, now + int(works[next])}
			held++
		}
		planned, working = append(planned, float64(plan)), append(working, float64(held))
	}
	return planned, working
}

func checkFailure(t *testing.T, f *plots.Figure) {
	before, normal := plotstest.Series(t, f.Panels[1], "planned without failures")[0],
		plotstest.Series(t, f.Panels[0], "planned")[0]
	// the part of the first panel's plan that differs from the second panel's
	for now := outageFrom; now <= jobDeadline; now++ {
		if got, want := stepAt(before.X, before.Y, now), stepAt(normal.X, normal.Y, now); got != want {
			t.Errorf("planned without failures at %v s: %v, want %v", now, got, want)
		}
	}
	for k, outage := range []bool{false, true} {
		planned, working := secondBySecond(outage)
		for label, want := range map[string][]float64{"planned": planned, "active": working} {
			s := plotstest.Series(t, f.Panels[k], label)[0]
			for now, v := range want {
				i, found := slices.BinarySearch(s.X, float64(now))
				if !found {
					i--
				}
				if s.Y[i] != v {
					t.Errorf("outage %v, %s at %d s: %v, want %v", outage, label, now, s.Y[i], v)
				}
			}
			if last := s.X[len(s.X)-1]; last > jobDeadline {
				t.Errorf("outage %v: done at %v", outage, last)
			}
		}
		if regions := f.Panels[k].Regions; outage != (len(regions) == 1 &&
			regions[0] == plots.Region{Label: "6 down", From: 55, To: 115}) {
			t.Errorf("outage %v: regions %+v", outage, regions)
		}
	}
}

// At first, 98 tasks of 9 s in 240 s need 3.7 workers; after one second, 96 tasks of 1 s need 0.4.
func TestFailureBegins(t *testing.T) {
	planned, working := secondBySecond(true)
	for now, want := range map[int][2]float64{0: {4, 4}, 1: {1, 2}, 3: {1, 1}, 55: {2, 2}, 114: {2, 2}} {
		if planned[now] != want[0] || working[now] != want[1] {
			t.Errorf("at %d s: %v planned, %v running, want %v", now, planned[now], working[now], want)
		}
	}
}

func TestSteepest(t *testing.T) {
	c := course{times: []float64{0, 5, 20, 22, 31}, planned: []float64{4, 1, 2, 3, 6}}
	for within, want := range map[float64]float64{1: 3, 2: 3, 9: 3, 10: 4, 12: 5, 30: 5} {
		if got := c.steepest(within); got != want {
			t.Errorf("within %v s: %v, want %v", within, got, want)
		}
	}
}

// checkFewSamples checks means, bootstrap intervals against all draws of five samples with
// replacement, and the samples, recounting the third.
func checkFewSamples(t *testing.T, figures map[string]*plots.Figure) {
	log, err := samples(plots.Effort{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[machines][]outcome) // the third sample by policy
	for _, m := range []machines{equalWorkers(), unequalWorkers()} {
		for _, one := range comparedPolicies() {
			scenario, err := log.scenario(m, one.policy, 3)
			if err != nil {
				t.Fatal(err)
			}
			o, err := recount(t.Context(), scenario)
			if err != nil {
				t.Fatal(err)
			}
			counted[m] = append(counted[m], o)
		}
	}
	for _, c := range []struct {
		id     string
		m      machines
		panels []func(outcome) float64
	}{
		{"dispatch-2", equalWorkers(), []func(outcome) float64{plannedOf, runningOf}},
		{"dispatch-3", unequalWorkers(), []func(outcome) float64{plannedOf, runningOf}},
		{"dispatch-4", equalWorkers(), []func(outcome) float64{penaltyOf}},
		{"dispatch-5", unequalWorkers(), []func(outcome) float64{penaltyOf}},
	} {
		f := figures[c.id]
		if len(f.Panels) != len(c.panels) {
			t.Fatalf("%s: %d panels, want %d", c.id, len(f.Panels), len(c.panels))
		}
		for k, p := range f.Panels {
			if names := p.X.Categories; len(names) != len(comparedPolicies()) {
				t.Fatalf("%s: categories %q, want one per policy", c.id, names)
			}
			for place, one := range comparedPolicies() {
				if name := p.X.Categories[place]; name != one.label {
					t.Errorf("%s: %s is at %s", c.id, one.label, name)
				}
				v := checkPolicySamples(t, c.id, p, one, place)
				// sums of about 10⁴ terms
				if got, want := v[2], c.panels[k](counted[c.m][place]); math.Abs(got-want) > 1e-9*want {
					t.Errorf("%s, %s: the third sample is %v, want %v", c.id, one.label, got, want)
				}
			}
		}
	}
	for _, id := range []string{"dispatch-2", "dispatch-3"} {
		plan, hand := figures[id].Panels[0], figures[id].Panels[1]
		for _, one := range comparedPolicies()[:earliestFirst] {
			if s := plotstest.Series(t, plan, one.label)[0]; s.Y[0] != 0 || s.Low[0] != 0 || s.High[0] != 0 {
				t.Errorf("%s: %s is violated by the plan, %+v", id, one.label, s)
			}
		}
		if s := plotstest.Series(t, plan, "EDF")[0]; s.Y[0] <= 0 {
			t.Errorf("%s: EDF is not violated by the plan", id)
		}
		if plan.Y.Min != 0 || hand.Y.Min != 0 || plan.Y.Max != hand.Y.Max ||
			plan.Y.Max != figures["dispatch-2"].Panels[0].Y.Max {
			t.Errorf("%s: axes %+v and %+v of one quantity", id, plan.Y, hand.Y)
		}
	}
	if a, b := figures["dispatch-4"].Panels[0].Y, figures["dispatch-5"].Panels[0].Y; a.Min != b.Min ||
		a.Max != b.Max || a.Scale != plots.Log {
		t.Errorf("axes %+v and %+v of one quantity", a, b)
	}
}

// checkPolicySamples checks the series of a policy in a panel, and returns its samples.
func checkPolicySamples(t *testing.T, id string, p plots.Panel, one namedPolicy, place int) []float64 {
	t.Helper()
	all := plotstest.Series(t, p, one.label)
	if len(all) != 2 || all[0].Group != intervalMean || all[1].Group != oneSample || len(all[1].Y) != fewSamples {
		t.Fatalf("%s, %s: %+v", id, one.label, all)
	}
	s, v := all[0], all[1].Y
	for _, x := range all[1].X { // all at one position between this policy and the next
		if x != all[1].X[0] || x <= float64(place+1) || x >= float64(place)+1.5 {
			t.Errorf("%s, %s: samples at %v", id, one.label, all[1].X)
		}
	}
	if s.X[0] != float64(place+1) || !plotstest.CloseTo(s.Y[0], mean(v), 1e-12) {
		t.Errorf("%s, %s: mean %v at %v, want %v", id, one.label, s.Y[0], s.X[0], mean(v))
	}
	if s.Low == nil || s.Low[0] < slices.Min(v) || s.High[0] > slices.Max(v) {
		t.Errorf("%s, %s: interval %v to %v of the samples %v", id, one.label, s.Low, s.High, v)
	} else if err := exactEnds(v, s.Low[0], s.High[0]); err != nil {
		t.Errorf("%s, %s: %v", id, one.label, err)
	}
	return v
}

// exactEnds returns an error unless the ends of an interval are the quantiles 0.025 and 0.975 of
// the means of all draws of a few values with replacement, up to the sampling error of 4000 draws:
// 5 standard deviations √(0.025·0.975/4000) are 0.0125.
func exactEnds(v []float64, low, high float64) error {
	means := []float64{0}
	for range v {
		var more []float64
		for _, m := range means {
			for _, x := range v {
				more = append(more, m+x/float64(len(v)))
			}
		}
		means = more
	}
	part := func(holds func(float64) bool) float64 {
		n := 0
		for _, m := range means {
			if holds(m) {
				n++
			}
		}
		return float64(n) / float64(len(means))
	}
	const chance, slack = 0.0125, 1e-12 // slack allows for sums in another order
	below, atMost := part(func(m float64) bool {
		return m < low*(1-slack)
	}), part(func(m float64) bool { return m <= low*(1+slack) })
	above, atLeast := part(func(m float64) bool {
		return m > high*(1+slack)
	}), part(func(m float64) bool { return m >= high*(1-slack) })
	if below > 0.025+chance || atMost < 0.025-chance || above > 0.025+chance || atLeast < 0.025-chance {
		return fmt.Errorf("of all drawings of %v the means are below %v with probability %v, at most that with %v, "+
			"above %v with %v, at least that with %v",
			v, low, below, atMost, high, above, atLeast)
	}
	return nil
}

// The bootstrap interval of a few values matches that of all their draws.
func TestMeanOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e6)), 2, 5).Draw(t, "values")
		m, low, high := meanOf(v)
		if !(0 <= low && low <= m && m <= high) {
			t.Errorf("mean %v, %v to %v", m, low, high)
		}
		if err := exactEnds(v, low, high); err != nil {
			t.Error(err)
		}
	})
}

// checkManySamples checks that means equal those of all samples, rerun for two policies, that
// intervals enclose them in both directions, and that points are samples.
func checkManySamples(t *testing.T, f *plots.Figure) {
	const n = 40 // ten times the runs
	s, err := samples(plots.Effort{Seed: plotstest.Small().Seed}, n)
	if err != nil {
		t.Fatal(err)
	}
	names, places := []string{"equal workers", "unequal workers"}, []int{byPriority, earliestFirst}
	for look, m := range []machines{equalWorkers(), unequalWorkers()} {
		all, err := s.run(t.Context(), m, []namedPolicy{comparedPolicies()[places[0]], comparedPolicies()[places[1]]})
		if err != nil {
			t.Fatal(err)
		}
		for k, outcomes := range all {
			p := f.Panels[places[k]]
			c := plotstest.Series(t, p, names[look])
			rates, penalties := values(outcomes, runningOf), values(outcomes, penaltyOf)
			if !plotstest.CloseTo(c[0].X[0], mean(penalties), 1e-12) ||
				!plotstest.CloseTo(c[0].Y[0], mean(rates), 1e-12) {
				t.Errorf("%s, %s: means at %v, %v, want %v, %v",
					p.Title, names[look], c[0].X, c[0].Y, mean(penalties), mean(rates))
			}
			// half to three quarters, as the texts state, up to the sampling error of 100
			for _, v := range [][]float64{penalties, rates} {
				if held := covered(v, fewSamples, 100, 1); held < 35 || held > 88 {
					t.Errorf("%s, %s: %d of 100 intervals of few samples contain the mean of all",
						p.Title, names[look], held)
				}
			}
			for _, points := range c[1:] {
				for i, x := range points.X {
					if at := slices.Index(penalties, x); at < 0 || rates[at] != points.Y[i] {
						t.Errorf("%s, %s: no sample is at %v, %v", p.Title, names[look], x, points.Y[i])
					}
				}
			}
		}
	}
	for k, p := range f.Panels {
		if p.Title != comparedPolicies()[k].label || p.X.Min != f.Panels[0].X.Min || p.X.Max != f.Panels[0].X.Max ||
			p.Y.Min != f.Panels[0].Y.Min || p.Y.Max != f.Panels[0].Y.Max {
			t.Errorf("panel %d, %s, has axes %+v and %+v", k, p.Title, p.X, p.Y)
		}
		for look, name := range names {
			all := plotstest.Series(t, p, name)
			c := all[0]
			if c.Group != intervalsMean || c.Look != look ||
				!(0 < c.Low[0] && c.Low[0] < c.Y[0] && c.Y[0] < c.High[0]) ||
				!(0 < c.Left[0] && c.Left[0] < c.X[0] && c.X[0] < c.Right[0]) {
				t.Errorf("panel %d, %s: %+v", k, name, c)
			}
			if len(all) != 2 || all[1].Kind != plots.Points || all[1].Group != oneSample || len(all[1].X) < n/2 {
				t.Errorf("panel %d, %s: %d series", k, name, len(all))
			}
		}
	}
}

// checkSensitivity checks that 20 equal workers are in both rows.
func checkSensitivity(t *testing.T, f *plots.Figure) {
	for k := range 2 {
		for _, c := range comparedPolicies() {
			a, b := plotstest.Series(t, f.Panels[k], c.label)[0], plotstest.Series(t, f.Panels[k+2], c.label)[0]
			i := slices.Index(a.X, 20)
			if i < 0 || b.X[0] != 0 || a.Y[i] != b.Y[0] || a.Low[i] != b.Low[0] || a.High[i] != b.High[0] {
				t.Errorf("panel %d, %s: %v at m = 20, %v at δ = 0", k, c.label, a.Y[i], b.Y[0])
			}
		}
	}
	for k, p := range f.Panels {
		if of := f.Panels[k%2].Y; p.Y.Min != of.Min || p.Y.Max != of.Max {
			t.Errorf("panel %d: an axis from %v to %v, want %v to %v as for the same quantity",
				k, p.Y.Min, p.Y.Max, of.Min, of.Max)
		}
		for _, s := range p.Series {
			if !s.Bars || s.Low == nil {
				t.Errorf("panel %d: %s has no bars", k, s.Label)
			}
		}
	}
	for _, c := range comparedPolicies() { // 100 workers do better than 5
		if s := plotstest.Series(t, f.Panels[0], c.label)[0]; s.Y[0] < 10*s.Y[len(s.Y)-1] {
			t.Errorf("%s: penalty %v with %v workers, %v with %v",
				c.label, s.Y[0], s.X[0], s.Y[len(s.Y)-1], s.X[len(s.X)-1])
		}
	}
}

func checkDispatchChecks(t *testing.T, figures map[string]*plots.Figure) {
	least := map[string]int{
		"dispatch-1": 2, "dispatch-2": 10, "dispatch-3": 10, "dispatch-4": 10, "dispatch-5": 10, "dispatch-6": 20,
		"dispatch-7": 15, "dispatch-8": 36, "dispatch-9": 4,
	}
	for id, f := range figures {
		if len(f.Checks) < least[id] {
			t.Errorf("%s: %d checks", id, len(f.Checks))
		}
		for _, c := range f.Checks {
			if !c.OK() || c.Exact == 0 || c.Solver == nil {
				t.Errorf("%+v", c)
			}
		}
	}
}

// checkDispatchCaptions checks that captions suffice for a reader of the picture and, together with
// the parameters, name every number.
func checkDispatchCaptions(t *testing.T, figures map[string]*plots.Figure) {
	sampled := []string{
		"321 consecutive jobs of the log SDSC-Par-1996", "seeds 1 to ", "run times × 0.001",
		"gaps between submissions × 0.1", "priorities 1 to 100", "six policies", "earliest deadline first",
		"thanks to", "Lin", "2014",
	}
	few := []string{
		"seeds 1 to 5)", "95 % bootstrap intervals", "nominal 95 % intervals", "too narrow for few samples",
		"half to three quarters of cases", "right of", "paler",
	}
	for id, want := range map[string][]string{
		"dispatch-1": {
			"8 workers of speed 1, of which 6 are down from 55 s to 115 s", "98 tasks", "deadline at 240 s",
			"8 tasks of 1 and 3 s", "90 of 10 and 8 s", "9 s for a task until", "last 10",
			"starts with 4 workers", "in time", "Figure 6.1",
		},
		"dispatch-9": {
			"6 are down", "from 55 s to 115 s", "98 tasks", "The live curve is a record", "All 212 events are the same",
			"to the last digit", "kill -9", "The server and the manager are killed 2 times each, workers 4 times",
			"5 are running when the others return", "done at 239 s, before its deadline at 240 s", "Figure 6.1",
		},
		"dispatch-2": slices.Concat(sampled, few, []string{"20 workers of speed 1", "Figure 6.2", "workers are ours"}),
		"dispatch-3": slices.Concat(sampled, few, []string{
			"20 workers of speeds uniform on [0.5, 1.5], redrawn for each sample", "Figure 6.3",
		}),
		"dispatch-4": slices.Concat(sampled, few, []string{"20 workers of speed 1", "Σ_j P_jM_j", "Figure 6.4"}),
		"dispatch-5": slices.Concat(sampled, few, []string{"[0.5, 1.5]", "Σ_j P_jM_j", "Figure 6.5"}),
		"dispatch-6": slices.Concat(sampled, []string{
			"seeds 1 to 40)", "over 40 samples", "means with 95 % intervals, and all samples", "20 workers of speed 1",
			"[0.5, 1.5]", "bootstrap", "Σ_j P_jM_j",
		}),
		"dispatch-7": slices.Concat(sampled, []string{"seeds 1 to 16)", "[1 − δ, 1 + δ]", "20 workers", "bootstrap"}),
	} {
		f := figures[id]
		for _, words := range want {
			if !strings.Contains(f.Caption+" "+f.Setting, words) {
				t.Errorf("%s: no %q in the caption:\n%s", id, words, f.Caption+" "+f.Setting)
			}
		}
		table := fmt.Sprint(f.Parameters)
		if strings.Contains(f.Caption+" "+f.Setting+table, "%!") {
			t.Errorf("%s: %s %s", id, f.Caption+" "+f.Setting, table)
		}
		if id == "dispatch-1" || id == "dispatch-9" {
			continue
		}
		want := []string{
			"32135 usable jobs", "version 3.1", "321 consecutive jobs", "within 1 s", "2 × run time × max(1, tasks/4)",
			"1 to 100, evenly", "r = 0", "horizon of 1 s", "work known", "not interrupted", "whenever",
		}
		if id == "dispatch-7" {
			want = append(want, "5, 10, 20, 40, 100", "0, 0.3, 0.6, 0.9")
		}
		for _, words := range want {
			if !strings.Contains(table, words) {
				t.Errorf("%s: no %q in the parameters:\n%s", id, words, table)
			}
		}
	}
}

func checkDispatchClaims(t *testing.T, figures map[string]*plots.Figure) {
	for id, want := range map[string]int{
		"dispatch-1": 2,
		"dispatch-6": 33,
		"dispatch-7": 6,
		"dispatch-8": 3,
		"dispatch-9": 1,
	} {
		if got := len(figures[id].Claims); got != want {
			t.Errorf("%s: %d claims, want %d", id, got, want)
		}
	}
	for _, f := range figures {
		for _, c := range f.Claims {
			if !c.Finding || strings.Contains(c.Sentence+c.Criterion+c.Numbers, "%!") {
				t.Errorf("%+v", c)
			}
			certain := strings.HasSuffix(c.Sentence, "by priority, is 0.") ||
				strings.Contains(c.Sentence, "EDF does not guarantee") || c.Place == "dispatch-1a" ||
				c.Place == "dispatch-1b" || c.Place == "dispatch-9a"
			impossible := strings.Contains(c.Sentence, "by deadline, does not guarantee")
			if certain && c.Verdict != plots.Holds || impossible && c.Verdict != plots.Refuted {
				t.Errorf("%s: %s: %s: %s", c.Place, c.Sentence, c.Numbers, c.Verdict)
			}
		}
	}
}

// The loop of Algorithm 4 as printed stops after one worker: of three jobs that need several, each
// gets one, then the first by priority or by deadline gets all that it can use.
func TestAsPrinted(t *testing.T) {
	jobs := []dispatch.Request{
		{Priority: 3, Deadline: 30, Tasks: 9, Work: 90}, {Priority: 2, Deadline: 20, Tasks: 9, Work: 90},
		{Priority: 1, Deadline: 10, Tasks: 3, Work: 30},
	}
	for k, want := range [][]int{{0, 1, 2, 0, 0, 0}, {0, 1, 2, 2, 2, 1}} {
		plan, err := printedPolicies()[k].policy.Assign(jobs, []float64{1, 1, 1, 1, 1, 1}, 0)
		if err != nil || !slices.Equal(plan, want) {
			t.Errorf("%s: %v, %v, want %v", printedPolicies()[k].label, plan, err, want)
		}
	}
}

// For two samples 0 and 1, the means 0, 1/2, 1/2, 1 are equally likely, so the ends are 0 and 1.
// The fraction of means that are at most 1/2 is 3/4; 4000 draws miss it by 0.05 with probability at
// most 2 exp(-2·4000·0.05²) = 4e-9.
func TestResampled(t *testing.T) {
	v := []float64{0, 1}
	if m, low, high := meanOf(v); m != 0.5 || low != 0 || high != 1 {
		t.Errorf("mean %v, %v to %v", m, low, high)
	}
	half := func(drawn []int) float64 { return (v[drawn[0]] + v[drawn[1]]) / 2 }
	atMost := func(drawn []int) bool { return half(drawn) <= 0.5 }
	if got := partOf(2, 2, atMost); math.Abs(got-0.75) > 0.05 {
		t.Errorf("part %v, want 0.75", got)
	}
	if a, b := partOf(2, 2, atMost), partOf(2, 2, atMost); a != b {
		t.Errorf("two draws with the same seed: %v, then %v", a, b)
	}
}

// For 0 and 1, half of the groups of two have different values and the interval from 0 to 1, the
// others an interval of one number. Equal values always contain their mean; many evenly spread
// samples do in 95 % of cases, up to the sampling error of 200.
func TestCovered(t *testing.T) {
	var even []float64
	for k := range 100 {
		even = append(even, float64(k))
	}
	for _, c := range []struct {
		v           []float64
		size        int
		least, most float64
	}{{[]float64{0, 1}, 2, 0.4, 0.6}, {[]float64{3, 3, 3}, 5, 1, 1}, {even, 30, 0.89, 1}} {
		if got := float64(covered(c.v, c.size, 200, 1)) / 200; got < c.least || got > c.most {
			t.Errorf("groups of %d of %d: %v, want %v to %v", c.size, len(c.v), got, c.least, c.most)
		}
	}
}

// For any values, intervals contain their number and are within the range of sample ratios, and
// scaling the values scales them.
func TestRatioOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		a := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e6)), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e6), n, n).Draw(t, "b")
		r := ratioOf(a, b)
		least, most, twice := math.Inf(1), 0.0, make([]float64, n)
		for i := range a {
			least, most, twice[i] = min(least, a[i]/b[i]), max(most, a[i]/b[i]), 2*a[i]
		}
		const slack = 1e-12 // rounding of sums of 12 numbers
		if !(r.Low <= r.Mean && r.Mean <= r.High && r.Low >= least*(1-slack) && r.High <= most*(1+slack)) {
			t.Errorf("%+v, ratios in samples %v to %v", r, least, most)
		}
		if q := ratioOf(twice, b); q != (overRatio{plots.Number{Mean: 2 * r.Mean, Low: 2 * r.Low, High: 2 * r.High}}) {
			t.Errorf("%+v, twice %+v", r, q)
		}
	})
}

func TestRatioWords(t *testing.T) {
	if r := ratioOf([]float64{1, 2}, []float64{0, 0}); r.String() != "∞ (∞ to ∞)" ||
		plots.AtMost(1e100).Verdict(r.Number) != plots.Refuted {
		t.Errorf("%v", r)
	}
	if r := ratioOf([]float64{0, 0}, []float64{0, 0}); r.String() != "1 (1 to 1)" {
		t.Errorf("ratio of zeros: %v, want 1 (1 to 1)", r)
	}
}

// Samples without penalty or violation, and intervals that start at 0, cannot be shown on
// logarithmic axes: they are counted, and only means remain.
func TestZeros(t *testing.T) {
	all := make([][]outcome, len(comparedPolicies()))
	for k := range all {
		for i := range 6 {
			all[k] = append(all[k], outcome{running: float64(i % 3), penalty: float64((i + k) % 2)})
		}
	}
	all[0] = slices.Repeat([]outcome{{running: 1}}, 6) // no penalties
	all[1][0].penalty, all[1][2].penalty = 0, 0        // one penalty remains
	few, zeros, bare := meansAndSamples(all, penaltyOf, plots.Log, 0.1)
	if zeros != 6+5+4*3 || bare != 1 || len(few) != 5+5 || few[0].Low != nil || few[1].Low == nil {
		t.Errorf("%d zeros, %d without interval, %d series", zeros, bare, len(few))
	}
	if few, zeros, bare := meansAndSamples(all, penaltyOf, plots.Linear, 0.1); zeros+bare != 0 || len(few) != 6+6 {
		t.Errorf("%d zeros, %d without interval, %d series on a linear axis", zeros, bare, len(few))
	}
	results := []benchmarkResult{{equalWorkers(), all}, {unequalWorkers(), all}}
	never, without := policyPanel(results, 0)
	if without != 2*6 || never.Series != nil {
		t.Errorf("%d without penalty, %d series", without, len(never.Series))
	}
	some, without := policyPanel(results, 2) // samples 0, 2 and 4 have no penalty; samples 0 and 3 no violation
	if without != 2*4 || len(some.Series) != 4 || some.Series[0].Left == nil {
		t.Errorf("%d without penalty or violation, %d series", without, len(some.Series))
	}
	y := penaltyAxis(plots.Log)
	p, none := variation{
		at:      []float64{1, 2},
		results: []benchmarkResult{{equalWorkers(), all}, {equalWorkers(), all}},
	}.panel("t", plots.Axis{Quantity: "x"}, y, penaltyOf)
	if none < 2 || none != 2*(len(comparedPolicies())-len(p.Series)) {
		t.Errorf("%d means omitted, %d series", none, len(p.Series))
	}
	for _, s := range [][]plots.Series{few, some.Series, p.Series} {
		f := plots.Figure{
			ID:      "x",
			Title:   "t",
			Caption: "c",
			Panels:  []plots.Panel{{X: plots.Axis{Quantity: "x"}, Y: y, Series: s}},
		}
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
}
