package render

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"productform/num"
)

// A Text is a human-readable answer: lines, and tables followed by an empty line.
type Text struct {
	bytes.Buffer
	Digits int // digits of numbers with bounds, if more than six are shown
	// maximum number of digits of a numerator or denominator shown as a fraction; 0 for fractions
	// of at most 24 characters
	Fraction int
}

// Line writes a line.
func (t *Text) Line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// Blank writes an empty line unless the last one is empty.
func (t *Text) Blank() {
	if !bytes.HasSuffix(t.Bytes(), []byte("\n\n")) {
		t.Line("")
	}
}

func (t *Text) isShort(fraction string) bool {
	if t.Fraction == 0 {
		return len(fraction) <= 24
	}
	numerator, denominator, ok := strings.Cut(fraction, "/")
	return len(fraction) <= 24 && (!ok || max(len(numerator), len(denominator)) <= t.Fraction)
}

// Cell returns one value in human-readable form.
func (t *Text) Cell(v any) string {
	switch v := v.(type) {
	case Number:
		return v.text(t)
	case *big.Rat:
		return Rat(v, Fraction).text(t)
	case *num.Value:
		return Style{}.Computed(v).text(t)
	case Record:
		return t.estimateCells(v)[0]
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = t.Cell(x)
		}
		if len(words) == 0 {
			return "-"
		}
		return strings.Join(words, ", ")
	}
	return Six(v)
}

// Table writes some columns of structs, and an empty line; it writes nothing without rows. Exact
// values are shown next to estimates if any row has one.
func (t *Text) Table(rows any, columns ...string) {
	records := Rows(rows)
	if len(records) == 0 {
		return
	}
	lines := make([][]string, 1+len(records))
	for _, c := range columns {
		title := strings.ReplaceAll(c, "_", " ")
		for _, r := range records {
			title = cmp.Or(r.field(c).Title, title)
		}
		lines[0] = append(lines[0], title)
		exact := slices.ContainsFunc(records, func(r Record) bool {
			e, ok := r.Get(c).(Record)
			return ok && e.Get("exact") != nil
		})
		if exact {
			lines[0] = append(lines[0], "exact", "z")
		}
		for i, r := range records {
			if exact {
				lines[i+1] = append(lines[i+1], t.estimateCells(r.Get(c))...)
			} else {
				lines[i+1] = append(lines[i+1], t.Cell(r.Get(c)))
			}
		}
	}
	t.Columns(lines)
	fmt.Fprintln(t)
}

// Columns writes rows of cells, aligned in columns.
func (t *Text) Columns(lines [][]string) {
	w := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	w.Flush()
}
