package oneserver

import (
	"testing"

	"productform/plots"
	"productform/plots/internal/plotstest"
)

var computed plotstest.Once

func TestFigures(t *testing.T) {
	plotstest.CheckIDs(t, Figures(), "one-1")
	figures := computed.Figures(t, Figures())
	t.Run("pictures", func(t *testing.T) { plotstest.CheckPictures(t, figures) })
	f := figures["one-1"]
	for _, c := range f.Checks {
		if !c.OK() {
			t.Errorf("%s, %s: %+v", c.Figure, c.Quantity, c)
		}
	}
	if len(f.Checks) != 3*len(simulatedLoads())+1 {
		t.Errorf("%d checks", len(f.Checks))
	}
	t.Run("order", func(t *testing.T) { checkOrder(t, f) })
}

// checkOrder verifies that at low load the fastest idle server is best, and that copies that run
// until one ends are faster than copies that are cancelled when one starts, for exponential sizes.
func checkOrder(t *testing.T, f *plots.Figure) {
	first := func(panel plots.Panel, label string) float64 {
		for _, s := range plotstest.Series(t, panel, label) {
			if s.Low != nil {
				return s.Y[0]
			}
		}
		t.Fatalf("no simulated series %q", label)
		return 0
	}
	if fastest, longest := first(f.Panels[0], "fastest idle"), first(f.Panels[0], "longest idle"); fastest >= longest {
		t.Errorf("mean delay %v with the fastest idle server, %v with the longest idle", fastest, longest)
	}
	starts := plotstest.Series(t, f.Panels[1], "cancelled when one starts")[0]
	ends := plotstest.Series(t, f.Panels[1], "cancelled when one ends")[0]
	for k := range starts.X {
		if !(ends.Y[k] < starts.Y[k]) {
			t.Errorf("load %v: %v if copies run until one ends, %v otherwise", starts.X[k], ends.Y[k], starts.Y[k])
		}
	}
}
