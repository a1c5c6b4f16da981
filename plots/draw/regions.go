package draw

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// region returns the rectangle of a region, and reports whether any of it is on the axis.
func (l *panelPlan) region(k int) (vg.Rectangle, bool) {
	r := l.Regions[k]
	from, to := l.at(max(r.From, l.lo[0]), l.lo[1]).X, l.at(min(r.To, l.hi[0]), l.lo[1]).X
	return vg.Rectangle{Min: vg.Point{X: from, Y: l.plot.Min.Y}, Max: vg.Point{X: to, Y: l.plot.Max.Y}}, from < to
}

// traceRegions finds places for the labels of the regions, horizontal if possible, otherwise
// vertical. Names must not touch these labels or the ends of the regions.
func (l *panelPlan) traceRegions(t typesetter) {
	l.regions = make([]vg.Rectangle, len(l.Regions))
	for k, r := range l.Regions {
		area, seen := l.region(k)
		if !seen {
			continue
		}
		others := l.traces
		for _, x := range []vg.Length{area.Min.X, area.Max.X} {
			l.traces = append(l.traces, trace{segments: [][2]vg.Point{{{X: x, Y: area.Min.Y}, {X: x, Y: area.Max.Y}}}})
		}
		width, height := t.width(r.Label, tickSize, false), vg.Length(capHeight+descent)*tickSize
		for _, size := range []vg.Point{{X: width, Y: height}, {X: height, Y: width}} {
			if l.regions[k] == (vg.Rectangle{}) {
				l.regions[k] = l.roomIn(area, size, others)
			}
		}
		if label := l.regions[k]; label != (vg.Rectangle{}) {
			l.traces = append(l.traces, trace{segments: [][2]vg.Point{
				{label.Min, label.Max}, {{X: label.Min.X, Y: label.Max.Y}, {X: label.Max.X, Y: label.Min.Y}},
			}})
		}
	}
}

// roomIn returns a free rectangle near the middle of the area, away from grid lines if possible,
// and far from the other elements, such as marks that it might seem to name. It is empty if there
// is none.
func (l *panelPlan) roomIn(area vg.Rectangle, size vg.Point, others []trace) (best vg.Rectangle) {
	space := area.Size().Sub(size)
	if space.X < 2*clearance || space.Y < 2*clearance {
		return vg.Rectangle{}
	}
	const crossing, farEnough = 1000, 20
	most := vg.Length(math.Inf(-1))
	for _, up := range []vg.Length{0.5, 0.6, 0.7, 0.4, 0.3, 0.8, 0.9, 0.2, 0.1} {
		corner := area.Min.Add(vg.Point{X: space.X / 2, Y: space.Y * up})
		r := vg.Rectangle{Min: corner, Max: corner.Add(size)}
		if !l.isFree(r, nil) {
			continue
		}
		apart := vg.Length(farEnough)
		for _, t := range others {
			for _, s := range t.segments {
				apart = min(apart, distance(s[0], s[1], r))
			}
		}
		if slices.ContainsFunc(l.ticks[1], func(k tick) bool {
			y := l.at(l.lo[0], k.value).Y
			return k.label != "" && r.Min.Y < y && y < r.Max.Y
		}) {
			apart -= crossing
		}
		if apart > most {
			best, most = r, apart
		}
	}
	return best
}

// isFree reports whether no drawn element and no name is close to r.
func (l *panelPlan) isFree(r vg.Rectangle, names []vg.Rectangle) bool {
	for _, t := range l.traces {
		for _, s := range t.segments {
			if distanceBound(s[0], s[1], r) < clearance && distance(s[0], s[1], r) < clearance {
				return false
			}
		}
	}
	for _, n := range names {
		if n != (vg.Rectangle{}) && overlap(n, r, clearance) {
			return false
		}
	}
	return true
}

// drawRegions shades the regions and draws their ends.
func (l *panelPlan) drawRegions(c vg.Canvas) {
	for k, r := range l.Regions {
		area, seen := l.region(k)
		if !seen {
			continue
		}
		left, right := vg.Point{X: area.Max.X, Y: area.Min.Y}, vg.Point{X: area.Min.X, Y: area.Max.Y}
		fill(c, regionInk, []vg.Point{area.Min, left, area.Max, right})
		if r.From > l.lo[0] {
			stroke(c, quietInk, referenceWidth, nil, []vg.Point{area.Min, right})
		}
		if r.To < l.hi[0] {
			stroke(c, quietInk, referenceWidth, nil, []vg.Point{left, area.Max})
		}
	}
}

// nameRegions writes the labels of the regions.
func (l *panelPlan) nameRegions(c vg.Canvas, t typesetter) {
	c.SetColor(quietInk)
	for k, at := range l.regions {
		switch size := at.Size(); {
		case at == (vg.Rectangle{}):
		case size.X >= size.Y:
			t.write(c, at.Min.Add(vg.Point{Y: descent * tickSize}), l.Regions[k].Label, tickSize, false, 0, 0)
		default:
			t.write(
				c, vg.Point{X: at.Max.X - descent*tickSize, Y: at.Min.Y}, l.Regions[k].Label, tickSize,
				false, 0, math.Pi/2,
			)
		}
	}
}
