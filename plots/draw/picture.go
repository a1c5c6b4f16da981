package draw

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"productform/internal/input"
	"productform/plots"
)

// A Format is a file format.
type Format string

// The formats. HTML is one page for all figures; see [Page].
const (
	PNG  Format = "png"
	SVG  Format = "svg"
	PDF  Format = "pdf"
	CSV  Format = "csv"
	HTML Format = "html"
)

// Formats returns all formats.
func Formats() []Format { return []Format{PNG, SVG, PDF, CSV, HTML} }

// Render returns the figure as a file of a format other than HTML: a picture, or its data as CSV. A
// picture takes 170 mm by 70 mm for every two panels, plus space for a shared legend and for the
// caption if requested; PNG has 300 dots per inch. The same figure gives the same bytes. The error
// names the first entry of the figure that cannot be drawn.
func Render(f *plots.Figure, format Format) ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	switch format {
	case PNG:
		return renderPNG(f)
	case SVG:
		return renderSVG(f)
	case PDF:
		return renderPDF(f)
	case CSV:
		return renderCSV(f)
	}
	return nil, input.Errorf("format", format, "png, svg, pdf or csv")
}

// size returns the printed size of the figure.
func size(f *plots.Figure) (width, height vg.Length) {
	t := newTypesetter()
	_, legend := sharedLegend(t, f)
	_, rows, across := grid(f)
	return panelWidth * vg.Length(across), panelHeight*vg.Length(rows) + sharedHeight(legend) +
		captionHeight(captionLines(t, f))
}

// A cell is the place of a panel.
type cell struct{ row, column int }

// grid returns the places of the panels in order, wide ones in separate rows, and the numbers of
// rows and columns.
func grid(f *plots.Figure) (at []cell, rows, across int) {
	next := cell{}
	across = 1
	for _, p := range f.Panels {
		if next.column == columns || p.Wide && next.column > 0 {
			next = cell{row: next.row + 1}
		}
		at, rows = append(at, next), next.row+1
		if next.column++; p.Wide {
			next.column = columns
		}
		across = max(across, next.column)
	}
	return at, rows, across
}

// captionLines returns the lines of the caption below the panels, nil if the picture has no
// caption.
func captionLines(t typesetter, f *plots.Figure) (lines []string) {
	if !f.Captioned {
		return nil
	}
	_, _, across := grid(f)
	room := panelWidth*vg.Length(across) - 2*margin
	for word := range strings.FieldsSeq(f.Caption) {
		// the word is too wide, such as a long name
		for letters := []rune(word); t.width(word, tickSize, false) > room; {
			n := 1
			for n < len(letters) && t.width(string(letters[:n+1]), tickSize, false) <= room {
				n++
			}
			lines = append(lines, string(letters[:n]))
			letters = letters[n:]
			word = string(letters)
		}
		if last := len(lines) - 1; last >= 0 && t.width(lines[last]+" "+word, tickSize, false) <= room {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func captionHeight(lines []string) vg.Length {
	if lines == nil {
		return 0
	}
	return margin + rowHeight*vg.Length(len(lines))
}

// drawCaption draws the caption at the bottom of the picture.
func drawCaption(c vg.Canvas, t typesetter, lines []string) {
	c.SetColor(ink)
	for k, line := range lines {
		t.write(
			c, vg.Point{X: margin, Y: margin + rowHeight*(vg.Length(len(lines)-1-k)+descent)}, line,
			tickSize, false, 0, 0,
		)
	}
}

// whiten hides the background of the page around a picture.
func whiten(c vg.CanvasSizer) {
	width, height := c.Size()
	c.SetColor(color.White)
	c.Fill(rectangle(0, 0, width, height).Path())
}

// paintFigure draws the figure on a white canvas of its size.
func paintFigure(c vg.Canvas, f *plots.Figure) error {
	t := newTypesetter()
	if err := checkText(t, f); err != nil {
		return err
	}
	_, height := size(f)
	legend, rows := sharedLegend(t, f)
	if err := checkLegend(t, legend, sharedRoom(t, f)); err != nil {
		return err
	}
	beside, err := sideMargin(t, f)
	if err != nil {
		return err
	}
	bottom := height - sharedHeight(rows) // bottom of the legend
	drawLegend(c, t, legend, rows, vg.Point{X: beside.of(&f.Panels[0]), Y: bottom})
	drawCaption(c, t, captionLines(t, f))
	plans, err := planAll(t, f, beside, bottom)
	if err != nil {
		return err
	}
	for _, p := range plans {
		p.draw(c, t)
	}
	return nil
}

// planAll plans all panels below the height bottom. If a panel has a legend, the adjacent panels
// have one of the same height, so their plots align. A panel below one with the same legend has
// none.
func planAll(t typesetter, f *plots.Figure, beside room, bottom vg.Length) ([]*panelPlan, error) {
	at, gridRows, _ := grid(f)
	plans, hasLegend := make([]*panelPlan, len(f.Panels)), make([]bool, gridRows)
	for i := range f.Panels {
		letter := ""
		if len(f.Panels) > 1 {
			letter = fmt.Sprintf("(%c)", 'a'+i)
		}
		x, y := panelWidth*vg.Length(at[i].column), bottom-panelHeight*vg.Length(at[i].row+1)
		outer := rectangle(x, y, x+widthOf(&f.Panels[i]), y+panelHeight)
		p, err := plan(t, &f.Panels[i], letter, outer, beside, isShared(f))
		if err != nil {
			return nil, fmt.Errorf("panels[%d]: %w", i, err)
		}
		plans[i], hasLegend[at[i].row] = p, hasLegend[at[i].row] || p.legend != nil
	}
	for i, p := range plans {
		if hasLegend[at[i].row] && p.legend == nil {
			if err := p.nameAbove(t, beside); err != nil {
				return nil, fmt.Errorf("panels[%d]: %w", i, err)
			}
			p.namePoints(t)
		}
	}
	most := make([]int, gridRows)              // maximum number of legend rows in each row of panels
	for i, p := range slices.Backward(plans) { // backwards, so each panel sees the one above it unchanged
		if above := slices.Index(at, cell{at[i].row - 1, at[i].column}); above >= 0 && p.Wide == plans[above].Wide {
			p.leaveLegend(t, beside, plans[above].legend)
		}
		most[at[i].row] = max(most[at[i].row], p.legendRows)
	}
	for i, p := range plans {
		p.keepRows(t, beside, most[at[i].row])
	}
	return plans, nil
}

// checkText returns an error if the font lacks a glyph for a text in the picture.
func checkText(t typesetter, f *plots.Figure) error {
	if f.Captioned {
		if err := t.missing("caption", f.Caption); err != nil {
			return err
		}
	}
	for i, p := range f.Panels {
		path := fmt.Sprintf("panels[%d]", i)
		texts := [][2]string{{".title", p.Title}, {".x", p.X.Title()}, {".y", p.Y.Title()}}
		for k, name := range p.X.Categories {
			texts = append(texts, [2]string{fmt.Sprintf(".x.categories[%d]", k), name})
		}
		for j, s := range p.Series {
			texts = append(texts, [2]string{fmt.Sprintf(".series[%d].label", j), s.Label}, [2]string{
				fmt.Sprintf(".series[%d].group", j), s.Group,
			})
			for k, name := range s.Names {
				texts = append(texts, [2]string{fmt.Sprintf(".series[%d].names[%d]", j, k), name})
			}
		}
		for k, name := range p.Y.Categories {
			texts = append(texts, [2]string{fmt.Sprintf(".y.categories[%d]", k), name})
		}
		for j, r := range p.Regions {
			texts = append(texts, [2]string{fmt.Sprintf(".regions[%d].label", j), r.Label})
		}
		for j, r := range p.References {
			texts = append(texts, [2]string{fmt.Sprintf(".references[%d].label", j), r.Label})
		}
		for _, text := range texts {
			if err := t.missing(path+text[0], text[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Image returns the picture that [Render] encodes as PNG, at 300 dots per inch. The error reports
// an invalid figure, or a text that the font cannot write or that does not fit.
func Image(f *plots.Figure) (image.Image, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	w, h := size(f)
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi)) // white
	if err := paintFigure(c, f); err != nil {
		return nil, err
	}
	return c.Image(), nil
}

func renderPNG(f *plots.Figure) ([]byte, error) {
	picture, err := Image(f)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// The default level takes half as long again for files that are 3 % smaller.
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture); err != nil {
		return nil, err
	}
	return withResolution(b.Bytes(), dpi), nil
}

// withResolution inserts the chunk with the printed size of a PNG image: pHYs, in dots per metre,
// after the 8 bytes of signature and the 25 of the header.
func withResolution(picture []byte, dpi float64) []byte {
	const header = 8 + 25
	perMetre := uint32(dpi/0.0254 + 0.5)
	body := append(
		[]byte("pHYs"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, perMetre), perMetre)...,
	)
	body = append(body, 1) // the unit is the metre
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return bytes.Join([][]byte{picture[:header], chunk, picture[header:]}, nil)
}

func renderSVG(f *plots.Figure) ([]byte, error) {
	c := svgCanvas{vgsvg.New(size(f))}
	whiten(c)
	if err := paintFigure(c, f); err != nil {
		return nil, err
	}
	b, err := written(c)
	if err != nil {
		return nil, err
	}
	// Add a title for readers who cannot see the picture.
	head, body, _ := bytes.Cut(b, []byte(`xmlns:xlink="http://www.w3.org/1999/xlink">`))
	title := fmt.Sprintf(`xmlns:xlink="http://www.w3.org/1999/xlink" role="img">`+"\n<title>%s</title>",
		html.EscapeString(f.ID+": "+f.Title))
	return bytes.Join([][]byte{head, []byte(title), body}, nil), nil
}

func renderPDF(f *plots.Figure) ([]byte, error) {
	c := pdfCanvas{vgpdf.New(size(f))}
	whiten(c)
	if err := paintFigure(c, f); err != nil {
		return nil, err
	}
	b, err := written(c)
	if err != nil {
		return nil, err
	}
	// Replacing the entry by blanks preserves all offsets in the file.
	return creation.ReplaceAllFunc(b, func(entry []byte) []byte { return bytes.Repeat([]byte{' '}, len(entry)) }), nil
}

var creation = regexp.MustCompile(`/(CreationDate|ModDate) \(D:[0-9]{14}\)`)

// An svgCanvas writes all text as filled outlines, so it has the planned size whatever fonts the
// reader has.
type svgCanvas struct {
	*vgsvg.Canvas
}

func (c svgCanvas) FillString(f font.Face, p vg.Point, s string) { c.Fill(outline(f, p, s)) }

// A pdfCanvas writes Greek letters, which vgpdf's 8-bit fonts lack, and bold text as filled
// outlines. All other text remains text, in a single font: vgpdf writes several fonts in random
// order.
type pdfCanvas struct {
	*vgpdf.Canvas
}

// SetColor undoes the multiplication of a translucent colour by its opacity, which vgpdf does not.
func (c pdfCanvas) SetColor(col color.Color) {
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(col).(color.NRGBA)))
}

// A straight is a colour that returns its components without multiplication by its opacity.
type straight color.NRGBA

// RGBA violates the contract of [color.Color], as vgpdf expects.
func (s straight) RGBA() (r, g, b, a uint32) {
	return uint32(s.R) * 0x101, uint32(s.G) * 0x101, uint32(s.B) * 0x101, uint32(s.A) * 0x101
}

func (c pdfCanvas) FillString(f font.Face, p vg.Point, s string) {
	for len(s) > 0 {
		n := 1 // length of the run of characters of the same kind
		plain := func(s string) bool {
			return f.Font == (font.Font{Typeface: f.Font.Typeface, Variant: f.Font.Variant, Size: f.Font.Size}) &&
				ascii(s)
		}
		kind := plain(s[:1])
		for n < len(s) && plain(s[n:n+1]) == kind {
			n++
		}
		run := s[:n]
		if kind {
			c.Canvas.FillString(f, p, run)
		} else {
			c.Fill(outline(f, p, run))
		}
		p.X += f.Width(run)
		s = s[n:]
	}
}

func written(w io.WriterTo) ([]byte, error) {
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
