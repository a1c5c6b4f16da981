package file

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"strconv"

	"productform/internal/input"
)

// Ref returns a reference to a definition that all schemas share.
func Ref(name string) Schema { return Schema{"$ref": "#/$defs/" + name} }

// Name describes the field name. [Objects] checks the names of its rows.
func Name[T any](doc string, at func(*T) *string) Field[T] { return Text("name", doc, at) }

// Rat describes a number taken exactly, within [input.Nonnegative] or [input.Positive].
func Rat[T any](name, doc string, at func(*T) **big.Rat, within string) Field[T] {
	return Field[T]{
		name: name, doc: doc, within: map[string]string{input.Nonnegative: ">= 0", input.Positive: "> 0"}[within],
		read: func(_ *Scope, n *Node, path string, v *T) (err error) {
			*at(v), err = n.Rat(path, within)
			return err
		},
		isZero: func(v *T) bool { return *at(v) == nil },
		check:  func(_ *Scope, path string, v *T) error { return input.CheckNumber(path, *at(v), within) },
		schema: func() Schema {
			return Ref(map[string]string{input.Nonnegative: "nonnegative", input.Positive: "positive"}[within])
		},
	}
}

// Float describes a number within a range, rounded to the nearest float64. Want is the text of
// errors about values that are not numbers or exceed float64.
func Float[T any](name, doc string, at func(*T) *float64, want string, within input.Range) Field[T] {
	return Field[T]{
		name: name, doc: doc, within: "in " + within.String(),
		read: func(_ *Scope, n *Node, path string, v *T) error {
			x, err := n.Rat(path, want)
			if err != nil {
				return err
			}
			f, _ := x.Float64()
			if math.IsInf(f, 0) || f == 0 && x.Sign() != 0 {
				return input.Errorf(path, n, "%s", want)
			}
			*at(v) = f
			return nil
		},
		isZero: func(v *T) bool { return *at(v) == 0 },
		check:  func(_ *Scope, path string, v *T) error { return within.Check(path, *at(v)) },
		schema: func() Schema { return Ref("nonnegative") },
	}
}

// Int describes an integer in 1..most. Want, if not empty, is the text of errors.
func Int[T any](name, doc string, at func(*T) *int, most int, want string) Field[T] {
	return integer(name, doc, at, 1, most, want, "count")
}

// Whole describes an integer in 0..most.
func Whole[T any](name, doc string, at func(*T) *int, most int) Field[T] {
	return integer(name, doc, at, 0, most, "", "nonnegative")
}

func integer[T any](name, doc string, at func(*T) *int, least, most int, want, definition string) Field[T] {
	want = cmp.Or(want, fmt.Sprintf("an integer from %d to %d", least, most))
	return Field[T]{
		name: name, doc: doc, within: fmt.Sprintf("%d..%s", least, Grouped(most)),
		read: func(_ *Scope, n *Node, path string, v *T) (err error) {
			*at(v), err = n.IntegerFrom(path, least, most, want)
			return err
		},
		isZero: func(v *T) bool { return *at(v) == 0 },
		check: func(_ *Scope, path string, v *T) error {
			if x := *at(v); x < least || x > most {
				return input.Errorf(path, x, "%s", want)
			}
			return nil
		},
		schema: func() Schema { return Ref(definition) },
	}
}

// Custom describes a field by functions. Several goroutines may call read, each for different
// objects, with a nil node if the field is missing. A nil check accepts every value. A required
// field needs no isZero, and a file that is only read needs neither isZero nor schema.
func Custom[T any](
	name, doc string, read func(sc *Scope, n *Node, path string, v *T) error,
	check func(sc *Scope, path string, v *T) error, isZero func(v *T) bool, schema func() Schema,
) Field[T] {
	if check == nil {
		check = func(*Scope, string, *T) error { return nil }
	}
	return Field[T]{name: name, doc: doc, read: read, isZero: isZero, check: check, schema: schema}
}

// Later describes a field that plain Go reads and checks after the others.
func Later[T any](name, doc string, schema Schema) Field[T] {
	nothing := func(*Scope, *Node, string, *T) error { return nil }
	return Custom(name, doc, nothing, nil, func(*T) bool { return true }, func() Schema { return maps.Clone(schema) })
}

// A Length is the accepted length of a list.
type Length struct {
	Least, Most int    // Most is 0 for any length
	One, Many   string // element of the list, such as "class" and "classes"
}

// check rejects a list of another length.
func (l Length) check(path string, n int) error {
	switch {
	case n < l.Least:
		return input.Errorf(path, "[]", "at least one %s", l.One)
	case l.Most > 0 && n > l.Most:
		return input.Errorf(path, fmt.Sprintf("%d of them", n), "at most %d %s", l.Most, l.Many)
	}
	return nil
}

func (l Length) schema(items Schema) Schema {
	s := Schema{"type": "array", "items": items}
	if l.Least > 0 {
		s["minItems"] = l.Least
	}
	return s
}

// Objects describes a list of objects. Want is the text of errors about a value that is not a list.
// If named is not nil, it returns the name of a row, and fields described by [Refs] may refer to
// the list.
func Objects[T, E any](
	name, doc, want string, at func(*T) *[]E, of *Description[E], l Length, named func(*E) string,
) Field[T] {
	add := func(sc *Scope, rows []E, read bool) {
		if named == nil {
			return
		}
		l := list{field: name, rows: rows, names: make([]string, len(rows))}
		for i := range rows {
			l.names[i] = named(&rows[i])
		}
		if read {
			l.row = RowsByName(len(rows), func(i int) string { return l.names[i] })
		}
		sc.add(l)
	}
	return Field[T]{
		name: name, doc: doc, parts: of.helpRows, isList: named != nil,
		readNames: func(sc *Scope, n *Node, path string) error {
			row, err := rowsByName(n, path, want, of.Want)
			sc.add(list{field: name, row: row})
			return err
		},
		checkNames: func(sc *Scope, v *T) { add(sc, *at(v), false) },
		read: func(sc *Scope, n *Node, path string, v *T) error {
			elements, err := n.Elements(path, want)
			if err != nil {
				return err
			}
			rows, names := make([]E, len(elements)), of.names()
			err = InParts(len(rows), func(from, to int) error {
				around, sc := sc, sc.clone()
				for i := from; i < to; i++ {
					sc.reset(around)
					rows[i] = of.Start
					if err := of.read(sc, names, &elements[i], sc.index(path, i), &rows[i]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			*at(v) = rows
			add(sc, rows, true)
			return nil
		},
		isZero: func(v *T) bool { return *at(v) == nil },
		check: func(sc *Scope, path string, v *T) error {
			rows := *at(v)
			if err := l.check(path, len(rows)); err != nil {
				return err
			}
			add(sc, rows, false)
			seen := make(map[string]int, len(rows))
			within := sc.clone()
			for i := range rows {
				within.reset(sc)
				if named != nil {
					if err := input.CheckName(seen, path, i, named(&rows[i])); err != nil {
						return err
					}
				}
				if err := of.check(within, sc.index(path, i), &rows[i]); err != nil {
					return err
				}
			}
			return nil
		},
		schema: func() Schema { return l.schema(of.Schema()) },
	}
}

// rowsByName returns the rows of a list of objects by name; names, where present, must differ.
func rowsByName(n *Node, path, want, wantRow string) (map[string]int, error) {
	elements, err := n.Elements(path, want)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]int, len(elements))
	for i := range elements {
		if elements[i].Kind != ObjectKind {
			return nil, input.Errorf(input.Index(path, i), &elements[i], "%s", wantRow)
		}
		given := elements[i].Get("name")
		if given == nil {
			continue
		}
		name, err := given.Name(input.Index(path, i) + ".name")
		if err == nil {
			err = input.CheckName(rows, path, i, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Refs describes a list of names of rows of another list, which becomes a list of the rows. In
// names the object that has each row at most once, for errors, such as "limit"; rows may repeat if
// it is "". A list missing in the file has no rows; Description.Check decides what that means.
func Refs[T any](name, doc, in string, at func(*T) *[]int, list string, l Length) Field[T] {
	want := fmt.Sprintf("an array of names of %s", l.Many)
	return Field[T]{
		name: name, doc: doc,
		read: func(sc *Scope, n *Node, path string, v *T) (err error) {
			_, rows := sc.Names(list)
			*at(v), err = DecodeList(n, path, want, func(n *Node, path string) (int, error) {
				return n.Row(path, l.One, rows)
			})
			return err
		},
		isZero: func(v *T) bool { return len(*at(v)) == 0 },
		check: func(sc *Scope, path string, v *T) error {
			rows, names := *at(v), sc.list(list).names
			if err := l.check(path, len(rows)); err != nil {
				return err
			}
			if names == nil {
				return nil
			}
			seen := make([]bool, len(names))
			for j, row := range rows {
				if err := checkRow(input.Index(path, j), row, list, names); err != nil {
					return err
				}
				if seen[row] && in != "" {
					return input.Errorf(input.Index(path, j), strconv.Quote(names[row]),
						"each %s once; it is already in this %s", l.One, in)
				}
				seen[row] = true
			}
			return nil
		},
		schema: func() Schema { return l.schema(Ref("name")) },
	}
}

func checkRow(path string, row int, list string, names []string) error {
	if row < 0 || row >= len(names) {
		return input.Errorf(path, row, "a row of %s, 0 to %d", list, len(names)-1)
	}
	return nil
}

// Pairs describes a list of pairs of names of rows of another list. One is what a row is: "class".
func Pairs[T any](name, doc string, at func(*T) *[][2]int, list, one string) Field[T] {
	want, wantPair := "an array of pairs of "+list, "two "+list+", [a, b]"
	return Field[T]{
		name: name, doc: doc,
		read: func(sc *Scope, n *Node, path string, v *T) (err error) {
			_, rows := sc.Names(list)
			row := func(n *Node, path string) (int, error) { return n.Row(path, one, rows) }
			*at(v), err = DecodeList(n, path, want, func(n *Node, path string) (pair [2]int, err error) {
				ends, err := DecodeList(n, path, wantPair, row)
				if err == nil && len(ends) != 2 {
					err = input.Errorf(path, n, "%s", wantPair)
				}
				if err != nil {
					return pair, err
				}
				return [2]int(ends), nil
			})
			return err
		},
		isZero: func(v *T) bool { return len(*at(v)) == 0 },
		check: func(sc *Scope, path string, v *T) error {
			for k, pair := range *at(v) {
				for j, row := range pair {
					at := input.Index(input.Index(path, k), j)
					if err := checkRow(at, row, list, sc.list(list).names); err != nil {
						return err
					}
				}
			}
			return nil
		},
		schema: func() Schema {
			pair := Schema{"type": "array", "minItems": 2, "maxItems": 2, "items": Ref("name")}
			return Schema{"type": "array", "items": pair}
		},
	}
}

// Either describes a field that is a single value of the given kind, or a list. Want is the text of
// errors about a value that is neither.
func Either[T any](want string, kind Kind, one, list Field[T]) Field[T] {
	f := list
	f.read = func(sc *Scope, n *Node, path string, v *T) error {
		switch {
		case n != nil && n.Kind == kind:
			return one.read(sc, n, path, v)
		case n != nil && n.Kind != ArrayKind:
			return input.Errorf(path, n, "%s", want)
		}
		return list.read(sc, n, path, v)
	}
	f.isZero = func(v *T) bool { return one.isZero(v) && list.isZero(v) }
	f.check = func(sc *Scope, path string, v *T) error {
		for _, f := range []Field[T]{one, list} {
			if f.isZero(v) {
				continue
			}
			if err := f.check(sc, path, v); err != nil {
				return err
			}
		}
		return nil
	}
	f.schema = func() Schema {
		return Schema{"if": Schema{"type": "array"}, "then": list.schema(), "else": one.schema()}
	}
	return f
}
