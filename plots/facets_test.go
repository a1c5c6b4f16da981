package plots

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Facets show every series once, in order, on the same axes, with at most seven distinct looks per
// panel.
func TestFacets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "series")
		p := Panel{Title: "t", X: Axis{Quantity: "x", Max: 1}, Y: Axis{Quantity: "y", Max: 2}}
		var want []string
		for i := range n {
			want = append(want, fmt.Sprint(i))
			p.Series = append(p.Series, Series{Label: want[i], X: []float64{0, 1}, Y: []float64{0, 1}})
		}
		var got []string
		panels := p.Facets()
		for _, one := range panels {
			looks := make(map[int]bool)
			for _, s := range one.Series {
				got = append(got, s.Label)
				looks[s.Look] = true
			}
			if len(looks) != len(one.Series) || len(looks) > MostCurves || one.X.Max != p.X.Max ||
				one.Y.Max != p.Y.Max || (one.Title == p.Title) != (n <= MostCurves) {
				t.Errorf("of %d: a panel %q with %d series, %d looks", n, one.Title, len(one.Series), len(looks))
			}
		}
		if !slices.Equal(got, want) || len(panels) != PanelsOf(n) {
			t.Errorf("of %d: %d panels with %v", n, len(panels), got)
		}
	})
}

// Hold includes all values in a valid axis, which is logarithmic only if requested, possible and
// useful.
func TestHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e6), 0, 6).Draw(t, "values")
		far := rapid.Bool().Draw(t, "far")
		a := Axis{Quantity: "q"}.Hold(values, far)
		if err := a.validate("a"); err != nil {
			t.Error(err)
		}
		for _, v := range values {
			if !(a.Min <= v && v <= a.Max) {
				t.Errorf("%v is not on the axis from %v to %v", v, a.Min, a.Max)
			}
		}
		isFar := far && len(values) > 0 && slices.Min(values)/1.2 >= 1e-100 &&
			slices.Max(values) >= 20*slices.Min(values)
		if (a.Scale == Log) != isFar {
			t.Errorf("scale %d for %v", a.Scale, values)
		}
	})
	if a := (Axis{}).Hold([]float64{0, 0}, true); a.Scale != Linear || !(a.Max > a.Min) || math.IsInf(a.Max, 0) {
		t.Errorf("zeros: from %v to %v", a.Min, a.Max)
	}
}

// Fill widens a panel next to an empty half, except the only panel of a figure.
func TestFill(t *testing.T) {
	for widths, want := range map[string]string{
		"n": "n", "nn": "nn", "nnn": "nnw", "wn": "ww", "nw": "ww", "nnwn": "nnww", "nwnn": "wwnn",
		"wnnwnnn": "wnnwnnw", "ww": "ww",
	} {
		var f Figure
		for _, c := range widths {
			f.Panels = append(f.Panels, Panel{Wide: c == 'w'})
		}
		f.Fill()
		got := ""
		for _, p := range f.Panels {
			got += map[bool]string{true: "w", false: "n"}[p.Wide]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", widths, got, want)
		}
	}
}

// Evenly chooses at most eight numbers, evenly spaced.
func TestEvenly(t *testing.T) {
	for n := 1; n <= 100; n++ {
		loads := Evenly(n, 8)
		if len(loads) != min(n, 8) || loads[0] < 0 || loads[len(loads)-1] >= n {
			t.Errorf("of %d: %v", n, loads)
		}
		for k := 1; k < len(loads); k++ {
			if gap := loads[k] - loads[k-1]; gap < n/8 || gap > n/8+1 {
				t.Errorf("of %d: %v", n, loads)
			}
		}
	}
}

// ShareY shows the values of all panels on each vertical axis, and no others.
func TestShareY(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var panels []Panel
		low, high := math.Inf(1), math.Inf(-1)
		draw := func(name string) float64 {
			v := rapid.Float64Range(-1e3, 1e6).Draw(t, name)
			low, high = min(low, v), max(high, v)
			return v
		}
		for range rapid.IntRange(1, 4).Draw(t, "panels") {
			y, from, to, line := draw("y"), draw("low"), draw("high"), draw("reference")
			panels = append(panels, Panel{
				Series:     []Series{{X: []float64{1}, Y: []float64{y}, Low: []float64{from}, High: []float64{to}}},
				References: []Reference{{Y: line}},
			})
		}
		ShareY(panels)
		for _, p := range panels {
			if v := p.YValues(); slices.Min(v) != low || slices.Max(v) != high {
				t.Errorf("an axis from %v to %v, want from %v to %v", slices.Min(v), slices.Max(v), low, high)
			}
		}
	})
}
