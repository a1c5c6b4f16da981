package render

import (
	"cmp"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"productform/num"
)

// A Record holds the fields of a struct in order.
type Record []Field

// A Field is one entry of an answer.
type Field struct {
	Key string // name in JSON and CSV
	// nil, bool, string, int, float64, json.Number, [Number], Record, []Record or a list of such
	// values
	Value       any
	Title, Unit string
}

// Get returns the value of a field, nil if there is none.
func (r Record) Get(key string) any { return r.field(key).Value }

func (r Record) field(key string) Field {
	if i := r.index(key); i >= 0 {
		return r[i]
	}
	return Field{Key: key}
}

// Set sets the value of a field, in place if the record has it, otherwise before the field called
// next, or at the end if there is no such field. The value is converted like a field of a struct:
// nil for a nil pointer, a record for a struct.
func (r Record) Set(key string, value any, next string) Record {
	switch value.(type) {
	case nil, []Record, []any:
	default:
		value = Style{}.valueOf(reflect.ValueOf(value), namedField{}, map[reflect.Type][]namedField{})
	}
	if i := r.index(key); i >= 0 {
		r[i].Value = value
		return r
	}
	return r.Insert(next, Field{Key: key, Value: value})
}

// Insert puts fields before the one called next, or at the end if there is no such field.
func (r Record) Insert(next string, fields ...Field) Record {
	i := r.index(next)
	if i < 0 {
		i = len(r)
	}
	return slices.Insert(r, i, fields...)
}

// Pick returns the given fields in order; fields that the record lacks have no value.
func (r Record) Pick(keys ...string) Record {
	picked := make(Record, len(keys))
	for i, key := range keys {
		picked[i] = r.field(key)
	}
	return picked
}

// Merge returns the fields of a record with their values in another record, nil if it has none,
// followed by the other fields of that record.
func (r Record) Merge(other Record) Record {
	merged := slices.Clone(r)
	for i, f := range r {
		merged[i].Value = other.Get(f.Key)
	}
	for _, f := range other {
		if r.index(f.Key) < 0 {
			merged = append(merged, f)
		}
	}
	return merged
}

func (r Record) index(key string) int {
	return slices.IndexFunc(r, func(f Field) bool { return f.Key == key })
}

// Fields returns the fields of a struct without a style.
func Fields(v any) Record { return Style{}.Record(v) }

// Rows returns the fields of each struct of a list, of one struct, or of what a pointer points to;
// none for nil.
func Rows(v any) []Record { return Style{}.Rows(v) }

// A namedField is a field of a struct with the data of its tags.
type namedField struct {
	index       int
	embedded    bool // its fields are written in place
	name        string
	omitEmpty   bool
	zero        string // what a zero value is written as: "null", "[]", or "" for itself
	exact       bool   // its fraction is written in every style
	belowOne    bool
	beside      *big.Rat // the boundary of [RatBeside], nil for none
	title, unit string
}

// namedFields returns the fields of a struct that are written.
func namedFields(t reflect.Type) []namedField {
	all := make([]namedField, 0, t.NumField())
	for i := range t.NumField() {
		at := t.Field(i)
		tag := cmp.Or(at.Tag.Get("name"), at.Tag.Get("json"))
		switch {
		case at.Anonymous && tag == "":
			all = append(all, namedField{index: i, embedded: true})
			continue
		case tag == "-" || !at.IsExported():
			continue
		case tag == "":
			// a broken invariant of the program
			panic(fmt.Sprintf("render: field %s of %v has no name in a tag", at.Name, t))
		}
		name, options, _ := strings.Cut(tag, ",")
		beside, _ := new(big.Rat).SetString(at.Tag.Get("beside"))
		all = append(all, namedField{
			i, false, name, options == "omitempty", at.Tag.Get("zero"), at.Tag.Get("exact") == "always",
			at.Tag.Get("below") == "1", beside, at.Tag.Get("title"), at.Tag.Get("unit"),
		})
	}
	return all
}

// fieldsOf returns the fields of a struct; named caches the tags of types.
func (s Style) fieldsOf(v reflect.Value, named map[reflect.Type][]namedField) Record {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	t := v.Type()
	fields, ok := named[t]
	if !ok {
		fields = namedFields(t)
		named[t] = fields
	}
	r := make(Record, 0, len(fields))
	for _, f := range fields {
		switch inner := v.Field(f.index); {
		case f.embedded:
			if inner.Kind() != reflect.Pointer || !inner.IsNil() {
				r = append(r, s.fieldsOf(inner, named)...)
			}
		case f.omitEmpty && inner.IsZero():
		case f.zero == "null" && inner.IsZero():
			r = append(r, Field{f.name, nil, f.title, f.unit})
		case f.zero == "[]" && inner.IsNil():
			r = append(r, Field{f.name, []any{}, f.title, f.unit})
		default:
			r = append(r, Field{f.name, s.valueOf(inner, f, named), f.title, f.unit})
		}
	}
	return r
}

// valueOf returns a value as a [Field] holds it. A list of structs is a list of records even if it
// is nil, and a list of numbers that is nil is null.
func (s Style) valueOf(v reflect.Value, f namedField, named map[reflect.Type][]namedField) any {
	if n, ok := s.number(v, f); ok {
		return n
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return s.valueOf(v.Elem(), f, named)
	case reflect.Struct:
		return s.fieldsOf(v, named)
	case reflect.String:
		if v.Type().PkgPath() != "encoding/json" { // not json.Number, which is written without quotes
			return v.String()
		}
	case reflect.Slice:
		switch r := v.Interface().(type) {
		case Record, []Record:
			return r
		}
		elem := v.Type().Elem()
		for elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		switch {
		case elem.Kind() == reflect.Struct && !isNumberType(elem):
			return s.rowsOf(v, named)
		case v.IsNil():
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = s.valueOf(v.Index(i), f, named)
		}
		return list
	}
	return v.Interface()
}

func isNumberType(t reflect.Type) bool {
	return t == reflect.TypeFor[Number]() || t == reflect.TypeFor[num.Value]() || t == reflect.TypeFor[big.Rat]()
}

// Flat moves the fields of inner records up to the outer record under longer names: the field p95
// of response becomes response_p95. An estimate becomes its mean or quantile, under the name of the
// estimate, followed by the rest.
func (r Record) Flat() Record {
	var flat Record
	for _, f := range r {
		inner, ok := f.Value.(Record)
		if !ok {
			flat = append(flat, f)
			continue
		}
		for _, g := range inner.Flat() {
			key := f.Key + "_" + g.Key
			if g.Key == "mean" && isEstimate(inner) || g.Key == "estimate" && isQuantile(inner) {
				key = f.Key
			}
			unit := f.Unit
			if g.Unit != "" {
				unit = g.Unit
			}
			flat = append(flat, Field{Key: key, Value: g.Value, Unit: unit})
		}
	}
	return flat
}

// expanded inserts fractions and bounds: those of a number after it, and those of a list of numbers,
// as lists, after the list.
func (r Record) expanded() Record {
	var out Record
	for _, f := range r {
		n, ok := f.Value.(Number)
		list, _ := f.Value.([]any)
		switch {
		case ok:
			out = append(out, n.fields(f.Key)...)
		case len(list) > 0 && isNumber(list[0]):
			lists := list[0].(Number).fields(f.Key)
			for i := range lists {
				column := make([]any, len(list))
				for k, x := range list {
					column[k] = x.(Number).fields(f.Key)[i].Value
				}
				lists[i].Value = column
			}
			out = append(out, lists...)
		default:
			out = append(out, f)
		}
	}
	return out
}

func isNumber(v any) bool {
	_, ok := v.(Number)
	return ok
}
