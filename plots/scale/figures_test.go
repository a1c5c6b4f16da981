package scale

import (
	"context"
	"slices"
	"strings"
	"testing"

	"productform/bf"
	"productform/plots/internal/plotstest"
	"productform/stability"
	"productform/sweep"
)

// The figures can be drawn, their checks agree, and the bound is below the estimates.
func TestScaleFigures(t *testing.T) {
	plotstest.CheckIDs(t, Figures(), "scale-1 scale-2")
	figures := plotstest.Compute(t, Figures(), plotstest.Small(), sweep.Settings{})
	plotstest.CheckPictures(t, figures, "scale-1")
	for id, f := range figures {
		if len(f.Checks) == 0 || len(f.Parameters) < 3 {
			t.Errorf("%s: %d checks, %d parameters", id, len(f.Checks), len(f.Parameters))
		}
		for _, c := range f.Checks {
			if !c.OK() {
				t.Errorf("%+v", c)
			}
		}
	}
	jobs := figures["scale-2"].Panels[0].Series
	for k, bound := range jobs[1].Y {
		if !(bound < jobs[0].Y[k]) {
			t.Errorf("load %v: at least %v, estimated %v", jobs[0].X[k], bound, jobs[0].Y[k])
		}
	}
}

// The record has all cases and names its machine, and a small case of each family can be solved.
func TestRecord(t *testing.T) {
	rows, machine, err := measurements()
	if err != nil || !strings.Contains(machine, "cores") {
		t.Fatalf("%q, %v", machine, err)
	}
	done := map[string]bool{}
	for k, c := range Cases() {
		if k >= len(rows) || rows[k].family != c.Family || rows[k].size != c.Size || !(rows[k].seconds > 0) ||
			!(rows[k].mebibytes > 0) {
			t.Fatalf("row %d does not belong to %s, %d", k, c.Family, c.Size)
		}
		if !done[c.Family] {
			done[c.Family] = true
			if err := c.Run(t.Context()); err != nil {
				t.Errorf("%s, %d: %v", c.Family, c.Size, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	last := Cases()[len(Cases())-1]
	if err := last.Run(ctx); err == nil {
		t.Error("a cancelled context is ignored")
	}
}

// The models are stable, connected as intended, and deterministic.
func TestModels(t *testing.T) {
	for _, c := range Cases() {
		if c.Size > 100 {
			continue
		}
		m := c.model()
		r, err := stability.Cluster(t.Context(), m)
		if err != nil || !r.Stable {
			t.Errorf("%s, %d: %v", c.Family, c.Size, err)
		}
		again := c.model()
		for i := range m.Classes {
			if m.Classes[i].ArrivalRate.Cmp(again.Classes[i].ArrivalRate) != 0 ||
				!slices.Equal(m.Classes[i].Servers, again.Classes[i].Servers) {
				t.Fatalf("%s, %d: class %d differs", c.Family, c.Size, i)
			}
		}
	}
	small := grid(2, 3)
	if len(small.Servers) != 6 || len(small.Classes) != 7 {
		t.Errorf("a ladder of %d servers and %d classes", len(small.Servers), len(small.Classes))
	}
	r, err := bf.Solve(t.Context(), small, bf.Settings{})
	if err != nil || r.MeanJobs.Float < 1 {
		t.Errorf("%v, %v", r, err)
	}
}
