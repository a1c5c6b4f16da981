package draw

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// A trace is the part of a series that a name is placed next to: the segments of a curve, or the
// short bars through points.
type trace struct {
	segments [][2]vg.Point
	anchors  []vg.Point // possible positions of the name, from left to right
	label    vg.Point   // width and height of its name; zero if it has none
	ideal    float64    // preferred position of the name along the anchors: 0 at the left end, 1 at the right
}

// lineTrace is the trace of the pieces of a curve, with an anchor every few points of length.
func lineTrace(pieces [][]vg.Point, label vg.Point, ideal float64) trace {
	const spacing = 4
	t := trace{label: label, ideal: ideal}
	for _, piece := range pieces {
		left := vg.Length(0) // distance to the next anchor
		for i := 1; i < len(piece); i++ {
			a, b := piece[i-1], piece[i]
			t.segments = append(t.segments, [2]vg.Point{a, b})
			d := b.Sub(a)
			length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
			for ; left <= length && length > 0; left += spacing {
				t.anchors = append(t.anchors, a.Add(d.Scale(left/length)))
			}
			left -= length
		}
		t.anchors = append(t.anchors, piece[len(piece)-1])
	}
	return t
}

// place finds a rectangle for each trace's name inside area: at labelGap from its own trace, at
// least clearance from every trace and name, clearly nearer its own trace than any other, and as
// near its ideal position as possible. A trace without a name gets an empty rectangle. It reports
// false if there is no place for all, or if there are more than mostNames names: these would be
// hard to distinguish, and the cost is O(names² anchors segments).
//
// Names are placed one after the other, each at the best remaining place. Every cyclic order is
// tried, and the one with the smallest total cost is kept.
func place(traces []trace, area vg.Rectangle) ([]vg.Rectangle, bool) {
	const mostNames = 6
	var named []int
	for i, t := range traces {
		if t.label.X > 0 {
			named = append(named, i)
		}
	}
	if len(named) > mostNames {
		return nil, false
	}
	all := make([][]candidate, len(named))
	for k, i := range named {
		all[k] = candidates(traces, i, area)
	}
	var best []vg.Rectangle
	least := math.Inf(1)
	for start := range max(1, len(named)) {
		total := 0.0
		placed := make([]vg.Rectangle, len(traces))
		for n := range named {
			k := (start + n) % len(named)
			r, cost := bestPlace(traces, named[k], all[k], placed)
			placed[named[k]] = r
			total += cost
		}
		if total < least {
			best, least = placed, total
		}
	}
	return best, !math.IsInf(least, 1)
}

// sides are the positions of a name about its anchor, given by the fractions of its width left of
// the anchor and of its height below it, and the direction of the gap.
var sides = []struct{ left, below, dx, dy vg.Length }{
	{1, 0, -0.7, 0.7}, {0, 0, 0.7, 0.7}, {0, 1, 0.7, -0.7}, {1, 1, -0.7, -0.7}, // corners
	{0.5, 0, 0, 1}, {0.5, 1, 0, -1}, {0, 0.5, 1, 0}, {1, 0.5, -1, 0},
}

// A candidate is a place for a name within the area.
type candidate struct {
	at        vg.Rectangle
	along     float64 // distance from the ideal position along the anchors
	confusion float64 // NaN until it is needed
}

// candidates returns the places for the name of trace i.
func candidates(traces []trace, i int, area vg.Rectangle) (all []candidate) {
	size, anchors := traces[i].label, traces[i].anchors
	for k, p := range anchors {
		along := math.Abs(float64(k)/float64(max(len(anchors)-1, 1)) - traces[i].ideal)
		for _, side := range sides {
			corner := p.Add(vg.Point{X: side.dx*labelGap - side.left*size.X, Y: side.dy*labelGap - side.below*size.Y})
			r := vg.Rectangle{Min: corner, Max: corner.Add(size)}
			if r.Min.X < area.Min.X || r.Max.X > area.Max.X || r.Min.Y < area.Min.Y || r.Max.Y > area.Max.Y {
				continue
			}
			all = append(all, candidate{r, along, math.NaN()})
		}
	}
	return all
}

// bestPlace returns the cheapest of the candidates for the name of trace i that is away from the
// placed names, and its cost, infinite if there is none.
func bestPlace(traces []trace, i int, all []candidate, placed []vg.Rectangle) (vg.Rectangle, float64) {
	var best vg.Rectangle
	least := math.Inf(1)
	for k := range all {
		c := &all[k]
		if c.along >= least || isNearName(c.at, placed) {
			continue
		}
		if math.IsNaN(c.confusion) {
			c.confusion = confusion(traces, i, c.at)
		}
		if cost := c.along + c.confusion; cost < least {
			best, least = c.at, cost
		}
	}
	return best, least
}

// isNearName reports whether r is too close to a placed name.
func isNearName(r vg.Rectangle, placed []vg.Rectangle) bool {
	return slices.ContainsFunc(placed, func(q vg.Rectangle) bool {
		return q != (vg.Rectangle{}) && overlap(q, r, 2*clearance)
	})
}

// confusion is infinite if r is too close to any trace. Otherwise it is positive if another trace
// is nearer than three times the distance to the trace that r names. It grows as that trace gets
// nearer.
func confusion(traces []trace, i int, r vg.Rectangle) float64 {
	own, other := vg.Length(math.Inf(1)), vg.Length(math.Inf(1))
	for j, t := range traces {
		nearest := &other
		if j == i {
			nearest = &own
		}
		for _, s := range t.segments {
			if distanceBound(s[0], s[1], r) >= max(clearance, *nearest) {
				continue
			}
			d := distance(s[0], s[1], r)
			if d < clearance {
				return math.Inf(1)
			}
			*nearest = min(*nearest, d)
		}
	}
	return max(0, 3*float64(own)/float64(other)-1) // 0 if there is no other trace
}
