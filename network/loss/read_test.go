package loss_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/internal/input"
	"productform/network/loss"
	"productform/num"
)

// Invalid models are rejected with the line, the path and a valid value.
func TestBadModels(t *testing.T) {
	const (
		unit   = "an integer from 1 to 10000000"
		fields = "one of the fields servers, rank, room, classes, limits"
		graph  = "servers: [{name: s, capacity: 1}, {name: t, capacity: 0}]\n"
		token  = "servers: [{name: s, capacity: 1, tokens: 2}]\n"
		some   = "classes:\n  - {name: a, arrival_rate: 1}\n  - {name: b, arrival_rate: 2, units: 3}\n"
	)
	for _, c := range []struct {
		text string
		want input.Error
	}{
		{"", input.Error{Value: "an empty file", Want: "a model with classes and room, limits or servers"}},
		{"[1]", input.Error{Line: 1, Value: "an array", Want: "an object with classes and room, limits or servers"}},
		{"room: 3", input.Error{Line: 1, Path: "classes", Want: "an array of classes"}},
		{"room: 3\nclasses: []", input.Error{Line: 2, Path: "classes", Value: "[]", Want: "at least one class"}},
		{
			"room: 3\nclasses: 5",
			input.Error{Line: 2, Path: "classes", Value: "the number 5", Want: "an array of classes"},
		},
		{"room: 3\nclasses: [5]", input.Error{
			Line:  2,
			Path:  "classes[0]",
			Value: "the number 5",
			Want:  "an object with name and arrival_rate",
		}},
		{
			"rooms: 3\n" + some,
			input.Error{Line: 1, Path: "rooms", Value: "the number 3", Want: fields + "; did you mean room?"},
		},
		{
			"room: 3\nroom: 4\n" + some,
			input.Error{Line: 2, Path: "room", Value: "the number 4", Want: "the field once; it is already there"},
		},
		{"room: 0\n" + some, input.Error{Line: 1, Path: "room", Value: "0", Want: unit}},
		{"room: 2.5\n" + some, input.Error{Line: 1, Path: "room", Value: "2.5", Want: unit}},
		{"room: 1e8\n" + some, input.Error{Line: 1, Path: "room", Value: "1e8", Want: unit}},
		{"room: 2\n" + some, input.Error{
			Line:  4,
			Path:  "classes[1].units",
			Value: "3",
			Want:  "at most the room of 2, or its jobs never fit",
		}},
		{"servers: 0\n" + some, input.Error{Line: 1, Path: "servers", Value: "0", Want: unit}},
		{"servers: []\n" + some, input.Error{Line: 1, Path: "servers", Value: "[]", Want: "at least one server"}},
		{"servers: many\n" + some, input.Error{
			Line:  1,
			Path:  "servers",
			Value: `a string "many"`,
			Want:  "a number of equal servers, or an array of servers with names",
		}},
		{"servers: [{name: s}]\n" + some, input.Error{Line: 1, Path: "servers[0].capacity", Want: "a number >= 0"}},
		{
			"servers: [{name: s, capacity: -1}]\n" + some,
			input.Error{Line: 1, Path: "servers[0].capacity", Value: "-1", Want: "a number >= 0"},
		},
		{
			"servers: [{name: s, capacity: 0, tokens: 1}]\n" + some,
			input.Error{Line: 1, Path: "servers[0].capacity", Value: "0", Want: "a number > 0"},
		},
		{"servers: [{name: s, capacity: 1, token: 1}]\n" + some, input.Error{Line: 1, Path: "servers[0].token",
			Value: "the number 1", Want: "one of the fields name, capacity, tokens, count; did you mean tokens?"}},
		{
			"servers: [{name: s, capacity: 1, tokens: 0}]\n" + some,
			input.Error{Line: 1, Path: "servers[0].tokens", Value: "0", Want: unit},
		},
		{
			"servers:\n  - {name: s, capacity: 1, tokens: 1}\n  - {name: t, capacity: 1}\n" + some,
			input.Error{Line: 3, Path: "servers[1].tokens", Value: "0", Want: "tokens at every server, or at none"},
		},
		{"servers:\n  - {name: s, capacity: 1}\n  - {name: s, capacity: 1}\n" + some, input.Error{
			Line:  3,
			Path:  "servers[1].name",
			Value: `"s"`,
			Want:  "a unique name; servers[0] has this one",
		}},
		{
			token + "room: 4\nclasses: [{name: a, arrival_rate: 1, servers: [s]}]",
			input.Error{Line: 2, Path: "room", Value: "4", Want: "no room with tokens, which limit the jobs"},
		},
		{token + "classes: [{name: a, arrival_rate: 1, servers: [s]}]\nlimits: [{classes: [a], most: 1}]", input.Error{
			Line:  3,
			Path:  "limits",
			Value: "1 of them",
			Want:  "no limits with tokens, which limit the jobs",
		}},
		{
			token + "classes: [{name: a, arrival_rate: 1, servers: [s], sources: 3}]",
			input.Error{Line: 2, Path: "classes[0].sources", Value: "3", Want: "no sources with tokens"},
		},
		{token + "classes: [{name: a, arrival_rate: 1, servers: [s], units: 2}]", input.Error{
			Line:  2,
			Path:  "classes[0].units",
			Value: "2",
			Want:  "one unit with tokens: each job takes one",
		}},
		{token + "classes:\n  - {name: a, arrival_rate: 1, servers: [s]}\n" +
			"  - {name: b, arrival_rate: 1, servers: [s], mean_size: 2}", input.Error{
			Line:  4,
			Path:  "classes[1].mean_size",
			Value: "2",
			Want:  "the mean size of all classes, 1: servers do not distinguish classes",
		}},
		{"servers: [{name: s, capacity: 1, tokens: 1, count: 0}]\n" + some,
			input.Error{Line: 1, Path: "servers[0].count", Value: "0", Want: "an integer from 1 to 10000"}},
		{"servers: [{name: s, capacity: 1, count: 2}]\n" + some, input.Error{Line: 1, Path: "servers[0].count",
			Value: "the number 2", Want: "tokens as well, or one server of the total capacity"}},
		{"servers:\n  - {name: s, capacity: 1, tokens: 1, count: 9999}\n  - {name: t, capacity: 1, tokens: 1, " +
			"count: 2}\n" + some,
			input.Error{Line: 3, Path: "servers[1].count", Value: "2", Want: "at most 10000 servers in total"}},
		{
			graph + "classes: [{name: a, arrival_rate: 1}]",
			input.Error{Line: 2, Path: "classes[0].servers", Value: "[]", Want: "at least one server"},
		},
		{graph + "classes: [{name: a, arrival_rate: 1, servers: [S]}]", input.Error{
			Line:  2,
			Path:  "classes[0].servers[0]",
			Value: `"S"`,
			Want:  `the name of a server; did you mean "s"?`,
		}},
		{graph + "classes: [{name: a, arrival_rate: 1, servers: [s, s]}]", input.Error{
			Line:  2,
			Path:  "classes[0].servers[1]",
			Value: `"s"`,
			Want:  "each server once; it is already in this class",
		}},
		{graph + "classes: [{name: a, arrival_rate: 1, servers: [t]}]", input.Error{
			Line:  2,
			Path:  "classes[0].servers",
			Value: "1 without capacity",
			Want:  "a server of positive capacity",
		}},
		{graph + "classes: [{name: a, arrival_rate: 1, servers: s}]", input.Error{Line: 2, Path: "classes[0].servers",
			Value: `a string "s"`, Want: `an array of names of servers; write ["s"]`}},
		{
			"room: 3\nclasses: [{name: a, arrival_rate: 1, servers: [s]}]",
			input.Error{Line: 2, Path: "classes[0].servers[0]", Value: `"s"`, Want: "the name of a server"},
		},
		{
			"room: 3\nclasses: [{arrival_rate: 1}]",
			input.Error{Line: 2, Path: "classes[0].name", Want: "a name, not empty"},
		},
		{
			"room: 3\nclasses: [{name: \"\", arrival_rate: 1}]",
			input.Error{Line: 2, Path: "classes[0].name", Value: `""`, Want: "a name, not empty"},
		},
		{"room: 3\nclasses:\n  - {name: a, arrival_rate: 1}\n  - {name: a, arrival_rate: 1}", input.Error{
			Line:  4,
			Path:  "classes[1].name",
			Value: `"a"`,
			Want:  "a unique name; classes[0] has this one",
		}},
		{"room: 3\nclasses: [{name: a}]", input.Error{Line: 2, Path: "classes[0].arrival_rate", Want: "a number >= 0"}},
		{
			"room: 3\nclasses: [{name: a, arrival_rate: -2}]",
			input.Error{Line: 2, Path: "classes[0].arrival_rate", Value: "-2", Want: "a number >= 0"},
		},
		{"room: 3\nclasses: [{name: a, arrival_rate: often}]", input.Error{
			Line:  2,
			Path:  "classes[0].arrival_rate",
			Value: `"often"`,
			Want: `a number >= 0 (character 'o' at position 1; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
		{
			"room: 3\nclasses: [{name: a, arrival_rate: 1, mean_size: 0}]",
			input.Error{Line: 2, Path: "classes[0].mean_size", Value: "0", Want: "a number > 0"},
		},
		{
			"room: 3\nclasses: [{name: a, arrival_rate: 1, units: 0}]",
			input.Error{Line: 2, Path: "classes[0].units", Value: "0", Want: unit},
		},
		{"room: 3\nclasses: [{name: a, arrival_rate: 1, sources: 0}]", input.Error{
			Line:  2,
			Path:  "classes[0].sources",
			Value: "0",
			Want:  unit + "; omit it for Poisson arrivals",
		}},
		{
			some + "limits:\n  - {classes: [c], most: 4}",
			input.Error{Line: 5, Path: "limits[0].classes[0]", Value: `"c"`, Want: `the name of a class: "a", "b"`},
		},
		{
			some + "limits:\n  - {classes: [], most: 4}",
			input.Error{Line: 5, Path: "limits[0].classes", Value: "[]", Want: "at least one class"},
		},
		{some + "limits:\n  - {classes: [a, a], most: 4}", input.Error{
			Line:  5,
			Path:  "limits[0].classes[1]",
			Value: `"a"`,
			Want:  "each class once; it is already in this limit",
		}},
		{
			some + "limits:\n  - {classes: [a], most: 0}",
			input.Error{Line: 5, Path: "limits[0].most", Value: "0", Want: unit},
		},
		{some + "limits:\n  - {classes: [a]}", input.Error{Line: 5, Path: "limits[0].most", Want: unit}},
		{
			some + "limits:\n  - {most: 3}",
			input.Error{Line: 5, Path: "limits[0].classes", Want: "an array of names of classes"},
		},
		{some + "limits:\n  - {classes: [a, b], most: 2}", input.Error{
			Line:  5,
			Path:  "limits[0].most",
			Value: "2",
			Want:  `at least 3, the units of a job of "b", or its jobs never fit`,
		}},
		{some + "limits:\n  - {classes: [a, b], most: 4}\n  - {classes: [b, a], most: 5}", input.Error{
			Line:  6,
			Path:  "limits[1].classes",
			Value: `["b" "a"]`,
			Want:  "classes other than those of limits[0]",
		}},
		{
			some + "servers: 2\nrank: [{classes: [a], rate: 1}]",
			input.Error{Line: 5, Path: "rank", Value: "1 rates", Want: "servers or a rank function, not both"},
		},
		{some + "rank: []", input.Error{Line: 4, Path: "rank", Value: "[]", Want: "at least one set of classes"}},
		{some + "rank: 3", input.Error{
			Line:  4,
			Path:  "rank",
			Value: "the number 3",
			Want:  "an array of sets of classes with their rates",
		}},
		{
			some + "rank: [3]",
			input.Error{Line: 4, Path: "rank[0]", Value: "the number 3", Want: "an object with classes and rate"},
		},
		{
			some + "rank: [{classes: [], rate: 3}]",
			input.Error{Line: 4, Path: "rank[0].classes", Value: "[]", Want: "at least one class"},
		},
		{some + "rank: [{classes: [a, a], rate: 3}]", input.Error{
			Line:  4,
			Path:  "rank[0].classes[1]",
			Value: `"a"`,
			Want:  "each class once; it is already in this set",
		}},
		{
			some + "rank: [{classes: [a], rate: 0}]",
			input.Error{Line: 4, Path: "rank[0].rate", Value: "0", Want: "a number > 0"},
		},
		{
			some + "rank: [{classes: [a], rate: 1}, {classes: [a], rate: 1}]",
			input.Error{Line: 4, Path: "rank[1].classes", Value: `["a"]`, Want: "each set once; rank[0] is the same"},
		},
		{some + "rank: [{classes: [a], rate: 1}, {classes: [b], rate: 1}]", input.Error{
			Line:  4,
			Path:  "rank",
			Value: "2 rates",
			Want:  `one rate for each of the 3 sets of classes; that of ["a" "b"] is missing`,
		}},
		{
			some + "rank:\n  - {classes: [a], rate: 2}\n  - {classes: [b], rate: 1}\n  - {classes: [b, a], rate: 3/2}",
			input.Error{Line: 7, Path: "rank[2].rate", Value: `"3/2"`, Want: `at least 2, the rate without "b"`},
		},
		{some + "room: 9\nlimits:\n  - {classes: [a, b], most: 4}", input.Error{Line: 6, Path: "limits[0].classes",
			Value: `["a" "b"]`, Want: "not all classes, whose limit is the room: write room: 4"}},
	} {
		_, err := loss.Read(strings.NewReader(c.text))
		var bad *num.InputError
		if !errors.As(err, &bad) {
			t.Errorf("%s: error %v", c.text, err)
		} else if diff := cmp.Diff(c.want, *bad); diff != "" {
			t.Errorf("%s\n%s", c.text, diff)
		}
	}
}

// Errors that are possible only in models built in Go are also rejected.
func TestBadRows(t *testing.T) {
	good := func() *loss.Model {
		return &loss.Model{
			Servers: []loss.Server{{Name: "s", Capacity: rat(1, 1)}},
			Classes: []loss.Class{{Name: "a", ArrivalRate: rat(1, 1), Servers: []int{0}}},
			Limits:  []loss.Limit{{Classes: []int{0}, Most: 2}},
		}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for path, spoil := range map[string]func(m *loss.Model){
		"servers":               func(m *loss.Model) { m.Count = 2 },
		"room":                  func(m *loss.Model) { m.Room = -1 },
		"classes[0].servers":    func(m *loss.Model) { m.Servers = nil },
		"classes[0].servers[0]": func(m *loss.Model) { m.Classes[0].Servers[0] = 1 },
		"classes[0].sources":    func(m *loss.Model) { m.Classes[0].Sources = -1 },
		"classes[0].units":      func(m *loss.Model) { m.Classes[0].Units = -1 },
		"limits[0].classes[0]":  func(m *loss.Model) { m.Limits[0].Classes[0] = -1 },
		"limits[0].most":        func(m *loss.Model) { m.Limits[0].Most = -1 },
		"servers[0].tokens":     func(m *loss.Model) { m.Servers[0].Tokens = -1 },
		"servers[0].capacity":   func(m *loss.Model) { m.Servers[0].Capacity = nil },
		"rank[0].classes[0]": func(m *loss.Model) {
			m.Servers, m.Classes[0].Servers, m.Rank = nil, nil, []loss.SetRate{{Classes: []int{1}, Rate: rat(1, 1)}}
		},
		"classes": func(m *loss.Model) { m.Classes = make([]loss.Class, 1001) },
	} {
		m := good()
		spoil(m)
		var bad *num.InputError
		if _, err := loss.Solve(ctx, m, loss.Settings{}); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
	m := good()
	m.Servers, m.Classes[0].Servers, m.Count = nil, nil, -1
	var bad *num.InputError
	if err := m.Check(); !errors.As(err, &bad) || bad.Path != "servers" {
		t.Errorf("error %v", err)
	}
}

// JSON and YAML give the same model, and the file in testdata matches its model.
func TestReadFile(t *testing.T) {
	m, err := loss.ReadFile("testdata/link.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"room": 100, "classes": [{"name": "voice", "arrival_rate": 60},
		{"name": "video", "arrival_rate": "0.5", "mean_size": 3, "units": 6},
		{"name": "office", "sources": 20, "arrival_rate": "1/10"}],
		"limits": [{"classes": ["video", "office"], "most": 60}]}`
	other, err := loss.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, other, cmp.Comparer(sameNumber)); diff != "" {
		t.Error(diff)
	}
	if m.Room != 100 || m.Classes[1].Units != 6 || m.Classes[2].Sources != 20 || m.Limits[0].Most != 60 ||
		m.Limits[0].Classes[1] != 2 {
		t.Errorf("%+v", m)
	}
	_, err = loss.ReadFile("testdata/none.yaml")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	_, err = loss.Read(strings.NewReader("{"))
	var syntax *num.SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("error %v", err)
	}
}
