package draw

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// rounding bounds the error of a length: it takes at most 30 roundings of numbers below 2^8, that
// is 2^-53·2^8 each.
const rounding = 1e-12

// drawPoint draws a point in a box a little larger than the area, on a grid so that special
// positions occur.
func drawPoint(t *rapid.T) vg.Point {
	return vg.Point{
		X: vg.Length(rapid.IntRange(-10, 110).Draw(t, "x")),
		Y: vg.Length(rapid.IntRange(-10, 110).Draw(t, "y")),
	}
}

func drawRectangle(t *rapid.T) vg.Rectangle {
	a, b := drawPoint(t), drawPoint(t)
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X), Y: min(a.Y, b.Y)},
		Max: vg.Point{X: max(a.X, b.X), Y: max(a.Y, b.Y)},
	}
}

// onSegment returns the point at fraction k/n of the way.
func onSegment(a, b vg.Point, k, n int) vg.Point {
	return a.Add(b.Sub(a).Scale(vg.Length(k) / vg.Length(n)))
}

// Clipping and distance agree with points sampled along the segment.
func TestGeometryAgainstSampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, r := drawPoint(t), drawPoint(t), drawRectangle(t)
		p, q, ok := clip(a, b, r)
		nearest := math.Inf(1)
		const n = 200
		for k := range n + 1 {
			s := onSegment(a, b, k, n)
			dx := max(float64(r.Min.X-s.X), float64(s.X-r.Max.X), 0)
			dy := max(float64(r.Min.Y-s.Y), float64(s.Y-r.Max.Y), 0)
			nearest = min(nearest, math.Hypot(dx, dy))
			if dx == 0 && dy == 0 && (!ok || toSegment(s, p, q) > rounding) {
				t.Fatalf("%v of the segment is inside, clipped to %v %v %v", s, p, q, ok)
			}
		}
		if ok && (pointDistance(p, r) > rounding || pointDistance(q, r) > rounding) {
			t.Fatalf("clipped to %v %v outside %v", p, q, r)
		}
		d := float64(distance(a, b, r))
		step := float64(b.Sub(a).Dot(b.Sub(a)))
		if d > nearest+rounding || d < nearest-math.Sqrt(step)/n-rounding {
			t.Fatalf("distance %v, sampled %v", d, nearest)
		}
		if bound := float64(distanceBound(a, b, r)); bound > d+rounding {
			t.Fatalf("distance %v, which is not at least %v", d, bound)
		}
	})
}

// Clipping a rectangle by another gives the area of their overlap.
func TestClipPolygonOfRectangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRectangle(t), drawRectangle(t)
		got := clipPolygon([]vg.Point{a.Min, {X: a.Max.X, Y: a.Min.Y}, a.Max, {X: a.Min.X, Y: a.Max.Y}}, b)
		var area vg.Length
		for i := range got {
			p, q := got[i], got[(i+1)%len(got)]
			area += (p.X*q.Y - q.X*p.Y) / 2
		}
		want := max(0, min(a.Max.X, b.Max.X)-max(a.Min.X, b.Min.X)) * max(0,
			min(a.Max.Y, b.Max.Y)-max(a.Min.Y, b.Min.Y))
		if math.Abs(float64(area-want)) > 1e-9 { // 8 corners, each 20 roundings of numbers below 2^14: 3e-10
			t.Fatalf("%v clipped to %v has area %v, want %v", a, b, area, want)
		}
	})
}

// Placed names are inside the area and touch neither curves nor each other.
func TestPlacedNamesTouchNothing(t *testing.T) {
	area := vg.Rectangle{Max: vg.Point{X: 100, Y: 100}}
	placedAll := 0
	rapid.Check(t, func(t *rapid.T) {
		var traces []trace
		var curves [][]vg.Point
		for range rapid.IntRange(1, 4).Draw(t, "curves") {
			var points []vg.Point
			y := rapid.IntRange(-20, 120).Draw(t, "start")
			for x := 0; x <= 100; x += 10 {
				y += rapid.IntRange(-15, 15).Draw(t, "step")
				points = append(points, vg.Point{X: vg.Length(x), Y: vg.Length(y)})
			}
			label := vg.Point{X: vg.Length(rapid.IntRange(0, 40).Draw(t, "width")), Y: 8}
			curves = append(curves, points)
			traces = append(traces, lineTrace(clipLine(points, area), label, curveIdeal))
		}
		names, ok := place(traces, area)
		if !ok {
			return // such names go above the panel
		}
		placedAll++
		for i, r := range names {
			if traces[i].label.X == 0 {
				if r != (vg.Rectangle{}) {
					t.Fatalf("a trace without a name got %v", r)
				}
				continue
			}
			if size := r.Size(); math.Abs(float64(size.X-traces[i].label.X)) > rounding ||
				math.Abs(float64(size.Y-traces[i].label.Y)) > rounding {
				t.Fatalf("the place %v has size %v, want %v", r, size, traces[i].label)
			}
			if r.Min.X < 0 || r.Min.Y < 0 || r.Max.X > 100 || r.Max.Y > 100 {
				t.Fatalf("the place %v leaves the area", r)
			}
			for j, q := range names {
				if j != i && traces[j].label.X > 0 && r.Min.X < q.Max.X && q.Min.X < r.Max.X &&
					r.Min.Y < q.Max.Y && q.Min.Y < r.Max.Y {
					t.Fatalf("the places %v and %v overlap", r, q)
				}
			}
			for _, points := range curves {
				for k := 1; k < len(points); k++ {
					for s := range 101 {
						p := onSegment(points[k-1], points[k], s, 100)
						if contains(p, area) && contains(p, r) {
							t.Fatalf("a curve runs through the place %v at %v", r, p)
						}
					}
				}
			}
		}
	})
	if placedAll == 0 {
		t.Error("no example had room for all names")
	}
}

// If two curves are far apart, each name is nearer to its own curve.
func TestNameNextToItsCurve(t *testing.T) {
	area := vg.Rectangle{Max: vg.Point{X: 200, Y: 100}}
	low := lineTrace([][]vg.Point{{{X: 0, Y: 30}, {X: 200, Y: 30}}}, vg.Point{X: 30, Y: 8}, curveIdeal)
	high := lineTrace([][]vg.Point{{{X: 0, Y: 70}, {X: 200, Y: 70}}}, vg.Point{X: 30, Y: 8}, curveIdeal)
	names, ok := place([]trace{low, high}, area)
	if !ok {
		t.Fatal("no place")
	}
	for i, own := range []vg.Length{30, 70} {
		other := 100 - own
		middle := (names[i].Min.Y + names[i].Max.Y) / 2
		if math.Abs(float64(middle-own)) > 10 || math.Abs(float64(middle-own)) >= math.Abs(float64(middle-other)) {
			t.Errorf("the name of the curve at %v is at %v", own, middle)
		}
	}
}
