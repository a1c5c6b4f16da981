package draw

import (
	"image/color"
	"math"

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
	clearance vg.Length = 1.5 // minimum distance of a name from everything else

	rightRoom = margin + 6 // space right of a plot

	curveIdeal = 0.85 // preferred position of a name along its curve
	groupIdeal = 0.6  // preferred position of the name of a group

	tint = 0.4 // blend towards white of each further group

	ticksAcross = 5 // target number of ticks
	ticksUp     = 5
)

const (
	bandAlpha = 0x40 // opacity out of 0xff
	areaAlpha = 0x60
)

// The colours of the ink. They are never modified.
var (
	ink       = color.NRGBA{A: 0xff}
	axisInk   = color.NRGBA{0x33, 0x33, 0x33, 0xff}
	quietInk  = color.NRGBA{0x6e, 0x6e, 0x6e, 0xff}
	gridInk   = color.NRGBA{0xe8, 0xe8, 0xe8, 0xff}
	regionInk = color.NRGBA{0xf0, 0xf0, 0xf0, 0xff}
	paper     = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// A look distinguishes a series: by colour and, in grey, by dashes and marker.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	marker marker
}

// looks are the colours of Okabe and Ito, "Color universal design" (2008), which colour-blind
// readers can distinguish. Yellow is omitted because it is too pale on white; a dark grey for thin
// lines is added. They are never modified.
var looks = []look{
	{color.NRGBA{0x00, 0x72, 0xb2, 0xff}, nil, disc},                                  // blue
	{color.NRGBA{0xd5, 0x5e, 0x00, 0xff}, []vg.Length{5, 2}, square},                  // vermilion
	{color.NRGBA{0x00, 0x9e, 0x73, 0xff}, []vg.Length{6, 1.8, 1.5, 1.8}, triangle},    // bluish green
	{color.NRGBA{0xcc, 0x79, 0xa7, 0xff}, []vg.Length{1.6, 1.6}, diamond},             // reddish purple
	{color.NRGBA{0xe6, 0x9f, 0x00, 0xff}, []vg.Length{9, 2.5}, circle},                // orange
	{color.NRGBA{0x56, 0xb4, 0xe9, 0xff}, []vg.Length{5, 1.5, 1, 1.5, 1, 1.5}, wedge}, // sky blue
	{color.NRGBA{0x00, 0x00, 0x00, 0xff}, []vg.Length{2.5, 1.2}, plus},                // black
	{color.NRGBA{0x33, 0x33, 0x33, 0xff}, nil, disc},                                  // dark grey
}

// lookOf returns the look with this number; after the last look the numbers start over.
func lookOf(number int) look { return looks[number%len(looks)] }

// readable returns a colour darkened, if necessary, until text of this colour has a contrast of at
// least 4.5 on shaded regions, and thus on paper, as the Web Content Accessibility Guidelines
// require (WCAG 2.2, 1.4.3).
func readable(c color.NRGBA) color.NRGBA {
	const steps = 64
	for k := steps; k > 0; k-- {
		part := func(v uint8) uint8 { return uint8(int(v) * k / steps) }
		if d := (color.NRGBA{part(c.R), part(c.G), part(c.B), c.A}); contrast(d, regionInk) >= 4.5 {
			return d
		}
	}
	return ink
}

// contrast returns the contrast ratio of two opaque colours, from 1 to 21, by their luminance (WCAG
// 2.2).
func contrast(c, d color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		linear := func(v uint8) float64 {
			if x := float64(v) / 0xff; x > 0.04045 {
				return math.Pow((x+0.055)/1.055, 2.4)
			}
			return float64(v) / 0xff / 12.92
		}
		return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	}
	x, y := luminance(c)+0.05, luminance(d)+0.05
	return max(x, y) / min(x, y)
}

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
