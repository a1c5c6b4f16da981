package file_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/internal/file"
	"productform/internal/input"
)

// A line is the test object: stops that refer to depots listed after them.
type line struct {
	Night  bool
	Kind   kind
	Stops  []stop
	Depots []depot
	Owner  *owner
	Fares  [][]*big.Rat
}

type kind string

type stop struct {
	Depot int
	Wait  int
	Doors int
}

type depot struct{ Name string }

type owner struct{ City string }

var lineFile = file.Description[line]{Want: "an object with stops and depots", Fields: []file.Field[line]{
	file.Bool("night", "", func(l *line) *bool { return &l.Night }).Default(false),
	file.Word(
		"kind", "", func(l *line) *kind { return &l.Kind }, []kind{"bus", "tram"}, map[string]kind{"streetcar": "tram"},
	),
	file.Objects("stops", "", "an array of stops", func(l *line) *[]stop { return &l.Stops },
		&file.Description[stop]{Want: "an object with depot", Start: stop{Doors: 2}, Fields: []file.Field[stop]{
			file.Row("depot", "", func(s *stop) *int { return &s.Depot }, "depots", "depot"),
			file.Whole("wait", "", func(s *stop) *int { return &s.Wait }, 60).Optional(),
			file.Int("doors", "", func(s *stop) *int { return &s.Doors }, 4, "").Default(2).Always(),
		}}, file.Length{}, nil),
	file.Objects("depots", "", "an array of depots", func(l *line) *[]depot { return &l.Depots },
		&file.Description[depot]{Want: "an object with name", Fields: []file.Field[depot]{
			file.Name("", func(d *depot) *string { return &d.Name }),
		}}, file.Length{Least: 1, One: "depot", Many: "depots"}, func(d *depot) string { return d.Name }).Ahead(),
	file.Object("owner", "", func(l *line) **owner { return &l.Owner },
		&file.Description[owner]{Want: "an object with city", Fields: []file.Field[owner]{
			file.Text("city", "", func(o *owner) *string { return &o.City }),
		}}),
	file.List("fares", "", "an array of rows", func(l *line) *[][]*big.Rat { return &l.Fares },
		file.List("", "", "an array of fares", file.Itself[[]*big.Rat],
			file.Rat("", "", file.Itself[*big.Rat], input.Positive).Optional(), file.Length{}),
		file.Length{Most: 2, One: "row", Many: "rows"}).Optional(),
}}

func goodLine() *line {
	return &line{Kind: "tram", Stops: []stop{{Depot: 1, Doors: 2}, {Depot: 0, Wait: 3, Doors: 1}},
		Depots: []depot{{"a"}, {"b"}}, Owner: &owner{"Graz"},
		Fares: [][]*big.Rat{{big.NewRat(1, 2), big.NewRat(3, 1)}, {}}}
}

const validText = `kind: tram
stops: [{depot: b}, {depot: a, wait: 3, doors: 1}]
depots: [{name: a}, {name: b}]
owner: {city: Graz}
fares: [[1/2, 3], []]
`

func readLine(t *testing.T, text string) (*line, error) {
	t.Helper()
	root, err := file.Read(strings.NewReader(text), file.YAML, "a line")
	if err != nil {
		t.Fatal(err)
	}
	return lineFile.Read(root)
}

func TestReadFields(t *testing.T) {
	l, err := readLine(t, validText)
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	if diff := cmp.Diff(goodLine(), l, same); diff != "" {
		t.Error(diff)
	}
	if err := lineFile.CheckAll(l); err != nil {
		t.Error(err)
	}
}

// Each edit of the text is rejected with the path, the value and the accepted values.
func TestReadBadFields(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"kind: tram", "kind: tram\nnight: 1", "night = the number 1: want true or false"},
		{"kind: tram", "kind: [tram]", "kind = an array: want one of bus, tram"},
		{"kind: tram\n", "", "kind is missing: want one of bus, tram"},
		{"depot: a", "depot: c", `stops[1].depot = "c": want the name of a depot: "a", "b"`},
		{"wait: 3", "wait: -1", "stops[1].wait = -1: want an integer from 0 to 60"},
		{"wait: 3", "wait: 61", "stops[1].wait = 61: want an integer from 0 to 60"},
		{"doors: 1", "doors: 0", "stops[1].doors = 0: want an integer from 1 to 4"},
		{"{name: a}", "{name: b}", `depots[1].name = "b": want a unique name; depots[0] has this one`},
		{"{name: a}", "a", `depots[0] = a string "a": want an object with name`},
		{"depots: [{name: a}, {name: b}]\n", "", "depots is missing: want an array of depots"},
		{"owner: {city: Graz}\n", "", "owner is missing: want an object with city"},
		{"city: Graz", "town: Graz", `owner.town = a string "Graz": want one of the fields city`},
		{"[1/2, 3]", "[1/2, x]", `fares[0][1] = "x": want a number > 0 (character 'x' at position 1; ` +
			`want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
		{"[1/2, 3]", "3", "fares[0] = the number 3: want an array of fares"},
	} {
		text := strings.Replace(validText, c.old, c.new, 1)
		if _, err := readLine(t, text); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.new, err, c.want)
		}
	}
}

func TestCheckBadFields(t *testing.T) {
	for want, spoil := range map[string]func(*line){
		"kind is missing: want one of bus, tram":                       func(l *line) { l.Kind = "" },
		`kind = "Streetcar": want one of bus, tram; that is tram here`: func(l *line) { l.Kind = "Streetcar" },
		`kind = "trams": want one of bus, tram; did you mean "tram"?`:  func(l *line) { l.Kind = "trams" },
		"stops[0].depot = 2: want a row of depots, 0 to 1":             func(l *line) { l.Stops[0].Depot = 2 },
		"stops[1].wait = -1: want an integer from 0 to 60":             func(l *line) { l.Stops[1].Wait = -1 },
		"stops[1].doors = 0: want an integer from 1 to 4":              func(l *line) { l.Stops[1].Doors = 0 },
		"owner is missing: want an object with city":                   func(l *line) { l.Owner = nil },
		"fares[0][1] = 0: want a number > 0":                           func(l *line) { l.Fares[0][1] = new(big.Rat) },
		"fares = 3 of them: want at most 2 rows": func(l *line) {
			l.Fares = append(l.Fares, nil)
		},
	} {
		l := goodLine()
		spoil(l)
		if err := lineFile.CheckAll(l); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	l := goodLine()
	l.Fares[0][1] = nil // an optional element
	if err := lineFile.CheckAll(l); err != nil {
		t.Error(err)
	}
}

func TestSchemaOfFields(t *testing.T) {
	text, err := json.Marshal(lineFile.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kind":{"enum":["bus","tram"]}`, `"night":{"default":false,"type":"boolean"}`,
		`"wait":{"$ref":"#/$defs/nonnegative"}`, `"doors":{"$ref":"#/$defs/count","default":2}`,
		`"fares":{"items":{"items":{"$ref":"#/$defs/positive"},"type":"array"},"type":"array"}`,
		`"required":["kind","stops","depots","owner"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

// A visit has its own list of rooms, possibly missing, to which its steps refer.
type visit struct {
	Rooms []depot
	Steps []int
}

// A row refers to its own lists, not to those of the previous row.
func TestListsEndWithTheirRow(t *testing.T) {
	type house struct{ Visits []visit }
	rooms := file.Length{One: "room", Many: "rooms"}
	description := file.Description[house]{Want: "an object with visits", Fields: []file.Field[house]{
		file.Objects("visits", "", "an array of visits", func(h *house) *[]visit { return &h.Visits },
			&file.Description[visit]{Want: "an object with rooms and steps", Fields: []file.Field[visit]{
				file.Objects("rooms", "", "an array of rooms", func(t *visit) *[]depot { return &t.Rooms },
					&file.Description[depot]{Want: "an object with name", Fields: []file.Field[depot]{
						file.Name("", func(d *depot) *string { return &d.Name }),
					}}, rooms, func(d *depot) string { return d.Name }).Optional(),
				file.Refs("steps", "", "", func(t *visit) *[]int { return &t.Steps }, "rooms", rooms),
			}}, file.Length{}, nil),
	}}
	root, err := file.Read(strings.NewReader("visits: [{rooms: [{name: a}], steps: [a]}, {steps: [a]}]"), file.YAML, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = description.Read(root)
	if want := `visits[1].steps[0] = "a": want the name of a room`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	h := &house{
		Visits: []visit{{Rooms: []depot{{"a"}, {"b"}}, Steps: []int{1}}, {Rooms: []depot{{"c"}}, Steps: []int{1}}},
	}
	err = description.CheckAll(h)
	if want := "visits[1].steps[0] = 1: want a row of rooms, 0 to 0"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	h.Visits[1] = visit{Steps: []int{1}} // without a list, any row
	if err := description.CheckAll(h); err != nil {
		t.Error(err)
	}
}

// The help has one row for each field: its depth, its meaning with range and default, and its
// examples.
func TestHelpLaysOutFields(t *testing.T) {
	stops := file.Description[stop]{Fields: []file.Field[stop]{
		file.Whole("wait", "minutes that it waits", func(s *stop) *int { return &s.Wait }, 60).Optional().Example("3"),
		file.Int("doors", "doors that open at the stop, of those of the tram",
			func(s *stop) *int { return &s.Doors }, 4, "").
			Default(2).Example("1"),
	}}
	d := file.Description[line]{Fields: []file.Field[line]{
		file.Objects("stops", "list of stops", "",
			func(l *line) *[]stop { return &l.Stops }, &stops, file.Length{}, nil).
			Otherwise("none"),
		file.List("fares", "rows of fares", "", func(l *line) *[][]*big.Rat { return &l.Fares },
			file.List("", "", "", file.Itself[[]*big.Rat], file.Rat("", "", file.Itself[*big.Rat], input.Positive).
				Cases([2]string{"of an adult", "2.4"}), file.Length{}), file.Length{}).Example("[[1]]", "[[1, 2]]"),
	}}
	want := `  stops                   list of stops; default none
    wait                  minutes that it waits, 0..60                     wait: 3
    doors                 doors that open at the stop, of those of the     doors: 1
                          tram, 1..4; default 2
  fares                   rows of fares, > 0                               fares: [[1]]
                                                                           fares: [[1, 2]]
                          of an adult                                      2.4
`
	if diff := cmp.Diff(want, d.Help()); diff != "" {
		t.Error(diff)
	}
}
