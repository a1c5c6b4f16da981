package swap_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/internal/input"
	"productform/network/swap"
	"productform/num"
)

// Invalid models are rejected with the line, the path and a valid value.
func TestBadModels(t *testing.T) {
	const (
		some = "servers: [{name: s, capacity: 1}, {name: t, capacity: 0}]\n"
		good = some +
			"classes: [{name: a, arrival_rate: 0.1, servers: [s]}, {name: b, arrival_rate: 0.1, servers: [s]}]\n"
		closed = some + "classes: [{name: a, population: 1, servers: [s]}, {name: b, population: 2, servers: [s]}]\n"
		people = "an integer from 1 to 1000000"
	)
	for _, c := range []struct {
		text string
		want input.Error
	}{
		{"", input.Error{Value: "an empty file", Want: "a model with servers, classes and swaps"}},
		{"3", input.Error{Line: 1, Value: "the number 3", Want: "an object with servers, classes and swaps"}},
		{"classes: []", input.Error{Line: 1, Path: "servers", Want: "an array of servers"}},
		{"servers: []\nclasses: []", input.Error{Line: 1, Path: "servers", Value: "[]", Want: "at least one server"}},
		{
			"servers: [{name: s, capacity: -1}]\nclasses: []",
			input.Error{Line: 1, Path: "servers[0].capacity", Value: "-1", Want: "a number >= 0"},
		},
		{"servers: [{name: s, capacity: 1}, {name: s, capacity: 1}]\nclasses: []", input.Error{
			Line:  1,
			Path:  "servers[1].name",
			Value: `"s"`,
			Want:  "a unique name; servers[0] has this one",
		}},
		{"servers: [{name: s, count: 1}]\nclasses: []", input.Error{
			Line:  1,
			Path:  "servers[0].count",
			Value: "the number 1",
			Want:  "one of the fields name, capacity",
		}},
		{some + "class: []", input.Error{
			Line:  2,
			Path:  "class",
			Value: "an array",
			Want:  "one of the fields servers, classes, swaps, mean_size, start; did you mean classes?",
		}},
		{some + "classes: []", input.Error{Line: 2, Path: "classes", Value: "[]", Want: "at least one class"}},
		{some + "classes: [a]", input.Error{
			Line:  2,
			Path:  "classes[0]",
			Value: `a string "a"`,
			Want:  "an object with name, arrival_rate or population, and servers",
		}},
		{
			some + "classes: [{name: a, servers: [s]}]",
			input.Error{Line: 2, Path: "classes[0].arrival_rate", Want: "a number >= 0"},
		},
		{
			some + "classes: [{name: a, arrival_rate: -1, servers: [s]}]",
			input.Error{Line: 2, Path: "classes[0].arrival_rate", Value: "-1", Want: "a number >= 0"},
		},
		{
			some + "classes: [{name: a, population: 0, servers: [s]}]",
			input.Error{Line: 2, Path: "classes[0].population", Value: "0", Want: people},
		},
		{
			some + "classes: [{name: a, population: 1.5, servers: [s]}]",
			input.Error{Line: 2, Path: "classes[0].population", Value: "1.5", Want: people},
		},
		{some + "classes: [{name: a, population: 1, arrival_rate: 2, servers: [s]}]", input.Error{
			Line:  2,
			Path:  "classes[0].arrival_rate",
			Value: "2",
			Want:  "none: a class has a population, which makes the queue closed",
		}},
		{
			some + "classes:\n  - {name: a, population: 1, servers: [s]}\n  - {name: b, arrival_rate: 2, servers: [s]}",
			input.Error{
				Line:  4,
				Path:  "classes[1].arrival_rate",
				Value: "2",
				Want:  "none: a class has a population, which makes the queue closed",
			},
		},
		{
			some + "classes:\n  - {name: a, population: 1, servers: [s]}\n  - {name: b, servers: [s]}",
			input.Error{Line: 4, Path: "classes[1].population", Value: "0", Want: people},
		},
		{
			some + "classes: [{name: a, arrival_rate: 1}]",
			input.Error{Line: 2, Path: "classes[0].servers", Want: "an array of names of servers"},
		},
		{
			some + "classes: [{name: a, arrival_rate: 1, servers: []}]",
			input.Error{Line: 2, Path: "classes[0].servers", Value: "[]", Want: "at least one server"},
		},
		{
			some + "classes: [{name: a, arrival_rate: 1, servers: [u]}]",
			input.Error{Line: 2, Path: "classes[0].servers[0]", Value: `"u"`, Want: `the name of a server: "s", "t"`},
		},
		{some + "classes: [{name: a, arrival_rate: 1, servers: [s, s]}]", input.Error{
			Line:  2,
			Path:  "classes[0].servers[1]",
			Value: `"s"`,
			Want:  "each server once; it is already in this class",
		}},
		{some + "classes: [{name: a, arrival_rate: 1, servers: [t]}]", input.Error{
			Line:  2,
			Path:  "classes[0].servers",
			Value: "1 without capacity",
			Want:  "a server of positive capacity",
		}},
		{
			some + "classes: [{name: a, arrival_rate: 1, servers: [s]}, {name: a, arrival_rate: 1, servers: [s]}]",
			input.Error{
				Line:  2,
				Path:  "classes[1].name",
				Value: `"a"`,
				Want:  "a unique name; classes[0] has this one",
			},
		},
		{
			good + "swaps: a",
			input.Error{Line: 3, Path: "swaps", Value: `a string "a"`, Want: "an array of pairs of classes"},
		},
		{good + "swaps: [[a]]", input.Error{Line: 3, Path: "swaps[0]", Value: "an array", Want: "two classes, [a, b]"}},
		{
			good + "swaps: [[a, b, a]]",
			input.Error{Line: 3, Path: "swaps[0]", Value: "an array", Want: "two classes, [a, b]"},
		},
		{
			good + "swaps: [a]",
			input.Error{Line: 3, Path: "swaps[0]", Value: `a string "a"`, Want: "two classes, [a, b]"},
		},
		{
			good + "swaps: [[a, c]]",
			input.Error{Line: 3, Path: "swaps[0][1]", Value: `"c"`, Want: `the name of a class: "a", "b"`},
		},
		{
			good + "swaps:\n  - [a, b]\n  - [b, a]",
			input.Error{Line: 5, Path: "swaps[1]", Value: "b, a", Want: "each pair once; swaps[0] is the same"},
		},
		{good + "mean_size: 0", input.Error{Line: 3, Path: "mean_size", Value: "0", Want: "a number > 0"}},
		{
			good + "start: [a, b]",
			input.Error{Line: 3, Path: "start", Value: "2 jobs", Want: "none: the classes have no populations"},
		},
		{
			closed + "start: [a, b]",
			input.Error{Line: 3, Path: "start", Value: `1 jobs of "b"`, Want: "2 of them, its population"},
		},
		{
			closed + "start: [a, b, c]",
			input.Error{Line: 3, Path: "start[2]", Value: `"c"`, Want: `the name of a class: "a", "b"`},
		},
		{
			closed + "start: [a, b, 3]",
			input.Error{Line: 3, Path: "start[2]", Value: "the number 3", Want: "a name in quotes, not empty"},
		},
	} {
		_, err := swap.Read(strings.NewReader(c.text))
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
	good := func() *swap.Model {
		m, err := swap.ReadFile("testdata/queue.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for path, spoil := range map[string]func(m *swap.Model){
		"classes[0].servers[0]":   func(m *swap.Model) { m.Classes[0].Servers[0] = 3 },
		"classes[1].population":   func(m *swap.Model) { m.Classes[1].Population = -1 },
		"classes[1].arrival_rate": func(m *swap.Model) { m.Classes[1].ArrivalRate = nil },
		"swaps[0][1]":             func(m *swap.Model) { m.Swaps[0][1] = 2 },
		"servers[0].capacity":     func(m *swap.Model) { m.Servers[0].Capacity = nil },
		"start":                   func(m *swap.Model) { m.Start = []int{} },
		"start[0]": func(m *swap.Model) {
			for i := range m.Classes {
				m.Classes[i].ArrivalRate, m.Classes[i].Population = nil, 1
			}
			m.Start = []int{-1, 0}
		},
		"classes": func(m *swap.Model) {
			for len(m.Classes) < 21 {
				k := m.Classes[0]
				k.Name = fmt.Sprint("k", len(m.Classes))
				m.Classes = append(m.Classes, k)
			}
		},
	} {
		m := good()
		spoil(m)
		var bad *num.InputError
		if _, err := swap.Solve(ctx, m, swap.Settings{}); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
	for path, ask := range map[string]func() error{
		"c[1]":     func() error { _, err := swap.Departures(good(), []int{0, 2}); return err },
		"c[0]":     func() error { _, err := swap.Completions(good(), []int{-1}); return err },
		"p":        func() error { _, _, err := swap.Complete(good(), []int{0}, 1); return err },
		"Engine":   func() error { _, err := swap.Solve(ctx, good(), swap.Settings{Engine: "fast"}); return err },
		"RelTol":   func() error { _, err := swap.Solve(ctx, good(), swap.Settings{RelTol: 2}); return err },
		"MaxBytes": func() error { _, err := swap.Solve(ctx, good(), swap.Settings{MaxBytes: -1}); return err },
	} {
		var bad *num.InputError
		if err := ask(); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// JSON and YAML give the same model, both open and closed.
func TestReadFile(t *testing.T) {
	m, err := swap.ReadFile("testdata/queue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"servers": [{"name": "left", "capacity": 1}, {"name": "both", "capacity": "1"},
		{"name": "right", "capacity": 2}],
		"classes": [{"name": "a", "arrival_rate": "9/10", "servers": ["left", "both"]},
		{"name": "b", "arrival_rate": 1.5, "servers": ["both", "right"]}], "swaps": [["a", "b"]]}`
	other, err := swap.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b *big.Rat) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 })
	if diff := cmp.Diff(m, other, same); diff != "" {
		t.Error(diff)
	}
	closed, err := swap.Read(strings.NewReader("servers: [{name: s, capacity: 1}]\n" +
		"classes: [{name: a, population: 2, servers: [s]}, {name: b, population: 1, servers: [s]}]\n" +
		"start: [a, b, a]\nmean_size: 1/2"))
	if err != nil {
		t.Fatal(err)
	}
	if !closed.IsClosed() || cmp.Diff(closed.Start, []int{0, 1, 0}) != "" || closed.MeanSize.Cmp(rat(1, 2)) != 0 {
		t.Errorf("%+v", closed)
	}
}
