package main

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"productform/cmd/internal/render"
	"productform/num"
	"productform/sim"
)

// valueFields returns the fields of one number: its float64, and its exact value or its bounds if the engine has them.
func valueFields(key string, v *num.Value, engine string, digits int) record {
	r := record{{key, nil}}
	if v != nil {
		r[0].value = v.Float
	}
	switch engine {
	case string(num.Exact):
		r = append(r, field{key + "_exact", nil})
		if v != nil {
			r[1].value = v.Exact.RatString()
		}
	case string(num.Enclose):
		r = append(r, field{key + "_low", nil}, field{key + "_high", nil})
		if v != nil {
			r[1].value, r[2].value = num.Interval{Low: v.Low, High: v.High}.Text(digits)
		}
	}
	return r
}

func join(records ...record) record {
	var all record
	for _, r := range records {
		all = append(all, r...)
	}
	return all
}

// valueCell returns one number for people: six digits, the digits asked of enclose, or a fraction that is not too long.
// Decimals are mended before they are shown.
func valueCell(r record, key string, digits int, mend func(string) string) string {
	const longest = 24
	if text, ok := r.get(key + "_exact").(string); ok && len(text) <= longest {
		if strings.Contains(text, "/") {
			text += " = " + mend(six(r.get(key)))
		}
		return text
	}
	if low, ok := r.get(key + "_low").(string); ok && digits > 6 {
		v, ok := new(big.Float).SetPrec(uint(64 + 4*digits)).SetString(low)
		if ok {
			return mend(v.Text('g', digits-1))
		}
	}
	return mend(six(r.get(key)))
}

// belowOne returns the text of a number, with more digits or as "<1" if it reads 1 and cannot be.
func belowOne(key, text string, v any) string {
	f, ok := v.(float64)
	if !ok || text != "1" || key != "load" && key != "utilization" {
		return text
	}
	for digits := 7; digits <= 17 && f < 1; digits++ {
		if text := strconv.FormatFloat(f, 'g', digits, 64); text != "1" {
			return text
		}
	}
	return "<1"
}

// estimate returns the record of an estimate, with the exact value if there is one; nil for nil.
func estimate(e *sim.Estimate, exact *num.Value) any {
	if e == nil {
		return nil
	}
	r := record{{"mean", e.Mean}, {"half_width", e.HalfWidth}, {"confidence", e.Confidence}}
	if exact != nil {
		r = append(r, field{"exact", exact.Float}, field{"z", zOf(e, exact)})
	}
	return r
}

// zOf returns z, or nil where all runs gave the same, as they do for what none has seen.
func zOf(e *sim.Estimate, exact *num.Value) any {
	if e.StdError == 0 {
		return nil
	}
	return e.Z(exact.Float)
}

// simulationTable writes some columns of records, estimates with their exact values if any row has one, and an empty
// line; nothing for no records.
func simulationTable(w io.Writer, rows []record, first string, columns ...string) {
	if len(rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	lines := make([][]string, 1+len(rows))
	for k, c := range columns {
		title := strings.ReplaceAll(c, "_", " ")
		if k == 0 {
			title = first
		}
		lines[0] = append(lines[0], title)
		exact := slices.ContainsFunc(rows, func(row record) bool {
			e, ok := row.get(c).(record)
			return ok && e.get("exact") != nil
		})
		if exact {
			lines[0] = append(lines[0], "exact", "z")
		}
		for i, row := range rows {
			cells := estimateCells(row.get(c))
			if !exact {
				cells = cells[:1]
			}
			lines[i+1] = append(lines[i+1], cells...)
		}
	}
	for _, line := range lines {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	t.Flush()
	fmt.Fprintln(w)
}

// estimateCells returns a value for people, its exact value and z.
func estimateCells(v any) []string {
	e, ok := v.(record)
	if !ok {
		return []string{six(v), "-", "-"}
	}
	cells := []string{render.PlusMinus(e.get("mean").(float64), e.get("half_width").(float64)), "-", "-"}
	if exact, ok := e.get("exact").(float64); ok {
		cells[1] = six(exact)
		if z, ok := e.get("z").(float64); ok {
			cells[2] = fmt.Sprintf("%+.2f", z)
		}
	}
	return cells
}

// boundSuffix ends the columns that writeCSV adds.
var boundSuffix = regexp.MustCompile(`_(low|high|exact)$`)

// flatten puts the fields of records inside a record under longer names. An estimate is its mean, followed by the rest.
func flatten(row record) (flat record) {
	for _, f := range row {
		inner, ok := f.value.(record)
		if !ok {
			flat = append(flat, f)
			continue
		}
		for _, g := range flatten(inner) {
			key := f.key + "_" + g.key
			if g.key == "mean" && inner.get("half_width") != nil {
				key = f.key
			}
			flat = append(flat, field{key, g.value})
		}
	}
	return flat
}

// unless returns the value, or nil if there is none.
func unless(none bool, v float64) any {
	if none || math.IsInf(v, 0) || v != v {
		return nil
	}
	return v
}
