package draw

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"

	"productform/internal/input"
	"productform/plots"
)

// FixtureFigures returns the test figures. The tests of the subpackages of plots draw the figures
// of the papers.
func FixtureFigures() []*plots.Figure {
	return []*plots.Figure{simulated(), categorical(), grouped("low", "high")}
}

func render(t *testing.T, f *plots.Figure, format Format) []byte {
	t.Helper()
	b, err := Render(f, format)
	if err != nil {
		t.Fatalf("%s.%s: %v", f.ID, format, err)
	}
	return b
}

// The same figure gives the same bytes, and no file contains a date. The test figure has every
// feature.
func TestRenderIsDeterministic(t *testing.T) {
	f := simulated()
	for _, format := range []Format{PNG, SVG, PDF, CSV} {
		a, b := render(t, f, format), render(t, f, format)
		if !bytes.Equal(a, b) {
			t.Errorf("%s.%s differs from one run to the next", f.ID, format)
		}
		if bytes.Contains(a, []byte("CreationDate")) || bytes.Contains(a, []byte("ModDate")) {
			t.Errorf("%s.%s contains a date", f.ID, format)
		}
	}
}

// LegendRows returns the number of rows of the legend above all panels, for figures that request
// one or have several rows of panels with the same series.
func LegendRows(f *plots.Figure) int {
	if f.ID == "test" {
		return 0
	}
	return 1
}

// The cross-reference table of a PDF still points to its objects after dates are blanked.
func TestPDFOffsets(t *testing.T) {
	b := render(t, simulated(), PDF)
	start := bytes.LastIndex(b, []byte("startxref\n"))
	var at int
	if _, err := fmt.Sscanf(string(b[start:]), "startxref\n%d", &at); err != nil ||
		!bytes.HasPrefix(b[at:], []byte("xref\n")) {
		t.Fatalf("startxref says %d: %v", at, err)
	}
	entries := regexp.MustCompile(`(?m)^([0-9]{10}) 00000 n`).FindAllSubmatch(b[at:], -1)
	if len(entries) < 5 {
		t.Fatalf("only %d objects", len(entries))
	}
	for i, e := range entries {
		var offset int
		if _, err := fmt.Sscanf(string(e[1]), "%d", &offset); err != nil ||
			!bytes.HasPrefix(b[offset:], fmt.Appendf(nil, "%d 0 obj", i+1)) {
			t.Errorf("object %d is not at %d", i+1, offset)
		}
	}
}

// A white rectangle of the size of the figure hides the background of a page around an SVG or PDF.
func TestWhiteBackground(t *testing.T) {
	svg, pdf := render(t, simulated(), SVG), render(t, simulated(), PDF)
	r, err := zlib.NewReader(bytes.NewReader(pdf[bytes.Index(pdf, []byte("stream\n"))+len("stream\n"):]))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for format, c := range map[Format]struct {
		text        []byte
		path, white string
	}{
		SVG: {svg, "<path", `<path d="M0,0L481.89,0L481.89,396.85L0,396.85Z" style="fill:#FFFFFF" />`},
		PDF: {content, " m\n", "1.000 g\n1.000 G\n/GS1 gs\n" +
			"0.00 396.85 m\n481.89 396.85 l\n481.89 0.00 l\n0.00 0.00 l\n0.00 396.85 l\nh\nf\n"},
	} {
		white := bytes.Index(c.text, []byte(c.white))
		if first := bytes.Index(c.text, []byte(c.path)); white < 0 || white+strings.Index(c.white, c.path) != first {
			t.Errorf("%s: the first path is not a white rectangle of 170 mm by 140 mm", format)
		}
	}
}

// Names are next to the curves, above the panel if they would overlap, or once above all panels if
// several rows of panels have the same series.
func TestNamesOrLegend(t *testing.T) {
	text := newTypesetter()
	for _, f := range FixtureFigures() {
		shared, rows := sharedLegend(text, f)
		if (shared != nil) != (LegendRows(f) > 0) || rows != LegendRows(f) {
			t.Errorf("%s: shared legend in %d rows", f.ID, rows)
		}
		for _, e := range shared {
			if e.x+entryWidth(text, e) > sharedRoom(text, f) {
				t.Errorf("%s: the name %q leaves the figure", f.ID, e.label)
			}
		}
		beside, err := sideMargin(text, f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Panels {
			p := &f.Panels[i]
			_, height := size(f)
			l, err := plan(text, p, "(a)", rectangle(0, height-panelHeight, panelWidth, height), beside, shared != nil)
			if err != nil {
				t.Fatal(err)
			}
			if l.legend != nil && (shared != nil || len(l.legend) != len(p.Series)) {
				t.Errorf("%s, panel %d: %d names for %d series", f.ID, i, len(l.legend), len(p.Series))
			}
			if f.ID == "test" && l.legend == nil {
				t.Errorf("panel %d of the test figure: names beside curves", i)
			}
			for _, e := range l.legend {
				right := l.plot.Min.X + e.x + entryWidth(text, e)
				if right > l.outer.Max.X || e.row >= l.legendRows {
					t.Errorf("%s, panel %d: the name %q leaves the panel", f.ID, i, e.label)
				}
			}
		}
	}
}

// Adjacent panels whose legends have different numbers of rows have plots of equal height, and
// legends that end at their titles.
func TestAlignedLegends(t *testing.T) {
	panel := func(names ...string) plots.Panel {
		p := plots.Panel{
			Title: "panel",
			X:     plots.Axis{Quantity: "x", Min: 0, Max: 1},
			Y:     plots.Axis{Quantity: "y", Min: 0, Max: 1},
		}
		for k, name := range names {
			s := plots.Series{Label: "a name that takes a whole row, " + name, Look: k}
			for i := range 41 { // points everywhere, so names have no place
				s.X, s.Y = append(s.X, float64(i)/40), append(s.Y, float64(i%2))
			}
			p.Series = append(p.Series, s)
		}
		return p
	}
	f := &plots.Figure{ID: "legends", Title: "legends", Panels: []plots.Panel{panel("1", "2", "3"), panel("1", "2")}}
	text := newTypesetter()
	beside, err := sideMargin(text, f)
	if err != nil {
		t.Fatal(err)
	}
	plans, err := planAll(text, f, beside, panelHeight)
	if err != nil {
		t.Fatal(err)
	}
	if plans[0].legendRows != 3 || plans[1].legendRows != 2 {
		t.Fatalf("legends of %d and %d rows", plans[0].legendRows, plans[1].legendRows)
	}
	if a, b := plans[0].plot, plans[1].plot; a.Min.Y != b.Min.Y || a.Max.Y != b.Max.Y {
		t.Errorf("plots from %v to %v and from %v to %v", a.Min.Y, a.Max.Y, b.Min.Y, b.Max.Y)
	}
}

// A panel with room for names next to its curves still has a legend if the adjacent panel does, and
// a plot of the same height.
func TestLegendWithNames(t *testing.T) {
	crowded, plain := simulated().Panels[1], plots.Panel{
		Title:  "plain",
		X:      plots.Axis{Quantity: "x"},
		Y:      plots.Axis{Quantity: "y"},
		Series: []plots.Series{{Label: "rising", X: []float64{0, 1}, Y: []float64{0, 1}}},
	}
	f := &plots.Figure{ID: "legends", Title: "legends", Panels: []plots.Panel{plain, crowded, plain, plain}}
	text := newTypesetter()
	beside, err := sideMargin(text, f)
	if err != nil {
		t.Fatal(err)
	}
	plans, err := planAll(text, f, beside, 2*panelHeight)
	if err != nil {
		t.Fatal(err)
	}
	if len(plans[0].legend) != 1 || plans[2].legend != nil || plans[3].legend != nil {
		t.Errorf("legends of %d, %d, %d and %d entries",
			len(plans[0].legend), len(plans[1].legend), len(plans[2].legend), len(plans[3].legend))
	}
	if a, b := plans[0].plot, plans[1].plot; a.Min.Y != b.Min.Y || a.Max.Y != b.Max.Y {
		t.Errorf("plots from %v to %v and from %v to %v", a.Min.Y, a.Max.Y, b.Min.Y, b.Max.Y)
	}
}

// A panel below one with the same legend omits it if its curves have the same names and looks, and
// its plot is higher.
func TestLegendAbove(t *testing.T) {
	crowded := simulated().Panels[1]
	other := simulated().Panels[1]
	other.Series = append(slices.Clone(other.Series[:1]), other.Series[2:]...)
	for _, c := range []struct {
		panels []plots.Panel
		want   []bool // whether each panel has a legend
	}{
		{[]plots.Panel{crowded, other, crowded, other}, []bool{true, true, false, false}},
		{[]plots.Panel{crowded, crowded, crowded, other}, []bool{true, true, false, true}},
		{[]plots.Panel{crowded, other, other, crowded, other, crowded}, []bool{true, true, true, true, false, false}},
	} {
		text := newTypesetter()
		f := &plots.Figure{ID: "legends", Title: "legends", Panels: c.panels}
		beside, err := sideMargin(text, f)
		if err != nil {
			t.Fatal(err)
		}
		plans, err := planAll(text, f, beside, 3*panelHeight)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range plans {
			if (p.legend != nil) != c.want[i] {
				t.Errorf("of %d panels, panel %d has a legend of %d", len(plans), i, len(p.legend))
			}
			if p.plot.Max.Y-p.plot.Min.Y != plans[i^1].plot.Max.Y-plans[i^1].plot.Min.Y {
				t.Errorf("of %d panels, panels %d and %d have different heights", len(plans), i, i^1)
			}
			if named := slices.ContainsFunc(p.names, func(r vg.Rectangle) bool { return r != vg.Rectangle{} }); named {
				t.Errorf("of %d panels, panel %d has names in its plot", len(plans), i)
			}
		}
	}
}

// Groups of curves are named separately next to them and in the legend, or only in the legend
// without room.
func TestGroups(t *testing.T) {
	text := newTypesetter()
	f := grouped("low", "high")
	legend, _ := sharedLegend(text, f)
	var names []string
	for _, e := range legend {
		names = append(names, e.label)
	}
	if want := []string{"one", "two", "low", "high"}; !slices.Equal(names, want) {
		t.Errorf("legend %q, want %q", names, want)
	}
	// the second is wider than the plot
	for high, want := range map[string]int{"high": 2, strings.Repeat("high ", 12): 0} {
		f := grouped("low", high)
		l, err := plan(
			text, &f.Panels[0], "(a)", rectangle(0, 0, panelWidth, panelHeight),
			room{left: leftRoom(text, &f.Panels[0], false)}, true,
		)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.groups) != want || l.names == nil {
			t.Errorf("group %q: %d named, want %d", high, len(l.groups), want)
		}
	}
	f.Panels[3].Series[0].Label = "other"
	if legend, _ := sharedLegend(text, f); legend != nil {
		t.Errorf("a legend for different panels: %v", legend)
	}
}

// OneLegend names every series of all panels once.
func TestOneLegend(t *testing.T) {
	f := grouped("", "")
	f.Panels = f.Panels[:2]
	f.Panels[0].Series, f.Panels[1].Series = f.Panels[0].Series[:1], f.Panels[1].Series[:2]
	if legend, _ := sharedLegend(newTypesetter(), f); legend != nil {
		t.Errorf("an unrequested legend: %v", legend)
	}
	f.OneLegend = true
	var names []string
	legend, rows := sharedLegend(newTypesetter(), f)
	for _, e := range legend {
		names = append(names, e.label)
	}
	if _, height := size(f); !slices.Equal(names, []string{"one", "two"}) || rows != 1 || height <= panelHeight {
		t.Errorf("names %q in %d rows", names, rows)
	}
	if _, err := Render(f, PNG); err != nil {
		t.Error(err)
	}
}

// Later groups are lighter, and all colours stay in range.
func TestLighter(t *testing.T) {
	for _, l := range looks {
		before := l.color
		for steps := range 4 {
			c := lighter(l, steps).color
			if c.R < before.R || c.G < before.G || c.B < before.B || c.A != 0xff || steps == 0 && c != l.color {
				t.Errorf("%v in %d steps: %v after %v", l.color, steps, c, before)
			}
			before = c
		}
	}
}

// Labels have enough contrast in the colours of all series, and those that have it stay as they are.
func TestReadable(t *testing.T) {
	for i := range looks {
		for group := range 3 {
			c := lighter(lookOf(i), group).color
			d := readable(c)
			if x := contrast(d, regionInk); x < 4.5 {
				t.Errorf("%v: contrast %.2f", d, x)
			}
			if contrast(c, regionInk) >= 4.5 && c != d {
				t.Errorf("%v becomes %v", c, d)
			}
		}
	}
	// black on white has 21; #e69f00 on white has 2.25, as other programs compute
	if x, y := contrast(ink, paper), contrast(looks[4].color, paper); math.Abs(x-21) > 1e-9 || math.Abs(y-2.25) > 5e-3 {
		t.Errorf("contrasts %v and %v", x, y)
	}
}

func TestRenderRefuses(t *testing.T) {
	long := strings.Repeat("a long name ", 20)
	for _, c := range []struct {
		spoil func(*plots.Figure)
		want  string
	}{
		{func(f *plots.Figure) { f.Panels[0].Series[0].Y[3] = math.NaN() }, "panels[0].series[0].y[3]"},
		{func(f *plots.Figure) { f.Panels[1].Title = "中" }, "panels[1].title"},
		{func(f *plots.Figure) { f.Panels[0].X.Quantity = "負荷" }, "panels[0].x"},
		{
			func(f *plots.Figure) { f.Panels[1].X = plots.Axis{Quantity: "q", Categories: []string{"a", "方"}} },
			"panels[1].x.categories[1]",
		},
		{func(f *plots.Figure) {
			f.Panels[1].X = plots.Axis{Quantity: "q", Categories: []string{strings.Repeat("a", 100), "b"}}
		}, "categories"},
		{func(f *plots.Figure) {
			f.Panels[1].X = plots.Axis{Quantity: "q", Categories: []string{"a", strings.Repeat("b", 100)}}
		}, "categories"},
		{func(f *plots.Figure) { f.Panels[0].Y.Quantity = long }, "axis title"},
		{func(f *plots.Figure) { f.Panels[1].Series[0].Label = long }, "label"},
		{func(f *plots.Figure) {
			for range 40 {
				f.Panels[1].Series = append(f.Panels[1].Series, f.Panels[1].Series[0])
			}
		}, "series"},
	} {
		f := simulated()
		c.spoil(f)
		for _, format := range []Format{PNG, SVG, PDF} {
			_, err := Render(f, format)
			var bad *input.Error
			if !errors.As(err, &bad) || bad.Path != c.want {
				t.Errorf("%s: got %v, want an error at %s", format, err, c.want)
			}
		}
	}
	invalid := simulated()
	invalid.Panels[0].Series[0].Y[3] = math.NaN()
	var bad *input.Error
	if _, err := Image(invalid); !errors.As(err, &bad) || bad.Path != "panels[0].series[0].y[3]" {
		t.Errorf("image of an invalid figure: %v", err)
	}
	if _, err := Render(simulated(), "gif"); err == nil || err.Error() != "format = gif: want png, svg, pdf or csv" {
		t.Errorf("unknown format: %v", err)
	}
}

// Any valid figure is painted, or rejected for elements that do not fit.
func TestAnyValidFigureIsPainted(t *testing.T) {
	painted := 0
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]plots.Scale{plots.Linear, plots.Log})
		p := plots.Panel{
			X: plots.Axis{Quantity: "load", Scale: scale.Draw(t, "x")},
			Y: plots.Axis{Quantity: "delay", Scale: scale.Draw(t, "y")},
		}
		number := func(s plots.Scale) float64 {
			magnitude := math.Pow(10, rapid.Float64Range(-99, 99).Draw(t, "magnitude"))
			if s == plots.Linear && rapid.Bool().Draw(t, "negative") {
				return -magnitude
			}
			return magnitude
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "series") {
			s := plots.Series{
				Label: fmt.Sprint("series ", i),
				Look:  i,
				Thin:  i == 1,
				Kind: rapid.SampledFrom([]plots.Kind{
					plots.Curve, plots.Points, plots.Steps, plots.Area,
				}).Draw(t, "kind"),
			}
			x := number(p.X.Scale)
			for range rapid.IntRange(1, 8).Draw(t, "points") {
				s.X, s.Y = append(s.X, x), append(s.Y, number(p.Y.Scale))
				x += math.Abs(x) * rapid.Float64Range(0.001, 2).Draw(t, "step")
			}
			p.Series = append(p.Series, s)
		}
		f := &plots.Figure{ID: "x", Title: "t", Caption: "c", Panels: []plots.Panel{p}}
		if err := f.Validate(); err != nil {
			return // beyond 1e100
		}
		var c recorder.Canvas
		var refused *input.Error
		switch err := paintFigure(&c, f); {
		case err == nil:
			painted++
		case !errors.As(err, &refused):
			t.Fatal(err)
		}
	})
	if painted == 0 {
		t.Error("no figure was painted")
	}
}

// Steps keep the height of each point up to the next, and have no dashes.
func TestStepsHaveCorners(t *testing.T) {
	text := newTypesetter()
	p := plots.Panel{
		Title: "t", X: plots.Axis{Quantity: "x", Max: 4}, Y: plots.Axis{Quantity: "y", Max: 10},
		Series: []plots.Series{{Label: "s", Kind: plots.Steps, Look: 1, X: []float64{0, 1, 4}, Y: []float64{10, 5, 0}}},
	}
	l, err := plan(text, &p, "", rectangle(0, 0, panelWidth, panelHeight), room{left: leftRoom(text, &p, false)}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []vg.Point{l.at(0, 10), l.at(1, 10), l.at(1, 5), l.at(4, 5), l.at(4, 0)}
	if got := l.points(p.Series[0]); !slices.Equal(got, want) {
		t.Errorf("corners %v, want %v", got, want)
	}
	if looks[1].dashes == nil || dashes(looks[1], plots.Steps) != nil || dashes(looks[1], plots.Curve) == nil {
		t.Error("steps are dashed, or curves are not")
	}
}

// An area lies below its steps and above 0, or above the end of a logarithmic axis, and leaves the
// ends of the horizontal axis unchanged.
func TestAreaBelowSteps(t *testing.T) {
	for _, c := range []struct {
		y    plots.Axis
		base float64
	}{
		{plots.Axis{Quantity: "y", Max: 10}, 0},
		{plots.Axis{Quantity: "y", Min: -5, Max: 10}, 0},
		{plots.Axis{Quantity: "y", Min: 2, Max: 10}, 2},
		{plots.Axis{Quantity: "y", Scale: plots.Log, Min: 1, Max: 10}, 1},
	} {
		f := &plots.Figure{
			ID:    "x",
			Title: "t",
			Panels: []plots.Panel{{Title: "t", X: plots.Axis{Quantity: "x", Max: 4}, Y: c.y,
				Series: []plots.Series{{Label: "s", Kind: plots.Area, X: []float64{1, 2, 3}, Y: []float64{4, 8, 4}}}}},
		}
		l := layout(t, f)[0]
		var canvas recorder.Canvas
		l.drawArea(&canvas, l.Series[0])
		var corners []vg.Point
		for _, a := range canvas.Actions {
			if fill, ok := a.(*recorder.Fill); ok {
				for _, part := range fill.Path {
					corners = append(corners, part.Pos)
				}
			}
		}
		for _, want := range []vg.Point{
			l.at(1, c.base), l.at(1, 4), l.at(2, 4), l.at(2, 8), l.at(3, 8), l.at(3, 4), l.at(3, c.base),
		} {
			if !slices.ContainsFunc(corners, func(p vg.Point) bool { d := p.Sub(want); return d.Dot(d) < 1e-9 }) {
				t.Errorf("%+v: no corner at %v: %v", c.y, want, corners)
			}
		}
	}
	p := plots.Panel{Series: []plots.Series{{Label: "s", Kind: plots.Area, X: []float64{1, 2}, Y: []float64{70, 80}}}}
	if v := p.YValues(); slices.Min(v) != 0 {
		t.Errorf("the axis of an area is made for %v", v)
	}
}

// Bars of curves, and of points that request it, are drawn side by side by label, at the requested
// distance and centred on the true position, together with their lines and markers. Other points are drawn
// at their true positions, and so are their horizontal bars.
func TestBarsSideBySide(t *testing.T) {
	p := plots.Panel{Title: "t", X: plots.Axis{Quantity: "x", Max: 4}, Y: plots.Axis{Quantity: "y", Max: 10}}
	for k := range 3 {
		p.Series = append(p.Series, plots.Series{
			Label: fmt.Sprint(k), Bars: true, Marked: true, Look: k, X: []float64{1, 3}, Y: []float64{5, 6},
			Low: []float64{4, 5}, High: []float64{6, 8},
		})
	}
	p.Series[2].Kind, p.Series[2].Marked = plots.Points, false
	group := p.Series[2] // with the label of an earlier series, so at the same place
	group.Group = "g"
	p.Series = append(p.Series, plots.Series{
		Label: "points", Kind: plots.Points, X: []float64{2}, Y: []float64{5}, Low: []float64{1},
		High: []float64{6}, Left: []float64{1.5}, Right: []float64{5},
	})
	p.Series = append(p.Series, group)
	l := layout(t, &plots.Figure{ID: "x", Title: "t", Panels: []plots.Panel{p}})[0]
	if got, want := l.markers(l.Series[4]), l.markers(l.Series[2]); !slices.Equal(got, want) {
		t.Errorf("a group with the same label is at %v, want %v", got, want)
	}
	for k, s := range l.Series[:3] {
		shift := vg.Point{X: []vg.Length{barGap, barGap, pointGap}[k] * vg.Length(k-1)}
		line, bars := l.points(s), l.bars(s)
		for i := range s.X {
			for _, c := range [][2]vg.Point{
				{line[i], l.at(s.X[i], s.Y[i])}, {l.markers(s)[i], l.at(s.X[i], s.Y[i])},
				{bars[i][0], l.at(s.X[i], s.Low[i])}, {bars[i][1], l.at(s.X[i], s.High[i])},
			} {
				if d := c[0].Sub(c[1]).Sub(shift); d.Dot(d) > 1e-12 {
					t.Errorf("series %d, point %d: at %v, want %v beside %v", k, i, c[0], shift, c[1])
				}
			}
		}
	}
	want := [][2]vg.Point{{l.at(2, 1), l.at(2, 6)}, {l.at(1.5, 5), l.at(4, 5)}} // the last step ends with the plot
	if got := l.bars(l.Series[3]); !slices.Equal(got, want) {
		t.Errorf("bars %v, want %v", got, want)
	}
	if e := entry(p.Series[0], "s", looks[0]); !e.bar || e.band {
		t.Errorf("in the legend %+v", e)
	}
}

// Groups of points and of bands have their own symbols in the legend above all panels. Series of
// different kinds may share a label if their groups differ.
func TestGroupsOfKinds(t *testing.T) {
	p := plots.Panel{Title: "t", X: plots.Axis{Quantity: "x", Max: 4}, Y: plots.Axis{Quantity: "y", Max: 10}}
	for look, label := range []string{"one", "two"} {
		p.Series = append(p.Series, plots.Series{
			Label: label, Group: "mean", Kind: plots.Points, Look: look, X: []float64{2}, Y: []float64{5},
			Low: []float64{1}, High: []float64{6},
		},
			plots.Series{
				Label: label,
				Group: "half",
				Kind:  plots.Band,
				Look:  look,
				X:     []float64{1, 2},
				Low:   []float64{1, 1},
				High:  []float64{6, 7},
			})
	}
	f := &plots.Figure{ID: "x", Title: "t", Caption: "c", OneLegend: true, Panels: []plots.Panel{p, p}}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	legend, _ := sharedLegend(newTypesetter(), f)
	var got []string
	for _, e := range legend {
		got = append(got, fmt.Sprintf("%s %d %v %v", e.label, e.kind, e.bar, e.band))
	}
	want := []string{"one 1 false true", "two 1 false true", "mean 1 true false", "half 3 false true"}
	if !slices.Equal(got, want) {
		t.Errorf("legend %q, want %q", got, want)
	}
	if groups := layout(t, f)[0].groups; groups != nil {
		t.Errorf("named in the panel: %q", groups)
	}
}

// The label of a region is between grid lines if possible, and not next to a mark that it might
// seem to name.
func TestRegionLabel(t *testing.T) {
	p := plots.Panel{
		Title:   "t",
		X:       plots.Axis{Quantity: "x", Max: 4},
		Y:       plots.Axis{Quantity: "y", Max: 4, Ticks: []float64{0, 1, 2, 3, 4}},
		Series:  []plots.Series{{Label: "s", Kind: plots.Points, X: []float64{2}, Y: []float64{1.8}}},
		Regions: []plots.Region{{Label: "region", From: 1, To: 3}},
	}
	l := layout(t, &plots.Figure{ID: "x", Title: "t", Panels: []plots.Panel{p}})[0]
	label := l.regions[0]
	if label == (vg.Rectangle{}) {
		t.Fatal("no place for the label")
	}
	for _, k := range l.ticks[1] {
		if y := l.at(0, k.value).Y; label.Min.Y < y && y < label.Max.Y {
			t.Errorf("the label at %v crosses the line of %v", label, k.value)
		}
	}
	if d := pointDistance(l.at(2, 1.8), label); d < 20 {
		t.Errorf("the label at %v is %v from a mark", label, d)
	}
}
