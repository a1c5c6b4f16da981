package file

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

const (
	secondDocument = "a second document; want one model per file"
	anchored       = "anchors and aliases are not supported; write the value in full"
	noValue        = "a character that no value starts with; want strings in quotes"
	tagged         = "tags are not supported; write the plain value"
)

// yamlReasons translates messages of the parser into plain words; the first entry whose part occurs
// in the message applies.
var yamlReasons = []struct {
	part, reason string
	start        bool // whether to report the start of the value rather than the place where parsing stopped
}{
	{tooDeep, tooDeep, false},
	{"anchor", anchored, false},
	{"alias", anchored, false},
	{"before directive", secondDocument, false},
	{"directive", "directives other than %YAML 1.2 are not supported", true},
	{"incompatible YAML document", "directives other than %YAML 1.2 are not supported", false},
	{"tag", tagged, false},
	{"a tab character", "a tab in the indentation; want spaces", false},
	{"unexpected document indicator", "a quote without its end", true},
	{"unexpected end of stream", "a quote without its end", true},
	{"unknown escape", `an escape that YAML does not have; want \\ for a backslash`, false},
	{"hexadecimal", "an escape without its hexadecimal digits", false},
	{
		"invalid Unicode character escape",
		`an escape that is no character; want the character itself, or \U and eight digits`, false,
	},
	{"comment without preceding", "a comment without a space before its #", false},
	{"block scalar", "want a value, or a string that starts with | or > in quotes", true},
	{"cannot start any token", noValue, false},
	{
		"block sequence entries",
		"a list of dashes where no list is allowed; want it on separate lines or in brackets", false,
	},
	{"mapping values", "an unexpected colon; want each field on a separate line, indented like the field " +
		"above, or a value with a colon in quotes", false},
	{"mapping keys", "an unexpected field after ?", false},
	{"expected ':'", "want a field, a name with a colon and a space after it", true},
	{"expected ',' or ']'", "want a comma or ]", false},
	{"expected ',' or '}'", "want a comma or }", false},
	{"node content", "want a value", false},
	{"<document start>", "text after the end of the value", false},
	{"document-end marker", "text after the end of the document", false},
	{"'-' indicator", "want the end of the list, or a dash below the dash above", false},
	{"expected key", "want the end of the value, or a field on a separate line, indented like the field above", false},
}

// byteAt returns the byte in a line and column of a text, both from 1; 0 if there is none, or if a
// non-ASCII byte precedes it in the line.
func byteAt(data []byte, line, column int) byte {
	for ; line > 1; line-- {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	if column > len(data) || strings.ContainsFunc(string(data[:column-1]), func(r rune) bool { return r > '~' }) {
		return 0
	}
	return data[column-1]
}

// yamlError translates an error of the parser into a [SyntaxError] in plain words.
func yamlError(data []byte, err error) error {
	e := &SyntaxError{Line: 1, Column: 1, Reason: "not YAML that can be read"}
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return e
	}
	at := load.Mark
	for _, r := range yamlReasons {
		if !strings.Contains(load.ContextMsg+": "+load.Message, r.part) {
			continue
		}
		e.Reason = r.reason
		if strings.HasPrefix(load.ContextMsg, "while parsing a flow") && at.Index >= utf8.RuneCount(data) {
			r.start, e.Reason = true, "a bracket or brace without its end"
		}
		if r.start && load.ContextMark.Line > 0 {
			at = load.ContextMark
		}
		break
	}
	if at.Line > 0 {
		e.Line, e.Column = at.Line, at.Column
	}
	if e.Reason == noValue && byteAt(data, e.Line, e.Column) == '\t' {
		e.Reason = "a tab; want spaces"
	}
	return e
}
