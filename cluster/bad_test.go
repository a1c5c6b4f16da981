package cluster_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"productform/cluster"
	"productform/internal/input"
)

const (
	goodModel   = `{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]}`
	someServers = `{"servers": [{"name": "s1", "capacity": 1}, {"name": "s2", "capacity": 2}, {"name": "off", "capacity": 0}, {"name": "rack", "count": 4, "capacity": 1}],
 `
)

// A badText is a text that is no model, and the message it must get.
type badText struct{ text, want string }

var badJSON = []badText{
	{`{"servers": `,
		`line 1, column 13: the text ends within a value`},
	{`{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s`,
		`line 1, column 104: the text ends within a value`},
	{`{"servers": [{"name": "s" "capacity": 1}]}`,
		`line 1, column 27: invalid character '"' after object key:value pair`},
	{`{"servers": [], "classes": [],}`,
		`line 1, column 31: invalid character '}' looking for beginning of object key string`},
	{`{"servers": [1,]}`,
		`line 1, column 16: invalid character ']' looking for beginning of value`},
	{`[1] 2`,
		`line 1, column 5: text after the end of the model`},
	{goodModel + ` {}`,
		`line 1, column 110: text after the end of the model`},
	{goodModel + ` ]`,
		`line 1, column 110: text after the end of the model`},
	{`servers: []`,
		`line 1, column 1: invalid character 's' looking for beginning of value`},
	{`[]`,
		`want an object with servers and classes, not an array`},
	{`"model"`,
		`want an object with servers and classes, not a string "model"`},
	{`null`,
		`want an object with servers and classes, not null`},
	{`{}`,
		`servers is missing: want an array of servers`},
	{`{"servers": [{"name": "s", "capacity": 1}]}`,
		`classes is missing: want an array of classes`},
	{`{"servers": [], "classes": []}`,
		`servers = []: want at least one server`},
	{`{"servers": null, "classes": []}`,
		`servers = null: want an array of servers`},
	{`{"servers": {"s": 1}, "classes": []}`,
		`servers = an object: want an array of servers`},
	{`{"servers": [{"name": "s", "capacity": 1}], "classes": []}`,
		`classes = []: want at least one class`},
	{`{"servers": ["s"], "classes": []}`,
		`servers[0] = a string "s": want an object with name and capacity`},
	{`{"servers": [{"capacity": 1}], "classes": []}`,
		`servers[0].name is missing: want a name in quotes, not empty`},
	{`{"servers": [{"name": "", "capacity": 1}], "classes": []}`,
		`servers[0].name = "": want a name in quotes, not empty`},
	{`{"servers": [{"name": 1, "capacity": 1}], "classes": []}`,
		`servers[0].name = the number 1: want a name in quotes, not empty`},
	{`{"servers": [{"name": "s"}], "classes": []}`,
		`servers[0].capacity is missing: want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": -1}], "classes": []}`,
		`servers[0].capacity = -1: want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": "-1/2"}], "classes": []}`,
		`servers[0].capacity = "-1/2": want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": "one"}], "classes": []}`,
		`servers[0].capacity = "one": want a number >= 0 (character 'o' at position 1; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`{"servers": [{"name": "s", "capacity": ""}], "classes": []}`,
		`servers[0].capacity = "": want a number >= 0 (empty; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`{"servers": [{"name": "s", "capacity": "NaN"}], "classes": []}`,
		`servers[0].capacity = "NaN": want a number >= 0 (character 'N' at position 1; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`{"servers": [{"name": "s", "capacity": NaN}], "classes": []}`,
		`line 1, column 40: invalid character 'N' looking for beginning of value`},
	{`{"servers": [{"name": "s", "capacity": "Inf"}], "classes": []}`,
		`servers[0].capacity = "Inf": want a number >= 0 (character 'I' at position 1; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`{"servers": [{"name": "s", "capacity": "1/0"}], "classes": []}`,
		`servers[0].capacity = "1/0": want a number >= 0 (zero denominator; want a nonzero one)`},
	{`{"servers": [{"name": "s", "capacity": 1e999999999}], "classes": []}`,
		`servers[0].capacity = 1e999999999: want a number >= 0 (decimal exponent out of range; want one from -4096 to 4096)`},
	{`{"servers": [{"name": "s", "capacity": "0x10"}], "classes": []}`,
		`servers[0].capacity = "0x10": want a number >= 0 (character 'x' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`{"servers": [{"name": "s", "capacity": "010"}], "classes": []}`,
		`servers[0].capacity = "010": want a number >= 0, without leading zeros (some read them as base eight)`},
	{`{"servers": [{"name": "s", "capacity": [1]}], "classes": []}`,
		`servers[0].capacity = an array: want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": {"value": 1}}], "classes": []}`,
		`servers[0].capacity = an object: want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": true}], "classes": []}`,
		`servers[0].capacity = true: want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": null}], "classes": []}`,
		`servers[0].capacity = null: want a number >= 0`},
	{`{"servers": [{"name": "s", "capacity": 1, "count": 0}], "classes": []}`,
		`servers[0].count = 0: want an integer from 1 to 1000000`},
	{`{"servers": [{"name": "s", "capacity": 1, "count": 2.5}], "classes": []}`,
		`servers[0].count = 2.5: want an integer from 1 to 1000000`},
	{`{"servers": [{"name": "s", "capacity": 1, "count": 1000001}], "classes": []}`,
		`servers[0].count = 1000001: want an integer from 1 to 1000000`},
	{`{"servers": [{"name": "s", "capacity": 1, "count": "many"}], "classes": []}`,
		`servers[0].count = "many": want an integer from 1 to 1000000 (character 'm' at position 1; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`{"servers": [{"name": "s", "capacity": 1, "capacitty": 2}], "classes": []}`,
		`servers[0].capacitty = the number 2: want one of the fields name, capacity, count; did you mean capacity?`},
	{`{"servers": [{"name": "s", "capacity": 1, "colour": "red"}], "classes": []}`,
		`servers[0].colour = a string "red": want one of the fields name, capacity, count`},
	{`{"servers": [{"name": "s", "capacity": 1, "capacity": 2}], "classes": []}`,
		`servers[0].capacity = the number 2: want the field once; it is there already`},
	{`{"servers": [{"name": "s", "capacity": 1}], "clases": []}`,
		`clases = an array: want one of the fields servers, classes, mean_size; did you mean classes?`},
	{`{"servers": [{"name": "s", "capacity": 1}], "": []}`,
		`[""] = an array: want one of the fields servers, classes, mean_size`},
	{`{"servers": [{"name": "s", "capacity": 1}], "servers": [], "classes": []}`,
		`servers = an array: want the field once; it is there already`},
	{goodModel + ` 7`,
		`line 1, column 110: text after the end of the model`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}, {"name": "a", "arrival_rate": 1, "servers": ["s1"]}]}`,
		`classes[1].name = "a": want a name of its own; classes[0] has this one`},
	{someServers + `"classes": [{"arrival_rate": 1, "servers": ["s1"]}]}`,
		`classes[0].name is missing: want a name in quotes, not empty`},
	{someServers + `"classes": [{"name": "a", "servers": ["s1"]}]}`,
		`classes[0].arrival_rate is missing: want a number >= 0`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": -0.50, "servers": ["s1"]}]}`,
		`classes[0].arrival_rate = -0.50: want a number >= 0`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": "4/5/6", "servers": ["s1"]}]}`,
		`classes[0].arrival_rate = "4/5/6": want a number >= 0 (malformed number; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1}]}`,
		`classes[0].servers is missing: want an array of names of servers`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": []}]}`,
		`classes[0].servers = []: want at least one server`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 0, "servers": []}]}`,
		`classes[0].servers = []: want at least one server`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": "s1"}]}`,
		`classes[0].servers = a string "s1": want an array of names of servers`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [1]}]}`,
		`classes[0].servers[0] = the number 1: want the name of a server in quotes, or {"group": name, "choose": d}`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1", "S2"]}]}`,
		`classes[0].servers[1] = "S2": want the name of a server; did you mean "s2"?`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["database"]}]}`,
		`classes[0].servers[0] = "database": want the name of a server`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1", "s2", "s1"]}]}`,
		`classes[0].servers[2] = "s1": want each server once; it is in this class already`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 0, "servers": ["off"]}]}`,
		`classes[0].servers = ["off"]: want a server of positive capacity`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["rack"]}]}`,
		`classes[0].servers[0] = "rack": want {"group": "rack", "choose": d} with d from 1 to 4, for it is a group`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "choose": 5}]}]}`,
		`classes[0].servers[0].choose = 5: want an integer from 1 to 4, the servers in "rack"`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "choose": 0}]}]}`,
		`classes[0].servers[0].choose = 0: want an integer from 1 to 4, the servers in "rack"`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack"}]}]}`,
		`classes[0].servers[0].choose is missing: want an integer from 1 to 4, the servers in "rack"`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"choose": 2}]}]}`,
		`classes[0].servers[0].group is missing: want a name in quotes, not empty`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rak", "choose": 2}]}]}`,
		`classes[0].servers[0].group = "rak": want the name of a server; did you mean "rack"?`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "chose": 2}]}]}`,
		`classes[0].servers[0].chose = the number 2: want one of the fields group, choose; did you mean choose?`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "choose": 2}, {"group": "rack", "choose": 1}]}]}`,
		`classes[0].servers[1] = "rack": want each server once; it is in this class already`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "rate": 2, "servers": ["s1"]}]}`,
		`classes[0].rate = the number 2: want one of the fields name, arrival_rate, servers; did you mean arrival_rate?`},
	{someServers + `"classes": [[]]}`,
		`classes[0] = an array: want an object with name, arrival_rate and servers`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}], "mean_size": 0}`,
		`mean_size = 0: want a number > 0`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}], "mean_size": "-2"}`,
		`mean_size = "-2": want a number > 0`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}], "mean_size": null}`,
		`mean_size = null: want a number > 0`},
	{someServers + `"classes": [{"name": "s1", "arrival_rate": 1, "servers": ["s1"]}], "mean_sise": 1}`,
		`mean_sise = the number 1: want one of the fields servers, classes, mean_size; did you mean mean_size?`},
	{`{"servers": [{"name": "s", "capacity": 1}, {"name": "s", "capacity": 2}], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]}`,
		`servers[1].name = "s": want a name of its own; servers[0] has this one`},
	{``,
		`want a model with servers and classes, not an empty file`},
	{"\x00\x01PNG",
		`line 1, column 1: byte 0x00; want text without control characters`},
	{"{\"servers\": [{\"name\": \"\xff\"}]}",
		`line 1, column 24: byte 0xff; want text in UTF-8`},
	{`{
  "servers": [
    {"name": "s", capacity: 1}
  ]
}`,
		`line 3, column 19: invalid character 'c' looking for beginning of object key string`},
	{`{"servers": [{"name": "a\u0000b", "capacity": 1}], "classes": []}`,
		`servers[0].name = "a\x00b": want a name in UTF-8 without control characters`},
	{`{"servers": [{"name": "s", "capacity": 1}], "server groups!": []}`,
		`["server groups!"] = an array: want one of the fields servers, classes, mean_size`},
	{`{"servers": [{"name": "s", "capacity": "1e-4096/1e4096"}], "classes": []}`,
		`servers[0].capacity = "1e-4096/1e4096": want a number >= 0 (decimal exponent out of range; want one from -4096 to 4096)`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1", null]}]}`,
		`classes[0].servers[1] = null: want the name of a server in quotes, or {"group": name, "choose": d}`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [["s1"]]}]}`,
		`classes[0].servers[0] = an array: want the name of a server in quotes, or {"group": name, "choose": d}`},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}, {"name": "b", "arrival_rate": 1, "servers": [{"group": "s1", "choose": 2}]}]}`,
		`classes[1].servers[0].choose = 2: want 1, for "s1" is one server`},
	{`{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["t"]}]}`,
		`classes[0].servers[0] = "t": want the name of a server`},
}

var badYAML = []badText{
	{`servers: [
`,
		`line 2, column 1: a bracket or brace without its end`},
	{`servers:
- {name: s, capacity: 1_000}
classes: []
`,
		`servers[0].capacity = "1_000": want a number >= 0 (character '_' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`servers:
- {name: s, capacity: 0x10}
classes: []
`,
		`servers[0].capacity = 0x10: want a number >= 0 (character 'x' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`servers:
- {name: s, capacity: 010}
classes: []
`,
		`servers[0].capacity = 010: want a number >= 0, without leading zeros (some read them as base eight)`},
	{`servers:
- {name: s, capacity: .inf}
classes: []
`,
		`servers[0].capacity = .inf: want a number >= 0 (character 'i' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`servers:
- {name: s, capacity: .nan}
classes: []
`,
		`servers[0].capacity = .nan: want a number >= 0 (character 'n' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
	{`servers:
- {name: s, capacity: -1/2}
classes: []
`,
		`servers[0].capacity = "-1/2": want a number >= 0`},
	{`servers:
- {name: 1, capacity: 1}
classes: []
`,
		`servers[0].name = the number 1: want a name in quotes, not empty`},
	{`servers:
- {name: s, capacity: 1 # one
`,
		`line 2, column 3: a bracket or brace without its end`},
	{`servers:
- {name: s, capacity: }
classes: []
`,
		`servers[0].capacity = null: want a number >= 0`},
	{`servers:
- name: s
  capacity: 1
  capacity: 2
classes: []
`,
		`servers[0].capacity = the number 2: want the field once; it is there already`},
	{`servers:
- name: s
  capcity: 1
classes: []
`,
		`servers[0].capcity = the number 1: want one of the fields name, capacity, count; did you mean capacity?`},
	{`servers: &x []
classes: *x
`,
		`line 1, column 10: anchors and aliases are not read; write the value in full`},
	{`servers: []
classes: *x
`,
		`line 2, column 10: anchors and aliases are not read; write the value in full`},
	{`<<: {}
`,
		`line 1, column 1: merge keys are not read; write the fields in full`},
	{`servers:
- {name: s, capacity: !!float 1}
`,
		`line 2, column 23: tags are not read; write the plain value`},
	{`? [servers]
: []
`,
		`line 1, column 3: want a plain word as the name of a field`},
	{`servers: []
---
classes: []
`,
		`line 2, column 1: a second document; want one model a file`},
	{`servers: []
...
classes: []
`,
		`line 3, column 1: a second document; want one model a file`},
	{"servers:\n\t- {}\n",
		"line 2, column 1: a character that no value starts with; want texts in quotes, and spaces, not tabs, before a value"},
	{`# nothing
`,
		`want a model with servers and classes, not an empty file`},
	{`just words
`,
		`want an object with servers and classes, not a string "just words"`},
	{`- a
- b
`,
		`want an object with servers and classes, not an array`},
	{`servers:
  - s1
`,
		`servers[0] = a string "s1": want an object with name and capacity`},
	{`servers:
  name: s1
`,
		`servers = an object: want an array of servers`},
	{`servers: "abc
`,
		`line 1, column 10: a quote without its end`},
	{`servers: @
`,
		`line 1, column 10: a character that no value starts with; want texts in quotes, and spaces, not tabs, before a value`},
	{`a: b: c
`,
		`line 1, column 5: a colon where there can be none; want each field on a line of its own, indented as the field above, or a value with a colon in quotes`},
	{`a: 1
 b: 2
`,
		`line 2, column 3: a colon where there can be none; want each field on a line of its own, indented as the field above, or a value with a colon in quotes`},
	{`servers:
- {name: s, capacity: 1}
classes:
- name: a
  arrival_rate: 1/0
  servers: [s]
`,
		`classes[0].arrival_rate = "1/0": want a number >= 0 (zero denominator; want a nonzero one)`},
	{`servers:
- {name: s, capacity: 1}
classes:
- name: a
  arrival_rate: 1
  servers: [t]
`,
		`classes[0].servers[0] = "t": want the name of a server`},
	{`servers:
- {name: s, capacity: 1}
classes:
- name: a
  arrival_rate: 1:30
  servers: [s]
`,
		`classes[0].arrival_rate = "1:30": want a number >= 0 (character ':' at position 2; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`},
}

func TestBadTexts(t *testing.T) {
	t.Run("json", func(t *testing.T) { wantMessages(t, badJSON, cluster.ReadJSON) })
	t.Run("yaml", func(t *testing.T) { wantMessages(t, badYAML, cluster.ReadYAML) })
}

func wantMessages(t *testing.T, table []badText, read func(io.Reader) (*cluster.Model, error)) {
	for _, c := range table {
		m, err := read(strings.NewReader(c.text))
		if err == nil {
			t.Errorf("accepted:\n%s", c.text)
			continue
		}
		if m != nil {
			t.Errorf("a model beside an error for:\n%s", c.text)
		}
		if err.Error() != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, err, c.want)
		}
		var field *input.Error
		var syntax *cluster.SyntaxError
		if !errors.As(err, &field) && !errors.As(err, &syntax) {
			t.Errorf("%T is neither an input.Error nor a SyntaxError:\n%s", err, c.text)
		}
	}
}

// Every proper beginning of a model ends too early, wherever it is cut.
func TestTruncated(t *testing.T) {
	text := strings.TrimSpace(goodModel)
	for end := range len(text) {
		if _, err := cluster.ReadJSON(strings.NewReader(text[:end])); err == nil {
			t.Errorf("accepted: %s", text[:end])
		}
	}
}

// Deep nesting is refused before anything recurses on it.
func TestDeepNesting(t *testing.T) {
	for _, c := range []struct {
		text string
		read func(io.Reader) (*cluster.Model, error)
		want string
	}{
		{"[", cluster.ReadJSON, "line 1, column 10001: invalid character '[' exceeded max depth"},
		{"[", cluster.ReadYAML, "line 1, column 101: nested more deeply than any model, over 100 levels"},
		{"{a: ", cluster.ReadYAML, "line 1, column 401: nested more deeply than any model, over 100 levels"},
		{"- ", cluster.ReadYAML, "line 1, column 201: nested more deeply than any model, over 100 levels"},
	} {
		_, err := c.read(strings.NewReader(strings.Repeat(c.text, 20_000)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestTooLong(t *testing.T) {
	spaces := func(n int) io.Reader {
		return io.MultiReader(strings.NewReader(goodModel), strings.NewReader(strings.Repeat(" ", n)))
	}
	for _, c := range []struct {
		read func(io.Reader) (*cluster.Model, error)
		size int
		want string
	}{
		{cluster.ReadJSON, 64 << 20, "want a text of at most 64 MiB, not a longer one"},
		{cluster.ReadYAML, 32 << 20, "want YAML of at most 32 MiB, not a longer one"},
	} {
		if _, err := c.read(spaces(c.size)); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := cluster.ReadJSON(spaces(64<<20 - len(goodModel))); err != nil {
		t.Error(err)
	}
}

// The message for a file starts with its name; its extension tells the format.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "servers: []", "line 1, column 1: invalid character 's' looking for beginning of value"},
		{"a.JSON", "servers: []", "line 1, column 1: invalid character 's' looking for beginning of value"},
		{"a.yaml", "servers: []", "classes is missing: want an array of classes"},
		{"a.yml", "servers: []", "classes is missing: want an array of classes"},
		{"a", "servers: []", "classes is missing: want an array of classes"},
		{"b", " \n[", "line 2, column 2: the text ends within a value"},
		{"c", "\ufeff{", "line 1, column 2: the text ends within a value"},
		{"d.txt", "", "want a model with servers and classes, not an empty file"},
	} {
		name := filepath.Join(dir, c.name)
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.ReadFile(name); err == nil || err.Error() != name+": "+c.want {
			t.Errorf("got  %v\nwant %s: %s", err, name, c.want)
		}
	}
	missing := filepath.Join(dir, "missing.json")
	if _, err := cluster.ReadFile(missing); !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), missing) != 1 {
		t.Errorf("got %v for a missing file", err)
	}
	if _, err := cluster.ReadFile(dir); err == nil || !strings.HasPrefix(err.Error(), dir+": ") {
		t.Errorf("got %v for a directory", err)
	}
}

// A reader that fails is not a bad model: its error comes through.
func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, read := range []func(io.Reader) (*cluster.Model, error){cluster.Read, cluster.ReadJSON, cluster.ReadYAML} {
		if _, err := read(io.MultiReader(bytes.NewReader([]byte("{")), failing{broken})); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
