package cluster_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"productform/cluster"
	"productform/internal/input"
	"productform/num"
)

const (
	goodModel = `{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 1, ` +
		`"servers": ["s"]}]}`
	someServers = `{"servers": [{"name": "s1", "capacity": 1}, {"name": "s2", "capacity": 2}, ` +
		`{"name": "off", "capacity": 0}, {"name": "rack", "count": 4, "capacity": 1}],
 `
)

// A badText is an invalid text, and the expected error.
type badText struct {
	text string
	want error
}

var badJSON = []badText{
	{`{"servers": `,
		&num.SyntaxError{Line: 1, Column: 13, Reason: "the text ends within a value"}},
	{`{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s`,
		&num.SyntaxError{Line: 1, Column: 104, Reason: "the text ends within a value"}},
	{`{"servers": [{"name": "s" "capacity": 1}]}`,
		&num.SyntaxError{Line: 1, Column: 27, Reason: "want a comma or }"}},
	{`{"servers": [], "classes": [],}`,
		&num.SyntaxError{Line: 1, Column: 31, Reason: "a comma before }; want no comma after the last field"}},
	{`{"servers": [1,]}`,
		&num.SyntaxError{Line: 1, Column: 16,
			Reason: "a comma before ], or a value missing; want no comma after the last value"}},
	{`[1] 2`,
		&num.SyntaxError{Line: 1, Column: 5, Reason: "text after the end of the JSON value"}},
	{goodModel + ` {}`,
		&num.SyntaxError{Line: 1, Column: 110, Reason: "text after the end of the JSON value"}},
	{goodModel + ` ]`,
		&num.SyntaxError{Line: 1, Column: 110, Reason: "text after the end of the JSON value"}},
	{`servers: []`,
		&num.SyntaxError{Line: 1, Column: 1, Reason: "want a value; put strings in double quotes"}},
	{`[]`,
		&input.Error{Line: 1, Value: "an array", Want: "an object with servers and classes"}},
	{`"model"`,
		&input.Error{Line: 1, Value: `a string "model"`, Want: "an object with servers and classes"}},
	{`null`,
		&input.Error{Line: 1, Value: "null", Want: "an object with servers and classes"}},
	{`{}`,
		&input.Error{Line: 1, Path: "servers", Want: "an array of servers"}},
	{`{"servers": [{"name": "s", "capacity": 1}]}`,
		&input.Error{Line: 1, Path: "classes", Want: "an array of classes"}},
	{`{"servers": [], "classes": []}`,
		&input.Error{Line: 1, Path: "servers", Value: "[]", Want: "at least one server"}},
	{`{"servers": [], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]}`,
		&input.Error{Line: 1, Path: "servers", Value: "[]", Want: "at least one server"}},
	{`{"servers": null, "classes": []}`,
		&input.Error{Line: 1, Path: "servers", Value: "null", Want: "an array of servers"}},
	{`{"servers": {"s": 1}, "classes": []}`,
		&input.Error{Line: 1, Path: "servers", Value: "an object", Want: "an array of servers"}},
	{`{"servers": [{"name": "s", "capacity": 1}], "classes": []}`,
		&input.Error{Line: 1, Path: "classes", Value: "[]", Want: "at least one class"}},
	{`{"servers": ["s"], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0]", Value: `a string "s"`, Want: "an object with name and capacity"}},
	{`{"servers": [{"capacity": 1}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].name", Want: "a name, not empty"}},
	{`{"servers": [{"name": "", "capacity": 1}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].name", Value: `""`, Want: "a name, not empty"}},
	{`{"servers": [{"name": 1, "capacity": 1}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].name", Value: "the number 1", Want: "a name in quotes, not empty"}},
	{`{"servers": [{"name": "s"}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": -1}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Value: "-1", Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": "-1/2"}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Value: `"-1/2"`, Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": "one"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"one"`,
			Want: `a number >= 0 (character 'o' at position 1; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`{"servers": [{"name": "s", "capacity": ""}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `""`,
			Want:  `a number >= 0 (empty; want a decimal or a fraction such as "2", "-0.5", "1e-3" or "4/5")`,
		}},
	{`{"servers": [{"name": "s", "capacity": "NaN"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"NaN"`,
			Want: `a number >= 0 (character 'N' at position 1; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`{"servers": [{"name": "s", "capacity": NaN}], "classes": []}`,
		&num.SyntaxError{Line: 1, Column: 40, Reason: "want a value; put strings in double quotes"}},
	{`{"servers": [{"name": "s", "capacity": "Inf"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"Inf"`,
			Want: `a number >= 0 (character 'I' at position 1; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`{"servers": [{"name": "s", "capacity": "1/0"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"1/0"`,
			Want:  "a number >= 0 (zero denominator; want a nonzero one)",
		}},
	{`{"servers": [{"name": "s", "capacity": 1e999999999}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: "1e999999999",
			Want:  "a number >= 0 (decimal exponent out of range; want one from -4096 to 4096)",
		}},
	{`{"servers": [{"name": "s", "capacity": "0x10"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"0x10"`,
			Want: `a number >= 0 (character 'x' at position 2; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`{"servers": [{"name": "s", "capacity": "010"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"010"`,
			Want:  "a number >= 0, without leading zeros (some read them as base eight)",
		}},
	{`{"servers": [{"name": "s", "capacity": [1]}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Value: "an array", Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": {"value": 1}}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Value: "an object", Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": true}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Value: "true", Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": null}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].capacity", Value: "null", Want: "a number >= 0"}},
	{`{"servers": [{"name": "s", "capacity": 1, "count": 0}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].count", Value: "0", Want: "an integer from 1 to 1000000"}},
	{`{"servers": [{"name": "s", "capacity": 1, "count": 2.5}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].count", Value: "2.5", Want: "an integer from 1 to 1000000"}},
	{`{"servers": [{"name": "s", "capacity": 1, "count": 1000001}], "classes": []}`,
		&input.Error{Line: 1, Path: "servers[0].count", Value: "1000001", Want: "an integer from 1 to 1000000"}},
	{`{"servers": [{"name": "s", "capacity": 1, "count": "many"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].count",
			Value: `"many"`,
			Want: `an integer from 1 to 1000000 (character 'm' at position 1; want a decimal or a fraction such as ` +
				`"2", "-0.5", "1e-3" or "4/5")`,
		}},
	{`{"servers": [{"name": "s", "capacity": 1, "capacitty": 2}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacitty",
			Value: "the number 2",
			Want:  "one of the fields name, capacity, count; did you mean capacity?",
		}},
	{`{"servers": [{"name": "s", "capacity": 1, "colour": "red"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].colour",
			Value: `a string "red"`,
			Want:  "one of the fields name, capacity, count",
		}},
	{`{"servers": [{"name": "s", "capacity": 1, "capacity": 2}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: "the number 2",
			Want:  "the field once; it is already there",
		}},
	{`{"servers": [{"name": "s", "capacity": 1}], "clases": []}`,
		&input.Error{
			Line:  1,
			Path:  "clases",
			Value: "an array",
			Want: "one of the fields servers, classes, mean_size, service, mean_patience, patience, mean_timeout; " +
				"did you mean classes?",
		}},
	{`{"servers": [{"name": "s", "capacity": 1}], "": []}`,
		&input.Error{
			Line:  1,
			Path:  `[""]`,
			Value: "an array",
			Want:  "one of the fields servers, classes, mean_size, service, mean_patience, patience, mean_timeout",
		}},
	{`{"servers": [{"name": "s", "capacity": 1}], "servers": [], "classes": []}`,
		&input.Error{Line: 1, Path: "servers", Value: "an array", Want: "the field once; it is already there"}},
	{goodModel + ` 7`,
		&num.SyntaxError{Line: 1, Column: 110, Reason: "text after the end of the JSON value"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}, ` +
		`{"name": "a", "arrival_rate": 1, "servers": ["s1"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[1].name",
			Value: `"a"`,
			Want:  "a unique name; classes[0] has this one",
		}},
	{someServers + `"classes": [{"arrival_rate": 1, "servers": ["s1"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].name", Want: "a name, not empty"}},
	{someServers + `"classes": [{"name": "a", "servers": ["s1"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].arrival_rate", Want: "a number >= 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": -0.50, "servers": ["s1"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].arrival_rate", Value: "-0.50", Want: "a number >= 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": "4/5/6", "servers": ["s1"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].arrival_rate",
			Value: `"4/5/6"`,
			Want: `a number >= 0 (malformed number; want a decimal or a fraction such as "2", "-0.5", "1e-3" or ` +
				`"4/5")`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers", Want: "an array of names of servers"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": []}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers", Value: "[]", Want: "at least one server"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 0, "servers": []}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers", Value: "[]", Want: "at least one server"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": "s1"}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers", Value: `a string "s1"`,
			Want: `an array of names of servers; write ["s1"]`}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [1]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[0]",
			Value: "the number 1",
			Want:  `the name of a server or group in quotes, or {"group": name, "choose": d}`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1", "S2"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[1]",
			Value: `"S2"`,
			Want:  `the name of a server; did you mean "s2"?`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["database"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers[0]", Value: `"database"`,
			Want: `the name of a server: "s1", "s2", "off", "rack"`}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1", "s2", "s1"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[2]",
			Value: `"s1"`,
			Want:  "each server once; it is already in this class",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 0, "servers": ["off"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers", Value: `["off"]`, Want: "a server of positive capacity"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["rack", "rack"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[1]",
			Value: `"rack"`,
			Want:  "each server once; it is already in this class",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "choose": 5}]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[0].choose",
			Value: "5",
			Want:  `an integer from 1 to 4, the servers in "rack"`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "choose": 0}]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[0].choose",
			Value: "0",
			Want:  `an integer from 1 to 4, the servers in "rack"`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack"}]}]}`,
		&input.Error{
			Line: 2,
			Path: "classes[0].servers[0].choose",
			Want: `an integer from 1 to 4, the servers in "rack"`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"choose": 2}]}]}`,
		&input.Error{Line: 2, Path: "classes[0].servers[0].group", Want: "a name, not empty"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rak", "choose": 2}]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[0].group",
			Value: `"rak"`,
			Want:  `the name of a group; did you mean "rack"?`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "chose": 2}]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[0].chose",
			Value: "the number 2",
			Want:  "one of the fields group, choose; did you mean choose?",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [{"group": "rack", "choose": 2}, ` +
		`{"group": "rack", "choose": 1}]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[1]",
			Value: `"rack"`,
			Want:  "each server once; it is already in this class",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "rate": 2, "servers": ["s1"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].rate",
			Value: "the number 2",
			Want: "one of the fields name, arrival_rate, servers, mean_size, priority, mean_patience, patience, " +
				"mean_timeout; did you mean arrival_rate?",
		}},
	{someServers + `"classes": [[]]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0]",
			Value: "an array",
			Want:  "an object with name, arrival_rate and servers",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"], "mean_size": 0}]}`,
		&input.Error{Line: 2, Path: "classes[0].mean_size", Value: "0", Want: "a number > 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "mean_size": "-1/2", "servers": ["s1"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].mean_size", Value: `"-1/2"`, Want: "a number > 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "mean_size": null, "servers": ["s1"]}]}`,
		&input.Error{Line: 2, Path: "classes[0].mean_size", Value: "null", Want: "a number > 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "mean_sizes": 2, "servers": ["s1"]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].mean_sizes",
			Value: "the number 2",
			Want: "one of the fields name, arrival_rate, servers, mean_size, priority, mean_patience, patience, " +
				"mean_timeout; did you mean mean_size?",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}], "mean_size": 0}`,
		&input.Error{Line: 2, Path: "mean_size", Value: "0", Want: "a number > 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}], "mean_size": "-2"}`,
		&input.Error{Line: 2, Path: "mean_size", Value: `"-2"`, Want: "a number > 0"}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}], "mean_size": null}`,
		&input.Error{Line: 2, Path: "mean_size", Value: "null", Want: "a number > 0"}},
	{someServers + `"classes": [{"name": "s1", "arrival_rate": 1, "servers": ["s1"]}], "mean_sise": 1}`,
		&input.Error{
			Line:  2,
			Path:  "mean_sise",
			Value: "the number 1",
			Want: "one of the fields servers, classes, mean_size, service, mean_patience, patience, mean_timeout; " +
				"did you mean mean_size?",
		}},
	{`{"servers": [{"name": "s", "capacity": 1}, {"name": "s", "capacity": 2}], ` +
		`"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s"]}]}`,
		&input.Error{
			Line:  1,
			Path:  "servers[1].name",
			Value: `"s"`,
			Want:  "a unique name; servers[0] has this one",
		}},
	{``,
		&input.Error{Value: "an empty file", Want: "a model with servers and classes"}},
	{"\x00\x01PNG",
		&num.SyntaxError{Line: 1, Column: 1, Reason: "byte 0x00; want text without control characters"}},
	{"{\"servers\": [{\"name\": \"\xff\"}]}",
		&num.SyntaxError{Line: 1, Column: 24, Reason: "byte 0xff; want text in UTF-8"}},
	{`{
  "servers": [
    {"name": "s", capacity: 1}
  ]
}`,
		&num.SyntaxError{Line: 3, Column: 19, Reason: "want the name of a field in double quotes"}},
	{`{"servers": [{"name": "a\u0000b", "capacity": 1}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].name",
			Value: `"a\x00b"`,
			Want:  "a name in UTF-8 without control characters",
		}},
	{`{"servers": [{"name": "s", "capacity": 1}], "server groups!": []}`,
		&input.Error{
			Line:  1,
			Path:  `["server groups!"]`,
			Value: "an array",
			Want:  "one of the fields servers, classes, mean_size, service, mean_patience, patience, mean_timeout",
		}},
	{`{"servers": [{"name": "s", "capacity": "1e-4096/1e4096"}], "classes": []}`,
		&input.Error{
			Line:  1,
			Path:  "servers[0].capacity",
			Value: `"1e-4096/1e4096"`,
			Want:  "a number >= 0 (decimal exponent out of range; want one from -4096 to 4096)",
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1", null]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[1]",
			Value: "null",
			Want:  `the name of a server or group in quotes, or {"group": name, "choose": d}`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": [["s1"]]}]}`,
		&input.Error{
			Line:  2,
			Path:  "classes[0].servers[0]",
			Value: "an array",
			Want:  `the name of a server or group in quotes, or {"group": name, "choose": d}`,
		}},
	{someServers + `"classes": [{"name": "a", "arrival_rate": 1, "servers": ["s1"]}, ` +
		`{"name": "b", "arrival_rate": 1, "servers": [{"group": "s1", "choose": 2}]}]}`,
		&input.Error{Line: 2, Path: "classes[1].servers[0].choose", Value: "2", Want: `1, since "s1" is one server`}},
	{`{"servers": [{"name": "s", "capacity": 1}], "classes": [{"name": "a", "arrival_rate": 1, "servers": ["t"]}]}`,
		&input.Error{Line: 1, Path: "classes[0].servers[0]", Value: `"t"`, Want: `the name of a server: "s"`}},
}

var badYAML = []badText{
	{`servers: [
`,
		&num.SyntaxError{Line: 2, Column: 1, Reason: "a bracket or brace without its end"}},
	{`servers:
- {name: s, capacity: 1_000}
classes: []
`,
		&input.Error{
			Line:  2,
			Path:  "servers[0].capacity",
			Value: `"1_000"`,
			Want: `a number >= 0 (character '_' at position 2; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`servers:
- {name: s, capacity: 0x10}
classes: []
`,
		&input.Error{
			Line:  2,
			Path:  "servers[0].capacity",
			Value: "0x10",
			Want: `a number >= 0 (character 'x' at position 2; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`servers:
- {name: s, capacity: 010}
classes: []
`,
		&input.Error{
			Line:  2,
			Path:  "servers[0].capacity",
			Value: "010",
			Want:  "a number >= 0, without leading zeros (some read them as base eight)",
		}},
	{`servers:
- {name: s, capacity: .inf}
classes: []
`,
		&input.Error{
			Line:  2,
			Path:  "servers[0].capacity",
			Value: ".inf",
			Want: `a number >= 0 (character 'i' at position 2; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`servers:
- {name: s, capacity: .nan}
classes: []
`,
		&input.Error{
			Line:  2,
			Path:  "servers[0].capacity",
			Value: ".nan",
			Want: `a number >= 0 (character 'n' at position 2; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
	{`servers:
- {name: s, capacity: -1/2}
classes: []
`,
		&input.Error{Line: 2, Path: "servers[0].capacity", Value: `"-1/2"`, Want: "a number >= 0"}},
	{`servers:
- {name: 1, capacity: 1}
classes: []
`,
		&input.Error{Line: 2, Path: "servers[0].name", Value: "the number 1", Want: "a name in quotes, not empty"}},
	{`servers:
- {name: s, capacity: 1 # one
`,
		&num.SyntaxError{Line: 2, Column: 3, Reason: "a bracket or brace without its end"}},
	{`servers:
- {name: s, capacity: }
classes: []
`,
		&input.Error{Line: 2, Path: "servers[0].capacity", Value: "null", Want: "a number >= 0"}},
	{`servers:
- name: s
  capacity: 1
  capacity: 2
classes: []
`,
		&input.Error{
			Line:  4,
			Path:  "servers[0].capacity",
			Value: "the number 2",
			Want:  "the field once; it is already there",
		}},
	{`servers:
- name: s
  capcity: 1
classes: []
`,
		&input.Error{
			Line:  3,
			Path:  "servers[0].capcity",
			Value: "the number 1",
			Want:  "one of the fields name, capacity, count; did you mean capacity?",
		}},
	{`servers: &x []
classes: *x
`,
		&num.SyntaxError{
			Line:   1,
			Column: 10,
			Reason: "anchors and aliases are not supported; write the value in full",
		}},
	{`servers: []
classes: *x
`,
		&num.SyntaxError{
			Line:   2,
			Column: 10,
			Reason: "anchors and aliases are not supported; write the value in full",
		}},
	{`<<: {}
`,
		&num.SyntaxError{Line: 1, Column: 1, Reason: "merge keys are not supported; write the fields in full"}},
	{`servers:
- {name: s, capacity: !!float 1}
`,
		&num.SyntaxError{Line: 2, Column: 23, Reason: "tags are not supported; write the plain value"}},
	{`? [servers]
: []
`,
		&num.SyntaxError{Line: 1, Column: 3, Reason: "want a plain word as the name of a field"}},
	{`servers: []
---
classes: []
`,
		&num.SyntaxError{Line: 2, Column: 1, Reason: "a second document; want one model per file"}},
	{`servers: []
...
classes: []
`,
		&num.SyntaxError{Line: 3, Column: 1, Reason: "a second document; want one model per file"}},
	{"servers:\n\t- {}\n",
		&num.SyntaxError{Line: 2, Column: 1, Reason: "a tab; want spaces"}},
	{`# nothing
`,
		&input.Error{Value: "an empty file", Want: "a model with servers and classes"}},
	{`just words
`,
		&input.Error{Line: 1, Value: `a string "just words"`, Want: "an object with servers and classes"}},
	{`- a
- b
`,
		&input.Error{Line: 1, Value: "an array", Want: "an object with servers and classes"}},
	{`servers:
  - s1
`,
		&input.Error{Line: 2, Path: "servers[0]", Value: `a string "s1"`, Want: "an object with name and capacity"}},
	{`servers:
  name: s1
`,
		&input.Error{Line: 1, Path: "servers", Value: "an object", Want: "an array of servers"}},
	{`servers: "abc
`,
		&num.SyntaxError{Line: 1, Column: 10, Reason: "a quote without its end"}},
	{`servers: @
`,
		&num.SyntaxError{Line: 1, Column: 10,
			Reason: "a character that no value starts with; want strings in quotes"}},
	{`a: b: c
`,
		&num.SyntaxError{Line: 1, Column: 5, Reason: "an unexpected colon; want each field on a separate " +
			"line, indented like the field above, or a value with a colon in quotes"}},
	{`a: 1
 b: 2
`,
		&num.SyntaxError{Line: 2, Column: 3, Reason: "an unexpected colon; want each field on a separate " +
			"line, indented like the field above, or a value with a colon in quotes"}},
	{`servers:
- {name: s, capacity: 1}
classes:
- name: a
  arrival_rate: 1/0
  servers: [s]
`,
		&input.Error{
			Line:  5,
			Path:  "classes[0].arrival_rate",
			Value: `"1/0"`,
			Want:  "a number >= 0 (zero denominator; want a nonzero one)",
		}},
	{`servers:
- {name: s, capacity: 1}
classes:
- name: a
  arrival_rate: 1
  servers: [t]
`,
		&input.Error{Line: 6, Path: "classes[0].servers[0]", Value: `"t"`, Want: `the name of a server: "s"`}},
	{`servers:
- {name: s, capacity: 1}
classes:
- name: a
  arrival_rate: 1:30
  servers: [s]
`,
		&input.Error{
			Line:  5,
			Path:  "classes[0].arrival_rate",
			Value: `"1:30"`,
			Want: `a number >= 0 (character ':' at position 2; want a decimal or a fraction such as "2", "-0.5", ` +
				`"1e-3" or "4/5")`,
		}},
}

func TestBadTexts(t *testing.T) {
	t.Run("json", func(t *testing.T) { wantErrors(t, badJSON, cluster.ReadJSON) })
	t.Run("yaml", func(t *testing.T) { wantErrors(t, badYAML, cluster.ReadYAML) })
}

func wantErrors(t *testing.T, table []badText, read func(io.Reader) (*cluster.Model, error)) {
	for _, c := range table {
		m, err := read(strings.NewReader(c.text))
		if diff := cmp.Diff(c.want, err); diff != "" {
			t.Errorf("%s\n%s", c.text, diff)
		}
		if m != nil {
			t.Errorf("a model and an error for:\n%s", c.text)
		}
	}
}

// An error states file, line, field, value and range, each once.
func TestErrorText(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.yaml")
	for _, c := range []struct{ text, want string }{
		{"servers:\n- {name: s, capacity: -1}\nclasses: []\n", ":2: servers[0].capacity = -1: want a number >= 0"},
		{"servers:\n- {name: s}\n", ":2: servers[0].capacity is missing: want a number >= 0"},
		{"- servers\n", ":1: want an object with servers and classes, not an array"},
		{"\n", ": want a model with servers and classes, not an empty file"},
		{"servers: *x\n", ":1:10: anchors and aliases are not supported; write the value in full"},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.ReadFile(name); err == nil || err.Error() != name+c.want {
			t.Errorf("got %v, want %s%s", err, name, c.want)
		}
	}
}

// Every proper prefix of a model ends too early, wherever it is truncated.
func TestTruncated(t *testing.T) {
	text := strings.TrimSpace(goodModel)
	for end := range len(text) {
		if _, err := cluster.ReadJSON(strings.NewReader(text[:end])); err == nil {
			t.Errorf("accepted: %s", text[:end])
		}
	}
}

// Deep nesting is rejected before any recursion.
func TestDeepNesting(t *testing.T) {
	for _, c := range []struct {
		text string
		read func(io.Reader) (*cluster.Model, error)
		want string
	}{
		{"[", cluster.ReadJSON, "line 1, column 10001: nested more deeply than any model, over 10,000 levels"},
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

// blanks is an endless text of spaces.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestTooLong(t *testing.T) {
	spaces := func(n int) io.Reader {
		return io.MultiReader(strings.NewReader(goodModel), io.LimitReader(blanks{}, int64(n)))
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

// The message for a file starts with its name; the extension selects the format.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "servers: []", ":1:1: want a value; put strings in double quotes"},
		{"a.JSON", "servers: []", ":1:1: want a value; put strings in double quotes"},
		{"a.yaml", "servers: []", ":1: classes is missing: want an array of classes"},
		{"a.yml", "servers: []", ":1: classes is missing: want an array of classes"},
		{"a", "servers: []", ":1: classes is missing: want an array of classes"},
		{"b", " \n[", ":2:2: the text ends within a value"},
		{"c", "\ufeff{", ":1:2: the text ends within a value"},
		{"d.txt", "", ": want a model with servers and classes, not an empty file"},
	} {
		name := filepath.Join(dir, c.name)
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.ReadFile(name); err == nil || err.Error() != name+c.want {
			t.Errorf("got  %v\nwant %s%s", err, name, c.want)
		}
	}
	missing := filepath.Join(dir, "missing.json")
	if _, err := cluster.ReadFile(missing); !errors.Is(err, os.ErrNotExist) ||
		strings.Count(err.Error(), missing) != 1 {
		t.Errorf("got %v for a missing file", err)
	}
	if _, err := cluster.ReadFile(dir); err == nil || !strings.HasPrefix(err.Error(), dir+": ") {
		t.Errorf("got %v for a directory", err)
	}
}

// The error of a failing reader is returned as it is, not as a bad model.
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
