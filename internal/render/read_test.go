package render

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"productform/internal/file"
	"productform/internal/input"
)

// A part of an answer has each kind of field that is read back.
type part struct {
	bounded
	Name  string    `json:"name"`
	Good  bool      `json:"good"`
	Count int       `json:"count"`
	Rows  []int     `json:"rows" zero:"[]"`
	Gap   *float64  `json:"gap"`
	Why   string    `json:"why,omitempty"`
	Parts []bounded `json:"parts"`
	Only  *bounded  `json:"only"`
}

type bounded struct {
	Delay float64  `json:"delay"`
	Below *big.Rat `json:"below" exact:"always"`
}

func drawBounded(t *rapid.T) (p bounded) {
	p.Delay = rapid.Float64Range(-1e300, 1e300).Draw(t, "delay")
	if rapid.Bool().Draw(t, "has a bound") {
		p.Below = big.NewRat(rapid.Int64().Draw(t, "below"), 3*5*7)
	}
	return p
}

func readPart(text string) (got part, err error) {
	root, err := file.Read(strings.NewReader(text), file.JSON, "an answer")
	if err == nil {
		err = Read(root, "", &got)
	}
	return got, err
}

// Values written as JSON are read back with the same digits.
func TestReadWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := part{
			bounded: drawBounded(t),
			Name:    rapid.StringMatching("[ -~é]*").Draw(t, "name"),
			Good:    rapid.Bool().Draw(t, "good"),
			Count:   rapid.Int().Draw(t, "count"),
			Why:     rapid.StringMatching("[a-z]?").Draw(t, "why"),
			Rows:    rapid.SliceOfN(rapid.Int(), 0, 3).Draw(t, "rows"),
			Parts:   rapid.SliceOfN(rapid.Custom(drawBounded), 0, 3).Draw(t, "parts"),
		}
		if rapid.Bool().Draw(t, "optional") {
			only := drawBounded(t)
			want.Only, want.Gap = &only, &only.Delay
		}
		text, err := Answer{JSON: want}.Format("json")
		if err != nil {
			t.Fatal(err)
		}
		got, err := readPart(string(text))
		options := cmp.Options{cmpopts.EquateEmpty(), cmp.AllowUnexported(part{}),
			cmp.Comparer(func(x, y *big.Rat) bool { return x == y || x != nil && y != nil && x.Cmp(y) == 0 })}
		if diff := cmp.Diff(want, got, options); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	})
}

// The error about a missing or mistyped field names it and the accepted value.
func TestReadRefuses(t *testing.T) {
	const good = `{"delay": 1, "name": "a", "good": true, "count": 2, "rows": [3], "parts": [{"delay": 4}]}`
	if _, err := readPart(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"delay": 1, `, ``, "delay is missing: want a number"},
		{`true`, `null`, "good is missing: want true or false"},
		{`true`, `1`, "good = the number 1: want true or false"},
		{`2`, `2.5`, "count = the number 2.5: want an integer"},
		{`2`, `"2"`, `count = a string "2": want an integer`},
		{`"a"`, `1`, "name = the number 1: want a string"},
		{`[3]`, `3`, "rows = the number 3: want an array of integers"},
		{`3`, `true`, "rows[0] = true: want an integer"},
		{`{"delay": 4}`, `4`, "parts[0] = the number 4: want an object"},
		{`4`, `1e999`, "parts[0].delay = the number 1e999: want a number"},
		{`4`, `4, "below_exact": "x"`, `parts[0].below_exact = "x": want a number`},
		{`"good"`, `"only": {}, "good"`, "only.delay is missing: want a number"},
	} {
		_, err := readPart(strings.Replace(good, c.old, c.new, 1))
		bad, ok := err.(*input.Error)
		if !ok {
			t.Errorf("%s: error %v", c.new, err)
			continue
		}
		if bad.Line = 0; !strings.HasPrefix(bad.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}
