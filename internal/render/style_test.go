package render

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/num"
)

// A measured is a result as a library returns it.
type measured struct {
	Name  string      `json:"name" title:"class"`
	Rate  *big.Rat    `json:"rate"`
	Size  *big.Rat    `json:"size,omitempty"`
	Load  num.Value   `json:"load" below:"1"`
	Delay *num.Value  `json:"delay"`
	Kind  string      `json:"kind" zero:"null"`
	Law   []num.Value `json:"law"`
	Rows  []measured  `json:"rows"`
	Notes []int       `json:"-"`
}

// A field has the name in name, which encoding/json ignores, before that in json.
func TestRecordPrefersName(t *testing.T) {
	type sent struct {
		MeanDelay float64 `name:"delay" unit:"s"`
		Rows      []int   `name:"-"`
		Kind      string  `name:"kind" json:"k"`
	}
	want := Record{{Key: "delay", Value: 2., Unit: "s"}, {Key: "kind", Value: "a"}}
	if diff := cmp.Diff(want, Fields(sent{2, []int{1}, "a"})); diff != "" {
		t.Error(diff)
	}
}

func third(engine num.Engine) num.Value {
	v := num.Value{Float: 1. / 3}
	switch engine {
	case num.Exact:
		v.Exact = big.NewRat(1, 3)
	case num.Enclose:
		v.Low, v.High = big.NewFloat(0.25), big.NewFloat(0.5)
	}
	return v
}

// The engine decides what is written next to a number, even a missing one.
func TestStyleFollowsEngine(t *testing.T) {
	for engine, want := range map[num.Engine]string{
		num.Float: `{"name": "k", "rate": 0.5, "load": 0.3333333333333333, "delay": null, "kind": null,
			"law": [0.3333333333333333], "rows": []}`,
		num.Enclose: `{"name": "k", "rate": 0.5, "load": 0.3333333333333333, "load_low": "0.25", "load_high": "0.50",
			"delay": null, "delay_low": null, "delay_high": null, "kind": null,
			"law": [0.3333333333333333], "law_low": ["0.25"], "law_high": ["0.50"], "rows": []}`,
		num.Exact: `{"name": "k", "rate": 0.5, "rate_exact": "1/2", "load": 0.3333333333333333, "load_exact": "1/3",
			"delay": null, "delay_exact": null, "kind": null,
			"law": [0.3333333333333333], "law_exact": ["1/3"], "rows": []}`,
	} {
		m := measured{Name: "k", Rate: big.NewRat(1, 2), Load: third(engine), Law: []num.Value{third(engine)}}
		text, err := Answer{JSON: Style{Engine: engine, Digits: 2}.Record(m)}.Format("json")
		if err != nil {
			t.Fatal(err)
		}
		words := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if diff := cmp.Diff(words(want), words(string(text))); diff != "" {
			t.Errorf("%s: %s", engine, diff)
		}
	}
}

// A fraction that rounds to its boundary is written as a double on its own side of it.
func TestStyleNearBoundary(t *testing.T) {
	result := struct {
		Scale *big.Rat `json:"scale" beside:"1"`
	}{num.Rat("1.0000000000000000000001")}
	if got := (Style{}).Record(result).Get("scale").(Number).Float; got != math.Nextafter(1, 2) {
		t.Errorf("%v, want the double above 1", got)
	}
}

// Set replaces a value, or adds one before the next field.
func TestSet(t *testing.T) {
	r := Record{{Key: "a", Value: 1}, {Key: "c", Value: 3}}
	r = r.Set("b", 2, "c").Set("d", 4, "").Set("a", 0, "")
	if diff := cmp.Diff(
		Record{{Key: "a", Value: 0}, {Key: "b", Value: 2}, {Key: "c", Value: 3}, {Key: "d", Value: 4}}, r,
	); diff != "" {
		t.Error(diff)
	}
}

// Points of a list have their head in JSON, CSV and each table of text.
func TestPoints(t *testing.T) {
	point := func(scale float64, size any) Point {
		row := Record{
			{Key: "name", Value: "k"}, {Key: "mean", Value: 1.5},
			{Key: "delay", Value: Record{{Key: "p95", Value: 7.0}}},
		}
		if size != nil {
			row = row.Set("size", size, "mean")
		}
		return Point{
			Head: Record{{Key: "class", Value: "k"}, {Key: "scale", Value: scale}},
			Body: Record{
				{Key: "jobs", Value: 2.0}, {Key: "classes", Value: []Record{row}},
				{Key: "law", Value: []any{Number{Float: 0.25}, Number{Float: 0.75}}},
			},
			Sections: []Section{
				{Kind: "whole", Columns: "jobs"}, {Kind: "class", Of: "classes", Columns: "name size? mean"},
				{Of: "classes.delay"}, {Kind: "law", Of: "law", Columns: ""},
			},
		}
	}
	for _, c := range []struct {
		format string
		size   any
		want   string
	}{
		{"text", nil, "heading\n\nscale  jobs\n1      2\n2      2\n\nscale  name  mean\n1      k     1.5\n" +
			"2      k     1.5\n\n" +
			"scale  name  delay p95\n1      k     7\n2      k     7\n\n" +
			"scale  jobs  probability\n1      0     0.25\n1      1     0.75\n2      0     0.25\n2      1     0.75\n"},
		{
			"csv", 3,
			"kind,scale,class,jobs,name,size,mean,delay_p95,probability\nwhole,1,k,2,,,,,\nclass,1,k,,k,3,1.5,7,\n" +
				"law,1,k,0,,,,,0.25\nlaw,1,k,1,,,,,0.75\nwhole,2,k,2,,,,,\nclass,2,k,,k,3,1.5,7,\n" +
				"law,2,k,0,,,,,0.25\nlaw,2,k,1,,,,,0.75\n",
		},
	} {
		a := Points([]Point{point(1, c.size), point(2, c.size)}, true, []string{"kind", "scale"}, func(t *Text) {
			t.Line("heading")
		})
		text, err := a.Format(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(text)); diff != "" {
			t.Errorf("%s: %s", c.format, diff)
		}
	}
}

// Set writes values as if they were fields of a struct: nil for a nil pointer, records for structs.
func TestSetWritesGoValues(t *testing.T) {
	x := 1.5
	type row struct {
		Of *float64 `json:"of"`
	}
	r := Record{{Key: "last", Value: true}}.Set("none", (*float64)(nil), "last").Set("some", &x, "last").
		Set("names", []string{"a", "b"}, "last").Set("row", &row{&x}, "last").Set("no_row", (*row)(nil), "last").
		Set("rows", []row{{}}, "last").Set("records", []Record{{{Key: "of", Value: x}}}, "last").Set("last", nil, "")
	want := Record{{Key: "none"}, {Key: "some", Value: x}, {Key: "names", Value: []any{"a", "b"}},
		{Key: "row", Value: Record{{Key: "of", Value: x}}}, {Key: "no_row"},
		{Key: "rows", Value: []Record{{{Key: "of"}}}},
		{Key: "records", Value: []Record{{{Key: "of", Value: x}}}}, {Key: "last"}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

// In the range style, a number is written as its bounds, as doubles; a missing number has none.
func TestStyleOfRanges(t *testing.T) {
	v := num.Value{Float: 0.3, Low: big.NewFloat(0.25), High: big.NewFloat(0.5)}
	want := Number{Proof: Bounds, Low: 0.25, High: 0.5}
	if diff := cmp.Diff(want, (Style{Range: true}).Computed(&v)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Number{}, (Style{Range: true}).Computed(nil)); diff != "" {
		t.Error(diff)
	}
}

// Pick keeps the order of its arguments, and has a field for each of them.
func TestRecordPick(t *testing.T) {
	r := Record{{Key: "a", Value: 1}, {Key: "b", Value: 2, Title: "second"}, {Key: "c", Value: 3}}
	want := Record{{Key: "c", Value: 3}, {Key: "d"}, {Key: "b", Value: 2, Title: "second"}}
	if diff := cmp.Diff(want, r.Pick("c", "d", "b")); diff != "" {
		t.Error(diff)
	}
}

// Merge keeps names, units and order, takes all values, and appends new fields.
func TestRecordMerge(t *testing.T) {
	r := Record{{Key: "a", Value: 1}, {Key: "b", Value: 2, Unit: "s"}}
	want := Record{{Key: "a"}, {Key: "b", Value: 3, Unit: "s"}, {Key: "c", Value: 4}}
	if diff := cmp.Diff(want, r.Merge(Record{{Key: "c", Value: 4}, {Key: "b", Value: 3}})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Record{{Key: "a", Value: 1}, {Key: "b", Value: 2, Unit: "s"}}, r); diff != "" {
		t.Errorf("Merge changes its receiver: %s", diff)
	}
}
