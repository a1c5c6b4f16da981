package render

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"

	"productform/internal/file"
	"productform/internal/input"
)

// Read reads into a struct, which v points to, from an object that was written from such a struct
// as JSON. It reads a number with exact:"always" from its fraction. Pointers may be missing, as may
// fields with omitempty. The object may have fields that the struct does not have. The error is an
// *[input.Error] with the path of the field.
func Read(n *file.Node, path string, v any) error {
	return readFields(n, path, reflect.ValueOf(v).Elem())
}

func read(n *file.Node, path string, v reflect.Value) (err error) {
	if n != nil && n.Kind == file.NullKind {
		n = nil
	}
	want := map[reflect.Kind]string{
		reflect.Bool:    "true or false",
		reflect.Int:     "an integer",
		reflect.Float64: "a number",
		reflect.String:  "a string",
		reflect.Struct:  "an object",
	}[v.Kind()]
	fraction, isFraction := v.Addr().Interface().(**big.Rat)
	switch {
	case n == nil && v.Kind() == reflect.Pointer:
		return nil
	case isFraction:
		*fraction, err = n.Rat(path, "a number")
		return err
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return read(n, path, v.Elem())
	case v.Kind() == reflect.Slice:
		of := map[reflect.Kind]string{reflect.Int: " of integers"}[v.Type().Elem().Kind()]
		list, err := n.Elements(path, "an array"+of)
		if err != nil {
			return err
		}
		v.Grow(len(list))
		v.SetLen(len(list)) // an empty list is nil
		for i := range list {
			if err := read(&list[i], input.Index(path, i), v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case n == nil:
		return input.Errorf(path, "", "%s", want)
	case v.Kind() == reflect.Struct && n.Kind == file.ObjectKind:
		return readFields(n, path, v)
	case v.Kind() == reflect.String && n.Kind == file.TextKind:
		v.SetString(n.Text)
		return nil
	case n.Kind <= file.NumberKind && json.Unmarshal([]byte(n.Text), v.Addr().Interface()) == nil:
		return nil
	}
	return input.Errorf(path, n, "%s", want)
}

func readFields(n *file.Node, path string, v reflect.Value) error {
	for _, f := range namedFields(v.Type()) {
		name, at := f.name, v.Field(f.index)
		if f.embedded {
			if err := readFields(n, path, at); err != nil {
				return err
			}
			continue
		}
		if f.exact {
			name += "_exact"
		}
		var kid *file.Node
		if i := slices.Index(n.Keys, name); i >= 0 {
			kid = &n.Kids[i]
		} else if f.omitEmpty {
			continue
		}
		if err := read(kid, input.Field(path, name), at); err != nil {
			return err
		}
	}
	return nil
}
