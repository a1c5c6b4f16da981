package draw

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"productform/plots"
)

// renderCSV returns the data of the figure. The first column is the horizontal axis, with one row
// per value; panels with different horizontal axes have separate columns and rows. Each series has
// a column with panel and unit in the header, and two more each for the ends of vertical and
// horizontal intervals, if any. A field is empty if the series has no point there. Numbers have
// enough digits to recover the same float64.
func renderCSV(f *plots.Figure) ([]byte, error) {
	type column struct {
		axis int
		x, y []float64
		next int // next point to write
	}
	var axes, header []string
	var columns []*column
	var rows [][]float64 // rows by axis
	confidence := number(100 * cmp.Or(f.Confidence, 0.95))
	for _, p := range f.Panels {
		at := slices.Index(axes, meaning(p.X))
		if at < 0 {
			at, axes, rows = len(axes), append(axes, meaning(p.X)), append(rows, nil)
		}
		for _, s := range p.Series {
			name := seriesTitle(&p, s)
			rows[at] = append(rows[at], s.X...)
			low, high := name+", low end of "+confidence+" % interval", name+", high end of "+confidence+" % interval"
			if s.Kind == plots.Band {
				low, high = name+", lower bound", name+", upper bound"
			} else {
				header = append(header, name)
				columns = append(columns, &column{axis: at, x: s.X, y: s.Y})
			}
			if s.Low != nil {
				header = append(header, low, high)
				columns = append(columns, &column{axis: at, x: s.X, y: s.Low}, &column{axis: at, x: s.X, y: s.High})
			}
			if s.Left != nil {
				of := p.Title + ", " + s.Name() + ": " + p.X.Title()
				header = append(
					header, of+", low end of "+confidence+" % interval", of+", high end of "+confidence+" % interval",
				)
				columns = append(columns, &column{axis: at, x: s.X, y: s.Left}, &column{axis: at, x: s.X, y: s.Right})
			}
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(slices.Concat(axes, header)); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for at, values := range rows {
		slices.Sort(values)
		for _, x := range slices.Compact(values) {
			for written := true; written; { // points of one series may have the same x
				record := make([]string, len(axes))
				record[at] = number(x)
				written = false
				for _, c := range columns {
					field := ""
					if c.axis == at && c.next < len(c.x) && c.x[c.next] == x {
						field = number(c.y[c.next])
						c.next++
						written = true
					}
					record = append(record, field)
				}
				if !written {
					break
				}
				if err := w.Write(record); err != nil {
					return nil, fmt.Errorf("row %v: %w", x, err)
				}
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// seriesTitle returns the title of a column: panel, series, quantity and unit. It does not repeat a
// quantity that starts the title of the panel.
func seriesTitle(p *plots.Panel, s plots.Series) string {
	name := p.Title + ", " + s.Name()
	rest, named := strings.CutPrefix(p.Title, p.Y.Quantity)
	switch {
	case !named || rest != "" && rest[0] != ' ' && rest[0] != ',':
		return name + ": " + meaning(p.Y)
	case p.Y.Categories == nil && p.Y.Unit == "":
		return name
	}
	return name + strings.TrimPrefix(meaning(p.Y), p.Y.Quantity)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
