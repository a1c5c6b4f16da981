package render

import (
	"fmt"
	"slices"
	"strings"
)

// A Section is a part of an answer: lines in CSV and a table in text.
type Section struct {
	Kind string // the word in the column kind of CSV unless rows have their own; "" for no lines
	Of   string // "" is the answer itself, "classes" a list in it, "classes.delay" one in each row, or in a record

	// Columns lists the columns of text, separated by spaces; "" means all plain fields, "-" no
	// table. A column with ? is omitted unless a row has a value; every other column must be a
	// field of some row.
	Columns string

	Rows          func([]Record) []Record // the rows of text if they differ from those of CSV
	Before, After string                  // lines of text around the table
}

// A Point is the answer for one value of the parameter that a command varies.
type Point struct {
	Head     Record // first fields in JSON and CSV; text shows the last of them in each table
	Body     Record
	Sections []Section
}

// Points returns an answer of several points: a list, or only the first one if list is false.
// columns are the first columns of CSV, and heading writes the lines above the tables of text. It
// panics if a section has rows without a column of its text.
func Points(points []Point, list bool, columns []string, heading func(*Text)) Answer {
	a := Answer{Columns: columns}
	var objects []Record
	var sections []Section
	for _, p := range points {
		objects = append(objects, slices.Concat(p.Head, p.Body))
		for _, s := range p.Sections {
			rows := s.rows(p.Body)
			if s.Rows == nil {
				s.check(rows)
			}
			if s.Kind != "" || s.Of == "" && len(points) == 1 {
				a.Lines = append(a.Lines, Lines{Kind: s.Kind, Head: p.Head, Of: rows})
			}
			if !slices.ContainsFunc(sections, s.isLike) {
				sections = append(sections, s)
			}
		}
	}
	a.JSON = objects
	if !list {
		a.JSON = objects[0]
	}
	a.Text = func(t *Text) {
		heading(t)
		t.Line("")
		for _, s := range sections {
			s.table(t, points)
		}
	}
	return a
}

// check panics if there are rows and a column that none of them has: its name is misspelt.
func (s Section) check(rows []Record) {
	for _, c := range strings.Fields(s.Columns) {
		has := func(r Record) bool { return slices.ContainsFunc(r, func(f Field) bool { return f.Key == c }) }
		if len(rows) > 0 && c != "-" && !strings.HasSuffix(c, "?") && !slices.ContainsFunc(rows, has) {
			// a broken invariant of the program
			panic(fmt.Sprintf("render: no row of section %q has the column %s", s.Of, c))
		}
	}
}

func (s Section) isLike(other Section) bool {
	return s.Kind == other.Kind && s.Of == other.Of && s.Columns == other.Columns
}

// table writes a section of all points.
func (s Section) table(t *Text, points []Point) {
	if s.Columns == "-" {
		return
	}
	var rows []Record
	columns := strings.Fields(s.Columns)
	for _, p := range points {
		k := slices.IndexFunc(p.Sections, s.isLike)
		if k < 0 {
			continue
		}
		some := s.rows(p.Body)
		if own := p.Sections[k]; own.Rows != nil {
			some = own.Rows(some)
			own.check(some)
		}
		if s.Columns == "" && len(some) > 0 && len(columns) == 0 {
			columns = some[0].plain()
		}
		for _, r := range some {
			rows = append(rows, slices.Concat(p.Head, r))
		}
	}
	if len(rows) == 0 {
		return
	}
	columns = slices.DeleteFunc(columns, func(c string) bool {
		c, isOptional := strings.CutSuffix(c, "?")
		return isOptional && !slices.ContainsFunc(rows, func(r Record) bool { return r.Get(c) != nil })
	})
	for i, c := range columns {
		columns[i] = strings.TrimSuffix(c, "?")
	}
	if head := points[0].Head; len(head) > 0 {
		columns = slices.Insert(columns, 0, head[len(head)-1].Key)
	}
	if s.Before != "" {
		t.Line("%s", s.Before)
	}
	t.Table(rows, columns...)
	if s.After != "" {
		t.Line("%s", s.After)
	}
}

// rows returns the rows of a section of an answer.
func (s Section) rows(body Record) []Record {
	if s.Of == "" {
		return []Record{body}
	}
	of, inner, isInner := strings.Cut(s.Of, ".")
	if !isInner {
		return listRows(nil, of, body.Get(of))
	}
	if r, isRecord := body.Get(of).(Record); isRecord {
		return listRows(nil, inner, r.Get(inner))
	}
	var rows []Record
	for _, r := range listRows(nil, of, body.Get(of)) {
		rows = append(rows, listRows(r.names(), inner, r.Get(inner))...)
	}
	return rows
}

// names returns the fields that identify a row: its field name or, without one, its leading texts.
func (r Record) names() Record {
	end := slices.IndexFunc(r, func(f Field) bool { _, isText := f.Value.(string); return !isText })
	if f := r.field("name"); f.Value != nil || end < 0 {
		return Record{f}
	}
	return r[:end]
}

// listRows returns the rows of a list, or of a record in a row, with a head. A list of numbers or
// of estimates is a distribution of the number of jobs.
func listRows(head Record, key string, list any) []Record {
	law := func(jobs int, probability any) Record {
		return slices.Concat(head, Record{{Key: "jobs", Value: jobs}, {Key: "probability", Value: probability}})
	}
	var rows []Record
	switch list := list.(type) {
	case Record:
		return []Record{slices.Concat(head, Record{{Key: key, Value: list}}.Flat())}
	case []any:
		for jobs, p := range list {
			rows = append(rows, law(jobs, p))
		}
	case []Record:
		for i, r := range list {
			if isEstimate(r) {
				rows = append(rows, law(i, r))
			} else {
				rows = append(rows, slices.Concat(head, r))
			}
		}
	}
	return rows
}

// plain returns the names of the fields that a table can show.
func (r Record) plain() []string {
	var names []string
	for _, f := range r {
		if _, isList := f.Value.([]Record); !isList {
			names = append(names, f.Key)
		}
	}
	return names
}
