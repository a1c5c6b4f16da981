package tree

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

// The tree of a text holds the values that encoding/json finds in it.
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
			return // refused before
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

// plain returns a tree as encoding/json would: the last of repeated keys counts.
func (n *Node) plain() any {
	switch n.Kind {
	case Boolean:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case Text:
		return n.Text
	case Array:
		list := []any{}
		for i := range n.Kids {
			list = append(list, n.Kids[i].plain())
		}
		return list
	case Object:
		m := map[string]any{}
		for i, key := range n.Keys {
			m[key] = n.Kids[i].plain()
		}
		return m
	}
	return nil
}
