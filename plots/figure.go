package plots

import (
	"fmt"
	"math"
)

// A Figure is one figure of a paper as data.
type Figure struct {
	ID      string // name in the catalogue and of its files, such as "bf-1"
	Title   string // one line
	Caption string // what the figure shows, starting with the finding; at most [MostWords] words
	// sentences that describe how it was made and name every parameter not only in Parameters; may
	// be empty
	Setting    string
	Parameters []Parameter // all parameters, as a table
	Panels     []Panel     // at least one
	Checks     []Check     // numbers of the figure compared with independent results
	Claims     []Claim     // statements of the paper compared with the numbers
	Confidence float64     // confidence level of the intervals of its series; 0 means 0.95

	Captioned bool // whether pictures include the caption below their panels, for stand-alone use

	// OneLegend requests one legend above all panels even if they show different series. Then
	// series with the same label share a look, and series with the same label and group are drawn
	// identically. Without it, only several rows of panels with the same series share a legend.
	OneLegend bool
}

// A Parameter is one number or choice that a figure depends on.
type Parameter struct {
	Name, Value string // as printed
}

// A Panel is one plot of a figure.
type Panel struct {
	Title      string // short; the panel's letter is added when it is drawn
	X, Y       Axis
	Series     []Series
	References []Reference
	Regions    []Region
	Wide       bool // whether it has the width of two panels
}

// An Axis states what is measured and how the values are laid out.
type Axis struct {
	Quantity string // such as "mean delay"
	Symbol   string // such as "δ"; may be empty
	Unit     string // such as "units of time"; may be empty
	Scale    Scale  // Linear or Log
	// ends of the axis, Min < Max, Min > 0 on a Log axis; both zero means that the data determine
	// them
	Min, Max float64

	// Shown are further values that the axis includes if the data determine its ends, such as those
	// of a panel to compare with (see [ShareY]).
	Shown []float64

	// Ticks are the labelled values, in increasing order. They must be within Min and Max, which
	// must then be given. Nil means round numbers.
	Ticks []float64

	// Categories are the names of the values 1, 2, ... of a linear axis, printed instead of
	// numbers; nil means numbers. Min and Max, if given, must include these values; otherwise the
	// axis extends half a unit beyond. If one legend serves all panels, a series labelled like a
	// category of the horizontal axis is named only by the axis, and the legend has its group. A
	// series labelled like a category of the vertical axis is always named only by the axis.
	Categories []string
}

// Title returns the axis title, "mean delay δ (units of time)".
func (a Axis) Title() string {
	s := a.Quantity
	if a.Symbol != "" {
		s += " " + a.Symbol
	}
	if a.Unit != "" {
		s += " (" + a.Unit + ")"
	}
	return s
}

// A Scale maps values to lengths along an axis.
type Scale int

// The scales.
const (
	Linear Scale = iota
	Log
)

// A Kind determines how the points of a series are shown.
type Kind int

// The kinds.
const (
	Curve  Kind = iota // a line through the points, as for theory
	Points             // a marker at each point, as for simulation
	// a line that keeps the height of each point up to the next, as for whole numbers; no intervals
	Steps
	Band // the area from Low to High, as for bounds; it has no Y
	Area // the area below steps, down to 0 or to the end of the axis, as for resources in use; no intervals
)

// A Series is one curve or one set of points. Low and High, if given, are the ends of a confidence
// interval at each point, drawn as a band around a curve or a bar through a marker; for a Band they
// are its bounds.
type Series struct {
	// name, written next to the series or once for all panels, and in the header of the data;
	// points with the label and look of an earlier curve or band of the panel are named together
	// with it
	Label string
	// common property of several series, such as a class; may be empty. Later groups are lighter
	// and drawn below
	Group  string
	Kind   Kind // Curve, Points, Steps, Band or Area
	Thin   bool // whether a line is drawn thin and above the others, for comparison, or points small
	Marked bool // whether a curve or steps have a marker at each point, as for whole numbers
	Look   int  // >= 0: number of its colour, dashes and marker; related series share it
	// of equal length except for a Band; X does not decrease, and strictly increases for Steps,
	// Band and Area
	X, Y      []float64
	Low, High []float64 // nil, or as long as X with Low <= Y <= High

	// ends of intervals about X, drawn as bars: nil, or as long as X with Left <= X <= Right; only
	// for Points
	Left, Right []float64

	// Bars requests a bar through each marker of a marked curve instead of a band, for example if
	// bands would overlap. Such series of a panel, and Points with Bars, are shifted slightly if
	// their labels differ, so none hides another.
	Bars bool

	Names []string // nil, or one per point, written next to it if there is room; "" for none
}

// Name returns the group and the label.
func (s Series) Name() string {
	if s.Group == "" {
		return s.Label
	}
	return s.Group + ", " + s.Label
}

// A Reference is a horizontal line at a value to compare with. Its label is omitted if the picture
// has no room for it.
type Reference struct {
	Label string  // text of the label
	Y     float64 // value at which the line is
}

// A Region is a shaded part of the horizontal axis with a label instead of numbers, for example
// where the system is unstable. Its label is omitted if the picture has no room for it.
type Region struct {
	Label    string  // text of the label
	From, To float64 // From < To
}

// At returns the value of a series at one of its x, or NaN elsewhere.
func (s Series) At(x float64) float64 {
	for k := range s.X {
		if math.Abs(s.X[k]-x) < 1e-9 {
			return s.Y[k]
		}
	}
	return math.NaN()
}

// Letter returns the name of panel k: "(a)" for 0.
func Letter(k int) string { return fmt.Sprintf("(%c)", 'a'+k) }

// PanelID returns the name of panel k of a figure in checks and claims: "fluid-2a" for 0.
func PanelID(f *Figure, k int) string { return f.ID + string(rune('a'+k)) }
