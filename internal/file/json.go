package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// parseJSON returns the tree of a JSON text. Decoding into a RawMessage first checks the whole
// syntax and locates errors, so the walk over the text can trust it.
func parseJSON(data []byte) (*Node, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, syntaxErrorAt(data, int(syntax.Offset)-1, "%s", jsonReason(syntax.Error()))
		}
		return nil, syntaxErrorAt(data, len(data), "the text ends within a value")
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimLeft(data[end:], jsonSpace); len(rest) > 0 {
		return nil, syntaxErrorAt(data, len(data)-len(rest), "text after the end of the JSON value")
	}
	start := data[:end-len(raw)]
	w := jsonWalk{text: string(raw), line: int32(1 + bytes.Count(start, []byte("\n")))}
	n := w.value()
	return &n, nil
}

// jsonReasons translates messages of encoding/json into plain words; the first entry whose part
// occurs in the message applies.
var jsonReasons = []struct{ part, reason string }{
	{"'}' looking for beginning of object key", "a comma before }; want no comma after the last field"},
	{"']' looking for beginning of value", "a comma before ], or a value missing; want no comma after the last value"},
	{"'}' looking for beginning of value", "want a value before }"},
	{"looking for beginning of object key", "want the name of a field in double quotes"},
	{"'\\'' looking for beginning of value", "a single quote; want double quotes"},
	{"looking for beginning of value", "want a value; put strings in double quotes"},
	{"after object key:value pair", "want a comma or }"},
	{"after object key", "want a colon after the name of a field"},
	{"after array element", "want a comma or ]"},
	{"in string escape code", `an escape that JSON does not have; want \\ for a backslash`},
	{"hexadecimal", "an escape without its four hexadecimal digits"},
	{"in string literal", "a line break or tab within a string; want a double quote at its end"},
	{"numeric literal", "an incomplete number; want digits, such as 0.5 or 1e-3"},
	{"in literal", "want true, false, null, or a string in double quotes"},
	{"unexpected end", "the text ends within a value"},
	{"max depth", "nested more deeply than any model, over 10,000 levels"},
}

// jsonReason rephrases a message of encoding/json in plain words.
func jsonReason(message string) string {
	for _, r := range jsonReasons {
		if strings.Contains(message, r.part) {
			return r.reason
		}
	}
	return "not JSON that can be read"
}

const jsonSpace = " \t\r\n"

// A jsonWalk reads a text that is known to be valid JSON, nested at most 10,000 deep (the limit of
// encoding/json). Numbers and most strings of the tree are parts of the text.
type jsonWalk struct {
	text string
	at   int
	line int32 // line in the file
}

// next skips to the next byte other than a space, comma or colon.
func (w *jsonWalk) next() byte {
	for {
		switch c := w.text[w.at]; c {
		case '\n':
			w.line++
			w.at++
		case ' ', '\t', '\r', ',', ':':
			w.at++
		default:
			return c
		}
	}
}

func (w *jsonWalk) value() Node {
	start := w.next()
	n := Node{Line: w.line}
	switch start {
	case '{':
		n.Kind = ObjectKind
		for w.at++; w.next() != '}'; {
			line := w.line
			n.Keys = append(n.Keys, w.string())
			kid := w.value()
			kid.Line = line
			n.Kids = append(n.Kids, kid)
		}
		w.at++
	case '[':
		n.Kind = ArrayKind
		for w.at++; w.next() != ']'; {
			n.Kids = append(n.Kids, w.value())
		}
		w.at++
	case '"':
		n.Kind, n.Text = TextKind, w.string()
	case 't', 'f':
		n.Kind, n.Text = BoolKind, w.word()
	case 'n':
		w.word()
	default:
		n.Kind, n.Text = NumberKind, w.word()
	}
	return n
}

// word reads a number or a literal, up to its terminating byte.
func (w *jsonWalk) word() string {
	start := w.at
	for w.at < len(w.text) {
		switch w.text[w.at] {
		case ' ', '\t', '\r', '\n', ',', ']', '}':
			return w.text[start:w.at]
		}
		w.at++
	}
	return w.text[start:]
}

// string reads a string at its opening quote.
func (w *jsonWalk) string() string {
	w.next()
	start, escaped := w.at, false
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	if !escaped {
		return w.text[start+1 : w.at-1]
	}
	var s string
	if err := json.Unmarshal([]byte(w.text[start:w.at]), &s); err != nil {
		panic("tree: " + err.Error()) // a valid string
	}
	return s
}
