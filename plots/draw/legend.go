package draw

import (
	"slices"

	"gonum.org/v1/plot/vg"

	"productform/internal/input"
	"productform/plots"
)

// A legendEntry is a sample of a series with its name, in a row above a panel or above all panels.
type legendEntry struct {
	label  string
	look   look
	kind   plots.Kind
	thin   bool
	marked bool      // whether the line has a marker
	band   bool      // whether the sample shows an interval around a line
	bar    bool      // whether it shows an interval through a marker
	x      vg.Length // distance of its left end from the left end of the legend
	row    int
}

const (
	sampleWidth vg.Length = 17
	rowHeight             = 1.35 * fontSize
	legendGap   vg.Length = 5 // between a legend and what is below it
)

// entry returns the legend entry of a series.
func entry(s plots.Series, label string, l look) legendEntry {
	return legendEntry{
		label:  label,
		look:   l,
		kind:   s.Kind,
		thin:   s.Thin,
		marked: s.Marked,
		band:   s.Low != nil && !s.Bars,
		bar:    s.Bars && s.Low != nil,
	}
}

// entryWidth returns the width of an entry.
func entryWidth(t typesetter, e legendEntry) vg.Length {
	return sampleWidth + textGap + t.width(e.label, fontSize, false)
}

// checkLegend returns an error for a name that is wider than the legend.
func checkLegend(t typesetter, entries []legendEntry, room vg.Length) error {
	for _, e := range entries {
		if entryWidth(t, e) > room {
			return input.Errorf("label", e.label, "at most %.0f mm wide", float64((room-sampleWidth-textGap)/mm))
		}
	}
	return nil
}

// panelLegend returns the names of the series above their panel, and the number of rows: in columns
// if these need no more rows than names one after another.
func panelLegend(t typesetter, p *plots.Panel, room vg.Length) ([]legendEntry, int, error) {
	var entries []legendEntry
	var widest vg.Length
	for i, s := range p.Series {
		if inLane(p, s) || sameAs(p, i) >= 0 {
			continue
		}
		e := entry(s, s.Name(), seriesLook(p, s))
		for j := range p.Series {
			if sameAs(p, j) == i { // one entry for a curve and its points
				e.marked = true
			}
		}
		widest = max(widest, entryWidth(t, e))
		entries = append(entries, e)
	}
	if err := checkLegend(t, entries, room); err != nil {
		return nil, 0, err
	}
	step := widest + 3*textGap
	perRow := max(1, int((room+3*textGap)/step))
	inColumns := (len(entries) + perRow - 1) / perRow
	if rows := flow(t, entries, room, 3*textGap); rows < inColumns || perRow == 1 {
		return entries, rows, nil
	}
	for i := range entries {
		entries[i].x, entries[i].row = step*vg.Length(i%perRow), i/perRow
	}
	return entries, inColumns, nil
}

// sameAs returns the earlier curve or band of a panel with the label and look of series i, or -1 if
// there is none. Series i is then its points, and both share one name.
func sameAs(p *plots.Panel, i int) int {
	of := p.Series[i]
	if of.Kind != plots.Points {
		return -1
	}
	return slices.IndexFunc(p.Series[:i], func(s plots.Series) bool {
		return s.Kind != plots.Points && s.Name() == of.Name() && s.Look == of.Look
	})
}

// isShared reports whether one legend serves all panels: the figure requests it, or there are
// several rows of panels and all have series with the same names and looks.
func isShared(f *plots.Figure) bool {
	if f.OneLegend {
		return true
	}
	if _, rows, _ := grid(f); rows == 1 {
		return false
	}
	type name struct {
		label, group string
		look         int
		kind         plots.Kind
		thin, marked bool
	}
	names := func(p plots.Panel) []name {
		var n []name
		for _, s := range p.Series {
			n = append(n, name{s.Label, s.Group, s.Look, s.Kind, s.Thin, s.Marked})
		}
		return n
	}
	first := names(f.Panels[0])
	for _, p := range f.Panels[1:] {
		if !slices.Equal(first, names(p)) {
			return false
		}
	}
	return true
}

// sharedLegend returns the legend above all panels, one entry per label and one per group, and the
// number of rows; there is no entry if the panels do not share a legend. Series named by a category
// of their axis have only the entry of their group. Entries that exceed the width of the figure go
// to the next row.
func sharedLegend(t typesetter, f *plots.Figure) ([]legendEntry, int) {
	if !isShared(f) {
		return nil, 0
	}
	var entries []legendEntry
	add := func(e legendEntry) {
		if !slices.ContainsFunc(entries, func(o legendEntry) bool { return o.label == e.label }) {
			entries = append(entries, e)
		}
	}
	for _, p := range f.Panels {
		for i, s := range p.Series {
			if onAxis(&p, s) || inLane(&p, s) {
				continue
			}
			add(entry(s, s.Label, lookOf(s.Look)))
			if sameAs(&p, i) >= 0 {
				k := slices.IndexFunc(entries, func(o legendEntry) bool { return o.label == s.Label })
				entries[k].marked = true
			}
		}
	}
	for _, p := range f.Panels {
		for k, g := range groups(&p) {
			if g == "" {
				continue
			}
			e, known := groupEntry(&p, g)
			if !known {
				e = legendEntry{label: g, kind: plots.Curve}
			}
			e.look = lighter(look{color: axisInk}, k)
			add(e)
		}
	}
	if entries == nil {
		return nil, 0
	}
	return entries, flow(t, entries, sharedRoom(t, f), 5*textGap)
}

// groupEntry returns the entry, without its look, of a group whose series are named by categories,
// points, perhaps with thin lines to compare with, or bands. It reports whether the group has such an
// entry.
func groupEntry(p *plots.Panel, group string) (e legendEntry, known bool) {
	e.label = group
	marked, bands := true, true
	for _, s := range p.Series {
		if s.Group == group && !(s.Thin && s.Kind == plots.Curve) {
			marked = marked && (onAxis(p, s) || s.Kind == plots.Points)
			bands = bands && s.Kind == plots.Band
			e.kind, e.thin, e.marked = s.Kind, s.Thin, s.Marked
			e.bar = e.bar || s.Low != nil && s.Kind == plots.Points
		}
	}
	e.band = bands
	return e, marked || bands
}

// flow places entries one after another, wrapping to the next row, and returns the number of rows.
func flow(t typesetter, entries []legendEntry, room, gap vg.Length) int {
	var x vg.Length
	row := 0
	for i, e := range entries {
		width := entryWidth(t, e)
		if x > 0 && x+width > room {
			x, row = 0, row+1
		}
		entries[i].x, entries[i].row = x, row
		x += width + gap
	}
	return row + 1
}

// sharedRoom returns the width of the legend above all panels, from the left end of their axes.
func sharedRoom(t typesetter, f *plots.Figure) vg.Length {
	_, _, across := grid(f)
	return panelWidth*vg.Length(across) - leftOfAll(t, f).of(&f.Panels[0]) - 2*margin
}

// sharedHeight returns the height of the legend above all panels.
func sharedHeight(rows int) vg.Length {
	if rows == 0 {
		return 0
	}
	return margin + rowHeight*vg.Length(rows)
}

// drawLegend draws entries whose lowest row begins at corner.
func drawLegend(c vg.Canvas, t typesetter, entries []legendEntry, rows int, corner vg.Point) {
	for _, e := range entries {
		p := corner.Add(vg.Point{X: e.x, Y: rowHeight * (vg.Length(rows-1-e.row) + 0.3)})
		middle := p.Add(vg.Point{X: sampleWidth / 2, Y: capHeight * fontSize / 2})
		half := vg.Point{X: sampleWidth / 2}
		if e.kind != plots.Points {
			if e.band {
				up := vg.Point{Y: 0.4 * capHeight * fontSize}
				a, b := middle.Sub(half), middle.Add(half)
				fill(c, alpha(e.look.color, bandAlpha), []vg.Point{a.Sub(up), b.Sub(up), b.Add(up), a.Add(up)})
			}
		}
		switch e.kind {
		case plots.Curve, plots.Steps:
			stroke(c, e.look.color, lineWidth(e.thin), dashes(e.look, e.kind), []vg.Point{
				middle.Sub(half), middle.Add(half),
			})
		case plots.Area:
			up := vg.Point{Y: 0.5 * capHeight * fontSize}
			a, b := middle.Sub(half), middle.Add(half)
			fill(c, alpha(e.look.color, areaAlpha), []vg.Point{a.Sub(up), b.Sub(up), b.Add(up), a.Add(up)})
		case plots.Band:
			for _, up := range []vg.Point{{Y: 0.4 * capHeight * fontSize}, {Y: -0.4 * capHeight * fontSize}} {
				stroke(c, e.look.color, thinWidth, nil, []vg.Point{middle.Sub(half).Add(up), middle.Add(half).Add(up)})
			}
		}
		if e.bar {
			up := vg.Point{Y: rowHeight / 2.5}
			stroke(c, e.look.color, barWidth, nil, []vg.Point{middle.Sub(up), middle.Add(up)})
		}
		if e.kind == plots.Points || e.marked {
			drawMarker(c, e.look, middle, markerRadius(e.thin && e.kind == plots.Points))
		}
		c.SetColor(ink)
		t.write(c, p.Add(vg.Point{X: sampleWidth + textGap}), e.label, fontSize, false, 0, 0)
	}
}

// groups returns the groups of the series of a panel, in order of appearance.
func groups(p *plots.Panel) []string {
	var names []string
	for _, s := range p.Series {
		if !slices.Contains(names, s.Group) {
			names = append(names, s.Group)
		}
	}
	return names
}

// seriesLook returns the look of a series of a panel, which is lighter for each earlier group.
func seriesLook(p *plots.Panel, s plots.Series) look {
	return lighter(lookOf(s.Look), slices.Index(groups(p), s.Group))
}

// lighter returns a look blended towards white.
func lighter(l look, steps int) look {
	part := 0.0
	for range steps {
		part += tint * (1 - part)
	}
	mix := func(v uint8) uint8 { return v + uint8(part*float64(0xff-v)+0.5) }
	l.color.R, l.color.G, l.color.B = mix(l.color.R), mix(l.color.G), mix(l.color.B)
	return l
}
