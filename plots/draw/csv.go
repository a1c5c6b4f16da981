package draw

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"productform/plots"
)

// renderCSV returns the data of the figure: one row a value of the horizontal axis, which stands in the first column,
// one column a series of each panel with panel and unit in the header, and two more for the ends of its intervals. A series
// without a point there leaves its field empty. Numbers have the digits that give the same float64 back.
func renderCSV(f *plots.Figure) ([]byte, error) {
	header := []string{f.Panels[0].X.Title()}
	type column struct{ x, y []float64 }
	var columns []column
	var rows []float64
	for _, p := range f.Panels {
		for _, s := range p.Series {
			name := p.Title + ", " + s.Name() + ": " + p.Y.Title()
			rows = append(rows, s.X...)
			low, high := name+", low end of 95 % interval", name+", high end of 95 % interval"
			if s.Kind == plots.Band {
				low, high = name+", lower bound", name+", upper bound"
			} else {
				header = append(header, name)
				columns = append(columns, column{s.X, s.Y})
			}
			if s.Low != nil {
				header = append(header, low, high)
				columns = append(columns, column{s.X, s.Low}, column{s.X, s.High})
			}
		}
	}
	slices.Sort(rows)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for _, x := range slices.Compact(rows) {
		record := []string{number(x)}
		for _, c := range columns {
			field := ""
			if k, ok := slices.BinarySearchFunc(c.x, x, cmp.Compare[float64]); ok {
				field = number(c.y[k])
			}
			record = append(record, field)
		}
		if err := w.Write(record); err != nil {
			return nil, fmt.Errorf("row %v: %w", x, err)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
