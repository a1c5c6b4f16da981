package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"productform/internal/input"
)

// Validate returns an error that names the first entry of f that cannot be drawn, as a path such as
// "panels[0].series[1].y[3]". Errors are a missing text, different lengths, a number that is not
// finite, decreasing X, and an interval that does not contain its point, also a value <= 0 on a
// logarithmic axis and a value beyond 1e100.
func (f *Figure) Validate() error {
	switch {
	case f.ID == "":
		return input.Errorf("id", "", "a name")
	case f.Title == "":
		return input.Errorf("title", "", "one line")
	case f.Caption == "":
		return input.Errorf("caption", "", "sentences that name every parameter")
	case len(f.Panels) == 0:
		return input.Errorf("panels", "", "at least one panel")
	}
	for i, p := range f.Panels {
		path := fmt.Sprintf("panels[%d]", i)
		if err := p.validate(path); err != nil {
			return err
		}
	}
	if f.OneLegend {
		return f.checkOneLegend()
	}
	return nil
}

// checkOneLegend returns an error for the first series that one legend for all panels would
// misrepresent.
func (f *Figure) checkOneLegend() error {
	first, grouped := make(map[string]Series), make(map[string]Series) // by label; by group and label
	for i, p := range f.Panels {
		for j, s := range p.Series {
			o, known := first[s.Label]
			if !known {
				first[s.Label], o = s, s
			}
			kind := s.Name() // with points, which may be those of a curve
			if s.Kind == Points {
				kind += " points"
			}
			of, known := grouped[kind]
			if !known {
				grouped[kind], of = s, s
			}
			if s.Look != o.Look || s.Kind != of.Kind || s.Thin != of.Thin || s.Marked != of.Marked ||
				s.Bars != of.Bars {
				return input.Errorf(fmt.Sprintf("panels[%d].series[%d].label", i, j), s.Label,
					"another label, or the look, kind and line of the earlier series with it")
			}
		}
	}
	return nil
}

func (p *Panel) validate(path string) error {
	if err := p.X.validate(path + ".x"); err != nil {
		return err
	}
	if err := p.Y.validate(path + ".y"); err != nil {
		return err
	}
	if len(p.Series) == 0 {
		return input.Errorf(path+".series", "", "at least one series")
	}
	for j, s := range p.Series {
		if err := s.validate(fmt.Sprintf("%s.series[%d]", path, j), p.X.Scale, p.Y.Scale); err != nil {
			return err
		}
	}
	for j, r := range p.References {
		if err := onScale(fmt.Sprintf("%s.references[%d].y", path, j), r.Y, p.Y.Scale); err != nil {
			return err
		}
	}
	for j, r := range p.Regions {
		at := fmt.Sprintf("%s.regions[%d]", path, j)
		for _, end := range []float64{r.From, r.To} {
			if err := onScale(at, end, p.X.Scale); err != nil {
				return err
			}
		}
		if !(r.From < r.To) {
			return input.Errorf(at+".to", r.To, "more than from, %v", r.From)
		}
	}
	return nil
}

func (a *Axis) validate(path string) error {
	if a.Quantity == "" {
		return input.Errorf(path+".quantity", "", "what is measured")
	}
	if a.Scale != Linear && a.Scale != Log {
		return input.Errorf(path+".scale", int(a.Scale), "Linear or Log")
	}
	if err := a.validateCategories(path); err != nil {
		return err
	}
	for k, v := range a.Shown {
		if err := onScale(fmt.Sprintf("%s.shown[%d]", path, k), v, a.Scale); err != nil {
			return err
		}
	}
	if a.Min == 0 && a.Max == 0 {
		if a.Ticks != nil {
			return input.Errorf(path+".ticks", fmt.Sprint(len(a.Ticks), " values"), "none without min and max")
		}
		return nil
	}
	if err := onScale(path+".min", a.Min, a.Scale); err != nil {
		return err
	}
	if err := onScale(path+".max", a.Max, a.Scale); err != nil {
		return err
	}
	if !(a.Max-a.Min >= max(smallest, narrowest*max(math.Abs(a.Min), math.Abs(a.Max)))) {
		return input.Errorf(path+".max", a.Max, "clearly more than min, %v", a.Min)
	}
	for k, v := range a.Ticks {
		at := fmt.Sprintf("%s.ticks[%d]", path, k)
		if !(a.Min <= v && v <= a.Max) {
			return input.Errorf(at, v, "a number on the axis, [%v, %v]", a.Min, a.Max)
		}
		if k > 0 && v <= a.Ticks[k-1] {
			return input.Errorf(at, v, "more than the one before, %v", a.Ticks[k-1])
		}
	}
	return nil
}

func (a *Axis) validateCategories(path string) error {
	n := len(a.Categories)
	switch {
	case n == 0:
		return nil
	case a.Scale != Linear:
		return input.Errorf(path+".scale", int(a.Scale), "Linear with categories")
	case a.Ticks != nil:
		return input.Errorf(path+".ticks", fmt.Sprint(len(a.Ticks), " values"), "none with categories")
	case (a.Min != 0 || a.Max != 0) && !(a.Min <= 1):
		return input.Errorf(path+".min", a.Min, "at most 1, the value of the first category")
	case (a.Min != 0 || a.Max != 0) && !(a.Max >= float64(n)):
		return input.Errorf(path+".max", a.Max, "at least %d, the value of the last category", n)
	}
	for k, name := range a.Categories {
		at := fmt.Sprintf("%s.categories[%d]", path, k)
		if strings.TrimSpace(name) == "" {
			return input.Errorf(at, "", "a name")
		}
		if slices.Contains(a.Categories[:k], name) {
			return input.Errorf(at, name, "a name that no earlier category has")
		}
	}
	return nil
}

func (s *Series) validate(path string, x, y Scale) error {
	n := len(s.X)
	switch {
	case s.Label == "":
		return input.Errorf(path+".label", "", "a name")
	case s.Look < 0:
		return input.Errorf(path+".look", s.Look, "an integer >= 0")
	case s.Kind < Curve || s.Kind > Area:
		return input.Errorf(path+".kind", int(s.Kind), "Curve, Points, Steps, Band or Area")
	case s.Marked && s.Kind != Curve && s.Kind != Steps:
		return input.Errorf(path+".marked", true, "false, except with Curve or Steps")
	case n == 0:
		return input.Errorf(path+".x", "", "at least one point")
	case s.Kind == Band && s.Y != nil:
		return input.Errorf(path+".y", fmt.Sprint(len(s.Y), " values"), "none with Band")
	case s.Kind != Band && len(s.Y) != n:
		return input.Errorf(path+".y", fmt.Sprint(len(s.Y), " values"), "%d, one per point", n)
	case len(s.Low) != len(s.High):
		return input.Errorf(path+".high", fmt.Sprint(len(s.High), " values"), "as many as low has, %d", len(s.Low))
	case (s.Kind == Steps || s.Kind == Area) && s.Low != nil:
		return input.Errorf(path+".low", fmt.Sprint(len(s.Low), " values"), "none with Steps or Area")
	case s.Kind == Band && s.Low == nil:
		return input.Errorf(path+".low", "", "one per point with Band")
	case len(s.Names) != n && s.Names != nil:
		return input.Errorf(path+".names", fmt.Sprint(len(s.Names), " names"), "none, or %d, one per point", n)
	case s.Bars && s.Kind != Points && !(s.Kind == Curve && s.Marked && s.Low != nil):
		return input.Errorf(path+".bars", true, "false, except with Points or a marked Curve that has intervals")
	case len(s.Left) != len(s.Right):
		return input.Errorf(path+".right", fmt.Sprint(len(s.Right), " values"), "as many as left has, %d", len(s.Left))
	case len(s.Left) != 0 && (s.Kind != Points || len(s.Left) != n):
		return input.Errorf(
			path+".left", fmt.Sprint(len(s.Left), " values"), "none, or with Points %d, one per point", n)
	case len(s.Low) != n && len(s.Low) != 0:
		return input.Errorf(path+".low", fmt.Sprint(len(s.Low), " values"), "none, or %d, one per point", n)
	}
	for k := range n {
		if err := onScale(fmt.Sprintf("%s.x[%d]", path, k), s.X[k], x); err != nil {
			return err
		}
		if k > 0 && s.X[k] <= s.X[k-1] {
			at := fmt.Sprintf("%s.x[%d]", path, k)
			switch {
			case s.Kind == Steps || s.Kind == Band || s.Kind == Area:
				return input.Errorf(at, s.X[k], "more than the one before, %v", s.X[k-1])
			case s.X[k] < s.X[k-1]:
				return input.Errorf(at, s.X[k], "at least the one before, %v", s.X[k-1])
			}
		}
		if s.Kind != Band {
			if err := onScale(fmt.Sprintf("%s.y[%d]", path, k), s.Y[k], y); err != nil {
				return err
			}
		}
		if err := s.validateIntervals(path, k, x, y); err != nil {
			return err
		}
	}
	return nil
}

// validateIntervals checks the intervals of a point.
func (s *Series) validateIntervals(path string, k int, x, y Scale) error {
	of := func(name string) string { return fmt.Sprintf("%s.%s[%d]", path, name, k) }
	for _, end := range []struct {
		name   string
		values []float64
		scale  Scale
	}{{"left", s.Left, x}, {"right", s.Right, x}, {"low", s.Low, y}, {"high", s.High, y}} {
		if end.values == nil {
			continue
		}
		if err := onScale(of(end.name), end.values[k], end.scale); err != nil {
			return err
		}
	}
	switch {
	case s.Left != nil && !(s.Left[k] <= s.X[k] && s.X[k] <= s.Right[k]):
		return input.Errorf(of("x"), s.X[k], "a number in its interval [%v, %v]", s.Left[k], s.Right[k])
	case s.Low == nil:
	case s.Kind == Band && !(s.Low[k] <= s.High[k]):
		return input.Errorf(of("high"), s.High[k], "at least low, %v", s.Low[k])
	case s.Kind != Band && !(s.Low[k] <= s.Y[k] && s.Y[k] <= s.High[k]):
		return input.Errorf(of("y"), s.Y[k], "a number in its interval [%v, %v]", s.Low[k], s.High[k])
	}
	return nil
}

// Limits of the numbers that can be drawn. Beyond these, ticks coincide in float64 or overflow it.
const (
	largest   = 1e100
	smallest  = 1e-100
	narrowest = 1e-9 // smallest width of an axis, relative to its ends
)

// onScale returns an error unless v is finite, |v| is at most 1e100 and, on a logarithmic axis, v
// is at least 1e-100.
func onScale(path string, v float64, scale Scale) error {
	switch {
	case !(math.Abs(v) <= largest):
		return input.Errorf(path, v, "a finite number in [-1e100, 1e100]")
	case scale == Log && v < smallest:
		return input.Errorf(path, v, "a number in [1e-100, 1e100] on a logarithmic axis")
	}
	return nil
}
