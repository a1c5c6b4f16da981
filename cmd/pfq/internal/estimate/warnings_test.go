package estimate

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/bf/gibbs"
	"productform/bf/windows"
	"productform/cluster"
)

// A warning names the class whose estimate is farthest outside its bounds, if it is farther than farOutside
// half-widths.
func TestBoundsWarningNamesFarthestClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, r := &cluster.Model{}, &gibbs.Result{}
		var bounds []*windows.Bounds
		farthest, most := "", farOutside
		for i := range rapid.IntRange(1, 5).Draw(t, "classes") {
			name := string(rune('a' + i))
			m.Classes = append(m.Classes, cluster.Class{Name: name})
			half := rapid.Float64Range(0.1, 1).Draw(t, "half-width")
			off := rapid.Float64Range(-5, 5).Draw(t, "half-widths above the upper bound")
			e := &gibbs.Estimate{Mean: 10 + off*half, HalfWidth: half}
			r.Classes = append(r.Classes, gibbs.ClassResult{MeanDelay: e})
			high := 10.0
			b := &windows.Bounds{Low: 10 - half, High: &high} // below it by -off-1
			bounds = append(bounds, b)
			if far := max(off, -off-1); far > most+1e-9 {
				farthest, most = "class "+name, far
			} else if far > farOutside-1e-9 && far < farOutside+1e-9 {
				t.Skip("on the limit")
			}
		}
		w := boundsWarning(m, r, bounds)
		if (w == "") != (farthest == "") || !strings.Contains(w, farthest) {
			t.Fatalf("warning %q, farthest class %q", w, farthest)
		}
	})
}
