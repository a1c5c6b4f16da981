package file

import (
	"slices"
	"strings"

	"productform/internal/input"
)

// A Description lists the fields of an object in a file; the object is read into a T.
type Description[T any] struct {
	Want   string // in errors, such as "an object with name and capacity"
	Fields []Field[T]
	Start  T // the value before fields are read

	// Others are fields of another kind of object. The error for such a field wraps OtherKind.
	Others    []string
	OtherKind error

	// Check rejects inconsistent values; nil for no check. Its paths begin with path and a dot, or
	// are fields of the file if path is "".
	Check func(v *T, path string) error

	// Patch adds conditions to the JSON schema that fields cannot express; nil for none.
	Patch func(s Schema)
}

// A Field describes one field of an object.
type Field[T any] struct {
	name, doc string
	optional  bool
	early     bool
	standard  any    // default of a missing value, nil for none
	needs     string // another field that must also be given, "" for none
	wantNeeds string // text of the error if that is missing

	within    string // the range, for the help
	otherwise string // meaning of a missing field, for the help
	examples  []string
	parts     func(depth int) []helpRow // help rows of the objects in the field

	read   func(sc *Scope, n *Node, path string, v *T) error // n is nil if the field is missing
	isZero func(v *T) bool
	check  func(sc *Scope, path string, v *T) error
	schema func() Schema
	isList bool // a list of objects with names, to which other fields can refer

	// For a list of objects with names: whether names are known before any field is read or
	// checked.
	ahead      bool
	readNames  func(sc *Scope, n *Node, path string) error
	checkNames func(sc *Scope, v *T)
}

// Optional makes the field optional. A missing value is zero, which need not be in the range.
func (f Field[T]) Optional() Field[T] { f.optional = true; return f }

// Default makes the field optional, with the given value if it is missing.
func (f Field[T]) Default(value any) Field[T] { f.optional, f.standard = true, value; return f }

// With makes the field require another field. Want is the text of the error if the other is
// missing.
func (f Field[T]) With(other, want string) Field[T] { f.needs, f.wantNeeds = other, want; return f }

// Always makes the check apply even if the value is zero.
func (f Field[T]) Always() Field[T] { f.isZero = func(*T) bool { return false }; return f }

// Ahead lets earlier fields also refer to this field, a list of objects with names. Its names are
// read and checked before any field.
func (f Field[T]) Ahead() Field[T] { f.ahead = true; return f }

// Early causes a field of a whole file to be checked as soon as it is read.
func (f Field[T]) Early() Field[T] { f.early = true; return f }

// A Scope holds the lists, by name, of the object and of its enclosing objects that have been read
// or checked so far, or ahead.
type Scope struct {
	lists     []list // few
	withPaths bool
}

// clone returns a scope to which lists within a row can be added.
func (sc *Scope) clone() *Scope {
	return &Scope{lists: slices.Clone(sc.lists), withPaths: sc.withPaths}
}

// reset resets the lists of a scope to those of the enclosing objects, dropping those of the
// previous object.
func (sc *Scope) reset(around *Scope) { sc.lists = append(sc.lists[:0], around.lists...) }

// A list is a list of objects with names.
type list struct {
	field string
	rows  any // a []E
	names []string
	row   map[string]int // the first row with each name; nil in checks
}

// add adds a list, in place of one of the same field.
func (sc *Scope) add(l list) {
	for i := range sc.lists {
		if sc.lists[i].field == l.field {
			sc.lists[i] = l
			return
		}
	}
	sc.lists = append(sc.lists, l)
}

// list returns the list of a field, without rows if there is none.
func (sc *Scope) list(field string) list {
	for _, l := range sc.lists {
		if l.field == field {
			return l
		}
	}
	return list{}
}

// Names returns the names of the rows of a list, or nil if there is no list. When reading, it also
// returns the row of each.
func (sc *Scope) Names(list string) (names []string, row map[string]int) {
	l := sc.list(list)
	return l.names, l.row
}

// Rows returns the rows of a list of objects E, or nil if there is no list. When reading, it also
// returns the row of each name.
func Rows[E any](sc *Scope, list string) (rows []E, row map[string]int) {
	l := sc.list(list)
	rows, _ = l.rows.([]E)
	return rows, l.row
}

// index returns the path of an element of a list.
func (sc *Scope) index(path string, i int) string {
	if !sc.withPaths {
		return ""
	}
	return input.Index(path, i)
}

// twice walks without paths, since there may be millions, and again with paths if there is an
// error.
func twice(walk func(*Scope) error) error {
	if walk(&Scope{}) == nil {
		return nil
	}
	return walk(&Scope{withPaths: true})
}

// Read returns the value of an object. The error is an *[input.Error] with the path of the field.
func (d *Description[T]) Read(root *Node) (*T, error) {
	var v T
	err := twice(func(sc *Scope) error {
		v = d.Start
		return d.read(sc, d.names(), root, "", &v)
	})
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// names returns the names of the fields.
func (d *Description[T]) names() []string {
	names := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		names[i] = f.name
	}
	return names
}

func (d *Description[T]) read(sc *Scope, names []string, n *Node, path string, v *T) error {
	for i, key := range n.Keys {
		if slices.Contains(d.Others, key) {
			err := input.Errorf(input.Field(path, key), &n.Kids[i], "one of the fields %s", strings.Join(names, ", "))
			err.Cause = d.OtherKind
			return err
		}
	}
	found, err := n.Fields(path, d.Want, names...)
	if err != nil {
		return err
	}
	err = d.eachField(sc, path, func(f *Field[T], path string) error {
		if n := found[f.name]; f.ahead && (n != nil || !f.optional) {
			return f.readNames(sc, n, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.eachField(sc, path, func(f *Field[T], path string) error {
		field := found[f.name]
		switch {
		case field == nil && f.optional:
			return nil
		case f.needs != "" && found[f.needs] == nil:
			return input.Errorf(path, field, "%s", f.wantNeeds)
		}
		err := f.read(sc, field, path, v)
		if err == nil && f.early {
			err = n.AsWritten(f.check(&Scope{withPaths: sc.withPaths}, path, v))
		}
		return err
	})
}

// CheckAll rejects a value with a field out of range or with inconsistent fields. The error is an
// *[input.Error] with the path of the field.
func (d *Description[T]) CheckAll(v *T) error {
	return twice(func(sc *Scope) error { return d.check(sc, "", v) })
}

func (d *Description[T]) check(sc *Scope, path string, v *T) error {
	for _, f := range d.Fields {
		if f.ahead {
			f.checkNames(sc, v)
		}
	}
	err := d.eachField(sc, path, func(f *Field[T], path string) error {
		if f.optional && f.isZero(v) {
			return nil
		}
		return f.check(sc, path, v)
	})
	if err == nil && d.Check != nil {
		err = d.Check(v, path)
	}
	return err
}

// eachField calls do for each field and its path.
func (d *Description[T]) eachField(sc *Scope, path string, do func(f *Field[T], path string) error) error {
	for i := range d.Fields {
		f := &d.Fields[i]
		at := ""
		if sc.withPaths {
			at = input.Field(path, f.name)
		}
		if err := do(f, at); err != nil {
			return err
		}
	}
	return nil
}

// A Schema is an object of a JSON schema.
type Schema map[string]any

// Schema returns the schema of the object. It refers to the definitions name, nonnegative, positive
// and count of a larger schema.
func (d *Description[T]) Schema() Schema {
	properties, required := Schema{}, []string{}
	for _, f := range d.Fields {
		s := f.schema()
		if f.doc != "" {
			s["description"] = f.doc
		}
		if f.otherwise != "" {
			s["description"] = f.doc + "; default " + f.otherwise
		}
		if f.standard != nil {
			s["default"] = f.standard
		}
		properties[f.name] = s
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := Schema{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
	if d.Patch != nil {
		d.Patch(s)
	}
	return s
}
