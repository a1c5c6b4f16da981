package draw

import (
	"gonum.org/v1/plot/vg"

	"productform/plots"
)

// The one style of all pictures: lengths in points (1/72 inch) on paper.
const (
	mm vg.Length = vg.Inch / 25.4

	panelWidth  = 85 * mm
	panelHeight = 70 * mm
	columns     = 2 // panels side by side
	dpi         = 300

	fontSize  vg.Length = 8
	tickSize  vg.Length = 7.5
	titleSize vg.Length = 8.5
	nameSize  vg.Length = 6 // font size of categories, below an axis
	nameStep            = 1.2 * nameSize

	axisWidth      vg.Length = 0.6
	gridWidth      vg.Length = 0.4
	curveWidth     vg.Length = 1.4
	thinWidth      vg.Length = 0.7
	referenceWidth vg.Length = 0.7
	barWidth       vg.Length = 0.8
	barGap         vg.Length = 1.5 // gap between the bars of curves
	pointGap       vg.Length = 3   // gap between the bars of points
	markerSize     vg.Length = 2   // radius of a marker
	thinMarker     vg.Length = 1.2 // radius of a marker of thin points
	tickLength     vg.Length = 3
	minorLength    vg.Length = 1.75

	margin    vg.Length = 5   // between the outermost ink and the edge of a panel
	textGap   vg.Length = 3   // between ticks and their labels, and between labels and the axis title
	labelGap  vg.Length = 3   // from a curve to its name
	clearance vg.Length = 1.5 // minimum distance between a name and everything else

	rightRoom = margin + 6 // space right of a plot

	curveIdeal = 0.85 // preferred position of a name along its curve
	groupIdeal = 0.6  // preferred position of the name of a group

	tint = 0.4 // blend towards white of each further group

	ticksAcross = 5 // target number of ticks
	ticksUp     = 5
)

// lineWidth returns the width of the line of a series.
func lineWidth(thin bool) vg.Length {
	if thin {
		return thinWidth
	}
	return curveWidth
}

// markerRadius returns the radius of the markers of a series.
func markerRadius(thin bool) vg.Length {
	if thin {
		return thinMarker
	}
	return markerSize
}

// dashes returns the dashes of a line of this kind: none for steps, because dashes would hide their
// corners.
func dashes(l look, kind plots.Kind) []vg.Length {
	if kind == plots.Steps {
		return nil
	}
	return l.dashes
}

// referenceDashes are the dashes of reference lines.
var referenceDashes = []vg.Length{1, 1.6}
