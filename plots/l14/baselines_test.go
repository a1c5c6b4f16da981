package l14

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"productform/dispatch"
	"productform/plots"
	"productform/plots/internal/plotstest"
)

// checkBaselines checks the draft, which uses 3000 jobs. Both rows of panels show EASY twice, with
// equal numbers; backfilling is never worse than FCFS, delays increase with the load, and with F =
// 1 both kinds of factors agree.
func checkBaselines(t *testing.T, f *plots.Figure) {
	if len(f.Panels) != 6 {
		t.Fatalf("%d panels, want 6", len(f.Panels))
	}
	for k := range 2 {
		together, apart := f.Panels[2*k], f.Panels[2*k+1]
		if len(together.Series) != len(comparedBaselines()) || len(apart.Series) != len(comparedPolicies())+1 ||
			together.Y.Min != apart.Y.Min || together.Y.Max != apart.Y.Max {
			t.Errorf("%s: %d series, %s: %d series",
				together.Title, len(together.Series), apart.Title, len(apart.Series))
		}
		easy, thin := plotstest.Series(t, together, "EASY")[0], plotstest.Series(t, apart, "EASY")[0]
		fcfs := plotstest.Series(t, together, "FCFS")[0]
		for i := range easy.Y {
			if easy.Y[i] != thin.Y[i] || fcfs.Y[i] < easy.Y[i] || i > 0 && easy.Y[i] <= easy.Y[i-1] {
				t.Errorf("%s: EASY %v and %v, FCFS %v", together.Title, easy.Y, thin.Y, fcfs.Y)
			}
		}
	}
	for _, p := range f.Panels[4:] {
		for _, place := range askingBaselines() {
			s := plotstest.Series(t, p, comparedBaselines()[place].label)
			if len(s) != 2 || s[0].Y[0] != s[1].Y[0] || len(s[0].X) != len(factors(plots.Draft)) {
				t.Errorf("%s: %+v", p.Title, s)
			}
		}
	}
	for _, words := range []string{
		"400 equal workers", "(FCFS)", "(SJF)", "conservative backfilling", "need not run together",
		"EASY is included for comparison", "3000 consecutive jobs", "by 10 s if it is shorter", "Mu'alem",
		"Lin", "SDSC-Par-1996", "thanks to",
	} {
		if !strings.Contains(f.Caption+" "+f.Setting, words) {
			t.Errorf("no %q in the caption:\n%s", words, f.Caption+" "+f.Setting)
		}
	}
	table := fmt.Sprint(f.Parameters)
	for _, words := range []string{
		"3000 jobs", "version 3.1", "0.5, 0.7, 0.9", "1, 2, 10, 100", "1 to 100, evenly", "MaxProcs",
		"2 × run time × max(1, tasks/4)", "reservation",
	} {
		if !strings.Contains(table, words) {
			t.Errorf("no %q in the parameters:\n%s", words, table)
		}
	}
	if strings.Contains(f.Caption+" "+f.Setting+table, "%!") {
		t.Errorf("%s: %s %s", f.ID, f.Caption+" "+f.Setting, table)
	}
}

// There are two workers. A, submitted at 0, holds both for 4 s; B, at 1, one for 2 s; C, at 1, both
// for 1 s; and D, at 9, one for 1 s. They start at 0, 4, 6 and 9, so delays are 4, 5, 6 and 1 s.
func TestMeanDelays(t *testing.T) {
	jobs := []dispatch.Job{
		{Tasks: 2, Work: 4}, {Submit: 1, Tasks: 1, Work: 2}, {Submit: 1, Tasks: 2, Work: 1},
		{Submit: 9, Tasks: 1, Work: 1},
	}
	s := &site{workers: 2}
	if got := s.recursionDelay(jobs); got != 4 {
		t.Errorf("recursion: %v, want 4", got)
	}
	if got := littleDelay([]span{{0, 4}, {1, 6}, {1, 7}, {9, 10}}); got != 4 {
		t.Errorf("Little's law: %v, want 4", got)
	}
	f, spans, err := s.runRigid(t.Context(), jobs, comparedBaselines()[byArrival].policy)
	if err != nil || f.delay != 4 || f.waiting != 2 || f.slowdown != 1 || littleDelay(spans) != 4 {
		t.Errorf("%+v, %v, %v", f, spans, err)
	}
	// Divisible jobs start their tasks in order of submission because there are no deadlines: B
	// starts at 4 together with a task of C, whose other task follows at 5, so the delay of C is 5.
	f, _, err = s.runDivisible(t.Context(), jobs, dispatch.Policy{Rule: dispatch.EDF})
	if err != nil || f.delay != 3.75 || f.slowdown != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// The load of the whole log is that of its jobs over its year, and scaling the gaps gives any other
// load.
func TestSiteLoad(t *testing.T) {
	s, err := newSite(plots.Effort{Precision: plots.Normal, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	work, last := 0.0, 0.0
	for _, j := range s.log {
		if j.Submit >= 0 && j.RunTime >= 0 && j.Processors > 0 {
			work += j.RunTime * float64(j.Processors)
			last = max(last, j.Submit)
		}
	}
	if got := work / (400 * (last - s.log[0].Submit)); s.workers != 400 || math.Abs(s.load-got) > 1e-12 ||
		s.jobs != 32135 {
		t.Errorf("load %v of %d workers, want %v", s.load, s.workers, got)
	}
	jobs, err := s.at(0.9)
	if err != nil {
		t.Fatal(err)
	}
	if got := work / (400 * jobs[len(jobs)-1].Submit); math.Abs(got-0.9) > 1e-12 {
		t.Errorf("load %v", got)
	}
}
