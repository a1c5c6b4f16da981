package file

import (
	"productform/internal/input"
	"productform/internal/tree"
)

// A Description lists the fields of an object in a file, which is read into a T.
type Description[T any] struct {
	Want   string // in errors, such as "an object with name and capacity"
	Fields []Field[T]

	// Check refuses values that do not go together; nil for none. Its paths begin with path and a point,
	// or are fields of the file if path is "".
	Check func(v *T, path string) error

	// Patch adds to the JSON schema what fields cannot say; nil for nothing.
	Patch func(s Schema)
}

// A Field describes one field of an object.
type Field[T any] struct {
	name, doc string
	optional  bool
	last      bool
	standard  any    // what a value that is left out stands for, nil for nothing
	needs     string // another field that has to be given beside it, "" for none
	wantNeeds string // what errors say if that is missing

	read   func(sc scope, n *tree.Node, path string, v *T) error // n is nil if the field is missing
	isZero func(v *T) bool
	check  func(sc scope, path string, v *T) error
	schema func() Schema
}

// Optional returns the field as one that may be left out. Its value is then zero, which need not be in
// the range.
func (f Field[T]) Optional() Field[T] { f.optional = true; return f }

// Default returns the field as one that may be left out, which means the same as a value.
func (f Field[T]) Default(value any) Field[T] { f.optional, f.standard = true, value; return f }

// With returns the field as one that a file may have only beside another field. Want is what errors say
// of it alone.
func (f Field[T]) With(other, want string) Field[T] { f.needs, f.wantNeeds = other, want; return f }

// Last returns the field as one that is read and checked after the others, since it refers to one of
// them. In messages and in the schema it keeps its place.
func (f Field[T]) Last() Field[T] { f.last = true; return f }

// A scope has the names of the rows of the lists read or checked so far, by the names of the lists.
type scope map[string][]string

// rows returns the row of each name in a list, the first of those that have it.
func (sc scope) rows(list string) map[string]int {
	names := sc[list]
	return tree.Rows(len(names), func(i int) string { return names[i] })
}

// Read returns the value of an object. The error is an *[input.Error] with the path of the field.
func (d *Description[T]) Read(root *tree.Node) (*T, error) {
	v := new(T)
	if err := d.read(scope{}, root, "", v); err != nil {
		return nil, err
	}
	return v, nil
}

func (d *Description[T]) read(sc scope, n *tree.Node, path string, v *T) error {
	names := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		names[i] = f.name
	}
	found, err := n.Fields(path, d.Want, names...)
	if err != nil {
		return err
	}
	return d.each(func(f Field[T]) error {
		switch {
		case found[f.name] == nil && f.optional:
			return nil
		case f.needs != "" && found[f.needs] == nil:
			return input.Errorf(input.Field(path, f.name), found[f.name], "%s", f.wantNeeds)
		}
		return f.read(sc, found[f.name], input.Field(path, f.name), v)
	})
}

// CheckAll refuses a value with a field out of its range, or with fields that do not go together. The
// error is an *[input.Error] with the path of the field.
func (d *Description[T]) CheckAll(v *T) error { return d.check(scope{}, "", v) }

func (d *Description[T]) check(sc scope, path string, v *T) error {
	err := d.each(func(f Field[T]) error {
		if f.optional && f.isZero(v) {
			return nil
		}
		return f.check(sc, input.Field(path, f.name), v)
	})
	if err == nil && d.Check != nil {
		err = d.Check(v, path)
	}
	return err
}

// each calls do with each field, those that refer to others last.
func (d *Description[T]) each(do func(Field[T]) error) error {
	for _, last := range []bool{false, true} {
		for _, f := range d.Fields {
			if f.last != last {
				continue
			}
			if err := do(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// A Schema is an object of a JSON schema.
type Schema map[string]any

// Schema returns the schema of the object. It refers to the definitions name, nonnegative, positive and
// count of a larger schema.
func (d *Description[T]) Schema() Schema {
	properties, required := Schema{}, []string{}
	for _, f := range d.Fields {
		s := f.schema()
		if f.doc != "" {
			s["description"] = f.doc
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
