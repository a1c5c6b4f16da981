package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// drawValue draws a value of an answer with at most the given nesting, and returns what a JSON
// decoder makes of it.
func drawValue(t *rapid.T, depth int) (v, decoded any) {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	switch {
	case kind == 0:
		return nil, nil
	case kind == 1:
		b := rapid.Bool().Draw(t, "bool")
		return b, b
	case kind <= 3:
		s := rapid.OneOf(rapid.StringMatching(`[ -~]{0,9}`), rapid.String(), rapid.SampledFrom([]string{
			"<a&b>", "\u2028", "\"\\/", "é",
		})).Draw(t, "string")
		return s, s
	case kind == 4 || depth == 0:
		f := rapid.Float64Range(-1e300, 1e300).Draw(t, "float")
		return f, f
	case kind == 5:
		list, all := []any{}, []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			x, y := drawValue(t, depth-1)
			list, all = append(list, x), append(all, y)
		}
		return list, all
	case kind == 6:
		rows, all := []Record{}, []any{}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			r, m := drawRecord(t, depth-1)
			rows, all = append(rows, r), append(all, m)
		}
		return rows, all
	}
	return drawRecord(t, depth-1)
}

func drawRecord(t *rapid.T, depth int) (Record, any) {
	r, m := Record{}, map[string]any{}
	for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
		key := fmt.Sprint("key", i)
		v, decoded := drawValue(t, depth)
		r, m[key] = append(r, Field{Key: key, Value: v}), decoded
	}
	return r, m
}

// Decoding returns what was written, and the layout is that of encoding/json.
func TestAppendJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, want := drawValue(t, 3)
		text, err := appendJSON(nil, v, "\n")
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) { // maps are printed in the order of their keys
			t.Fatalf("%s is %#v, want %#v", text, got, want)
		}
		var laidOut bytes.Buffer
		if err := json.Indent(&laidOut, text, "", "  "); err != nil || laidOut.String() != string(text) {
			t.Fatalf("got\n%s\nwant\n%s, %v", text, laidOut.String(), err)
		}
	})
}
