package file

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The tree of a text holds the same values as encoding/json.
func FuzzJSONTree(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, 2.50, "x"], "b": {"c": null, "d": true}}`,
		`[{}, [], "", "\u00e9\\\"\/\ud83d\ude00", -0.5e+3, true,false , null]`,
		` {"":{"a":[[]]} , "a":"],}:" }` + "\n",
		`7`, `"x"`, ` null`, `[1`, `{"a":}`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			return // rejected already
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var want any
		valid := d.Decode(&want) == nil && json.Valid(data)
		tree, err := parseJSON(data)
		if valid != (err == nil) {
			t.Fatalf("%v for %q", err, data)
		}
		if valid && !reflect.DeepEqual(tree.plain(), want) {
			t.Fatalf("%q\ngot  %#v\nwant %#v", data, tree.plain(), want)
		}
	})
}

// A jsonWriter writes trees with random spaces, and records the line numbers in the trees.
type jsonWriter struct {
	t *rapid.T
	b strings.Builder
}

func (w *jsonWriter) space() {
	w.b.WriteString(rapid.SampledFrom([]string{"", " ", "\n", "\r\n\t", "\n\n"}).Draw(w.t, "space"))
}

func (w *jsonWriter) value(n *Node) {
	w.space()
	if n.Line == 0 { // otherwise it has the line of its key
		n.Line = 1 + int32(strings.Count(w.b.String(), "\n"))
	}
	open, end := "[", "]"
	switch n.Kind {
	case NullKind:
		w.b.WriteString("null")
		return
	case BoolKind, NumberKind:
		w.b.WriteString(n.Text)
		return
	case TextKind:
		w.text(n.Text)
		return
	case ObjectKind:
		open, end = "{", "}"
	}
	w.b.WriteString(open)
	for i := range n.Kids {
		if i > 0 {
			w.space()
			w.b.WriteString(",")
		}
		if n.Kind == ObjectKind {
			w.space()
			n.Kids[i].Line = 1 + int32(strings.Count(w.b.String(), "\n"))
			w.text(n.Keys[i])
			w.space()
			w.b.WriteString(":")
		}
		w.value(&n.Kids[i])
	}
	w.space()
	w.b.WriteString(end)
}

func (w *jsonWriter) text(s string) {
	text, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	w.b.Write(text)
}

// A random tree, written with random spaces, reads back unchanged, with its line numbers.
func TestJSONLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawTree(t, rapid.IntRange(0, 5).Draw(t, "levels"))
		w := jsonWriter{t: t}
		w.value(&n)
		w.space()
		got, err := parseJSON([]byte(w.b.String()))
		if err != nil || !reflect.DeepEqual(*got, n) {
			t.Fatalf("%v\n%s\ngot  %s\nwant %s", err, &w.b, shape(got), shape(&n))
		}
	})
}

// plain returns a tree as encoding/json would represent it: the last of repeated keys counts.
func (n *Node) plain() any {
	switch n.Kind {
	case BoolKind:
		return n.Text == "true"
	case NumberKind:
		return json.Number(n.Text)
	case TextKind:
		return n.Text
	case ArrayKind:
		list := []any{}
		for i := range n.Kids {
			list = append(list, n.Kids[i].plain())
		}
		return list
	case ObjectKind:
		m := map[string]any{}
		for i, key := range n.Keys {
			m[key] = n.Kids[i].plain()
		}
		return m
	}
	return nil
}
