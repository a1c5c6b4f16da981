package scale

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"productform/plots"
	"productform/plots/draw"
	"productform/plots/internal/plotstest"
	"productform/sweep"
)

// The flag -update redraws the picture of the README.
var update = flag.Bool("update", false, "write docs/front.svg")

// The picture of the README is the draft figure, its checks agree, and its curves support its
// caption.
func TestFront(t *testing.T) {
	plotstest.CheckIDs(t, FrontFigures(), "front-1")
	s := plots.Settings{Precision: plots.Draft, Seed: 1}
	f := plotstest.Compute(t, FrontFigures(), s, sweep.Settings{})["front-1"]
	plotstest.CheckPicture(t, f, 0)
	if len(f.Checks) < 20 {
		t.Errorf("%d checks", len(f.Checks))
	}
	for _, c := range f.Checks {
		if !c.OK() {
			t.Errorf("%+v", c)
		}
	}
	svg, err := draw.Render(f, draw.SVG)
	if err != nil {
		t.Fatal(err)
	}
	const file = "../../docs/front.svg"
	if *update {
		if err := os.WriteFile(file, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, svg) {
		t.Errorf("%s is not the picture that is drawn (%v): go test ./plots/scale -update", file, err)
	}
	// at the rates of the README, in minutes
	for i, want := range []float64{60 * 0.0916768, 60 * 0.0537726} {
		if got := f.Panels[1].Series[i].At(1); !plotstest.CloseTo(got, want, 1e-5) {
			t.Errorf("%s waits %v minutes, want %v", f.Panels[1].Series[i].Label, got, want)
		}
	}
	plans := f.Panels[2].Series[0]
	for k := 1; k < len(plans.Y); k++ {
		if plans.Y[k] >= plans.Y[k-1] {
			t.Errorf("a plan of cost %v is not better than one of cost %v", plans.X[k], plans.X[k-1])
		}
	}
	// in seconds, as printed in docs/guide/dispatch.md
	fcfs, easy := f.Panels[3].Series[0].Y[0], f.Panels[3].Series[0].Y[1]
	if !plotstest.CloseTo(3600*fcfs, 38868.5, 1e-5) || !plotstest.CloseTo(3600*easy, 17598.7, 1e-5) {
		t.Errorf("FCFS %v h, EASY %v h", fcfs, easy)
	}
}
