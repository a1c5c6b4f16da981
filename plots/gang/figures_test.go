package gang

import (
	"slices"
	"testing"

	"productform/plots"
	"productform/plots/internal/plotstest"
)

var computed plotstest.Once

func TestFigures(t *testing.T) {
	plotstest.CheckIDs(t, Figures(), "gang-1")
	figures := computed.Figures(t, Figures())
	t.Run("pictures", func(t *testing.T) { plotstest.CheckPictures(t, figures) })
	f := figures["gang-1"]
	for _, c := range f.Checks {
		if !c.OK() {
			t.Errorf("%s, %s: %+v", c.Figure, c.Quantity, c)
		}
	}
	t.Run("findings", func(t *testing.T) { checkFindings(t, f) })
}

// checkFindings verifies what the caption states: the limit is halved, backfilling and ServerFilling
// carry a load under which FCFS is unstable, and first fit makes rare large jobs wait longest.
func checkFindings(t *testing.T, f *plots.Figure) {
	all := plotstest.Series(t, f.Panels[0], needLabel(servers))[0]
	if least := slices.Min(all.Y); !(least < 0.5) {
		t.Errorf("the smallest load limit is %v", least)
	}
	large := f.Panels[2]
	first := func(r rule) float64 {
		for _, s := range plotstest.Series(t, large, r.label) {
			if s.Low != nil {
				return s.Y[0]
			}
		}
		t.Fatalf("no simulated waits with %s", r.label)
		return 0
	}
	list := rules()
	if fit, fcfs := first(list[2]), first(list[0]); !(fit > fcfs) {
		t.Errorf("rare large jobs wait %v with first fit, %v with FCFS", fit, fcfs)
	}
	for _, r := range list[1:] {
		s := plotstest.Series(t, large, r.label)[0]
		if len(s.X) != len(simulatedShares()) {
			t.Errorf("%d points of %s", len(s.X), r.label)
		}
	}
	region := large.Regions[0]
	for _, s := range plotstest.Series(t, large, list[0].label) {
		for _, x := range s.X {
			if x > region.From && x < region.To {
				t.Errorf("FCFS has a wait at the share %v, where it is unstable", x)
			}
		}
	}
}
