package plots

import (
	"math"
	"testing"
)

// good returns a valid figure; tests invalidate its entries one at a time.
func good() *Figure {
	return &Figure{
		ID: "x", Title: "t", Caption: "c",
		Panels: []Panel{{
			X: Axis{Quantity: "load", Max: 1},
			Y: Axis{Quantity: "delay", Scale: Log},
			Series: []Series{{
				Label: "s",
				X:     []float64{0.1, 0.2},
				Y:     []float64{1, 2},
				Low:   []float64{0.5, 1},
				High:  []float64{2, 2},
			}},
			References: []Reference{{Label: "r", Y: 1}},
		}},
	}
}

func TestValidate(t *testing.T) {
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	vertical := good()
	vertical.Panels[0].Series[0].X[1] = 0.1
	if err := vertical.Validate(); err != nil {
		t.Errorf("a vertical line: %v", err)
	}
	nan := math.NaN()
	for _, c := range []struct {
		spoil func(*Figure)
		want  string
	}{
		{func(f *Figure) { f.ID = "" }, "id is missing: want a name"},
		{func(f *Figure) { f.Title = "" }, "title is missing: want one line"},
		{func(f *Figure) { f.Caption = "" }, "caption is missing: want sentences that name every parameter"},
		{func(f *Figure) { f.Panels = nil }, "panels is missing: want at least one panel"},
		{func(f *Figure) { f.Panels[0].Y.Quantity = "" }, "panels[0].y.quantity is missing: want what is measured"},
		{func(f *Figure) { f.Panels[0].X.Scale = 7 }, "panels[0].x.scale = 7: want Linear or Log"},
		{func(f *Figure) { f.Panels[0].X.Min = 1 }, "panels[0].x.max = 1: want clearly more than min, 1"},
		{func(f *Figure) { f.Panels[0].X.Min = nan }, "panels[0].x.min = NaN: want a finite number in [-1e100, 1e100]"},
		{
			func(f *Figure) { f.Panels[0].Y.Max = 1 },
			"panels[0].y.min = 0: want a number in [1e-100, 1e100] on a logarithmic axis",
		},
		{
			func(f *Figure) { f.Panels[0].X.Shown = []float64{0, nan} },
			"panels[0].x.shown[1] = NaN: want a finite number in [-1e100, 1e100]",
		},
		{
			func(f *Figure) { f.Panels[0].Y.Ticks = []float64{1} },
			"panels[0].y.ticks = 1 values: want none without min and max",
		},
		{
			func(f *Figure) { f.Panels[0].X.Ticks = []float64{0.5, 2} },
			"panels[0].x.ticks[1] = 2: want a number on the axis, [0, 1]",
		},
		{
			func(f *Figure) { f.Panels[0].X.Ticks = []float64{nan} },
			"panels[0].x.ticks[0] = NaN: want a number on the axis, [0, 1]",
		},
		{
			func(f *Figure) { f.Panels[0].X.Ticks = []float64{0.5, 0.5} },
			"panels[0].x.ticks[1] = 0.5: want more than the one before, 0.5",
		},
		{
			func(f *Figure) { f.Panels[0].Y.Categories = []string{"a"} },
			"panels[0].y.scale = 1: want Linear with categories",
		},
		{
			func(f *Figure) { f.Panels[0].X = Axis{Quantity: "q", Scale: Log, Categories: []string{"a"}} },
			"panels[0].x.scale = 1: want Linear with categories",
		},
		{
			func(f *Figure) { a := &f.Panels[0].X; a.Ticks, a.Categories = []float64{1}, []string{"a"} },
			"panels[0].x.ticks = 1 values: want none with categories",
		},
		{
			func(f *Figure) { f.Panels[0].X = Axis{Quantity: "q", Min: 1.5, Max: 3, Categories: []string{"a"}} },
			"panels[0].x.min = 1.5: want at most 1, the value of the first category",
		},
		{
			func(f *Figure) { f.Panels[0].X.Categories = []string{"a", "b"} },
			"panels[0].x.max = 1: want at least 2, the value of the last category",
		},
		{
			func(f *Figure) { f.Panels[0].X = Axis{Quantity: "q", Categories: []string{"a", " "}} },
			"panels[0].x.categories[1] is missing: want a name",
		},
		{
			func(f *Figure) { f.Panels[0].X = Axis{Quantity: "q", Categories: []string{"a", "a"}} },
			"panels[0].x.categories[1] = a: want a name that no earlier category has",
		},
		{func(f *Figure) {
			f.OneLegend = true
			f.Panels = append(f.Panels, good().Panels[0])
			f.Panels[1].Series[0].Look = 1
		}, "panels[1].series[0].label = s: want another label, or the look, kind and line of the " +
			"earlier series with it"},
		{func(f *Figure) { f.Panels[0].Series = nil }, "panels[0].series is missing: want at least one series"},
		{func(f *Figure) { f.Panels[0].Series[0].Label = "" }, "panels[0].series[0].label is missing: want a name"},
		{func(f *Figure) { f.Panels[0].Series[0].Look = -1 }, "panels[0].series[0].look = -1: want an integer >= 0"},
		{
			func(f *Figure) { f.Panels[0].Series[0].Kind = 5 },
			"panels[0].series[0].kind = 5: want Curve, Points, Steps, Band or Area",
		},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Kind, s.Marked = Points, true },
			"panels[0].series[0].marked = true: want false, except with Curve or Steps",
		},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Kind, s.Y, s.Low, s.High = Band, nil, nil, nil },
			"panels[0].series[0].low is missing: want one per point with Band",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Kind = Band },
			"panels[0].series[0].y = 2 values: want none with Band",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Kind = Steps },
			"panels[0].series[0].low = 2 values: want none with Steps or Area",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].X = nil },
			"panels[0].series[0].x is missing: want at least one point",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Y = []float64{1} },
			"panels[0].series[0].y = 1 values: want 2, one per point",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].High = nil },
			"panels[0].series[0].high = 0 values: want as many as low has, 2",
		},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Low, s.High = s.Low[:1], s.High[:1] },
			"panels[0].series[0].low = 1 values: want none, or 2, one per point",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].X[1] = 0.05 },
			"panels[0].series[0].x[1] = 0.05: want at least the one before, 0.1",
		},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Kind, s.Low, s.High, s.X[1] = Steps, nil, nil, 0.1 },
			"panels[0].series[0].x[1] = 0.1: want more than the one before, 0.1",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].X[0] = nan },
			"panels[0].series[0].x[0] = NaN: want a finite number in [-1e100, 1e100]",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Y[1] = math.Inf(1) },
			"panels[0].series[0].y[1] = +Inf: want a finite number in [-1e100, 1e100]",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Y[0] = 0 },
			"panels[0].series[0].y[0] = 0: want a number in [1e-100, 1e100] on a logarithmic axis",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Low[0] = -1 },
			"panels[0].series[0].low[0] = -1: want a number in [1e-100, 1e100] on a logarithmic axis",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].High[0] = nan },
			"panels[0].series[0].high[0] = NaN: want a finite number in [-1e100, 1e100]",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].High[1] = 1.5 },
			"panels[0].series[0].y[1] = 2: want a number in its interval [1, 1.5]",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Bars = true },
			"panels[0].series[0].bars = true: want false, except with Points or a marked Curve that has intervals",
		},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Left, s.Right = s.X, s.X },
			"panels[0].series[0].left = 2 values: want none, or with Points 2, one per point",
		},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Kind, s.Left = Points, s.X },
			"panels[0].series[0].right = 0 values: want as many as left has, 2",
		},
		{func(f *Figure) {
			s := &f.Panels[0].Series[0]
			s.Kind, s.Left, s.Right = Points, s.X, []float64{0.1, 0.1}
		}, "panels[0].series[0].x[1] = 0.2: want a number in its interval [0.2, 0.1]"},
		{
			func(f *Figure) { s := &f.Panels[0].Series[0]; s.Kind, s.Left, s.Right = Points, s.X, []float64{nan, 1} },
			"panels[0].series[0].right[0] = NaN: want a finite number in [-1e100, 1e100]",
		},
		{
			func(f *Figure) { f.Panels[0].Series[0].Names = []string{"a"} },
			"panels[0].series[0].names = 1 names: want none, or 2, one per point",
		},
		{
			func(f *Figure) { f.Panels[0].Regions = []Region{{"r", 0.5, 0.5}} },
			"panels[0].regions[0].to = 0.5: want more than from, 0.5",
		},
		{
			func(f *Figure) { f.Panels[0].Regions = []Region{{"r", 0.5, nan}} },
			"panels[0].regions[0] = NaN: want a finite number in [-1e100, 1e100]",
		},
		{
			func(f *Figure) { f.Panels[0].References[0].Y = 0 },
			"panels[0].references[0].y = 0: want a number in [1e-100, 1e100] on a logarithmic axis",
		},
	} {
		f := good()
		c.spoil(f)
		if err := f.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestCheckOK(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		check Check
		want  bool
	}{
		{Check{Exact: 2}, true},
		{Check{Exact: 2, Solver: v(2.001), Tolerance: v(1e-3)}, true},
		{Check{Exact: 2, Solver: v(2.003), Tolerance: v(1e-3)}, false},
		{Check{Exact: 2, Solver: v(math.NaN()), Tolerance: v(1)}, false},
		{Check{Exact: 2, Z: v(-4.9)}, true},
		{Check{Exact: 2, Z: v(-5.1)}, false},
	} {
		if c.check.OK() != c.want {
			t.Errorf("%+v: OK is %v", c.check, !c.want)
		}
	}
}
