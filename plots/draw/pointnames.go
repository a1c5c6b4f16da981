package draw

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"productform/plots"
)

// A pointName is the placed name of a point.
type pointName struct {
	text   string
	at     vg.Rectangle
	leader []vg.Point // line from the point to its name; nil if the name is close
}

// reaches are the distances at which a name may be from its point. From beyond closeBy a line leads
// to the point.
var reaches = []vg.Length{labelGap, closeBy, 10, 16, 23, 31, 40, 50, 61, 73}

const closeBy = 1.8 * labelGap

// headings are the directions of a name from its point, in degrees: up and to the right first,
// where falling curves leave space.
var headings = []float64{45, 65, 25, 85, 5, 135, 115, 95, 155, 315, 335, 225}

// namePoints finds places for the names of points in the space left by the names of the series,
// starting at the first point or at the last one: the one that finds more. Names without a place
// are omitted; it reports whether all names have a place.
func (l *panelPlan) namePoints(t typesetter) (all bool) {
	var named []pointName // names at their points
	var points []vg.Point
	for _, s := range l.Series {
		for k, p := range l.markers(s) {
			if s.Marked || s.Kind == plots.Points {
				points = append(points, p)
			}
			if s.Names != nil && s.Names[k] != "" && contains(p, l.plot) {
				named = append(named, pointName{text: s.Names[k], at: vg.Rectangle{Min: p, Max: p}})
			}
		}
	}
	l.nameEach(t, named, points)
	if len(l.pointNames) == len(named) {
		return true
	}
	forward := l.pointNames
	slices.Reverse(named)
	if l.nameEach(t, named, points); len(l.pointNames) <= len(forward) {
		l.pointNames = forward
	}
	return len(l.pointNames) == len(named)
}

// nameEach finds places for names one after the other, each at its first free place.
func (l *panelPlan) nameEach(t typesetter, named []pointName, points []vg.Point) {
	l.pointNames = nil
	taken := slices.Concat(l.names, l.regions)
	for _, o := range named {
		size := vg.Point{X: t.width(o.text, nameSize, false), Y: (capHeight + descent) * nameSize}
		if n, ok := l.namePoint(o.at.Min, points, size, taken); ok {
			n.text = o.text
			l.pointNames, taken = append(l.pointNames, n), append(taken, n.at)
		}
	}
}

// namePoint returns a place next to p for a name of this size, and whether there is one; points are
// the points of all series.
func (l *panelPlan) namePoint(
	p vg.Point, points []vg.Point, size vg.Point, taken []vg.Rectangle,
) (n pointName, ok bool) {
	area := l.area()
	for _, reach := range reaches {
		for _, heading := range headings {
			sin, cos := math.Sincos(heading * math.Pi / 180)
			end := p.Add(vg.Point{X: reach * vg.Length(cos), Y: reach * vg.Length(sin)})
			corner := end.Sub(vg.Point{Y: size.Y / 2})
			if cos < 0 {
				corner.X -= size.X
			}
			if reach <= closeBy { // above or below
				corner.Y = end.Y
				if sin < 0 {
					corner.Y -= size.Y
				}
			}
			n.at = vg.Rectangle{Min: corner, Max: corner.Add(size)}
			if corner.X < area.Min.X || n.at.Max.X > area.Max.X || corner.Y < area.Min.Y || n.at.Max.Y > area.Max.Y ||
				!l.isFree(n.at, taken) || l.isOnLeader(n.at) {
				continue
			}
			if !isNearest(p, points, n.at) {
				continue
			}
			if reach <= closeBy {
				return n, true
			}
			gap := vg.Point{X: vg.Length(cos), Y: vg.Length(sin)}
			n.leader = []vg.Point{p.Add(gap.Scale(markerSize + clearance)), end.Sub(gap.Scale(clearance / 2))}
			if l.isClear(n.leader, taken) {
				return n, true
			}
			n.leader = nil
		}
	}
	return n, false
}

// isNearest reports whether p is the point nearest to its name, unless a line leads to the name.
func isNearest(p vg.Point, points []vg.Point, name vg.Rectangle) bool {
	return !slices.ContainsFunc(points, func(o vg.Point) bool {
		return o != p && pointDistance(o, name) < 2.5*labelGap
	})
}

// isOnLeader reports whether a leader line is close to r.
func (l *panelPlan) isOnLeader(r vg.Rectangle) bool {
	return slices.ContainsFunc(l.pointNames, func(n pointName) bool {
		return n.leader != nil && distance(n.leader[0], n.leader[1], r) < clearance
	})
}

// isClear reports whether a leader line is close to no curve, name or other leader line.
func (l *panelPlan) isClear(line []vg.Point, taken []vg.Rectangle) bool {
	for _, t := range l.traces {
		for _, s := range t.segments {
			if segmentDistance(s, [2]vg.Point{line[0], line[1]}) < clearance/2 {
				return false
			}
		}
	}
	for _, n := range l.pointNames {
		if n.leader != nil &&
			segmentDistance([2]vg.Point{n.leader[0], n.leader[1]}, [2]vg.Point{line[0], line[1]}) < clearance {
			return false
		}
	}
	return !slices.ContainsFunc(taken, func(r vg.Rectangle) bool {
		return r != (vg.Rectangle{}) && distance(line[0], line[1], r) < clearance
	})
}

// segmentDistance returns the distance between two segments, 0 if they cross.
func segmentDistance(s, t [2]vg.Point) vg.Length {
	side := func(p vg.Point, s [2]vg.Point) vg.Length {
		d, e := s[1].Sub(s[0]), p.Sub(s[0])
		return d.X*e.Y - d.Y*e.X
	}
	if side(s[0], t)*side(s[1], t) < 0 && side(t[0], s)*side(t[1], s) < 0 {
		return 0
	}
	return min(
		toSegment(s[0], t[0], t[1]), toSegment(s[1], t[0], t[1]), toSegment(t[0], s[0], s[1]),
		toSegment(t[1], s[0], s[1]),
	)
}

// drawPointNames writes the names of the points.
func (l *panelPlan) drawPointNames(c vg.Canvas, t typesetter) {
	for _, n := range l.pointNames {
		stroke(c, quietInk, gridWidth, nil, n.leader)
		c.SetColor(axisInk)
		t.write(c, n.at.Min.Add(vg.Point{Y: descent * nameSize}), n.text, nameSize, false, 0, 0)
	}
}
