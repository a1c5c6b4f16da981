package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Formats lists the formats of [Answer.Format].
var Formats = []string{"text", "json", "csv"}

// An Answer holds the content of an answer in all [Formats].
type Answer struct {
	JSON    any         // a struct, or a list of structs
	Lines   []Lines     // lines of CSV
	Columns []string    // first columns of CSV; the others follow in the order of the lines
	Text    func(*Text) // writes the text
}

// Lines holds lines of CSV about things of one kind.
type Lines struct {
	Kind string // value of the column kind, unless rows have their own; if it is always empty, there is no such column
	Head any    // a struct whose fields every line has, nil for none
	Of   any    // a struct or a list of structs; lists in them are omitted
}

// Format returns the answer in one of the [Formats].
func (a Answer) Format(format string) ([]byte, error) {
	switch format {
	case "json":
		return a.json()
	case "csv":
		return a.csv()
	case "text":
		var t Text
		a.Text(&t)
		return append(bytes.TrimRight(t.Bytes(), "\n"), '\n'), nil
	}
	return nil, fmt.Errorf("render: no format %s", format)
}

func (a Answer) json() ([]byte, error) {
	var v any = Rows(a.JSON)
	if t := reflect.TypeOf(a.JSON); t.Kind() != reflect.Slice || t == reflect.TypeFor[Record]() {
		v = Fields(a.JSON)
	}
	text, err := appendJSON(nil, v, "\n")
	return append(text, '\n'), err
}

// appendJSON appends a value of a [Field], with lists and records over several lines, each of which
// begins as line does.
func appendJSON(b []byte, v any, line string) ([]byte, error) {
	inner := line + "  "
	switch v := v.(type) {
	case Record:
		return appendItems(b, '{', '}', v.expanded(), line, func(b []byte, f Field) ([]byte, error) {
			b, err := appendJSON(b, f.Key, inner)
			if err != nil {
				return nil, err
			}
			if b, err = appendJSON(append(b, ": "...), f.Value, inner); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Key, err)
			}
			return b, nil
		})
	case []Record:
		return appendItems(b, '[', ']', v, line, func(b []byte, r Record) ([]byte, error) {
			return appendJSON(b, r, inner)
		})
	case []any:
		return appendItems(b, '[', ']', v, line, func(b []byte, x any) ([]byte, error) {
			return appendJSON(b, x, inner)
		})
	case string:
		if isPlain(v) {
			return append(append(append(b, '"'), v...), '"'), nil
		}
	}
	text, err := marshal(v)
	return append(b, text...), err
}

// appendItems appends a list or the fields of a record, each on its own line.
func appendItems[T any](
	b []byte, first, last byte, items []T, line string, item func([]byte, T) ([]byte, error),
) (_ []byte, err error) {
	b = append(b, first)
	for i, x := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = item(append(append(b, line...), "  "...), x); err != nil {
			return nil, err
		}
	}
	if len(items) > 0 {
		b = append(b, line...)
	}
	return append(b, last), nil
}

// isPlain reports whether a string needs no escapes between quotation marks.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// marshal is [json.Marshal] without escaping <, > and & in names.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// csv writes all lines, with the columns of fractions and bounds after those of their numbers.
// Missing fields are empty.
func (a Answer) csv() ([]byte, error) {
	columns := slices.Clone(a.Columns)
	var lines []Record
	add := func(line Record) {
		for _, f := range line {
			if !isTable(f.Value) && !slices.Contains(columns, f.Key) {
				columns = append(columns, f.Key)
			}
		}
		lines = append(lines, line)
	}
	for _, l := range a.Lines {
		var kind, head Record
		if l.Kind != "" {
			kind = Record{{Key: "kind", Value: l.Kind}}
		}
		if l.Head != nil {
			head = Fields(l.Head)
		}
		for _, r := range Rows(l.Of) {
			own := slices.Clone(kind)
			if k := r.Get("kind"); k != nil && own != nil {
				own[0].Value = k
			}
			add(slices.Concat(own, head, r.Flat()))
		}
	}
	header := withProofs(columns, lines)
	table := [][]string{header}
	for _, line := range lines {
		line = line.expanded()
		cells := make([]string, len(header))
		for i, c := range header {
			v := line.Get(c)
			if isTable(v) { // its name is also a column of other lines
				continue
			}
			cell, err := csvCell(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c, err)
			}
			cells[i] = cell
		}
		table = append(table, cells)
	}
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(table)
	return b.Bytes(), err
}

// isTable reports whether a value is a list of structs or of numbers, which get separate lines in
// CSV.
func isTable(v any) bool {
	switch v := v.(type) {
	case []Record:
		return true
	case []any:
		return len(v) > 0 && isNumber(v[0])
	}
	return false
}

// withProofs returns the columns, each followed by those of its fractions and bounds if any line
// has them.
func withProofs(columns []string, lines []Record) (all []string) {
	for _, c := range columns {
		var proofs [3]bool
		for _, line := range lines {
			if n, ok := line.Get(c).(Number); ok {
				proofs[n.Proof] = true
			}
		}
		all = append(all, c)
		if proofs[Fraction] {
			all = append(all, c+"_exact")
		}
		if proofs[Bounds] {
			all = append(all, c+"_low", c+"_high")
		}
	}
	return all
}

// csvCell returns a field of CSV. A list is written as a record separated by semicolons, so
// elements that contain a semicolon are quoted.
func csvCell(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			word, err := csvCell(x)
			if err != nil {
				return "", err
			}
			words[i] = word
		}
		return joined(words)
	}
	text, err := marshal(v)
	return string(text), err
}

// joined returns words as a record of CSV with semicolons between them.
func joined(words []string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = ';'
	if err := w.Write(words); err != nil {
		return "", err
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n"), w.Error()
}
