package draw

import (
	"slices"
	"strings"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"

	"productform/internal/input"
)

// Heights of Liberation Sans in units of its size: capitals and digits above the baseline, p and ρ
// below it.
const (
	capHeight = 0.72
	descent   = 0.22
)

// A typesetter measures and writes Liberation Sans.
type typesetter struct {
	fonts *font.Cache
}

func newTypesetter() typesetter {
	return typesetter{font.NewCache(liberation.Collection())}
}

func (t typesetter) face(size vg.Length, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = stdfont.WeightBold
	}
	return t.fonts.Lookup(f, size)
}

func (t typesetter) width(s string, size vg.Length, bold bool) vg.Length {
	var sum vg.Length
	for _, r := range runs(s) {
		f := t.face(r.size(size), bold)
		sum += f.Width(r.text)
	}
	return sum
}

// write writes s on one line whose baseline contains p. The fraction align of its width is left of
// p, and the line is rotated about p by angle.
func (t typesetter) write(
	c vg.Canvas, p vg.Point, s string, size vg.Length, bold bool, align vg.Length, angle float64,
) {
	c.Push()
	c.Translate(p)
	if angle != 0 {
		c.Rotate(angle)
	}
	x := -align * t.width(s, size, bold)
	for _, r := range runs(s) {
		f := t.face(r.size(size), bold)
		c.FillString(f, vg.Point{X: x, Y: r.shift * size}, r.text)
		x += f.Width(r.text)
	}
	c.Pop()
}

// A run is a piece of text on one line. Exponents and subscripts are smaller, raised or lowered
// digits and minus signs: the font lacks some superscripts, and has a gap before its subscripts.
type run struct {
	text  string
	shift vg.Length // height above the baseline in units of the size of the text; 0 for plain text
}

// Size and heights of exponents and subscripts, in units of the size of the text.
const (
	shiftedSize = 0.72
	raise       = 0.36
	lower       = -0.14
)

func (r run) size(size vg.Length) vg.Length {
	if r.shift != 0 {
		return shiftedSize * size
	}
	return size
}

// runs splits a text into plain text, exponents and subscripts.
func runs(s string) []run {
	const exponents, subscripts, digits = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "₀₁₂₃₄₅₆₇₈₉₋", "0123456789−"
	var all []run
	for _, c := range s {
		shift := vg.Length(0)
		if i := slices.Index([]rune(exponents), c); i >= 0 {
			c, shift = []rune(digits)[i], raise
		} else if i := slices.Index([]rune(subscripts), c); i >= 0 {
			c, shift = []rune(digits)[i], lower
		}
		if len(all) == 0 || all[len(all)-1].shift != shift {
			all = append(all, run{shift: shift})
		}
		all[len(all)-1].text += string(c)
	}
	return all
}

// missing returns an error naming the first character of s for which the font has no glyph.
func (t typesetter) missing(path, s string) error {
	var buf sfnt.Buffer
	f := t.face(fontSize, false)
	for _, part := range runs(s) {
		for _, r := range part.text {
			if g, err := f.Face.GlyphIndex(&buf, r); err != nil || g == 0 {
				return input.Errorf(path, s, "text without %q, which Liberation Sans lacks", r)
			}
		}
	}
	return nil
}

// outline returns the shape of s, with its baseline starting at p; the font must have its glyphs.
func outline(f font.Face, p vg.Point, s string) vg.Path {
	var path vg.Path
	var buf sfnt.Buffer
	unit := f.Face.UnitsPerEm()
	scale := f.Font.Size / vg.Length(unit)
	at := func(x, y float64) vg.Point { return p.Add(vg.Point{X: vg.Length(x) * scale, Y: -vg.Length(y) * scale}) }
	for i, r := range s {
		g, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			panic("draw: a font that was measured cannot be read: " + err.Error())
		}
		before := s[:i]
		offset := float64(f.Width(before) / scale)
		segments, err := f.Face.LoadGlyph(&buf, g, fixed.Int26_6(unit)<<6, nil)
		if err != nil {
			panic("draw: a font that was measured cannot be read: " + err.Error())
		}
		open := false
		for _, seg := range segments {
			var q [3]vg.Point
			for k, a := range seg.Args {
				q[k] = at(offset+float64(a.X)/64, float64(a.Y)/64)
			}
			switch seg.Op {
			case sfnt.SegmentOpMoveTo:
				if open {
					path.Close()
				}
				open = true
				path.Move(q[0])
			case sfnt.SegmentOpLineTo:
				path.Line(q[0])
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(q[0], q[1])
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(q[0], q[1], q[2])
			}
		}
		if open {
			path.Close()
		}
	}
	return path
}

// ascii reports whether s has only ASCII characters.
func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0
}
