package file

import (
	"slices"
	"strconv"
	"strings"

	"productform/internal/input"
)

// Text describes a name that refers to nothing else in the file. Description.Check may restrict it.
func Text[T any](name, doc string, at func(*T) *string) Field[T] {
	return Field[T]{
		name: name, doc: doc,
		read: func(_ *Scope, n *Node, path string, v *T) (err error) {
			*at(v), err = n.Name(path)
			return err
		},
		isZero: func(v *T) bool { return *at(v) == "" },
		check:  func(*Scope, string, *T) error { return nil },
		schema: func() Schema { return Ref("name") },
	}
}

// Word describes one of several words. For the names in elsewhere, in lower case, which other
// programs use, errors suggest the word to use here.
func Word[T any, S ~string](name, doc string, at func(*T) *S, words []S, elsewhere map[string]S) Field[T] {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	want, within := all[0], "always "+all[0]
	if len(all) > 1 {
		want = "one of " + strings.Join(all, ", ")
		within = want
	}
	refuse := func(path string, value any, word string) error {
		hint := DidYouMean(word, slices.Values(all), strconv.Quote)
		if w, ok := elsewhere[strings.ToLower(word)]; ok {
			hint = "; that is " + string(w) + " here"
		}
		return input.Errorf(path, value, "%s%s", want, hint)
	}
	return Field[T]{
		name: name, doc: doc, within: within,
		read: func(_ *Scope, n *Node, path string, v *T) error {
			if n == nil || n.Kind != TextKind || n.Text == "" { // "" would pass as a missing word
				return refuse(path, shown(n), "")
			}
			*at(v) = S(strings.Clone(n.Text))
			return nil
		},
		isZero: func(v *T) bool { return *at(v) == "" },
		check: func(_ *Scope, path string, v *T) error {
			switch w := *at(v); {
			case w == "":
				return refuse(path, "", "")
			case !slices.Contains(words, w):
				return refuse(path, strconv.Quote(string(w)), string(w))
			}
			return nil
		},
		schema: func() Schema { return Schema{"enum": all} },
	}
}

// shown returns a value for a message, nil if it is missing.
func shown(n *Node) any {
	if n == nil {
		return ""
	}
	return n
}

// Bool describes a truth value.
func Bool[T any](name, doc string, at func(*T) *bool) Field[T] {
	return Field[T]{
		name: name, doc: doc,
		read: func(_ *Scope, n *Node, path string, v *T) error {
			if n == nil || n.Kind != BoolKind {
				return input.Errorf(path, shown(n), "true or false")
			}
			*at(v) = n.Text == "true"
			return nil
		},
		isZero: func(v *T) bool { return !*at(v) },
		check:  func(*Scope, string, *T) error { return nil },
		schema: func() Schema { return Schema{"type": "boolean"} },
	}
}

// Row describes the name of a row of another list, read as the number of the row. One names a row,
// such as "class".
func Row[T any](name, doc string, at func(*T) *int, list, one string) Field[T] {
	return Field[T]{
		name: name, doc: doc,
		read: func(sc *Scope, n *Node, path string, v *T) (err error) {
			_, rows := sc.Names(list)
			*at(v), err = n.Row(path, one, rows)
			return err
		},
		isZero: func(*T) bool { return false },
		check: func(sc *Scope, path string, v *T) error {
			names, _ := sc.Names(list)
			return checkRow(path, *at(v), list, names)
		},
		schema: func() Schema { return Ref("name") },
	}
}

// Itself returns its argument: an element of a [List] is the whole value that its field describes.
func Itself[E any](v *E) *E { return v }

// List describes a list of elements, each described by a field without a name:
//
//	file.List("rates", "", "an array of rates", func(s *Station) *[]*big.Rat { return &s.Rates },
//		file.Rat("", "", file.Itself[*big.Rat], input.Positive), file.Length{})
//
// Want is the text of errors about a value that is not a list. Elements may be zero if the field is
// optional.
func List[T, E any](name, doc, want string, at func(*T) *[]E, of Field[E], l Length) Field[T] {
	return Field[T]{
		name: name, doc: doc, within: of.within, parts: of.parts,
		read: func(sc *Scope, n *Node, path string, v *T) error {
			elements, err := n.Elements(path, want)
			if err != nil {
				return err
			}
			*at(v) = make([]E, len(elements))
			for i := range elements {
				if err := of.read(sc, &elements[i], sc.index(path, i), &(*at(v))[i]); err != nil {
					return err
				}
			}
			return nil
		},
		isZero: func(v *T) bool { return *at(v) == nil },
		check: func(sc *Scope, path string, v *T) error {
			elements := *at(v)
			if err := l.check(path, len(elements)); err != nil {
				return err
			}
			for i := range elements {
				if of.optional && of.isZero(&elements[i]) {
					continue
				}
				if err := of.check(sc, sc.index(path, i), &elements[i]); err != nil {
					return err
				}
			}
			return nil
		},
		schema: func() Schema { return l.schema(of.schema()) },
	}
}

// Object describes an object within the object: its pointer, nil if there is none, or the address
// of a pointer to a part of the struct.
func Object[T, E any](name, doc string, at func(*T) **E, of *Description[E]) Field[T] {
	return Field[T]{
		name: name, doc: doc, parts: of.helpRows,
		read: func(sc *Scope, n *Node, path string, v *T) error {
			if n == nil {
				return input.Errorf(path, "", "%s", of.Want)
			}
			e := at(v)
			if *e == nil {
				*e = new(E)
			}
			**e = of.Start
			return of.read(sc, of.names(), n, path, *e)
		},
		isZero: func(v *T) bool { return *at(v) == nil },
		check: func(sc *Scope, path string, v *T) error {
			if *at(v) == nil {
				return input.Errorf(path, "", "%s", of.Want)
			}
			return of.check(sc, path, *at(v))
		},
		schema: func() Schema { return of.Schema() },
	}
}
