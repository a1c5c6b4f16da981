package main

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
)

// Estimates that contradict their bounds are far below or far above them; all others are within 2
// half-widths. The warning counts the contradictions and names the largest.
func TestBoundsWarningNamesFarthestClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, r := &cluster.Model{}, &gibbs.Result{}
		var bounds []*windows.Bounds
		want, farthest, outside := "", 0, 0
		distances := rapid.SliceOfNDistinct(rapid.IntRange(3, 50), 5, 5, rapid.ID).Draw(t, "half-widths outside")
		for i, distance := range distances[:rapid.IntRange(1, 5).Draw(t, "classes")] {
			name := string(rune('a' + i))
			m.Classes = append(m.Classes, cluster.Class{Name: name})
			half := rapid.Float64Range(0.1, 1).Draw(t, "half-width")
			low, high := 10.0, 10+rapid.Float64Range(0, 3).Draw(t, "width of the bounds")
			var mean float64
			switch rapid.SampledFrom([]string{"near", "below", "above"}).Draw(t, "place") {
			case "near":
				mean = rapid.Float64Range(low-2*half, high+2*half).Draw(t, "mean")
				distance = 0
			case "below":
				mean = low - float64(distance)*half
			case "above":
				mean = high + float64(distance)*half
			}
			r.Classes = append(r.Classes, gibbs.ClassResult{MeanDelay: &gibbs.Estimate{Mean: mean, HalfWidth: half}})
			bounds = append(bounds, &windows.Bounds{Low: low, High: &high})
			if distance > 0 {
				outside++
			}
			if distance > farthest {
				farthest = distance
				want = fmt.Sprintf("the mean delay of class %s by %d half-widths", name, distance)
			}
		}
		w := boundsWarning(m, r, bounds)
		if outside == 0 && w != "" || !strings.HasSuffix(w, want) ||
			outside > 0 && !strings.HasPrefix(w, fmt.Sprint(outside, " ")) {
			t.Fatalf("warning %q, want %d estimates, %s", w, outside, want)
		}
	})
}
