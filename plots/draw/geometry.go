package draw

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// clip returns the part of the segment from a to b that lies in r (Liang and Barsky), and whether
// there is any.
func clip(a, b vg.Point, r vg.Rectangle) (vg.Point, vg.Point, bool) {
	t0, t1 := 0.0, 1.0
	d := b.Sub(a)
	for _, edge := range [4][2]vg.Length{
		{-d.X, a.X - r.Min.X}, {d.X, r.Max.X - a.X}, {-d.Y, a.Y - r.Min.Y}, {d.Y, r.Max.Y - a.Y},
	} {
		p, q := float64(edge[0]), float64(edge[1])
		switch {
		case p == 0 && q < 0:
			return a, b, false
		case p < 0:
			t0 = max(t0, q/p)
		case p > 0:
			t1 = min(t1, q/p)
		}
	}
	if t0 > t1 {
		return a, b, false
	}
	return a.Add(d.Scale(vg.Length(t0))), a.Add(d.Scale(vg.Length(t1))), true
}

// clipLine returns the pieces of a line through the points that lie in r.
func clipLine(points []vg.Point, r vg.Rectangle) [][]vg.Point {
	var pieces [][]vg.Point
	var piece []vg.Point
	for i := 1; i < len(points); i++ {
		a, b, ok := clip(points[i-1], points[i], r)
		if !ok {
			continue
		}
		if len(piece) == 0 || piece[len(piece)-1] != a {
			if len(piece) > 1 {
				pieces = append(pieces, piece)
			}
			piece = []vg.Point{a}
		}
		piece = append(piece, b)
	}
	if len(piece) > 1 {
		pieces = append(pieces, piece)
	}
	return pieces
}

// clipPolygon returns the part of a polygon that lies in r (Sutherland and Hodgman).
func clipPolygon(corners []vg.Point, r vg.Rectangle) []vg.Point {
	for _, depth := range [4]func(vg.Point) vg.Length{ // >= 0 inside
		func(p vg.Point) vg.Length { return p.X - r.Min.X },
		func(p vg.Point) vg.Length { return r.Max.X - p.X },
		func(p vg.Point) vg.Length { return p.Y - r.Min.Y },
		func(p vg.Point) vg.Length { return r.Max.Y - p.Y },
	} {
		var kept []vg.Point
		for i, b := range corners {
			a := corners[(i+len(corners)-1)%len(corners)]
			da, db := depth(a), depth(b)
			if (da < 0) != (db < 0) {
				kept = append(kept, a.Add(b.Sub(a).Scale(da/(da-db))))
			}
			if db >= 0 {
				kept = append(kept, b)
			}
		}
		corners = kept
	}
	return corners
}

// distance returns the distance between r and the segment from a to b, 0 if they touch.
func distance(a, b vg.Point, r vg.Rectangle) vg.Length {
	if _, _, touch := clip(a, b, r); touch {
		return 0
	}
	d := min(pointDistance(a, r), pointDistance(b, r))
	for _, corner := range []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}} {
		d = min(d, toSegment(corner, a, b))
	}
	return d
}

// distanceBound returns a lower bound on [distance] at a fraction of its cost: the gap between r and the
// bounding box of the segment.
func distanceBound(a, b vg.Point, r vg.Rectangle) vg.Length {
	return max(r.Min.X-max(a.X, b.X), min(a.X, b.X)-r.Max.X, r.Min.Y-max(a.Y, b.Y), min(a.Y, b.Y)-r.Max.Y)
}

// pointDistance returns the distance of p from r, 0 inside.
func pointDistance(p vg.Point, r vg.Rectangle) vg.Length {
	return vg.Length(math.Hypot(float64(max(r.Min.X-p.X, p.X-r.Max.X, 0)), float64(max(r.Min.Y-p.Y, p.Y-r.Max.Y, 0))))
}

// toSegment returns the distance between p and the segment from a to b.
func toSegment(p, a, b vg.Point) vg.Length {
	d := b.Sub(a)
	t := vg.Length(0)
	if length2 := d.Dot(d); length2 > 0 {
		t = min(1, max(0, p.Sub(a).Dot(d)/length2))
	}
	q := p.Sub(a.Add(d.Scale(t)))
	return vg.Length(math.Hypot(float64(q.X), float64(q.Y)))
}

// overlap reports whether two rectangles come closer than gap.
func overlap(a, b vg.Rectangle, gap vg.Length) bool {
	return a.Min.X < b.Max.X+gap && b.Min.X < a.Max.X+gap && a.Min.Y < b.Max.Y+gap && b.Min.Y < a.Max.Y+gap
}

// grow returns r moved outwards by d on every side.
func grow(r vg.Rectangle, d vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: r.Min.Sub(vg.Point{X: d, Y: d}), Max: r.Max.Add(vg.Point{X: d, Y: d})}
}

func rectangle(x0, y0, x1, y1 vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
}
