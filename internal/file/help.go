package file

import (
	"fmt"
	"strconv"
	"strings"
)

// A helpRow describes a field, or an element of a list that has no name.
type helpRow struct {
	depth         int
	name, meaning string
	examples      []string // as in a file
}

// Example returns the field with values for the help, as YAML.
func (f Field[T]) Example(values ...string) Field[T] {
	f.examples = nil
	for _, v := range values {
		f.examples = append(f.examples, f.name+": "+v)
	}
	return f
}

// Otherwise makes the field optional, with the meaning of a missing value, such as "no limit".
func (f Field[T]) Otherwise(meaning string) Field[T] {
	f.otherwise = meaning
	return f.Optional()
}

// Of adds the description of the elements of a field, for the help.
func Of[T, E any](f Field[T], of *Description[E]) Field[T] {
	f.parts = of.helpRows
	return f
}

// Cases returns a field whose elements have one of several forms, given for the help as pairs of a
// meaning and an example.
func (f Field[T]) Cases(forms ...[2]string) Field[T] {
	f.parts = func(depth int) (rows []helpRow) {
		for _, form := range forms {
			rows = append(rows, helpRow{depth, "", form[0], form[1:]})
		}
		return rows
	}
	return f
}

// Help returns a table of the fields: names, meanings with ranges and defaults, and examples.
func (d *Description[T]) Help() string {
	const nameWidth, meaningWidth = 24, 49
	var b strings.Builder
	for _, r := range d.helpRows(1) {
		name := strings.Repeat("  ", r.depth) + r.name
		meaning := wrap(r.meaning, meaningWidth-2)
		for i := range max(len(meaning), len(r.examples)) {
			var left, right string
			if i < len(meaning) {
				left = meaning[i]
			}
			if i < len(r.examples) {
				right = r.examples[i]
			}
			line := fmt.Sprintf("%-*s%-*s%s", nameWidth+2, name, meaningWidth, left, right)
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			name = ""
		}
	}
	return b.String()
}

func (d *Description[T]) helpRows(depth int) (rows []helpRow) {
	for _, f := range d.Fields {
		rows = append(rows, helpRow{depth, f.name, f.meaning(), f.examples})
		if f.parts != nil {
			rows = append(rows, f.parts(depth+1)...)
		}
	}
	return rows
}

// meaning returns the doc of the field, with its range and default.
func (f *Field[T]) meaning() string {
	text := f.doc
	if f.within != "" {
		text += ", " + glue(f.within)
	}
	switch {
	case f.otherwise != "":
		text += "; default " + f.otherwise
	case f.standard != nil:
		text += "; " + glue(fmt.Sprint("default ", f.standard))
	}
	return text
}

// Grouped writes a number with a comma before every three digits: 1,000,000.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

const noBreak = "\u00a0"

// glue returns a text without breaks if it is short, such as "> 0".
func glue(text string) string {
	if len(text) > 16 {
		return text
	}
	return strings.ReplaceAll(text, " ", noBreak)
}

// wrap breaks a text into lines of a width at spaces.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Split(text, " ") {
		word = strings.ReplaceAll(word, noBreak, " ")
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
