package plots

import (
	"fmt"
	"math"
)

// A Figure is one figure of a paper as data.
type Figure struct {
	ID         string      // name in the catalogue and of its files, such as "bf-1"
	Title      string      // one line
	Caption    string      // what the figure shows: first what is found, in at most [MostWords] words
	Setting    string      // sentences that say how it was made and name every parameter but those that Parameters alone has; may be empty
	Parameters []Parameter // every one, as a table
	Panels     []Panel     // at least one
	Checks     []Check     // numbers of the figure reached a second way
	Claims     []Claim     // what the paper says of the figure, beside its numbers
	Confidence float64     // of the intervals of its series; 0 means 0.95

	Captioned bool // whether pictures have the caption below their panels, as those do that stand alone

	// OneLegend asks for one legend above all panels even if they show different series: those of one label have one look,
	// and those of one label and group are drawn alike. Without it there is one only for several rows of panels that show the same.
	OneLegend bool
}

// A Parameter is one number or choice that a figure depends on.
type Parameter struct {
	Name, Value string // as they are written
}

// A Panel is one plot of a figure.
type Panel struct {
	Title      string // short; the panel's letter is added when it is drawn
	X, Y       Axis
	Series     []Series
	References []Reference
	Regions    []Region
	Wide       bool // whether it takes the width of two
}

// An Axis says what is measured and how it is laid out.
type Axis struct {
	Quantity string  // such as "mean delay"
	Symbol   string  // such as "δ"; may be empty
	Unit     string  // such as "units of time"; may be empty
	Scale    Scale   // Linear or Log
	Min, Max float64 // ends of the axis, Min < Max, Min > 0 on a Log axis; both zero means from the data

	// Ticks are the values that are labelled, increasing, within Min and Max, which must be given then; nil means
	// round numbers.
	Ticks []float64

	// Categories are the names of the values 1, 2, ... of a linear axis, which stand beside it instead of numbers; nil
	// means numbers. Min and Max, if given, hold these values; without them the axis goes half a unit beyond. Where one
	// legend serves all panels, a series that has the label of a category of a horizontal axis is named by the axis alone,
	// and the legend has its group; one that has the label of a category of a vertical axis is named by that in any case.
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

// A Kind says how the points of a series are shown.
type Kind int

// The kinds.
const (
	Curve  Kind = iota // a line through the points, as for theory
	Points             // a marker at each point, as for simulation
	// a line that keeps the height of a point up to the next, as for whole numbers; it has no intervals
	Steps
	Band // the area from Low to High, as for bounds; it has no Y
	Area // the area below steps, down to 0 or to the end of the axis, as for what is in use; it has no intervals
)

// A Series is one curve or one set of points. Where Low and High are given, they are the ends of
// a confidence interval at each point, drawn as a band about a curve and as a bar through a marker, or the bounds of a
// Band.
type Series struct {
	// name, written beside the series, or once for all panels, and in the header of the data; in a panel points that have the name and the
	// look of a curve or band before them are named with it
	Label string
	// what several series have in common, such as a class; may be empty. Later groups are lighter and lie below
	Group     string
	Kind      Kind      // Curve, Points, Steps, Band or Area
	Thin      bool      // whether a line is drawn thin and above the others, as one to compare with
	Marked    bool      // whether a curve or steps have a marker at each of their points, as for whole numbers
	Look      int       // >= 0: number of its colour, dashes and marker; series that belong together share it
	X, Y      []float64 // equally long but for a Band; X does not decrease, and increases for Steps, a Band and an Area
	Low, High []float64 // nil, or as long as X with Low <= Y <= High

	Left, Right []float64 // ends of intervals about X, drawn as bars: nil, or as long as X with Left <= X <= Right; of Points alone

	// Bars asks for a bar through each marker of a marked curve instead of a band, as where bands would lie over each other. Such series
	// of a panel, and Points that ask for it, are drawn a little beside each other, so that none hides another.
	Bars bool

	Names []string // nil, or one a point, beside it where a picture has room; empty for none
}

// Name returns the group and the label.
func (s Series) Name() string {
	if s.Group == "" {
		return s.Label
	}
	return s.Group + ", " + s.Label
}

// A Reference is a horizontal line at a value to compare with. Its label is left out of a picture that has no room for
// it.
type Reference struct {
	Label string  // of the line
	Y     float64 // at which it is
}

// A Region is a part of the horizontal axis, shaded in a picture, where there is something to be said instead of numbers: the
// system is unstable, say. Its label is left out of a picture that has no room for it.
type Region struct {
	Label    string  // what is to be said
	From, To float64 // From < To
}

// At returns the value of a series at one of its x, NaN elsewhere.
func (s Series) At(x float64) float64 {
	for k := range s.X {
		if math.Abs(s.X[k]-x) < 1e-9 {
			return s.Y[k]
		}
	}
	return math.NaN()
}

// Letter names the panel of number k, "(a)" for 0.
func Letter(k int) string { return fmt.Sprintf("(%c)", 'a'+k) }

// PanelID names the panel of number k of a figure in checks and claims, "fluid-2a" for 0.
func PanelID(f *Figure, k int) string { return f.ID + string(rune('a'+k)) }
