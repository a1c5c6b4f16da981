package plotstest

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"productform/plots"
	render "productform/plots/draw"
)

// CheckPictures draws figures and checks the pictures. The figures with the longest names have a
// legend of two rows above all panels.
func CheckPictures(t *testing.T, figures map[string]*plots.Figure, longest ...string) {
	t.Helper()
	for id, f := range figures {
		rows := 0
		switch {
		case slices.Contains(longest, id):
			rows = 2
		case f.OneLegend, len(f.Panels) > 2 && showSame(f):
			rows = 1
		}
		CheckPicture(t, f, rows)
	}
}

// showSame reports whether all panels show series with the same names.
func showSame(f *plots.Figure) bool {
	names := func(p plots.Panel) map[string]bool {
		set := make(map[string]bool)
		for _, s := range p.Series {
			set[s.Name()] = true
		}
		return set
	}
	return !slices.ContainsFunc(f.Panels, func(p plots.Panel) bool { return !maps.Equal(names(p), names(f.Panels[0])) })
}

// CheckPicture draws a figure with the given rows of a legend above all panels, and checks the
// image and the files. The tests of package draw compare PNG files with the image.
func CheckPicture(t *testing.T, f *plots.Figure, legendRows int) {
	t.Helper()
	file := func(format render.Format) []byte {
		data, err := render.Render(f, format)
		if err != nil {
			t.Fatalf("%s.%s: %v", f.ID, format, err)
		}
		return data
	}
	picture, err := render.Image(f)
	if err != nil {
		t.Fatalf("%s: %v", f.ID, err)
	}
	checkImage(t, f, picture, legendRows)
	checkSVG(t, f, file(render.SVG))
	if data := file(render.PDF); !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("%s: no PDF", f.ID)
	}
	checkCSV(t, f, file(render.CSV))
}

// checkImage checks the printed size at 300 dots per inch, that there is ink, and that none is on
// the edge.
func checkImage(t *testing.T, f *plots.Figure, picture image.Image, legendRows int) {
	t.Helper()
	const dots = 300 / 25.4 // dots per millimetre
	wide, high := 170*dots, 70*dots*float64((len(f.Panels)+1)/2)
	if legendRows > 0 { // points: 5, plus 1.35 times 8 per row
		high += (5 + 10.8*float64(legendRows)) / 72 * 300
	}
	size := picture.Bounds().Size()
	if math.Abs(float64(size.X)-wide) > 1 || math.Abs(float64(size.Y)-high) > 1 {
		t.Errorf("%s is %d by %d dots, want %.0f by %.0f", f.ID, size.X, size.Y, wide, high)
	}
	pixels, ok := picture.(*image.RGBA)
	if !ok || !pixels.Opaque() {
		t.Fatalf("%s is not opaque: %T", f.ID, picture)
	}
	inked := 0
	for y := range size.Y {
		row := pixels.Pix[y*pixels.Stride:]
		for x := range size.X {
			if p := row[4*x:]; p[0]&p[1]&p[2] == 255 {
				continue
			}
			inked++
			const edge = 8 // dots: 0.7 mm
			if x < edge || y < edge || x >= size.X-edge || y >= size.Y-edge {
				t.Fatalf("%s has ink at (%d, %d), on its edge", f.ID, x, y)
			}
		}
	}
	if inked < size.X*size.Y/200 {
		t.Errorf("%s is nearly blank", f.ID)
	}
}

// checkSVG checks that there is a title and no text that would need a font.
func checkSVG(t *testing.T, f *plots.Figure, data []byte) {
	t.Helper()
	titled := false
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", f.ID, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			titled = titled || e.Name.Local == "title"
			if e.Name.Local == "text" {
				t.Fatalf("%s has text that needs a font", f.ID)
			}
		}
	}
	if !titled || !bytes.Contains(data, []byte(f.Title)) {
		t.Errorf("%s has no title", f.ID)
	}
}

// checkCSV counts the numbers of a figure in its data.
func checkCSV(t *testing.T, f *plots.Figure, data []byte) {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", f.ID, err)
	}
	want := 0
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if s.Kind != plots.Band {
				want += len(s.Y)
			}
			want += len(s.Low) + len(s.High) + len(s.Left) + len(s.Right)
		}
	}
	got := 0
	for _, row := range records[1:] {
		got-- // the value of the horizontal axis
		for _, field := range row {
			if field == "" {
				continue
			}
			if _, err := strconv.ParseFloat(field, 64); err != nil {
				t.Errorf("%s: %v", f.ID, err)
			}
			got++
		}
	}
	if got != want {
		t.Errorf("%s: %d numbers, want %d", f.ID, got, want)
	}
}
