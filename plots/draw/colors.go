package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
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
