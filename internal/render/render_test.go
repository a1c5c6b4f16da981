package render

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"productform/num"
)

type inner struct {
	Mean float64  `json:"mean"`
	P95  *float64 `json:"p95"`
}

type head struct {
	Scale Number `json:"scale"`
}

type row struct {
	*head
	Name     string    `json:"name" title:"class"`
	Count    int       `json:"count,omitempty"`
	Rate     Number    `json:"rate"`
	Delay    inner     `json:"delay"`
	Cutoffs  []float64 `json:"cutoffs"`
	Estimate *Estimate `json:"estimate"`
	Good     bool      `json:"good"`

	hidden int
}

type whole struct {
	Kind  string   `json:"what"`
	Rows  []row    `json:"rows"`
	Parts []Number `json:"parts"`
}

func example() Answer {
	z, half := 1.5, 0.25
	third := num.Value{Float: 1. / 3, Exact: big.NewRat(1, 3)}
	rows := []row{
		{
			Name:     "a<b",
			Rate:     Value(&third, Fraction, 0),
			Cutoffs:  []float64{1, 2.5},
			Estimate: &Estimate{1, &half, 0.95, &Theory{1.5, &z}},
			Good:     true,
		},
		{head: &head{Rat(big.NewRat(1, 2), Unproved)}, Name: "c", Count: 3, Rate: Value(nil, Fraction, 0), hidden: 1},
	}
	w := whole{"it", rows, []Number{Rat(big.NewRat(1, 2), Fraction), Rat(big.NewRat(3, 2), Fraction)}}
	return Answer{
		JSON:    w,
		Lines:   []Lines{{Kind: "whole", Of: w}, {Kind: "row", Of: rows}},
		Columns: []string{"kind", "name"},
		Text: func(t *Text) {
			t.Line("it")
			t.Table(rows, "name", "rate", "estimate", "good", "cutoffs", "scale")
		},
	}
}

func TestJSON(t *testing.T) {
	got, err := example().Format("json")
	want := `{"what": "it", "rows": [
	{"name": "a<b", "rate": 0.3333333333333333, "rate_exact": "1/3", "delay": {"mean": 0, "p95": null},
	 "cutoffs": [1, 2.5], "estimate": {"mean": 1, "half_width": 0.25, "confidence": 0.95, "exact": 1.5, "z": 1.5},
	 "good": true},
	{"scale": 0.5, "name": "c", "count": 3, "rate": null, "rate_exact": null, "delay": {"mean": 0, "p95": null},
	 "cutoffs": null, "estimate": null, "good": false}],
	"parts": [0.5, 1.5], "parts_exact": ["1/2", "3/2"]}`
	var gotTree, wantTree any
	if err != nil || json.Unmarshal(got, &gotTree) != nil || json.Unmarshal([]byte(want), &wantTree) != nil ||
		cmp.Diff(wantTree, gotTree) != "" {
		t.Errorf("%v, %s", err, cmp.Diff(wantTree, gotTree))
	}
	if !strings.Contains(string(got), `"a<b"`) {
		t.Error("the name is escaped")
	}
	if one, list := strings.Index(string(got), "what"), strings.Index(string(got), "parts_exact"); one < 0 ||
		one > list {
		t.Error("fields are not in order")
	}
}

func TestCSV(t *testing.T) {
	got, err := example().Format("csv")
	want :=
		`kind,name,what,rate,rate_exact,delay_mean,delay_p95,cutoffs,estimate,` +
			`estimate_half_width,estimate_confidence,estimate_exact,estimate_z,good,scale,count
whole,,it,,,,,,,,,,,,,
row,a<b,,0.3333333333333333,1/3,0,,1;2.5,1,0.25,0.95,1.5,1.5,true,,
row,c,,,,0,,,,,,,,false,0.5,3
`
	if err != nil || string(got) != want {
		t.Errorf("%v, %s", err, cmp.Diff(want, string(got)))
	}
}

// A list in a cell of CSV reads back as a record with semicolons, whatever its words hold.
func TestListCell(t *testing.T) {
	for _, words := range [][]string{{"a", "b"}, {"a;b", "c"}, {`say "a"`, "b;"}, {" a", "b,c"}} {
		var list []any
		for _, w := range words {
			list = append(list, w)
		}
		text, err := csvCell(list)
		if err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(strings.NewReader(text))
		r.Comma = ';'
		if got, err := r.Read(); err != nil || !slices.Equal(got, words) {
			t.Errorf("%q is written as %s and read as %q, %v", words, text, got, err)
		}
	}
}

// A misspelt column of text fails in every format. A column with ? may have no values, and a list
// no rows.
func TestMisspeltColumnPanics(t *testing.T) {
	body := Fields(whole{Kind: "it", Rows: []row{{Name: "a"}, {Name: "b", Count: 2}}})
	format := func(s Section) (failed bool) {
		defer func() { failed = recover() != nil }()
		a := Points([]Point{{Body: body, Sections: []Section{s}}}, false, nil, func(*Text) {})
		if _, err := a.Format("text"); err != nil {
			t.Fatal(err)
		}
		return false
	}
	same := func(rows []Record) []Record { return rows }
	for _, c := range []struct {
		section Section
		fails   bool
	}{
		{Section{Of: "rows", Columns: "name count good"}, false},
		{Section{Of: "rows", Columns: "name scale?"}, false},
		{Section{Of: "rows", Columns: "name scale"}, true},
		{Section{Of: "rows", Columns: "name scale", Rows: same}, true},
		{Section{Of: "parts", Columns: "jobs probabilty"}, false},
		{Section{Columns: "what"}, false},
		{Section{Columns: "waht"}, true},
		{Section{Columns: "-"}, false},
	} {
		if got := format(c.section); got != c.fails {
			t.Errorf("section %q with columns %q fails: %v, want %v", c.section.Of, c.section.Columns, got, c.fails)
		}
	}
}

func TestText(t *testing.T) {
	got, err := example().Format("text")
	want := `it
class  rate            estimate     exact  z      good  cutoffs  scale
a<b    1/3 = 0.333333  1.00 ± 0.25  1.5    +1.50  yes   1, 2.5   -
c      -               -            -      -      no    -        0.5
`
	if err != nil || string(got) != want {
		t.Errorf("%v, %s", err, cmp.Diff(want, string(got)))
	}
}

// NaN and infinite numbers are errors in JSON and in CSV.
func TestNaN(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		for _, format := range []string{"json", "csv"} {
			bad := inner{Mean: x}
			if text, err := (Answer{JSON: bad, Lines: []Lines{{Of: bad}}}).Format(format); err == nil {
				t.Errorf("%v in %s: %s", x, format, text)
			}
		}
	}
}

// Numbers close to a boundary do not read as the boundary, and those beyond the range of doubles
// have 17 digits.
func TestNumbers(t *testing.T) {
	rat := func(text string) *big.Rat { return num.Rat(text) }
	if n := RatBeside(rat("1e-400"), new(big.Rat), Fraction); n.Float != math.SmallestNonzeroFloat64 {
		t.Errorf("1e-400 is %v beside 0", n.Float)
	}
	if n := RatBeside(rat("1e400"), rat("1e399"), Fraction); n.Float != json.Number("1e+400") {
		t.Errorf("1e400 is %v beside 1e399", n.Float)
	}
	if n := Rat(rat("1e320"), Unproved); n.Float != json.Number("1e+320") {
		t.Errorf("1e320 is %v", n.Float)
	}
	far, _, _ := big.ParseFloat("2e500", 10, 100, big.ToNearestEven)
	beyond := num.Value{Low: far, High: far} // its double is 0, the nearest one
	if n := Value(&beyond, Bounds, 3); n.Float != json.Number("2e+500") {
		t.Errorf("2e500 is %+v", n)
	}
	low, high := big.NewFloat(0.25).SetPrec(100), big.NewFloat(0.25).SetPrec(100)
	for _, c := range []struct {
		n    Number
		t    Text
		want string
	}{
		{Number{Float: 1., BelowOne: true}, Text{}, "<1"},
		{Number{Float: 0.99999999, BelowOne: true}, Text{}, "0.99999999"},
		{Number{Float: 1.}, Text{}, "1"},
		{Number{}, Text{}, "-"},
		{Number{Low: 0.5, High: 1.5}, Text{}, "0.5 to 1.5"},
		{Value(&num.Value{Float: 0.25, Low: low, High: high}, Bounds, 20), Text{Digits: 20}, "0.25"},
		{Rat(rat("1234567/89"), Fraction), Text{}, "1234567/89 = 13871.5"},
		{Rat(rat("1234567/89"), Fraction), Text{Fraction: 6}, "13871.5"},
		{Rat(rat("7"), Fraction), Text{}, "7"},
		{Number{Float: json.Number("1.2345678901234567e+400")}, Text{}, "1.23457e+400"},
	} {
		if got := c.t.Cell(c.n); got != c.want {
			t.Errorf("%+v is shown as %s, want %s", c.n, got, c.want)
		}
	}
	if got := SixBeside(rat("1.00000000001"), rat("1")); got != "1 + 1e-11" {
		t.Error(got)
	}
}

// The mean is shown to the place of the second digit of the half-width.
func TestPlusMinus(t *testing.T) {
	for _, c := range []struct {
		mean, halfWidth float64
		want            string
	}{
		{2.6604, 0.04612, "2.660 ± 0.046"}, {2.664, 0.5, "2.66 ± 0.50"}, {12.34, 9.87, "12.3 ± 9.9"},
		{1234.5, 123, "1234 ± 123"},
		{5, 0, "5 ± 0"}, {1e-12, 3e-14, "1e-12 ± 3e-14"}, {1.5e12, 2e10, "1.5e+12 ± 2e+10"}, {0.5, 1e-9, "0.5 ± 1e-09"},
	} {
		if got := PlusMinus(c.mean, c.halfWidth); got != c.want {
			t.Errorf("%v ± %v is shown as %q, want %q", c.mean, c.halfWidth, got, c.want)
		}
	}
}

// An estimate without an interval is empty in CSV and null in JSON. Text shows that no run has seen
// it, or that all runs gave the same value.
func TestEstimateWithoutInterval(t *testing.T) {
	type both struct {
		Never  Estimate `json:"never"`
		Always Estimate `json:"always"`
	}
	v := both{Estimate{Confidence: 0.95}, Estimate{Mean: 1, Confidence: 0.95}}
	a := Answer{
		JSON:    v,
		Lines:   []Lines{{Kind: "both", Of: v}},
		Columns: []string{"never"},
		Text:    func(t *Text) { t.Table(v, "never", "always") },
	}
	for format, want := range map[string]string{
		"text": "never      always\nnone seen  1 in all runs\n",
		"csv": "never,kind,never_half_width,never_confidence,always,always_half_width,always_confidence\n" +
			"0,both,,0.95,1,,0.95\n",
	} {
		if out, err := a.Format(format); err != nil || !strings.HasSuffix(string(out), want) {
			t.Errorf("%s: %q, %v, want %q at its end", format, out, err, want)
		}
	}
	if out, err := a.Format("json"); err != nil || strings.Count(string(out), `"half_width": null`) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

// A quantile is shown to the place of the second digit of half the interval, and its ends are
// rounded outwards.
func TestBetween(t *testing.T) {
	for _, c := range []struct {
		value, low, high float64
		want             string
	}{
		{2.8804, 2.86523, 2.89652, "2.880 [2.865, 2.897]"}, {12.34, 9.86, 22.01, "12.3 [9.8, 22.1]"},
		{1234.5, 1000, 1500, "1234 [1000, 1500]"},
		{1.25, 1.25, 1.25, "1.25 [1.25, 1.25]"}, {1e-12, 9.5e-13, 1.1e-12, "1e-12 [9.5e-13, 1.1e-12]"},
		{5e12, 4e12, 6e12, "5e+12 [4e+12, 6e+12]"},
		{0.3, 0.28765, 0.31, "0.300 [0.287, 0.310]"},
	} {
		if got := Between(c.value, c.low, c.high); got != c.want {
			t.Errorf("%v in [%v, %v] is shown as %q, want %q", c.value, c.low, c.high, got, c.want)
		}
	}
}

// In CSV a quantile is in the column named like its field, followed by the rest.
func TestQuantileIsFlat(t *testing.T) {
	z := 0.5
	delay := Record{{Key: "p99", Value: Fields(Quantile{3, 2, 4, 0.95, 100, &Theory{2.5, &z}})}, {Key: "p99.9"}}
	var keys []string
	for _, f := range (Record{{Key: "delay", Value: delay}}).Flat() {
		keys = append(keys, f.Key)
	}
	if diff := cmp.Diff(strings.Fields("delay_p99 delay_p99_low delay_p99_high delay_p99_confidence delay_p99_jobs "+
		"delay_p99_exact delay_p99_z delay_p99.9"), keys); diff != "" {
		t.Error(diff)
	}
	var text Text
	text.Table([]Record{append(Record{{Key: "name", Value: "a"}}, delay...)}, "name", "p99", "p99.9")
	if want := "name  p99             exact  z      p99.9\n" +
		"a     3.0 [2.0, 4.0]  2.5    +0.50  -\n\n"; text.String() != want {
		t.Errorf("%q", text.String())
	}
}

// A fraction lies between its roundings down and up, which have six digits. They differ by one unit
// of the last digit, unless they equal the fraction.
func TestSixDownUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "above"), rapid.Int64Range(1, 1<<40).Draw(t, "below"))
		down, _ := new(big.Rat).SetString(SixDown(v))
		up, _ := new(big.Rat).SetString(SixUp(v))
		gap := new(big.Rat).Sub(up, down)
		if down.Cmp(v) > 0 || up.Cmp(v) < 0 || gap.Quo(gap, v).Cmp(big.NewRat(1, 99_999)) > 0 ||
			(gap.Sign() == 0) != (down.Cmp(v) == 0) {
			t.Fatalf("%v: %v and %v", v, down, up)
		}
	})
	for v, want := range map[string][2]string{
		"2":               {"2", "2"},
		"1840757/1000000": {"1.84075", "1.84076"},
		"9999995/1000":    {"9999.99", "10000"},
		"1234567":         {"1.23456e+06", "1.23457e+06"},
	} {
		x, _ := new(big.Rat).SetString(v)
		if got := [2]string{SixDown(x), SixUp(x)}; got != want {
			t.Errorf("%s: %v, want %v", v, got, want)
		}
	}
}

// In CSV the kind of a row replaces that of its section. A section may be a list in a record or in
// rows without a name.
func TestSectionsOfRecords(t *testing.T) {
	type row struct {
		Kind string `json:"kind"`
		Cost int    `json:"cost"`
	}
	type edge struct {
		Class  string `json:"class"`
		Server string `json:"server"`
		Good   bool   `json:"good"`
		Pays   []row  `json:"pays"`
	}
	type proof struct {
		Rows []row `json:"rows"`
	}
	body := Fields(struct {
		Proof proof  `json:"proof"`
		Edges []edge `json:"edges"`
	}{proof{[]row{{"a", 1}, {"b", 2}}}, []edge{{"c", "s", true, []row{{"d", 3}}}}})
	sections := []Section{{Kind: "row", Of: "proof.rows"}, {Kind: "pays", Of: "edges.pays"},
		{Kind: "edge", Of: "edges"}}
	got, err := Points([]Point{{Body: body, Sections: sections}}, false, nil, func(*Text) {}).Format("csv")
	const want = "kind,cost,class,server,good\na,1,,,\nb,2,,,\nd,3,c,s,\nedge,,c,s,true\n"
	if err != nil || string(got) != want {
		t.Errorf("%v: %s, want %s", err, got, want)
	}
}
