package render

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The maximum widths of a wide table, of a line of its headings unless a single word is longer, and
// of a cell of its first column.
const (
	tableWidth   = 100
	headingWidth = 14
	firstWidth   = 48
)

// A wideColumn is a column of a wide table: lines of its heading, the last one for the unit, then
// its cells.
type wideColumn struct {
	heading, cells []string
	width          int
}

// Wide writes columns of structs as [Text.Table] does, with headings over several lines and the
// units under them. Columns that do not fit into 100 characters follow in further tables, each
// again with the first column, whose cells are cut after 48 characters. Columns after the first one
// are omitted if no row has a value.
func (t *Text) Wide(rows any, columns ...string) {
	records := Rows(rows)
	var all []wideColumn
	for i, c := range columns {
		column, ok := t.wideColumn(records, c)
		if i == 0 {
			column.shorten(firstWidth)
		}
		if ok || i == 0 {
			all = append(all, column)
		}
	}
	if !slices.ContainsFunc(all, func(c wideColumn) bool { return c.heading[len(c.heading)-1] != "" }) {
		for i, c := range all { // no units
			all[i].heading = c.heading[:len(c.heading)-1]
		}
	}
	for len(all) > 1 {
		end, width := 1, all[0].width
		for end < len(all) && (end == 1 || width+2+all[end].width <= tableWidth) {
			width += 2 + all[end].width
			end++
		}
		t.wideTable(all[:end])
		t.Line("")
		all = append(all[:1], all[end:]...)
	}
}

// wideColumn returns a column, ok if some row has a value in it.
func (t *Text) wideColumn(records []Record, key string) (c wideColumn, ok bool) {
	title, unit := "", ""
	for _, r := range records {
		f := r.field(key)
		title, unit = cmp.Or(title, f.Title), cmp.Or(unit, f.Unit)
		c.cells = append(c.cells, t.Cell(f.Value))
		ok = ok || f.Value != nil
	}
	c.heading = append(wrap(cmp.Or(title, strings.ReplaceAll(key, "_", " ")), headingWidth), unit)
	c.measure()
	return c, ok
}

// measure sets the width of the column.
func (c *wideColumn) measure() {
	c.width = 0
	for _, cells := range [][]string{c.heading, c.cells} {
		for _, cell := range cells {
			c.width = max(c.width, utf8.RuneCountInString(cell))
		}
	}
}

// shorten cuts cells of more characters than the given width.
func (c *wideColumn) shorten(width int) {
	for i, cell := range c.cells {
		if runes := []rune(cell); len(runes) > width {
			c.cells[i] = string(runes[:width-1]) + "…"
		}
	}
	c.measure()
}

// wideTable writes columns next to each other, with the last lines of their headings in one line.
func (t *Text) wideTable(columns []wideColumn) {
	lines := 0
	for _, c := range columns {
		lines = max(lines, len(c.heading))
	}
	write := func(cell func(c wideColumn) string) {
		var b strings.Builder
		for _, c := range columns {
			text := cell(c)
			b.WriteString(text + strings.Repeat(" ", c.width-utf8.RuneCountInString(text)+2))
		}
		t.Line("%s", strings.TrimRight(b.String(), " "))
	}
	for k := range lines {
		write(func(c wideColumn) string {
			if at := k - lines + len(c.heading); at >= 0 {
				return c.heading[at]
			}
			return ""
		})
	}
	for k := range columns[0].cells {
		write(func(c wideColumn) string { return c.cells[k] })
	}
}

// wrap breaks a text into lines of at most the given width, unless a word is longer.
func wrap(text string, width int) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
