package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// stroke draws a line through the points.
func stroke(c vg.Canvas, col color.Color, width vg.Length, dashes []vg.Length, points []vg.Point) {
	if len(points) < 2 {
		return
	}
	c.SetColor(col)
	c.SetLineWidth(width)
	c.SetLineDash(dashes, 0)
	var p vg.Path
	p.Move(points[0])
	for _, q := range points[1:] {
		p.Line(q)
	}
	c.Stroke(p)
}

// fill fills the polygon with these corners.
func fill(c vg.Canvas, col color.Color, corners []vg.Point) {
	if len(corners) < 3 {
		return
	}
	c.SetColor(col)
	c.Fill(polygon(corners))
}

func polygon(corners []vg.Point) vg.Path {
	var p vg.Path
	p.Move(corners[0])
	for _, q := range corners[1:] {
		p.Line(q)
	}
	p.Close()
	return p
}

// alpha returns col with this opacity.
func alpha(col color.NRGBA, a uint8) color.NRGBA {
	col.A = a
	return col
}

// A marker is the shape of a point.
type marker int

const (
	disc marker = iota
	square
	triangle
	diamond
	circle
	wedge
	plus
)

// drawMarker draws the marker of a look, of radius r, at p.
func drawMarker(c vg.Canvas, l look, p vg.Point, r vg.Length) {
	at := func(corners ...float64) []vg.Point { // alternating x, y, in units of r
		var q []vg.Point
		for i := 0; i < len(corners); i += 2 {
			q = append(q, p.Add(vg.Point{X: r * vg.Length(corners[i]), Y: r * vg.Length(corners[i+1])}))
		}
		return q
	}
	switch l.marker {
	case disc:
		fill(c, l.color, roundCorners(p, r))
	case square:
		fill(c, l.color, at(-0.85, -0.85, 0.85, -0.85, 0.85, 0.85, -0.85, 0.85))
	case triangle:
		fill(c, l.color, at(-1, -0.8, 1, -0.8, 0, 1))
	case diamond:
		fill(c, l.color, at(0, -1.2, 1, 0, 0, 1.2, -1, 0))
	case circle:
		ring := roundCorners(p, r)
		fill(c, paper, ring)
		stroke(c, l.color, barWidth, nil, append(ring, ring[0], ring[1]))
	case wedge:
		fill(c, l.color, at(-1, 0.8, 1, 0.8, 0, -1))
	case plus:
		stroke(c, l.color, barWidth, nil, at(-1, 0, 1, 0))
		stroke(c, l.color, barWidth, nil, at(0, -1, 0, 1))
	}
}

// roundCorners returns a polygon of 24 corners that looks like a circle at the size of a marker;
// the backends draw arcs differently.
func roundCorners(p vg.Point, r vg.Length) []vg.Point {
	q := make([]vg.Point, 24)
	for i := range q {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(q)))
		q[i] = p.Add(vg.Point{X: r * vg.Length(cos), Y: r * vg.Length(sin)})
	}
	return q
}
