package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"productform/plots"
)

// planned is a figure with wide panels, lanes, regions, names of points, points that belong to a
// curve, and a caption.
func planned() *plots.Figure {
	cost := plots.Axis{Quantity: "cost", Max: 10}
	steps := plots.Series{Label: "least", Kind: plots.Steps, Marked: true}
	for k := range 9 {
		steps.X, steps.Y = append(steps.X, float64(k+1)), append(steps.Y, 10/float64(k+1))
		steps.Names = append(steps.Names, fmt.Sprintf("a=%d,b=%d", k, 2*k))
	}
	lanes := plots.Panel{
		Title: "lanes",
		X:     cost,
		Wide:  true,
		Y:     plots.Axis{Quantity: "bought", Categories: []string{"first", "second"}},
	}
	for look, name := range lanes.Y.Categories {
		lanes.Series = append(lanes.Series, plots.Series{
			Label: name,
			Kind:  plots.Steps,
			Look:  look,
			X:     []float64{1, 5},
			Y:     []float64{float64(look) + 0.6, float64(look) + 1.2},
		})
	}
	both := plots.Panel{Title: "both", X: cost, Y: plots.Axis{Quantity: "delay", Max: 5}, Series: []plots.Series{
		{Label: "one", X: []float64{1, 9}, Y: []float64{1, 2}}, {
			Label: "one",
			Kind:  plots.Points,
			X:     []float64{5},
			Y:     []float64{1.6},
			Low:   []float64{1.4},
			High:  []float64{1.9},
		},
		{Label: "two", Look: 1, X: []float64{1, 9}, Y: []float64{3, 4}}}}
	return &plots.Figure{
		ID:        "p",
		Title:     "t",
		Caption:   strings.Repeat("A caption of several words. ", 12),
		Captioned: true,
		Panels: []plots.Panel{
			{
				Title:  "steps",
				X:      cost,
				Y:      plots.Axis{Quantity: "delay", Max: 15},
				Wide:   true,
				Series: []plots.Series{steps},
				Regions: []plots.Region{{Label: "missed", To: 1}, {Label: "a label much too long for a region of " +
					"this width and of this height, too, for it has very, very many words indeed", From: 9.5, To: 12}},
			},
			lanes, both, both},
	}
}

// layout returns the panels of a figure with all elements placed.
func layout(t *testing.T, f *plots.Figure) (all []*panelPlan) {
	t.Helper()
	text := newTypesetter()
	beside, err := sideMargin(text, f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Panels {
		p := &f.Panels[i]
		l, err := plan(text, p, "(a)", rectangle(0, 0, widthOf(p), panelHeight), beside, isShared(f))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// Wide panels have separate rows, others are two per row.
func TestGrid(t *testing.T) {
	for widths, want := range map[string][]cell{
		"n": {{0, 0}}, "nnn": {{0, 0}, {0, 1}, {1, 0}}, "w": {{0, 0}}, "nwn": {{0, 0}, {1, 0}, {2, 0}},
		"wnnw": {{0, 0}, {1, 0}, {1, 1}, {2, 0}},
	} {
		var f plots.Figure
		for _, c := range widths {
			f.Panels = append(f.Panels, plots.Panel{Wide: c == 'w'})
		}
		at, rows, across := grid(&f)
		if !slices.Equal(at, want) || rows != want[len(want)-1].row+1 ||
			across != map[bool]int{true: 1, false: 2}[widths == "n"] {
			t.Errorf("%s: %v, %d rows, %d across", widths, at, rows, across)
		}
	}
}

// Names of points and labels of regions touch no curve, no other name and no leader line, and stay
// in the plot.
func TestPointNames(t *testing.T) {
	l := layout(t, planned())[0]
	if len(l.pointNames) != 9 {
		t.Errorf("%d of 9 points have names, want 9", len(l.pointNames))
	}
	if l.regions[0] == (vg.Rectangle{}) || l.regions[1] != (vg.Rectangle{}) {
		t.Errorf("labels of regions at %v: want one for the first only", l.regions)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := planned()
		s := &f.Panels[0].Series[0]
		for k := range s.X {
			s.Y[k] = rapid.Float64Range(0.1, 15).Draw(rt, "y")
			s.Names[k] = strings.Repeat("n", rapid.IntRange(1, 40).Draw(rt, "length"))
		}
		l := layout(t, f)[0]
		for i, n := range l.pointNames {
			if !l.isFree(n.at, slices.Concat(l.names, l.regions)) || !contains(n.at.Min, l.plot) ||
				!contains(n.at.Max, l.plot) {
				rt.Errorf("name %d at %v is not free", i, n.at)
			}
			near := 0
			for _, p := range l.markers(*s) {
				if pointDistance(p, n.at) < 2*labelGap {
					near++
				}
			}
			if near > 1 || near == 1 && n.leader != nil {
				rt.Errorf("name %d at %v is near %d points", i, n.at, near)
			}
			for j, o := range l.pointNames {
				if i != j &&
					(overlap(n.at, o.at, 0) || o.leader != nil && distance(o.leader[0], o.leader[1], n.at) == 0) {
					rt.Errorf("names %d and %d touch", i, j)
				}
			}
		}
	})
}

// The distance between two segments is the minimum over their points.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		point := func(name string) vg.Point {
			return vg.Point{
				X: vg.Length(rapid.IntRange(0, 8).Draw(t, name+" x")),
				Y: vg.Length(rapid.IntRange(0, 8).Draw(t, name+" y")),
			}
		}
		s, o := [2]vg.Point{point("a"), point("b")}, [2]vg.Point{point("c"), point("d")}
		least := vg.Length(1e9)
		const parts = 400
		for k := range parts + 1 {
			p := s[0].Add(s[1].Sub(s[0]).Scale(vg.Length(k) / parts))
			least = min(least, toSegment(p, o[0], o[1]))
		}
		got := segmentDistance(s, o)
		if got > least+1e-9 || got < least-12./parts { // s is at most 8√2 long
			t.Errorf("%v and %v: %v, want %v", s, o, got, least)
		}
	})
}

// Lanes are named only by the axis, and points by the curve on which they are.
func TestNamedOnce(t *testing.T) {
	panels := layout(t, planned())
	for i, want := range map[int]int{1: 0, 2: 2, 3: 2} {
		named := 0
		for k := range panels[i].Series {
			if panels[i].traces[k].label.X > 0 {
				named++
			}
		}
		if named != want {
			t.Errorf("panel %d: %d names, want %d", i, named, want)
		}
	}
	entries, _, err := panelLegend(newTypesetter(), panels[2].Panel, panelWidth)
	if err != nil || len(entries) != 2 || !entries[0].marked || entries[1].marked {
		t.Errorf("legend %+v, %v", entries, err)
	}
}

// The caption is below all panels, and none of its lines is wider than the panels.
func TestCaption(t *testing.T) {
	f, text := planned(), newTypesetter()
	lines := captionLines(text, f)
	if strings.Join(lines, " ") != strings.TrimSpace(f.Caption) || len(lines) < 2 {
		t.Errorf("caption %q", lines)
	}
	for _, line := range lines {
		if text.width(line, tickSize, false) > columns*panelWidth-2*margin {
			t.Errorf("too wide: %q", line)
		}
	}
	_, with := size(f)
	f.Caption = "short " + strings.Repeat("x", 500) + " short"
	for _, line := range captionLines(text, f) {
		if text.width(line, tickSize, false) > columns*panelWidth-2*margin {
			t.Errorf("too wide: %q", line)
		}
	}
	if got := strings.Join(captionLines(text, f), ""); strings.Count(got, "x") != 500 {
		t.Errorf("letters are missing: %q", got)
	}
	f.Caption = strings.Join(lines, " ")
	f.Captioned = false
	if _, without := size(f); math.Abs(float64(with-without-captionHeight(lines))) > 1e-9 ||
		captionLines(text, f) != nil {
		t.Errorf("the caption takes %v, want %v", with-without, captionHeight(lines))
	}
	f.Captioned, f.Caption = true, "中"
	if _, err := Render(f, SVG); err == nil || !strings.Contains(err.Error(), "caption") {
		t.Errorf("a letter without a glyph: %v", err)
	}
}

// All formats render the figure, and the data contain the numbers of the lanes and their meaning.
func TestPlannedFormats(t *testing.T) {
	f := planned()
	for _, format := range []Format{PNG, SVG, PDF, CSV} {
		if data := render(t, f, format); format == CSV &&
			!strings.Contains(string(data), "bought (1 first; 2 second)") {
			t.Errorf("%.300s", data)
		}
	}
}
