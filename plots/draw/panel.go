package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/plot/vg"

	"productform/internal/input"
	"productform/plots"
)

// A panelPlan is a panel with all elements measured and placed.
type panelPlan struct {
	*plots.Panel
	letter     string         // "(a)", empty if the figure has one panel
	outer      vg.Rectangle   // contains all its ink
	plot       vg.Rectangle   // between the axes
	lo, hi     [2]float64     // ends of the axes, horizontal and vertical
	ticks      [2][]tick      // ticks of the two axes
	categories categoryNames  // names below the horizontal axis, one per tick, if it has categories
	below      vg.Length      // space for such names in any panel of the figure
	powers     [2]bool        // whether numbers are written as powers of ten
	traces     []trace        // traces of series, references and groups, in this order
	names      []vg.Rectangle // rectangles of the names of the traces, if all have a place
	regions    []vg.Rectangle // rectangles of the labels of the regions, empty without a place
	pointNames []pointName
	// groups of the series, named by the last traces if the figure has one legend for all panels
	groups     []string
	legend     []legendEntry // legend of the series, if they have no place and no shared legend
	legendRows int
	leastRows  int // rows reserved for a legend, to align with the adjacent panel

	groupsFrom int // index of the first trace of a group
}

// A room is the space for tick labels and axis titles next to a plot, the same for all panels so
// they align, and the format of numbers there.
type room struct {
	left  vg.Length
	wide  vg.Length // left of panels that are two panels wide
	below vg.Length // height in excess of one line of numbers

	powers [2]bool // whether their numbers, horizontal and vertical, are written as powers of ten
}

// of returns the room left of a panel.
func (r room) of(p *plots.Panel) vg.Length {
	if p.Wide {
		return r.wide
	}
	return r.left
}

// widthOf returns the width of a panel.
func widthOf(p *plots.Panel) vg.Length {
	if p.Wide {
		return columns * panelWidth
	}
	return panelWidth
}

// plan measures the panel. With a legend shared by all panels, it names only the groups, not the
// series.
func plan(
	t typesetter, p *plots.Panel, letter string, outer vg.Rectangle, beside room, shared bool,
) (*panelPlan, error) {
	names, err := nameCategories(t, &p.X, beside.of(p), widthOf(p))
	if err != nil {
		return nil, err
	}
	l := &panelPlan{
		Panel:      p,
		letter:     letter,
		outer:      outer,
		categories: names,
		below:      beside.below,
		powers:     beside.powers,
	}
	l.arrange(beside.of(l.Panel))
	for _, title := range []struct {
		text string
		room vg.Length
	}{{p.X.Title(), widthOf(p) - 2*margin}, {p.Y.Title(), panelHeight - 2*margin}} {
		if t.width(title.text, fontSize, false) > title.room {
			return nil, input.Errorf("axis title", title.text, "at most %.0f mm wide", float64(title.room/mm))
		}
	}
	if err := l.nameSeries(t, beside, shared); err != nil {
		return nil, err
	}
	if l.namePoints(t) || shared || l.legend != nil {
		return l, nil
	}
	above := *l // a legend may leave room for more point names
	if err := above.nameAbove(t, beside); err == nil &&
		(above.namePoints(t) || len(above.pointNames) > len(l.pointNames)) {
		return &above, nil
	}
	return l, nil
}

// nameSeries finds places for the names of series, references and groups, or otherwise for a
// legend.
func (l *panelPlan) nameSeries(t typesetter, beside room, shared bool) error {
	l.trace(t)
	if shared {
		l.dropNames()
		l.traceGroups(t)
		names, ok := place(l.traces, l.area())
		if !ok && l.groups != nil { // the legend also names the groups; references have no other place
			l.groups = nil
			for i := l.groupsFrom; i < len(l.traces); i++ {
				l.traces[i].label = vg.Point{}
			}
			names, _ = place(l.traces, l.area())
		}
		l.names = names
		return nil
	}
	if names, ok := place(l.traces, l.area()); ok {
		l.names = names
		return nil
	}
	return l.nameAbove(t, beside)
}

// leaveLegend removes the legend if the panel above has the same one.
func (l *panelPlan) leaveLegend(t typesetter, beside room, above []legendEntry) {
	if l.legend == nil || !reflect.DeepEqual(l.legend, above) {
		return
	}
	l.legend, l.legendRows = nil, 0
	l.lower(t, beside)
	l.namePoints(t)
}

// keepRows reserves rows of a legend, to give the plot the same height as an adjacent one with that
// legend.
func (l *panelPlan) keepRows(t typesetter, beside room, rows int) {
	if rows <= l.legendRows {
		return
	}
	l.leastRows = rows
	l.lower(t, beside)
	l.namePoints(t)
}

// nameAbove names the series in a legend above the plot.
func (l *panelPlan) nameAbove(t typesetter, beside room) error {
	if err := l.planLegend(t); err != nil {
		return err
	}
	l.lower(t, beside)
	return nil
}

// lower reduces the height of the plot to make room for the legend, and finds places for the names
// of the references.
func (l *panelPlan) lower(t typesetter, beside room) {
	l.arrange(beside.of(l.Panel))
	l.trace(t)
	l.dropNames()
	l.names, _ = place(l.traces, l.area())
}

// area returns the rectangle for names.
func (l *panelPlan) area() vg.Rectangle { return grow(l.plot, -2*clearance) }

// dropNames removes the names of the series.
func (l *panelPlan) dropNames() {
	for i := range l.Series {
		l.traces[i].label = vg.Point{}
	}
}

// roomRows returns the number of legend rows for which there is room.
func (l *panelPlan) roomRows() int { return max(l.legendRows, l.leastRows) }

// arrange sets the plot rectangle, the ends of the axes and the ticks.
func (l *panelPlan) arrange(left vg.Length) {
	l.plot = vg.Rectangle{
		Min: l.outer.Min.Add(vg.Point{
			X: left,
			Y: margin + 2.5*textGap + tickLength + descent*fontSize + capHeight*(fontSize+tickSize) + l.below,
		}),
		Max: l.outer.Max.Sub(vg.Point{
			X: rightRoom,
			Y: margin + titleSize + legendGap + vg.Length(l.roomRows())*rowHeight,
		}),
	}
	l.lo[0], l.hi[0], l.ticks[0] = axis(&l.X, xValues(l.Panel), ticksAcross, l.powers[0])
	l.lo[1], l.hi[1], l.ticks[1] = axis(&l.Y, l.Panel.YValues(), ticksUp, l.powers[1])
}

// leftRoom returns the width of the tick labels and axis title to the left of a plot.
func leftRoom(t typesetter, p *plots.Panel, powers bool) vg.Length {
	_, _, ticks := axis(&p.Y, p.YValues(), ticksUp, powers)
	var widest vg.Length
	for _, k := range ticks {
		widest = max(widest, t.width(k.label, labelSize(p), false))
	}
	return margin + fontSize + 1.5*textGap + widest + textGap + tickLength
}

// labelSize returns the font size of the labels of the vertical axis of a panel: numbers or
// category names.
func labelSize(p *plots.Panel) vg.Length {
	if p.Y.Categories != nil {
		return nameSize
	}
	return tickSize
}

// leftOfAll returns a margin on the left of the plots that suffices for all panels, so they align.
// Wide panels have a separate margin.
func leftOfAll(t typesetter, f *plots.Figure) (r room) {
	r.powers = powersOf(f)
	for i := range f.Panels {
		left := &r.left
		if f.Panels[i].Wide {
			left = &r.wide
		}
		*left = max(*left, leftRoom(t, &f.Panels[i], r.powers[1]))
	}
	return r
}

// sideMargin returns the room beside the plots that is enough for all panels.
func sideMargin(t typesetter, f *plots.Figure) (room, error) {
	r := leftOfAll(t, f)
	for i := range f.Panels {
		names, err := nameCategories(t, &f.Panels[i].X, r.of(&f.Panels[i]), widthOf(&f.Panels[i]))
		if err != nil {
			return r, fmt.Errorf("panels[%d]: %w", i, err)
		}
		r.below = max(r.below, belowNames(names))
	}
	return r, nil
}

// axis returns the ends and ticks of an axis that shows these values.
func axis(a *plots.Axis, values []float64, count int, powers bool) (lo, hi float64, t []tick) {
	lo, hi = a.Min, a.Max
	switch n := len(a.Categories); {
	case lo != 0 || hi != 0:
	case n > 0:
		lo, hi = 0.5, float64(n)+0.5
	default:
		lo, hi = span(a.Scale, values, count)
	}
	switch {
	case len(a.Categories) > 0:
		return lo, hi, categoryTicks(a.Categories)
	case a.Ticks != nil:
		return lo, hi, givenTicks(a.Scale, a.Ticks, powers)
	}
	return lo, hi, ticks(a.Scale, lo, hi, count, powers)
}

func xValues(p *plots.Panel) []float64 {
	v := slices.Clone(p.X.Shown)
	for _, s := range p.Series {
		v = append(append(append(v, s.X...), s.Left...), s.Right...)
	}
	return v
}

// at returns the position of the point (x, y).
func (l *panelPlan) at(x, y float64) vg.Point {
	return vg.Point{
		X: l.plot.Min.X + vg.Length(fraction(l.X.Scale, x, l.lo[0], l.hi[0]))*(l.plot.Max.X-l.plot.Min.X),
		Y: l.plot.Min.Y + vg.Length(fraction(l.Y.Scale, y, l.lo[1], l.hi[1]))*(l.plot.Max.Y-l.plot.Min.Y),
	}
}

// points returns the corners of the line through a series, or through the middle of a Band.
func (l *panelPlan) points(s plots.Series) []vg.Point {
	var p []vg.Point
	for k := range s.X {
		switch {
		case s.Bars:
			p = append(p, l.shifted(s, s.X[k], s.Y[k]))
			continue
		case s.Kind == plots.Band:
			low, high := l.at(s.X[k], s.Low[k]), l.at(s.X[k], s.High[k])
			p = append(p, low.Add(high).Scale(0.5))
			continue
		case (s.Kind == plots.Steps || s.Kind == plots.Area) && k > 0:
			p = append(p, l.at(s.X[k], s.Y[k-1]))
		}
		p = append(p, l.at(s.X[k], s.Y[k]))
	}
	return p
}

// markers returns the positions of the points of a series.
func (l *panelPlan) markers(s plots.Series) (p []vg.Point) {
	for k := range s.Y {
		p = append(p, l.shifted(s, s.X[k], s.Y[k]))
	}
	return p
}

// shifted returns the position of a point of a series; series with bars and other labels are shifted
// slightly against each other.
func (l *panelPlan) shifted(s plots.Series, x, y float64) vg.Point {
	p := l.at(x, y)
	if !s.Bars {
		return p
	}
	var labels []string
	for _, o := range l.Series {
		if o.Bars && !slices.Contains(labels, o.Label) {
			labels = append(labels, o.Label)
		}
	}
	gap := barGap
	if s.Kind == plots.Points {
		gap = pointGap
	}
	p.X += gap * (vg.Length(slices.Index(labels, s.Label)) - vg.Length(len(labels)-1)/2)
	return p
}

// bars returns the intervals of a series that are drawn as bars, clipped to the plot.
func (l *panelPlan) bars(s plots.Series) (bars [][2]vg.Point) {
	if s.Kind != plots.Points && !s.Bars {
		return nil
	}
	add := func(a, b vg.Point) {
		if a, b, ok := clip(a, b, l.plot); ok {
			bars = append(bars, [2]vg.Point{a, b})
		}
	}
	for k := range s.Low {
		add(l.shifted(s, s.X[k], s.Low[k]), l.shifted(s, s.X[k], s.High[k]))
	}
	for k := range s.Left {
		add(l.at(s.Left[k], s.Y[k]), l.at(s.Right[k], s.Y[k]))
	}
	return bars
}

// fraction returns the relative position of v between lo and hi.
func fraction(scale plots.Scale, v, lo, hi float64) float64 {
	if scale == plots.Log {
		return math.Log(v/lo) / math.Log(hi/lo)
	}
	return (v - lo) / (hi - lo)
}

// trace finds the lines and marks next to which names are placed, and which names must not touch.
func (l *panelPlan) trace(t typesetter) {
	l.traces = nil
	for i, s := range l.Series {
		label := vg.Point{X: t.width(s.Name(), fontSize, false), Y: (capHeight + descent) * fontSize}
		if inLane(l.Panel, s) || sameAs(l.Panel, i) >= 0 {
			label = vg.Point{}
		}
		points := l.points(s)
		tr := trace{label: label, ideal: curveIdeal}
		if s.Kind != plots.Points {
			tr = lineTrace(clipLine(points, l.plot), label, curveIdeal)
		}
		if s.Kind == plots.Points || s.Marked {
			for _, p := range l.markers(s) {
				if contains(p, l.plot) {
					if s.Kind == plots.Points {
						tr.anchors = append(tr.anchors, p)
					}
					d := vg.Point{X: markerSize}
					e := vg.Point{Y: markerSize}
					tr.segments = append(tr.segments, [2]vg.Point{p.Sub(d), p.Add(d)}, [2]vg.Point{p.Sub(e), p.Add(e)})
				}
			}
		}
		tr.segments = append(tr.segments, l.bars(s)...)
		if s.Kind != plots.Points && !s.Bars {
			for k := range s.Low {
				if a, b, ok := clip(l.at(s.X[k], s.Low[k]), l.at(s.X[k], s.High[k]), l.plot); ok {
					tr.segments = append(tr.segments, [2]vg.Point{a, b})
				}
			}
		}
		l.traces = append(l.traces, tr)
	}
	for _, r := range l.References {
		y := l.at(l.lo[0], r.Y).Y
		line := []vg.Point{{X: l.plot.Min.X, Y: y}, {X: l.plot.Max.X, Y: y}}
		label := vg.Point{X: t.width(r.Label, tickSize, false), Y: (capHeight + descent) * tickSize}
		l.traces = append(l.traces, lineTrace(clipLine(line, l.plot), label, 1))
	}
	l.traceRegions(t)
}

func contains(p vg.Point, r vg.Rectangle) bool {
	return r.Min.X <= p.X && p.X <= r.Max.X && r.Min.Y <= p.Y && p.Y <= r.Max.Y
}

// traceGroups adds a trace for each group, of all its series.
func (l *panelPlan) traceGroups(t typesetter) {
	l.groupsFrom = len(l.traces)
	for _, g := range groups(l.Panel) {
		if _, named := groupEntry(l.Panel, g); g == "" || named {
			continue
		}
		l.groups = append(l.groups, g)
		all := trace{
			ideal: groupIdeal,
			label: vg.Point{X: t.width(g, fontSize, false), Y: (capHeight + descent) * fontSize},
		}
		for i, s := range l.Series {
			if s.Group == g {
				all.segments = append(all.segments, l.traces[i].segments...)
				all.anchors = append(all.anchors, l.traces[i].anchors...)
				l.traces[i].segments = nil // the segments are in the trace of the group
			}
		}
		slices.SortStableFunc(all.anchors, func(a, b vg.Point) int { return cmp.Compare(a.X, b.X) })
		l.traces = append(l.traces, all)
	}
}

// planLegend sets the names of the series in rows and columns above the plot.
func (l *panelPlan) planLegend(t typesetter) (err error) {
	l.legend, l.legendRows, err = panelLegend(t, l.Panel, l.plot.Max.X-l.plot.Min.X)
	if err != nil {
		return err
	}
	if height := l.plot.Max.Y - l.plot.Min.Y - vg.Length(l.legendRows)*rowHeight; height < panelHeight/3 {
		return input.Errorf("series", len(l.Series), "fewer, or shorter names: they need %d rows", l.legendRows)
	}
	return nil
}

// draw draws the panel, the lowest layer first.
func (l *panelPlan) draw(c vg.Canvas, t typesetter) {
	l.drawRegions(c)
	l.drawGrid(c)
	for i, r := range l.References {
		y := l.at(l.lo[0], r.Y).Y
		stroke(c, quietInk, referenceWidth, referenceDashes, []vg.Point{
			{X: l.plot.Min.X, Y: y}, {X: l.plot.Max.X, Y: y},
		})
		if l.names != nil {
			l.drawName(c, t, len(l.Series)+i, r.Label, tickSize, quietInk)
		}
	}
	for _, s := range l.Series {
		if l.drawBand(c, s); s.Kind == plots.Area {
			l.drawArea(c, s)
		}
	}
	for _, thin := range []bool{false, true} {
		for _, g := range slices.Backward(groups(l.Panel)) { // lighter groups first, so darker ones cover them
			for _, s := range l.Series {
				if s.Thin == thin && s.Group == g {
					l.drawSeries(c, s)
				}
			}
		}
	}
	l.drawAxes(c, t)
	l.nameRegions(c, t)
	l.drawPointNames(c, t)
	drawLegend(c, t, l.legend, l.legendRows, vg.Point{
		X: l.plot.Min.X,
		Y: l.plot.Max.Y + legendGap + vg.Length(l.roomRows()-l.legendRows)*rowHeight,
	})
	if l.names == nil {
		return
	}
	for i, s := range l.Series {
		if l.traces[i].label.X > 0 {
			l.drawName(c, t, i, s.Name(), fontSize, readable(seriesLook(l.Panel, s).color))
		}
	}
	for k, g := range l.groups {
		l.drawName(c, t, l.groupsFrom+k, g, fontSize, ink)
	}
}

func (l *panelPlan) drawGrid(c vg.Canvas) {
	for _, k := range l.ticks[0] {
		if x := l.at(k.value, l.lo[1]).X; k.label != "" && l.categories.lines == nil {
			stroke(c, gridInk, gridWidth, nil, []vg.Point{{X: x, Y: l.plot.Min.Y}, {X: x, Y: l.plot.Max.Y}})
		}
	}
	for _, k := range l.ticks[1] {
		if y := l.at(l.lo[0], k.value).Y; k.label != "" {
			stroke(c, gridInk, gridWidth, nil, []vg.Point{{X: l.plot.Min.X, Y: y}, {X: l.plot.Max.X, Y: y}})
		}
	}
}

func (l *panelPlan) drawAxes(c vg.Canvas, t typesetter) {
	stroke(c, axisInk, axisWidth, nil, []vg.Point{
		{X: l.plot.Min.X, Y: l.plot.Max.Y}, l.plot.Min, {X: l.plot.Max.X, Y: l.plot.Min.Y},
	})
	c.SetColor(ink)
	titleLine := l.outer.Min.Y + margin + descent*fontSize
	tickLine := titleLine + capHeight*fontSize + 1.5*textGap + l.below
	for i, k := range l.ticks[0] {
		x := l.at(k.value, l.lo[1]).X
		length := tickLength
		if k.label == "" {
			length = minorLength
		}
		stroke(c, axisInk, axisWidth, nil, []vg.Point{{X: x, Y: l.plot.Min.Y}, {X: x, Y: l.plot.Min.Y - length}})
		c.SetColor(ink)
		if l.categories.lines == nil {
			t.write(c, vg.Point{X: x, Y: tickLine}, k.label, tickSize, false, 0.5, 0)
			continue
		}
		y := l.plot.Min.Y - tickLength - textGap - capHeight*l.categories.size
		for j, line := range l.categories.lines[i] {
			t.write(c, vg.Point{X: x, Y: y - nameStep*vg.Length(j)}, line, l.categories.size, false, 0.5, 0)
		}
	}
	for _, k := range l.ticks[1] {
		y := l.at(l.lo[0], k.value).Y
		length := tickLength
		if k.label == "" {
			length = minorLength
		}
		stroke(c, axisInk, axisWidth, nil, []vg.Point{{X: l.plot.Min.X, Y: y}, {X: l.plot.Min.X - length, Y: y}})
		c.SetColor(ink)
		t.write(
			c, vg.Point{X: l.plot.Min.X - tickLength - textGap, Y: y - capHeight*labelSize(l.Panel)/2},
			k.label, labelSize(l.Panel), false, 1, 0,
		)
	}
	t.write(
		c, vg.Point{X: l.centre(0, t.width(l.X.Title(), fontSize, false)), Y: titleLine}, l.X.Title(),
		fontSize, false, 0.5, 0,
	)
	t.write(c, vg.Point{
		X: l.plot.Min.X - leftRoom(t, l.Panel, l.powers[1]) + margin + capHeight*fontSize,
		Y: l.centre(1, t.width(l.Y.Title(), fontSize, false)),
	}, l.Y.Title(), fontSize, false, 0.5, math.Pi/2)
	top := vg.Point{X: l.plot.Min.X, Y: l.outer.Max.Y - margin - capHeight*titleSize}
	if l.letter != "" {
		t.write(c, top, l.letter, titleSize, true, 0, 0)
		top.X += t.width(l.letter, titleSize, true) + textGap
	}
	t.write(c, top, l.Panel.Title, titleSize, false, 0, 0)
}

// centre returns the position of a title of the given width on an axis (0 horizontal, 1 vertical):
// the middle of the axis, unless the title would then extend beyond the panel.
func (l *panelPlan) centre(axis int, width vg.Length) vg.Length {
	lo, hi, min0, max0 := l.plot.Min.X, l.plot.Max.X, l.outer.Min.X, l.outer.Max.X
	if axis == 1 {
		lo, hi, min0, max0 = l.plot.Min.Y, l.plot.Max.Y, l.outer.Min.Y, l.outer.Max.Y
	}
	return min(max((lo+hi)/2, min0+margin+width/2), max0-margin-width/2)
}

func (l *panelPlan) drawBand(c vg.Canvas, s plots.Series) {
	if s.Low == nil || s.Bars || s.Kind != plots.Curve && s.Kind != plots.Band {
		return
	}
	var polygon []vg.Point
	for k := range s.X {
		polygon = append(polygon, l.at(s.X[k], s.High[k]))
	}
	for k := len(s.X) - 1; k >= 0; k-- {
		polygon = append(polygon, l.at(s.X[k], s.Low[k]))
	}
	fill(c, alpha(seriesLook(l.Panel, s).color, bandAlpha), clipPolygon(polygon, l.plot))
}

// drawArea fills the area below steps, down to 0 if that is on the axis, otherwise to its end.
func (l *panelPlan) drawArea(c vg.Canvas, s plots.Series) {
	base := l.lo[1]
	if l.Y.Scale == plots.Linear {
		base = max(l.lo[1], min(0, l.hi[1]))
	}
	polygon := append(l.points(s), l.at(s.X[len(s.X)-1], base), l.at(s.X[0], base))
	fill(c, alpha(seriesLook(l.Panel, s).color, areaAlpha), clipPolygon(polygon, l.plot))
}

func (l *panelPlan) drawSeries(c vg.Canvas, s plots.Series) {
	look := seriesLook(l.Panel, s)
	if s.Kind == plots.Area {
		return
	}
	if s.Kind == plots.Band {
		for _, bound := range [][]float64{s.Low, s.High} {
			for _, piece := range clipLine(l.points(plots.Series{X: s.X, Y: bound}), l.plot) {
				stroke(c, look.color, thinWidth, nil, piece)
			}
		}
		return
	}
	points := l.points(s)
	if s.Kind != plots.Points {
		for _, piece := range clipLine(points, l.plot) {
			stroke(c, look.color, lineWidth(s.Thin), dashes(look, s.Kind), piece)
		}
		if !s.Marked {
			return
		}
	}
	for _, b := range l.bars(s) {
		stroke(c, look.color, barWidth, nil, b[:])
	}
	for _, p := range l.markers(s) {
		if contains(p, l.plot) {
			drawMarker(c, look, p, markerRadius(s.Thin && s.Kind == plots.Points))
		}
	}
}

func (l *panelPlan) drawName(c vg.Canvas, t typesetter, trace int, s string, size vg.Length, col color.Color) {
	c.SetColor(col)
	t.write(c, l.names[trace].Min.Add(vg.Point{Y: descent * size}), s, size, false, 0, 0)
}
