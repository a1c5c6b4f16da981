package joblog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"productform/internal/input"
)

// A format is a way to write the records of a log in lines.
type format struct {
	name    string
	isFixed bool // has fixed names of columns, so none are guessed
	// separator of cells in a table
	separator byte
	// starts reports whether a log whose first line is not a comment may begin so.
	starts func(line []byte) bool
	// heading reads the first line; nil if it is a record.
	heading func(s *splitter, line []byte) error
	// split sets the cells of the record in a line, or returns why there is none.
	split func(s *splitter, line []byte, rec *record) (Reason, error)
}

// formats returns all formats but SWF. The first one that a line may begin is that of the log.
func formats() []format {
	table := func(name string, separator byte) format {
		return format{name, false, separator, isTable(separator), (*splitter).heads, (*splitter).row}
	}
	return []format{
		{"PBS accounting", true, 0, isPBS, nil, (*splitter).pbs},
		{"JSON lines", false, 0, func(line []byte) bool { return line[0] == '{' }, nil, (*splitter).json},
		{"sacct", true, '|', isSacct, (*splitter).heads, (*splitter).row},
		table("TSV", '\t'),
		table("a table separated by bars", '|'),
		table("CSV", ','),
		table("a table separated by semicolons", ';'),
	}
}

const wantFormat = "a log in Standard Workload Format (18 numbers), from sacct -P, in CSV or TSV with a heading, " +
	"in JSON lines, or PBS accounting records; each may be compressed with gzip or zstd"

// isSWF reports whether a line may be a job in Standard Workload Format: numbers and blanks only.
func isSWF(line []byte) bool {
	for _, c := range line {
		if c >= 'A' && c != 'e' && c != 'E' || c == ',' || c == ';' || c == ':' || c == '"' || c == '/' || c == '#' {
			return false
		}
	}
	return true
}

// unknownFormat returns the error about a log that begins with a line of no known format.
func unknownFormat(line []byte) error {
	looks := ""
	isControl := func(c rune) bool { return c < ' ' && c != '\t' || c == '\x7f' }
	switch {
	case bytes.HasPrefix(line, []byte("#!")) || bytes.ContainsFunc(line, isControl):
		looks = "a program or a binary file"
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("JobID")) || bytes.HasPrefix(line, []byte("----")):
		looks = "the output of sacct without -P"
	case line[0] == '[' || line[0] == '{':
		looks = "JSON, but not one object per line"
	case line[0] >= '0' && line[0] <= '9' && bytes.ContainsAny(line, ",;|\t"):
		looks = "a table without a heading"
	case len(bytes.Fields(line)) > 1 && bytes.IndexByte(line, ':') < 0:
		looks = "a table separated by blanks"
	case bytes.HasSuffix(line, []byte(":")) || bytes.Contains(line, []byte(": ")):
		looks = "YAML"
	case bytes.ContainsAny(line, ",;|\t"):
		looks = "a table without a known column; --columns submit=NAME,run_time=NAME,cpus=NAME names them"
	}
	bad := input.Errorf("", input.Shown(line), wantFormat)
	if looks != "" {
		bad.Cause = fmt.Errorf("this looks like %s", looks)
	}
	return bad
}

// isTable returns a function that reports whether a line is a heading with a separator.
func isTable(separator byte) func([]byte) bool {
	return func(line []byte) bool {
		c := bytes.TrimLeft(line, `"`)
		return len(c) > 0 && (c[0] < '0' || c[0] > '9') && c[0] != '{' && c[0] != '[' && c[0] != '-' &&
			bytes.IndexByte(line, separator) > 0
	}
}

// isSacct reports whether a line is a heading of sacct -P.
func isSacct(line []byte) bool {
	for rest, more := line, bytes.IndexByte(line, '|') >= 0; more; {
		var name []byte
		name, rest, more = bytes.Cut(rest, []byte("|"))
		if string(name) == "JobID" || string(name) == "JobIDRaw" {
			return true
		}
	}
	return false
}

// A splitter splits lines into the cells of records.
type splitter struct {
	format
	bindings
	columns []binding             // columns of a table
	first   []byte                // the heading
	scratch []byte                // cells without quotes
	seen    [fieldCount][]binding // the columns of each field, by rank
}

// note records that the log has a column.
func (s *splitter) note(b binding) {
	f := b.field
	if f == fieldCount || slices.Contains(s.seen[f], b) {
		return
	}
	s.seen[f] = append(s.seen[f], b)
	slices.SortStableFunc(s.seen[f], func(a, b binding) int { return a.rank - b.rank })
}

// heads reads the heading of a table.
func (s *splitter) heads(line []byte) error {
	s.first = bytes.Clone(line)
	var names []string
	for rest, more := line, true; more; {
		var cell []byte
		var err error
		if cell, rest, more, err = s.cell(rest); err != nil {
			return err
		}
		if cell = bytes.TrimSpace(cell); len(cell) == 0 && !more && len(s.columns) > 0 {
			break // sacct -p ends lines with a separator
		}
		b := s.bind(cell)
		if b.field != fieldCount && slices.Contains(names, b.name) {
			return input.Errorf("heading", input.Shown(cell), "a unique name")
		}
		s.note(b)
		s.columns, names = append(s.columns, b), append(names, b.name)
	}
	if len(s.given) == 0 && len(s.seenNames()) == 0 {
		return unknownFormat(line)
	}
	return s.checkColumns()
}

// checkColumns rejects a log without the columns that are needed, or without one that the dialect
// names.
func (s *splitter) checkColumns() error {
	for f, row := range fields {
		if column, ok := s.given[row.name]; ok && s.seen[f] == nil {
			return input.Errorf("column "+row.name, column, "a column of this log: %s", s.shownColumns())
		}
	}
	if s.seen[fieldRunTime] == nil && (s.seen[fieldStart] == nil || s.seen[fieldEnd] == nil) {
		return input.Errorf("columns", s.shownColumns(),
			"a column of run times, or of starts and ends; --columns run_time=NAME or start=NAME,end=NAME names them")
	}
	return nil
}

// shownColumns returns the names of all columns, as in an error.
func (s *splitter) shownColumns() string { return input.Shown([]byte(strings.Join(s.names, ","))) }

// checkUsable rejects a log without a column of submissions or of processors.
func (s *splitter) checkUsable() error {
	for _, c := range []struct {
		of, name string
		fields   []field
	}{
		{"submissions", fields[fieldSubmit].name, []field{fieldSubmit}},
		{"processors", fields[fieldProcessors].name, slices.Concat(usedProcessors, requestedProcessors)},
	} {
		if !slices.ContainsFunc(c.fields, func(f field) bool { return s.seen[f] != nil }) {
			return input.Errorf("columns", s.shownColumns(), "a column of %s; --columns %s=NAME names it", c.of, c.name)
		}
	}
	return nil
}

// cell returns the first cell of the rest of a row. It is valid until the next row.
func (s *splitter) cell(rest []byte) (cell, after []byte, more bool, err error) {
	if len(rest) == 0 || rest[0] != '"' || s.separator == '|' {
		end := bytes.IndexByte(rest, s.separator)
		if end < 0 {
			return rest, nil, false, nil
		}
		return rest[:end], rest[end+1:], true, nil
	}
	from := len(s.scratch)
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] != '"':
			s.scratch = append(s.scratch, rest[i])
		case i+1 < len(rest) && rest[i+1] == '"':
			i++
			s.scratch = append(s.scratch, '"')
		case i+1 == len(rest):
			return s.scratch[from:len(s.scratch):len(s.scratch)], nil, false, nil
		case rest[i+1] == s.separator:
			return s.scratch[from:len(s.scratch):len(s.scratch)], rest[i+2:], true, nil
		default:
			return nil, nil, false, input.Errorf("cell", input.Shown(rest), "a separator after the closing quote")
		}
	}
	return nil, nil, false, input.Errorf("cell", input.Shown(rest), "a closing quote in the same line")
}

// row splits a row of a table. The row may end with a separator.
func (s *splitter) row(line []byte, rec *record) (Reason, error) {
	s.scratch = s.scratch[:0]
	count, isEmpty := 0, false
	for rest, more := line, true; more; count++ {
		var cell []byte
		var err error
		if cell, rest, more, err = s.cell(rest); err != nil {
			return 0, err
		}
		isEmpty = len(cell) == 0
		if count < len(s.columns) && s.columns[count].field != fieldCount {
			rec.set(s.columns[count], cell)
		}
	}
	if count == len(s.columns)+1 && isEmpty {
		count--
	}
	switch {
	case count != len(s.columns):
		return 0, input.Errorf("row", fmt.Sprintf("%d cells", count), "%d cells, one per column of the heading",
			len(s.columns))
	case bytes.Equal(line, s.first):
		return RepeatedHeading, nil
	}
	return 0, nil
}

// isPBS reports whether a line is an accounting record: MM/DD/YYYY HH:MM:SS;TYPE;ID;...
func isPBS(line []byte) bool {
	const form = "00/00/0000 00:00:00;"
	if len(line) < len(form)+2 || line[len(form)+1] != ';' {
		return false
	}
	for i := range len(form) {
		if isDigit := line[i] >= '0' && line[i] <= '9'; isDigit != (form[i] == '0') || !isDigit && line[i] != form[i] {
			return false
		}
	}
	return true
}

// pbs splits an accounting record of PBS or Torque. Only the record of the end of a job, E, is a
// job.
func (s *splitter) pbs(line []byte, rec *record) (Reason, error) {
	if !isPBS(line) {
		return 0, input.Errorf("record", input.Shown(line), "MM/DD/YYYY HH:MM:SS;TYPE;ID;NAME=VALUE ...")
	}
	if line[20] != 'E' {
		return OtherRecord, nil
	}
	id, rest, ok := bytes.Cut(line[22:], []byte(";"))
	if !ok {
		return 0, input.Errorf("record", input.Shown(line), "MM/DD/YYYY HH:MM:SS;TYPE;ID;NAME=VALUE ...")
	}
	number, _, _ := bytes.Cut(id, []byte(".")) // 123.server; an array task is 123[4].server
	rec.set(binding{fieldID, 0, "id"}, number)
	for len(rest) > 0 {
		pair, after, _ := bytes.Cut(rest, []byte(" "))
		key, value, ok := bytes.Cut(pair, []byte("="))
		if !ok {
			rest = after
			continue // the rest of a name with blanks
		}
		if text, behind, isQuoted := cutQuoted(rest[len(key)+1:]); isQuoted {
			value, after = text, behind
		}
		rest = after
		b := s.bind(key)
		switch {
		case b.field == fieldCount || b.field == fieldID:
			continue
		case b.field == fieldStart && string(value) == "0":
			value = value[:0] // it never started
		}
		s.note(b)
		rec.set(b, value)
	}
	return 0, nil
}

// cutQuoted returns the value in quotes with which a text starts, and the text after it; isQuoted
// reports whether there is one, before a blank or the end of the text.
func cutQuoted(text []byte) (value, after []byte, isQuoted bool) {
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return nil, nil, false
	}
	value, after, isQuoted = bytes.Cut(text[1:], text[:1])
	return value, after, isQuoted && (len(after) == 0 || after[0] == ' ')
}

// json splits an object in a line. Values that are not texts or numbers are ignored, except null,
// which is an unknown value.
func (s *splitter) json(line []byte, rec *record) (Reason, error) {
	if !json.Valid(line) || line[0] != '{' {
		var object map[string]any
		bad := input.Errorf("record", input.Shown(line), "a JSON object in one line")
		bad.Cause = json.Unmarshal(line, &object)
		return 0, bad
	}
	for i := afterBlanks(line, 1); line[i] != '}'; {
		end := valueEnd(line, i)
		key := jsonText(line[i:end])
		i = afterBlanks(line, afterBlanks(line, end)+1) // the colon
		end = valueEnd(line, i)
		if b := s.bind(key); b.field != fieldCount && line[i] != '{' && line[i] != '[' {
			s.note(b)
			rec.set(b, jsonText(line[i:end]))
		}
		if i = afterBlanks(line, end); line[i] == ',' {
			i = afterBlanks(line, i+1)
		}
	}
	return 0, nil
}

func afterBlanks(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || line[i] == '\n') {
		i++
	}
	return i
}

// valueEnd returns the end of the valid JSON value that starts at i.
func valueEnd(line []byte, i int) int {
	depth := 0
	for ; i < len(line); i++ {
		switch line[i] {
		case '"':
			for i++; line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// jsonText returns the text of a JSON value: a string without quotes and escapes, anything else as
// it is.
func jsonText(value []byte) []byte {
	if value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var plain string
	if err := json.Unmarshal(value, &plain); err != nil {
		panic(err) // cannot fail: the line is valid
	}
	return []byte(plain)
}
