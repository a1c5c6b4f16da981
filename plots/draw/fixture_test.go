package draw

import (
	"fmt"
	"math"
	"slices"

	"productform/plots"
)

// simulated is a figure with every feature. It has theory with a band, thin steps, points with bars
// in every look, bounds, an area, curves with bars, horizontal bars, a curve with markers, a
// reference, and given ticks. In the second panel there are too many names to fit next to their
// curves.
func simulated() *plots.Figure {
	theory := plots.Series{Label: "theory", Look: 0}
	for k := 1; k < 100; k++ {
		x := float64(k) / 100
		y := 1 / (1 - x)
		theory.X = append(theory.X, x)
		theory.Y = append(theory.Y, y)
		theory.Low = append(theory.Low, y*0.9)
		theory.High = append(theory.High, y*1.1)
	}
	few := []plots.Series{
		theory,
		{Label: "steps", Kind: plots.Steps, Thin: true, Look: 3, X: []float64{0.1, 0.5, 0.9}, Y: []float64{30, 20, 10}},
	}
	many := []plots.Series{theory}
	for look := 1; look < 7; look++ {
		points := plots.Series{Label: fmt.Sprintf("simulation %d, m = 5", look), Kind: plots.Points, Look: look}
		for k := 1; k < 10; k++ {
			x := float64(k) / 10
			y := (1 + float64(look)/4) / (1 - x)
			points.X = append(points.X, x)
			points.Y = append(points.Y, y)
			points.Low = append(points.Low, y*math.Exp(-0.1))
			points.High = append(points.High, y*math.Exp(0.1))
		}
		many = append(many, points)
		if look <= 2 {
			few = append(few, points)
		}
	}
	area := plots.Series{
		Label: "area",
		Kind:  plots.Area,
		Look:  6,
		X:     []float64{0.1, 0.4, 0.9},
		Y:     []float64{15, 40, 25},
	}
	bounds := plots.Series{Label: "bounds", Kind: plots.Band, Look: 5, X: theory.X, Low: theory.Low, High: theory.High}
	for look := range 2 {
		few = append(few, plots.Series{
			Label: fmt.Sprint("barred ", look+1), Marked: true, Bars: true, Look: 5 + look, X: []float64{0.3, 0.6},
			Y: []float64{60, 70}, Low: []float64{50, 60}, High: []float64{70, 90},
		})
	}
	few[2].Left, few[2].Right = slices.Clone(few[2].X), slices.Clone(few[2].X)
	few[2].Left[1], few[2].Right[1] = 0.15, 0.25
	marked := plots.Series{Label: "marked", Marked: true, Look: 4, X: []float64{0.2, 0.5, 0.8}, Y: []float64{2, 5, 60}}
	load := plots.Axis{Quantity: "load", Symbol: "ρ", Max: 1, Ticks: []float64{0, 0.3, 1}}
	delay := plots.Axis{Quantity: "mean delay", Symbol: "δ", Unit: "s", Scale: plots.Log}
	return &plots.Figure{
		ID: "test", Title: "Every part of a figure", Caption: "A test.",
		Panels: []plots.Panel{
			{Title: "Few", X: load, Y: delay, Series: few, References: []plots.Reference{{Label: "goal", Y: 50}}},
			{Title: "Many", X: load, Y: delay, Series: many},
			{
				Title:  "Linear",
				X:      load,
				Y:      plots.Axis{Quantity: "mean delay", Symbol: "δ", Unit: "s"},
				Series: append(few[:len(few):len(few)], bounds, marked, area),
			},
		},
	}
}

// categorical is a figure with one legend, a panel with categories, two of which have series, and a
// panel with numbers and a different title.
func categorical() *plots.Figure {
	f := &plots.Figure{ID: "c", Title: "t", Caption: "c", OneLegend: true}
	names := plots.Axis{Quantity: "policy", Categories: []string{"first", "in the middle", "last"}}
	a := plots.Panel{Title: "Names", X: names, Y: plots.Axis{Quantity: "delay"}}
	for k, look := range []int{4, 1} {
		x := float64(2*k + 1)
		a.Series = append(a.Series, plots.Series{
			Label: names.Categories[2*k], Group: "mean", Kind: plots.Points, Look: look, X: []float64{x},
			Y: []float64{2}, Low: []float64{1}, High: []float64{4},
		})
	}
	a.Series = append(a.Series, plots.Series{
		Label: "last",
		Group: "sample",
		Kind:  plots.Points,
		Look:  1,
		X:     []float64{3.2, 3.3},
		Y:     []float64{1, 3},
	})
	b := plots.Panel{Title: "Numbers", X: plots.Axis{Quantity: "load", Max: 3}, Y: plots.Axis{Quantity: "delay"}}
	b.Series = []plots.Series{{Label: "theory", Look: 2, X: []float64{1, 3}, Y: []float64{1, 4}}}
	f.Panels = []plots.Panel{a, b}
	return f
}

// grouped is a figure of four similar panels with two groups of two curves.
func grouped(low, high string) *plots.Figure {
	f := &plots.Figure{ID: "g", Title: "t", Caption: "c"}
	for range 4 {
		p := plots.Panel{
			Title: "t",
			X:     plots.Axis{Quantity: "load", Max: 1},
			Y:     plots.Axis{Quantity: "delay", Min: -20, Max: 40},
		}
		for k, group := range []string{low, high} {
			for look, label := range []string{"one", "two"} {
				y := 10*float64(k) + float64(look)
				p.Series = append(p.Series, plots.Series{
					Label: label,
					Group: group,
					Look:  look,
					X:     []float64{0, 1},
					Y:     []float64{y, y + 5},
				})
			}
		}
		p.References = []plots.Reference{{Label: "goal", Y: 35}}
		f.Panels = append(f.Panels, p)
	}
	return f
}
