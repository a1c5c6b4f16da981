package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// The examples of the specification of YAML 1.2.2 that use neither anchors nor tags, and texts for
// the rules of chapters 6 to 10 about colons, indentation, folding and the core schema. The values
// are those of the specification, written in JSON.
func TestYAMLSpecification(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"- Mark McGwire\n- Sammy Sosa\n- Ken Griffey", `["Mark McGwire", "Sammy Sosa", "Ken Griffey"]`}, // example 2.1
		// 2.2
		{
			"hr:  65    # Home runs\navg: 0.278 # Batting average\nrbi: 147   # Runs Batted In",
			`{"hr": 65, "avg": 0.278, "rbi": 147}`,
		},
		// 2.3
		{
			"american:\n- Boston Red Sox\n- Detroit Tigers\nnational:\n- New York Mets\n",
			`{"american": ["Boston Red Sox", "Detroit Tigers"], "national": ["New York Mets"]}`,
		},
		// 2.4
		{
			"-\n  name: Mark McGwire\n  hr:   65\n-\n  name: Sammy Sosa\n  hr:   63\n",
			`[{"name": "Mark McGwire", "hr": 65}, {"name": "Sammy Sosa", "hr": 63}]`,
		},
		// 2.5
		{
			"- [name        , hr, avg  ]\n- [Mark McGwire, 65, 0.278]\n",
			`[["name", "hr", "avg"], ["Mark McGwire", 65, 0.278]]`,
		},
		// 2.6
		{
			"Mark McGwire: {hr: 65, avg: 0.278}\nSammy Sosa: {\n    hr: 63,\n    avg: 0.288,\n }\n",
			`{"Mark McGwire": {"hr": 65, "avg": 0.278}, "Sammy Sosa": {"hr": 63, "avg": 0.288}}`,
		},
		// 2.9
		{
			"---\nhr: # 1998 hr ranking\n- Mark McGwire\n- Sammy Sosa\n# 1998 rbi ranking\nrbi:\n- Sammy Sosa\n",
			`{"hr": ["Mark McGwire", "Sammy Sosa"], "rbi": ["Sammy Sosa"]}`,
		},
		// 2.12
		{
			"---\n# Products purchased\n- item    : Super Hoop\n  quantity: 1\n- item    : Basketball\n",
			`[{"item": "Super Hoop", "quantity": 1}, {"item": "Basketball"}]`,
		},
		{"# ASCII Art\n--- |\n  \\//||\\/||\n  // ||  ||__\n", `"\\//||\\/||\n// ||  ||__\n"`}, // 2.13
		// 2.14
		{
			"--- >\n  Mark McGwire's\n  year was crippled\n  by a knee injury.\n",
			`"Mark McGwire's year was crippled by a knee injury.\n"`,
		},
		// 2.15
		{
			"--- >\n Sammy Sosa completed another\n fine season with great stats.\n\n   63 Home Runs\n" +
				"   0.288 Batting Average\n\n What a year!\n",
			`"Sammy Sosa completed another fine season with great stats.\n\n  63 Home Runs\n  0.288 Batting ` +
				`Average\n\nWhat a year!\n"`,
		},
		// 2.16
		{"name: Mark McGwire\naccomplishment: >\n  Mark set a major league\n  home run record in 1998.\nstats: |\n" +
			"  65 Home Runs\n  0.278 Batting Average\n",
			`{"name": "Mark McGwire", "accomplishment": "Mark set a major league home run record in 1998.\n", ` +
				`"stats": "65 Home Runs\n0.278 Batting Average\n"}`},
		// 2.17
		{
			"unicode: \"Sosa did fine.\\u263A\"\ncontrol: \"\\b1998\\t1999\\t2000\\n\"\n" +
				"hex esc: \"\\x0d\\x0a is \\r\\n\"\n\nsingle: '\"Howdy!\" he cried.'\n" +
				"quoted: ' # Not a ''comment''.'\ntie-fighter: '|\\-*-/|'",
			`{"unicode": "Sosa did fine.☺", "control": "\b1998\t1999\t2000\n", "hex esc": "\r\n is \r\n", "single": ` +
				`"\"Howdy!\" he cried.", "quoted": " # Not a 'comment'.", "tie-fighter": "|\\-*-/|"}`,
		},
		// 2.18
		{
			"plain:\n  This unquoted scalar\n  spans many lines.\n\nquoted: \"So does this\n  quoted scalar.\\n\"",
			`{"plain": "This unquoted scalar spans many lines.", "quoted": "So does this quoted scalar.\n"}`,
		},
		// 6.1
		{"  # Leading comment line spaces are\n  # neither content nor indentation.\n    \nNot indented:\n" +
			" By one space: |\n    By four\n      spaces\n Flow style: [    # Leading spaces\n" +
			"   By two,        # in flow style\n  Also by two,    # are neither\n  \tStill by two   # content nor\n" +
			"    ]             # indentation.",
			`{"Not indented": {"By one space": "By four\n  spaces\n", "Flow style": ["By two", "Also by two", ` +
				`"Still by two"]}}`},
		{"- foo:\t bar\n- - baz\n  -\tbaz\n", `[{"foo": "bar"}, ["baz", "baz"]]`}, // 6.3
		// 6.4
		{
			"plain: text\n  lines\nquoted: \"text\n  \tlines\"\nblock: |\n  text\n   \tlines\n",
			`{"plain": "text lines", "quoted": "text lines", "block": "text\n \tlines\n"}`,
		},
		// 6.5
		{
			"Folding:\n  \"Empty line\n   \t\n  as a line feed\"\nClipped empty lines: |\n  a line feed\n \n",
			`{"Folding": "Empty line\nas a line feed", "Clipped empty lines": "a line feed\n"}`,
		},
		{">-\n  trimmed\n  \n \n\n  as\n  space\n", `"trimmed\n\n\nas space"`},  // 6.6
		{">\n  foo \n \n  \t bar\n\n  baz\n", `"foo \n\n\t bar\n\nbaz\n"`},      // 6.7
		{"\"\n  foo \n \n  \t bar\n\n  baz\n\"", `" foo\nbar\nbaz "`},           // 6.8
		{"key:    # Comment\n        # lines\n  value\n\n", `{"key": "value"}`}, // 6.10
		{"%YAML 1.2\n---\nDocument\n... # Suffix\n", `"Document"`},              // 9.2
		// 7.5
		{
			"\"folded \nto a space,\t\n \nto a line feed, or \t\\\n \\ \tnon-content\"",
			`"folded to a space,\nto a line feed, or \t \tnon-content"`,
		},
		// 7.6
		{"\" 1st non-empty\n\n 2nd non-empty \n\t3rd non-empty \"", `" 1st non-empty\n2nd non-empty 3rd non-empty "`},
		{" 'here''s to \"quotes\"'", `"here's to \"quotes\""`}, // 7.7
		// 7.8
		{
			"'implicit block key' : [\n  'implicit flow key' : value,\n ]",
			`{"implicit block key": [{"implicit flow key": "value"}]}`,
		},
		// 7.9
		{"' 1st non-empty\n\n 2nd non-empty \n\t3rd non-empty '", `" 1st non-empty\n2nd non-empty 3rd non-empty "`},
		// 7.10
		{
			"# Outside flow collection:\n- ::vector\n- \": - ()\"\n- Up, up, and away!\n- -123\n" +
				"- https://example.com/foo#bar\n# Inside flow collection:\n- [ ::vector,\n  \": - ()\",\n" +
				"  \"Up, up and away!\",\n  -123,\n  https://example.com/foo#bar ]",
			`["::vector", ": - ()", "Up, up, and away!", -123, "https://example.com/foo#bar", ["::vector", ": - ` +
				`()", "Up, up and away!", -123, "https://example.com/foo#bar"]]`,
		},
		// 7.11
		{
			"implicit block key : [\n  implicit flow key : value,\n ]",
			`{"implicit block key": [{"implicit flow key": "value"}]}`,
		},
		{"1st non-empty\n\n 2nd non-empty \n\t3rd non-empty", `"1st non-empty\n2nd non-empty 3rd non-empty"`}, // 7.12
		{"- [ one, two, ]\n- [three ,four]", `[["one", "two"], ["three", "four"]]`},                           // 7.13
		// 7.15
		{
			"- { one : two , three: four , }\n- {five: six,seven : eight}",
			`[{"one": "two", "three": "four"}, {"five": "six", "seven": "eight"}]`,
		},
		// 7.17
		{
			"{\nunquoted : \"separate\",\nhttps://foo.com,\nomitted value:,\n}",
			`{"unquoted": "separate", "https://foo.com": null, "omitted value": null}`,
		},
		// 7.18
		{
			"{\n\"adjacent\":value,\n\"readable\": value,\n\"empty\":\n}",
			`{"adjacent": "value", "readable": "value", "empty": null}`,
		},
		{"[\nfoo: bar\n]", `[{"foo": "bar"}]`}, // 7.19
		// 8.2
		{
			"- |\n detected\n- >\n \n  \n  # detected\n- |1\n  explicit\n- >\n \t\n detected\n",
			`["detected\n", "\n\n# detected\n", " explicit\n", "\t\ndetected\n"]`,
		},
		// 8.4
		{
			"strip: |-\n  text\nclip: |\n  text\nkeep: |+\n  text\n",
			`{"strip": "text", "clip": "text\n", "keep": "text\n"}`,
		},
		// 8.5
		{" # Strip\n  # Comments:\nstrip: |-\n  # text\n  \n # Clip\n  # comments:\n\nclip: |\n  # text\n \n # Keep\n" +
			"  # comments:\n\nkeep: |+\n  # text\n\n # Trail\n  # comments.\n",
			`{"strip": "# text", "clip": "# text\n", "keep": "# text\n\n"}`},
		{"strip: >-\n\nclip: >\n\nkeep: |+\n\n", `{"strip": "", "clip": "", "keep": "\n"}`},    // 8.6
		{"|\n \n  \n  literal\n   \n  \n  text\n\n # Comment\n", `"\n\nliteral\n \n\ntext\n"`}, // 8.8
		// 8.10
		{
			">\n\n folded\n line\n\n next\n line\n   * bullet\n\n   * list\n   * lines\n\n last\n line\n\n# Comment\n",
			`"\nfolded line\nnext line\n  * bullet\n\n  * list\n  * lines\n\nlast line\n"`,
		},
		{"block sequence:\n  - one\n  - two : three\n", `{"block sequence": ["one", {"two": "three"}]}`}, // 8.14
		// 8.15
		{
			"- # Empty\n- |\n block node\n- - one # Compact\n  - two # sequence\n- one: two # Compact mapping\n",
			`[null, "block node\n", ["one", "two"], {"one": "two"}]`,
		},
		{"block mapping:\n key: value\n", `{"block mapping": {"key": "value"}}`},                // 8.16
		{"-\n  \"flow in block\"\n- >\n Block scalar\n", `["flow in block", "Block scalar\n"]`}, // 8.20
		// core schema; kinds of numbers only
		{"- Bare\n- true\n- False\n- NULL\n- ~\n- 0o14\n- 0x3A\n- 12e03\n- .5\n- -.INF\n- 1_000\n- 1:30\n" +
			"- yes\n- 08\n", `["Bare", true, false, null, null, 0, 1, 2, 3, 4, "1_000", "1:30", "yes", 8]`},

		{"{servers: [rack:1]}", `{"servers": ["rack:1"]}`},
		{"- {name: a, servers: [rack:1, b:c:d, e: f]}", `[{"name": "a", "servers": ["rack:1", "b:c:d", {"e": "f"}]}]`},
		{"{rack:1: 2, a:3}", `{"rack:1": 2, "a:3": null}`},
		{`{"a":1, 'b':[2], c: x:y}`, `{"a": 1, "b": [2], "c": "x:y"}`},
		{"[a:, b]", `[{"a": null}, "b"]`},
		{`["a":1, "b" : 2]`, `[{"a": 1}, {"b": 2}]`},
		{"a: b\n   c\nd: e", `{"a": "b c", "d": "e"}`},
		{"a: b\n  - c", `{"a": "b - c"}`},
		{"a #b: c", `"a"`},
		{"a: 'x' # c", `{"a": "x"}`},
		{"a:\n- b\n-\n  - c\nd: e", `{"a": ["b", ["c"]], "d": "e"}`},
		{"\"<<\": 1\ntrue: 2\nnull: 3\n~: 4\n1.50: 5", `{"<<": 1, "true": 2, "null": 3, "~": 4, "1.50": 5}`},
		{"a: {b: 1,\nc: [2,\n3]}\nd: 4", `{"a": {"b": 1, "c": [2, 3]}, "d": 4}`},
		{"\t{\"a\": 1}", `{"a": 1}`},
		{"a:\n  \t[1]", `{"a": [1]}`},
		{"a: \"\\U0001F600\\_\\L\"", `{"a": "😀\u00a0\u2028"}`},
		{"? a\n: b\n? c", `{"a": "b", "c": null}`},
		{"# c\r\n%YAML 1.1\n---\na", `"a"`},
		{"a: |\n b\r\n\r\n c\r\nd: 1\r", `{"a": "b\n\nc\n", "d": 1}`},
		{"--- a\n...\n... # end\n\n", `"a"`},
	} {
		want, err := parseJSON([]byte(c.want))
		if err != nil {
			t.Fatalf("%s: %v", c.want, err)
		}
		got, err := parseYAML([]byte(c.text))
		if err != nil || !reflect.DeepEqual(shape(got), shape(want)) {
			t.Errorf("%q\ngot  %v, %v\nwant %v", c.text, shape(got), err, shape(want))
		}
	}
}

// shape formats a tree; every number becomes the word "number", except JSON decimals.
func shape(n *Node) string {
	if n == nil {
		return "nothing"
	}
	switch n.Kind {
	case NumberKind:
		return "number"
	case TextKind:
		return fmt.Sprintf("%q", n.Text)
	case ArrayKind:
		var b strings.Builder
		for i := range n.Kids {
			b.WriteString(shape(&n.Kids[i]) + ", ")
		}
		return "[" + b.String() + "]"
	case ObjectKind:
		var b strings.Builder
		for i, key := range n.Keys {
			fmt.Fprintf(&b, "%q: %s, ", key, shape(&n.Kids[i]))
		}
		return "{" + b.String() + "}"
	}
	return n.String()
}

// Invalid or unsupported YAML is rejected with its line and column, in one plain line.
func TestBadYAML(t *testing.T) {
	const (
		colon = "an unexpected colon; want each field on a separate line, indented like the field " +
			"above, or a value with a colon in quotes"
		field  = "want the end of the value, or a field on a separate line, indented like the field above"
		dashes = "a list of dashes where no list is allowed; want it on separate lines or in brackets"
		name   = "want a plain word as the name of a field"
		open   = "a bracket or brace without its end"
		quote  = "a quote without its end"
		start  = "a character that no value starts with; want strings in quotes"
		block  = "want a value, or a string that starts with | or > in quotes"
		escape = `an escape that is no character; want the character itself, or \U and eight digits`
		only   = "directives other than %YAML 1.2 are not supported"
		merge  = "merge keys are not supported; write the fields in full"
	)
	for _, c := range []struct{ text, want string }{
		{"a: b: c", "line 1, column 5: " + colon},
		{"x: {a: 1 b: 2}", "line 1, column 11: want a comma or }"},
		{"a: 1\n b: 2", "line 2, column 3: " + colon},
		{"a:\n    b: 1\n  c: 2", "line 3, column 3: " + field},
		{"a:\n- b\n  - c: d", "line 3, column 6: " + colon},
		{"- a\nb: 1", "line 2, column 1: want the end of the list, or a dash below the dash above"},
		{"a: 1\n- b", "line 2, column 1: " + field},
		{"a: 1\nb", "line 2, column 1: want a field, a name with a colon and a space after it"},
		{"a: - b", "line 1, column 4: " + dashes},
		{"--- a: b", "line 1, column 6: " + colon},
		{"[- a]", "line 1, column 2: want a value"},
		{"[a, ,b]", "line 1, column 5: want a value"},
		{"[,]", "line 1, column 2: want a value"},
		{"[a}", "line 1, column 3: want a comma or ]"},
		{"{a: [b}", "line 1, column 7: want a comma or ]"},
		{"[\"a\" b]", "line 1, column 6: want a comma or ]"},
		{"a: [b", "line 1, column 4: " + open},
		{"a: [é,\r\n {b: c],", "line 2, column 7: want a comma or }"},
		{"a: [é,\r\n {b: c", "line 2, column 2: " + open},
		{"a: [b,\n", "line 2, column 1: " + open},
		{"a: [b\n---\n", "line 2, column 1: want a comma or ]"},
		{"a: 'b\n---\n'", "line 1, column 4: " + quote},
		{"a: \"b\\\"", "line 1, column 4: " + quote},
		{"a: \"b\"c", "line 1, column 7: " + field},
		{"a: [1] 2", "line 1, column 8: " + field},
		{"[1] 2", "line 1, column 5: text after the end of the value"},
		{"a: [1]# 2", "line 1, column 7: a comment without a space before its #"},
		{"\"a\":1", "line 1, column 4: text after the end of the value"},
		{"'a\n b': 1", "line 2, column 4: " + colon},
		{"{a: b}: c", "line 1, column 1: " + name},
		{"[[a]: b]", "line 1, column 2: " + name},
		{"{[a]: b}", "line 1, column 2: " + name},
		{"? [a]\n: b", "line 1, column 3: " + name},
		{"[\"a\"\n: b]", "line 2, column 1: want a comma or ]"},
		{"a: 1\n: a", "line 2, column 1: " + name},
		{"a: ? b", "line 1, column 4: an unexpected field after ?"},
		{"a: &b c", "line 1, column 4: " + anchored},
		{"- *directive", "line 1, column 3: " + anchored},
		{"a: &b c\nd: *b", "line 1, column 4: " + anchored},
		{"&b a: c", "line 1, column 1: " + anchored},
		{"[*b]", "line 1, column 2: " + anchored},
		{"[*]", "line 1, column 3: " + anchored},
		{"!!map {a: b}", "line 1, column 1: " + tagged},
		{"a: ! b", "line 1, column 4: " + tagged},
		{"a: !x!y b", "line 1, column 4: " + tagged},
		{"a: !<x b", "line 1, column 7: " + tagged},
		{"{<<: a}", "line 1, column 2: " + merge},
		{"a: 1\n<<: {b: 1}", "line 2, column 1: " + merge},
		{"a: @b", "line 1, column 4: " + start},
		{"a: |x\n b", "line 1, column 4: " + block},
		{"a: | b", "line 1, column 4: " + block},
		{"a: |0\n b", "line 1, column 4: " + block},
		{"a: |\n    \n  b", "line 3, column 3: " + field},
		{"a: \"\\q\"", `line 1, column 5: an escape that YAML does not have; want \\ for a backslash`},
		{"a: \"\\x4\"", "line 1, column 7: an escape without its hexadecimal digits"},
		{"a: \"\\ud83d\\ude00\"", "line 1, column 7: " + escape},
		{"a: \"\\U00110000\"", "line 1, column 7: " + escape},
		{"a:\n\tb: 1", "line 2, column 1: a tab; want spaces"},
		{"a:\n \tb: 1", "line 2, column 2: a tab in the indentation; want spaces"},
		{"a: 1\n\tb: 1", "line 2, column 1: a tab in the indentation; want spaces"},
		{"-\t- a", "line 1, column 2: a tab in the indentation; want spaces"},
		{"a\n---\n", "line 2, column 1: " + secondDocument},
		{"---\n---\n", "line 2, column 1: " + secondDocument},
		{"a: 1\n...\nb: 1", "line 3, column 1: " + secondDocument},
		{"a: 1\n%YAML 1.2\n---\n", "line 2, column 1: " + secondDocument},
		{"a: 1\n... b", "line 2, column 5: text after the end of the document"},
		{"%FOO\n---\na", "line 1, column 1: " + only},
		{"%YAML 2.0\n---\na", "line 1, column 1: " + only},
		{"%YAML 1.2\n%YAML 1.2\n---\na", "line 2, column 1: " + only},
		{"é: \"\u2028\"", `line 1, column 5: character U+2028; want it as an escape in double quotes, "\u2028"`},
		{"a\n\ufeffb", `line 2, column 1: character U+FEFF; want it as an escape in double quotes, "\ufeff"`},
		{"a: \uffff", `line 1, column 4: character U+FFFF; want it as an escape in double quotes, "\uffff"`},
	} {
		n, err := parseYAML([]byte(c.text))
		if n != nil || err == nil || err.Error() != c.want {
			t.Errorf("%q\ngot  %v, %v\nwant %s", c.text, shape(n), err, c.want)
		}
	}
}

// Depth is limited, not width: a hundred levels are read at any column, and one more is rejected.
func TestYAMLNesting(t *testing.T) {
	blocks := func(levels int) (b string) {
		for i := range levels {
			b += strings.Repeat(" ", i) + "a:\n"
		}
		return b
	}
	for _, c := range []struct {
		text func(levels int) string
		want string
	}{
		{func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }, "line 1, column 101"},
		{func(n int) string { return strings.Repeat("{a: ", n) + strings.Repeat("}", n) }, "line 1, column 401"},
		{func(n int) string { return strings.Repeat("- ", n) }, "line 1, column 201"},
		{func(n int) string { return strings.Repeat("- ", n-1) + "a: 1" }, "line 1, column 202"},
		{func(n int) string { return strings.Repeat("- ", n-2) + "a: [1]" }, "line 1, column 202"},
		{blocks, "line 101, column 102"},
		{func(n int) string { return strings.Repeat(" ", 5000) + strings.Repeat("-     ", n) }, "line 1, column 5601"},
	} {
		for _, end := range []string{"", "\n"} {
			if _, err := parseYAML([]byte(c.text(mostLevels) + end)); err != nil {
				t.Errorf("%.50q: %v", c.text(mostLevels), err)
			}
			_, err := parseYAML([]byte(c.text(mostLevels+1) + end))
			if want := c.want + ": nested more deeply than any model, over 100 levels"; err == nil ||
				err.Error() != want {
				t.Errorf("%.50q: got %v, want %s", c.text(mostLevels+1), err, want)
			}
		}
	}
	_, err := parseYAML([]byte("? " + strings.Repeat("[", mostLevels+1)))
	if want := "line 1, column 103: " + tooDeep; err == nil || err.Error() != want {
		t.Errorf("a name: got %v, want %s", err, want)
	}
}

// Long and wide texts are read.
func TestYAMLWidth(t *testing.T) {
	const wide = 40_000
	var fields strings.Builder
	for i := range wide {
		fmt.Fprintf(&fields, "s%d: %d\n", i, i)
	}
	mixed := strings.Repeat("a: 1\n", wide) + "b: [" + strings.Repeat("{c: [d:1]}, ", wide) + "]\nc:\n" +
		strings.Repeat("- - x\n", wide)
	for _, c := range []struct {
		text string
		kids int
	}{
		{fields.String(), wide},
		{mixed, wide + 2},
		{strings.Repeat(" ", 1200) + "a: 1\n" + strings.Repeat(" ", 1200) + "b: 2\n", 2},
		{strings.Repeat("a", 5000) + ": 1", 1},
		{"[" + strings.Repeat("rack:1, ", 10_000) + "]", 10_000},
		{`{"` + strings.Repeat("a", 5000) + `":1, b: {` + strings.Repeat("c: d, ", 1000) + "}}", 2},
	} {
		n, err := parseYAML([]byte(c.text))
		if err != nil || len(n.Kids) != c.kids {
			t.Errorf("%.50q: %v", c.text, err)
		}
	}
}

// A megabyte of nested or unterminated syntax is rejected, an eighth of it if values are repeated,
// and so is text that would need many gigabytes.
func TestHostileYAML(t *testing.T) {
	check := func(size int, list ...string) {
		for _, hostile := range list {
			if n, err := parseYAML([]byte(strings.Repeat(hostile, size/len(hostile)))); err == nil {
				t.Errorf("%q: %v", hostile, n.Kind)
			}
		}
	}
	check(
		1<<20,
		"[", "{a: ", "- ", "{", "? ", "[[],", "- [", "&a [", "<<: ", ": ", "[? ", "? - ", "- *a\n", "%A\n",
		"---\n- a\n", "{a: 1}\n", "\ta", "a\n#\n", "a:\n\t", "'\n",
	)
	// not nested, but the parser reads all of a line before it rejects the second value
	check(1<<17, "[]", "{}", `"" `, "*a ", "&a ", "!a ", "\"\t")
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("# c\n", 8<<20) + " ", "want YAML of at most 32 MiB, not a longer one"},
		{
			"[" + strings.Repeat("a,", maxMarks) + "]",
			"want YAML with at most 4194304 colons, commas, quotes, brackets and the like, not more",
		},
		{
			strings.Repeat("-\n", maxMarks+1),
			"want YAML with at most 4194304 colons, commas, quotes, brackets and the like, not more",
		},
	} {
		if _, err := parseYAML([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%.10q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// drawTree draws a tree with at most the given number of levels.
func drawTree(t *rapid.T, levels int) Node {
	kind := rapid.SampledFrom([]Kind{
		NullKind, BoolKind, NumberKind, TextKind, TextKind, ArrayKind, ArrayKind, ObjectKind, ObjectKind,
	}).Draw(t, "kind")
	if levels == 0 && kind > TextKind {
		kind = NumberKind
	}
	switch kind {
	case BoolKind:
		return Node{Kind: kind, Text: rapid.SampledFrom([]string{"true", "false"}).Draw(t, "boolean")}
	case NumberKind:
		return Node{Kind: kind, Text: rapid.SampledFrom([]string{
			"0", "1.50", "-3", "1e-3", "-0.5E+2", "12345678901234567890.1",
		}).Draw(t, "number")}
	case TextKind:
		return Node{Kind: kind, Text: drawText(t)}
	case ArrayKind:
		n := Node{Kind: kind}
		for range rapid.IntRange(0, 6).Draw(t, "elements") {
			n.Kids = append(n.Kids, drawTree(t, levels-1))
		}
		return n
	case ObjectKind:
		n := Node{Kind: kind}
		for range rapid.IntRange(0, 6).Draw(t, "fields") {
			n.Keys, n.Kids = append(n.Keys, drawText(t)), append(n.Kids, drawTree(t, levels-1))
		}
		return n
	}
	return Node{Kind: NullKind}
}

// drawText draws names, and texts that need quotes or appear to.
func drawText(t *rapid.T) string {
	word := rapid.SampledFrom([]string{
		"rack", "rack:1", "a b", "s-1", "http://x/y#z", "x, y", "a: b", "a #b", "", " ", "null", "~", "true", "1",
		"1.5", "0x1", ".inf", "-", "- a", "?", "? a", ":", ":a", "[a]", "{a}", "a]", "a}", "a,", "#", "&a", "*a",
		"!a", "|", ">", "@", "%", "'", "\"", "it's", "\"q\"", "a:", "<<", "---", "...", "--- a", "é", "😀", "\t",
		"a\tb", "a\nb", "\n", "a\n\n b\n", "\\", "\u00a0", "\u2028", "a  b", "-1a", "1_000", "1:30",
	})
	if rapid.IntRange(0, 3).Draw(t, "word") > 0 {
		return word.Draw(t, "word")
	}
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab1 :#-?,[]{}'\"\\|>\n\t&*!%@é.~<=")), 0, 12, -1).Draw(t, "text")
}

// A yamlWriter writes trees in random styles, and records the line numbers in the trees. It is
// independent of the reader: it omits quotes only where the productions of the specification allow
// it, for letters, digits and a few marks.
type yamlWriter struct {
	t *rapid.T
	b strings.Builder
}

// place records this line as the start of a node, unless the node already has the line of its key.
func (w *yamlWriter) place(n *Node) {
	if n.Line == 0 {
		n.Line = 1 + int32(strings.Count(w.b.String(), "\n"))
	}
}

func (w *yamlWriter) coin(what string) bool { return rapid.Bool().Draw(w.t, what) }

func (w *yamlWriter) spaces(least int) string {
	return strings.Repeat(" ", least+rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(w.t, "spaces"))
}

// comment ends a line, sometimes with a comment or empty lines.
func (w *yamlWriter) comment() {
	w.b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", " # a: [\n", "\n\n", "\n   # 'b\n", "   \n"}).Draw(
		w.t, "comment",
	))
}

// bare reports whether a text may be written without quotes.
func bare(s string) bool {
	if s == "" || strings.Trim(s, " ") != s || fromScalar(&yaml.Node{Value: s}).Kind != TextKind || s == "<<" ||
		s == "---" || s == "..." || strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "... ") {
		return false
	}
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == 'é' || c == '😀':
		case i > 0 && (c == '/' || c == '\'' || c == '"' || c == '-' || c == '=' || c == '\\' ||
			c == '!' || c == '~' || c == '%'):
		case i > 0 && c == '#' && s[i-1] != ' ', i > 0 && c == ':' && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z' ||
			i > 0 && c == ':' && i+1 < len(s) && (s[i+1] == '/' || s[i+1] == '1'):
		case c == ' ' && i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' && s[i+1] >= 'a' && s[i+1] <= 'z':
		case c == '-' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		default:
			return false
		}
	}
	return true
}

// scalar returns a scalar on one line.
func (w *yamlWriter) scalar(n *Node) string {
	switch n.Kind {
	case NullKind:
		return rapid.SampledFrom([]string{"null", "~", "Null", "NULL"}).Draw(w.t, "null")
	case BoolKind, NumberKind:
		return n.Text
	}
	return w.text(n.Text)
}

func (w *yamlWriter) text(s string) string {
	switch style := rapid.IntRange(0, 3).Draw(w.t, "quotes"); {
	case style < 2 && bare(s):
		return s
	case style < 3 && !strings.ContainsAny(s, "\n\u2028"):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	if w.coin("json") {
		text, err := json.Marshal(s)
		if err != nil {
			w.t.Fatal(err)
		}
		return string(text)
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(c))
		case c == '\n':
			b.WriteString("\\n")
		case c < 0x80 && w.coin("escape"):
			fmt.Fprintf(&b, "\\x%02x", c)
		case c == '\u2028' || w.coin("long escape"):
			fmt.Fprintf(&b, "\\U%08X", c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

// flow writes a value in brackets, on one or several lines, indented by at least indent columns.
func (w *yamlWriter) flow(n *Node, indent int) {
	gap := func() {
		switch rapid.IntRange(0, 5).Draw(w.t, "gap") {
		case 0:
			w.b.WriteString(w.spaces(1))
		case 1:
			w.b.WriteString(" # c, ]\n" + w.spaces(indent))
		case 2:
			w.b.WriteString("\n" + w.spaces(indent))
		}
	}
	w.place(n)
	open, end := "[", "]"
	switch n.Kind {
	case ArrayKind:
	case ObjectKind:
		open, end = "{", "}"
	default:
		w.b.WriteString(w.scalar(n))
		return
	}
	w.b.WriteString(open)
	for i := range n.Kids {
		gap()
		pair := n.Kind == ArrayKind && n.Kids[i].Kind == ObjectKind && len(n.Kids[i].Keys) == 1 && w.coin("pair")
		kid := &n.Kids[i]
		if n.Kind == ObjectKind || pair {
			name := ""
			w.place(kid)
			if pair {
				name, kid = kid.Keys[0], &kid.Kids[0]
				w.place(kid)
			} else {
				name = n.Keys[i]
			}
			name = w.text(name)
			w.b.WriteString(name)
			switch quoted := name[0] == '"' || name[0] == '\''; {
			case kid.Kind == NullKind && w.coin("without value"):
				if pair || w.coin("colon") {
					w.b.WriteString(":")
				}
				kid = nil
			case quoted && w.coin("adjacent"):
				w.b.WriteString(":")
			case w.coin("colon after a space"):
				w.b.WriteString(" : ")
			default:
				w.b.WriteString(":")
				if before := w.b.Len(); !pair {
					if gap(); w.b.Len() == before {
						w.b.WriteString(" ")
					}
				} else {
					w.b.WriteString(" ")
				}
			}
		}
		if kid != nil {
			w.flow(kid, indent)
		}
		gap()
		if i+1 < len(n.Kids) || w.coin("comma at the end") {
			w.b.WriteString(",")
		}
	}
	gap()
	w.b.WriteString(end)
}

// block writes a value after an indicator ("" at the start), on the same line or on new lines, and
// ends the last line.
func (w *yamlWriter) block(n *Node, indent int, after string) {
	behind := func() string {
		if after == "" {
			return ""
		}
		return w.spaces(1)
	}
	collection := n.Kind > TextKind && len(n.Kids) > 0
	switch {
	case n.Kind == TextKind && strings.HasSuffix(n.Text, "\n") && strings.Trim(n.Text, "\n\tab 1") == "" &&
		!strings.HasPrefix(strings.TrimLeft(n.Text, "\n"), " ") && strings.Trim(n.Text, "\n") != "" &&
		w.coin("literal"):
		more := strings.Repeat(" ", max(indent, 0)+rapid.IntRange(1, 3).Draw(w.t, "indentation"))
		w.place(n)
		w.b.WriteString(behind() + "|+" + "\n")
		for line := range strings.Lines(n.Text) {
			if line != "\n" {
				line = more + line
			}
			w.b.WriteString(line)
		}
	case collection && w.coin("block"):
		column := indent + rapid.IntRange(1, 4).Draw(w.t, "indentation")
		if indent < 0 {
			column = rapid.IntRange(0, 2).Draw(w.t, "indentation")
		}
		if after == ":" && n.Kind == ArrayKind && w.coin("list below its name") {
			column = indent
		}
		first := strings.Repeat(" ", column)
		switch {
		case after == "-" && column > indent+1 && w.coin("compact"):
			first = strings.Repeat(" ", column-indent-1)
		case after != "":
			w.comment()
		}
		w.place(n)
		for i := range n.Kids {
			w.b.WriteString(first)
			first = strings.Repeat(" ", column)
			if n.Kind == ArrayKind {
				w.b.WriteString("-")
				w.block(&n.Kids[i], column, "-")
				continue
			}
			w.place(&n.Kids[i])
			w.b.WriteString(w.text(n.Keys[i]) + rapid.SampledFrom([]string{":", ":", " :"}).Draw(w.t, "colon"))
			w.block(&n.Kids[i], column, ":")
		}
	case n.Kind == NullKind && after != "" && w.coin("nothing"):
		w.place(n)
		w.comment()
	default:
		if after != "" && w.coin("on a separate line") {
			w.comment()
			w.b.WriteString(strings.Repeat(" ", indent+1) + w.spaces(0))
		} else {
			w.b.WriteString(behind())
		}
		w.flow(n, max(indent+1, 0))
		w.comment()
	}
}

// A random tree, written in random styles, reads back unchanged with its line numbers. Styles
// include names with colons without quotes, long lines, wide and ragged indentation, comments,
// brackets over lines, single pairs, compact lists.
func TestYAMLStyles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawTree(t, rapid.IntRange(0, 5).Draw(t, "levels"))
		// null is an empty file
		for n.Kind < ArrayKind && rapid.IntRange(0, 9).Draw(t, "scalar") > 0 || n.Kind == NullKind {
			n = drawTree(t, 5)
		}
		w := yamlWriter{t: t}
		w.b.WriteString(rapid.SampledFrom([]string{"", "# c\n", "---\n", "%YAML 1.2\n---\n", "\n"}).Draw(t, "start"))
		w.block(&n, -1, "")
		w.b.WriteString(rapid.SampledFrom([]string{"", "...\n", "# end"}).Draw(t, "end"))
		text := w.b.String()
		if rapid.Bool().Draw(t, "carriage returns") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		got, err := parseYAML([]byte(text))
		if err != nil || !reflect.DeepEqual(*got, n) {
			t.Fatalf("%v\n%s\ngot  %s\nwant %s", err, text, shape(got), shape(&n))
		}
	})
}

// JSON is YAML: the two readers find the same tree for any spacing.
func FuzzJSONIsYAML(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, 2.50, "x"], "b": {"c": null, "d": true}}`,
		"[{}, [], \"\", \"\\u00e9\\\\\\\"\\/\\ud83d\\ude00\", -0.5e+3, true,false\t,\n null]",
		`{"servers":["rack:1"],"a":{"b":[[1],{"c":-1}]}}`, "\t{\"a\"\n:\n1}", `["a:b","#", "---"]`, `"x"`, "-1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseYAML(data)
		var syntax *SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1) {
			t.Fatalf("%q: %v", data, err)
		}
		want, notJSON := parseJSON(data)
		if notJSON != nil || want.Kind == NullKind || !utf8.Valid(data) ||
			bytes.ContainsAny(data, "\u0085\u2028\u2029\ufeff\ufffe\uffff") {
			return
		}
		// YAML has one escape for a character, JSON a surrogate pair
		pair := bytes.Contains(bytes.ToLower(data), []byte(`\ud`))
		if pair || want.Kind < ArrayKind && bytes.ContainsAny(data, "\t") {
			return // a tab before a text that is the whole document counts as indentation
		}
		if err != nil && strings.Contains(err.Error(), "over 100 levels") {
			return
		}
		if err != nil || !reflect.DeepEqual(got.plain(), want.plain()) {
			t.Fatalf("%q: %v\ngot  %#v\nwant %#v", data, err, got, want.plain())
		}
	})
}

func BenchmarkParseYAML(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{
			"block",
			"classes:\n" + strings.Repeat("- name: a\n  arrival_rate: 1/2\n  servers: [rack:1, rack:2]\n", 20_000),
		},
		{
			"flow",
			"classes: [" + strings.Repeat("{name: a, arrival_rate: 1/2, servers: [rack:1, rack:2]}, ", 20_000) + "]",
		},
	} {
		b.Run("classes=20000/style="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, err := parseYAML([]byte(c.text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
