package plots

import (
	"fmt"
	"math"
	"slices"
)

// Limits for readability: the number of curves in a panel that can be distinguished, and the number
// of panels in a figure, which have letters.
const (
	MostCurves = 7
	MostPanels = 26
)

// PanelsOf returns the number of panels needed for the given number of curves.
func PanelsOf(curves int) int { return (curves + MostCurves - 1) / MostCurves }

// Facets returns panels with the axes of p that show its series, at most MostCurves each, with
// different looks.
func (p Panel) Facets() (all []Panel) {
	count := PanelsOf(len(p.Series))
	for k := range count {
		one := p
		if count > 1 {
			one.Title = fmt.Sprintf("%s, %d of %d", p.Title, k+1, count)
		}
		one.Series = nil
		for look, s := range p.Series[k*len(p.Series)/count : (k+1)*len(p.Series)/count] {
			s.Look = look
			one.Series = append(one.Series, s)
		}
		all = append(all, one)
	}
	return all
}

// Evenly returns at most most of the numbers 0, ..., n-1, evenly spaced.
func Evenly(n, most int) (some []int) {
	count := min(n, most)
	for k := range count {
		some = append(some, (2*k+1)*n/(2*count))
	}
	return some
}

// Hold returns the axis with ends that include the values, starting at 0 unless a value is
// negative. It is logarithmic if far is set and all values are positive and differ by a factor of
// 20 or more.
func (a Axis) Hold(values []float64, far bool) Axis {
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	const much = 20
	if far && least/1.2 >= smallest && most >= much*least {
		a.Scale, a.Min, a.Max = Log, least/1.2, most*1.2
		return a
	}
	a.Min, a.Max = min(0, least), 1.05*most
	if !(a.Max-a.Min >= smallest) { // all values are close to 0
		a.Max = a.Min + 1
	}
	return a
}

// YValues returns the values that the vertical axis shows: those of the series and references, and
// 0 below areas.
func (p *Panel) YValues() []float64 {
	v := slices.Clone(p.Y.Shown)
	for _, s := range p.Series {
		v = append(append(append(v, s.Y...), s.Low...), s.High...)
		if s.Kind == Area && p.Y.Scale == Linear {
			v = append(v, 0)
		}
	}
	for _, r := range p.References {
		v = append(v, r.Y)
	}
	return v
}

// ShareY makes the vertical axes of panels show the values of all of them, so that panels with the
// same scale have the same ends and can be compared.
func ShareY(panels []Panel) {
	var all []float64
	for i := range panels {
		all = append(all, panels[i].YValues()...)
	}
	if len(all) == 0 {
		return
	}
	for i := range panels {
		panels[i].Y.Shown = []float64{slices.Min(all), slices.Max(all)}
	}
}

// Fill widens each panel that would be alone in a row for two, except the only panel of a figure.
func (f *Figure) Fill() {
	if len(f.Panels) == 1 {
		return
	}
	left := -1 // index of a panel that is alone in its row so far
	for i := range f.Panels {
		p := &f.Panels[i]
		switch {
		case p.Wide && left >= 0:
			f.Panels[left].Wide, left = true, -1
		case p.Wide:
		case left >= 0:
			left = -1
		default:
			left = i
		}
	}
	if left >= 0 {
		f.Panels[left].Wide = true
	}
}
