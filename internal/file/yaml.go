package file

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"productform/internal/input"
)

const (
	mostLevels = 100 // nested lists and mappings; a model has about six levels
	tooDeep    = "nested more deeply than any model, over 100 levels"
)

// parseYAML returns the tree of a YAML text of one document, nil if it holds nothing but comments.
// Anchors, aliases, merge keys and tags are rejected: a model does not need them, and their
// expansion has no size limit.
func parseYAML(data []byte) (tree *Node, err error) {
	defer func() { // a panic in the third-party parser means a bad text, not a broken invariant
		if r := recover(); r != nil {
			tree, err = nil, &SyntaxError{Line: 1, Column: 1, Reason: "not YAML that can be read"}
		}
	}()
	if data, err = checkYAML(data); err != nil {
		return nil, err
	}
	l, err := yaml.NewLoader(
		bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthFunc(checkDepth))),
	)
	if err != nil {
		return nil, err
	}
	var doc, more yaml.Node
	switch err := l.Load(&doc); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, yamlError(data, err)
	}
	n, err := fromYAML(doc.Content[0], 0)
	if err != nil {
		return nil, err
	}
	switch err := l.Load(&more); {
	case err == nil:
		return nil, nodeError(&more, secondDocument)
	case err != io.EOF:
		return nil, yamlError(data, err)
	}
	if n.Kind == NullKind && doc.Content[0].Value == "" {
		return nil, nil
	}
	return &n, nil
}

// checkDepth bounds the recursion of the parser, separately for brackets and for indentation.
func checkDepth(depth int, _ *loaderlimits.DepthContext) error {
	if depth > mostLevels {
		return errors.New(tooDeep)
	}
	return nil
}

// version matches the directive of YAML 1.2, which the parser understands but does not accept by
// name.
var version = regexp.MustCompile(`\A(?:[ \t\r]*(?:#.*)?\n)*%YAML[ \t]+1\.2`)

// checkYAML rejects texts that need too much memory, about 1 KiB per syntax mark, and characters
// that the parser treats as line ends, as in YAML 1.1. It returns the text with a version that the
// parser accepts.
func checkYAML(data []byte) ([]byte, error) {
	if len(data) > maxYAML {
		return nil, input.Errorf("", "a longer one", "YAML of at most %d MiB", maxYAML>>20)
	}
	marks := 0
	for i, c := range data {
		switch c {
		case ',', ':', '[', ']', '{', '}', '"', '\'', '#', '&', '*', '!':
			marks++
		case '-', '?':
			if i+1 == len(data) || data[i+1] <= ' ' {
				marks++
			}
		}
	}
	if marks > maxMarks {
		return nil, input.Errorf("", "more", "YAML with at most %d colons, commas, quotes, brackets and the like",
			maxMarks)
	}
	if i := bytes.IndexAny(data, "\u0085\u2028\u2029\ufeff\ufffe\uffff"); i >= 0 {
		c, _ := utf8.DecodeRune(data[i:])
		return nil, syntaxErrorAt(data, i, "character %U; want it as an escape in double quotes, \"\\u%04x\"", c, c)
	}
	if end := len(version.Find(data)); end > 0 {
		data = bytes.Clone(data)
		data[end-1] = '1'
	}
	return data, nil
}

// fromYAML returns the tree of a value nested in levels lists and mappings.
func fromYAML(y *yaml.Node, levels int) (Node, error) {
	switch {
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		return Node{}, nodeError(y, anchored)
	case y.Style&yaml.TaggedStyle != 0 || y.Tag == "!":
		return Node{}, nodeError(y, tagged)
	case y.Kind == yaml.ScalarNode:
		return fromScalar(y), nil
	case levels == mostLevels:
		return Node{}, nodeError(y, tooDeep)
	}
	n := Node{Kind: ArrayKind, Line: int32(y.Line)}
	if y.Kind == yaml.MappingNode {
		n.Kind = ObjectKind
	}
	for i, kid := range y.Content {
		if n.Kind == ObjectKind && i%2 == 0 {
			name, err := fieldName(kid)
			if err != nil {
				return Node{}, err
			}
			n.Keys = append(n.Keys, name)
			continue
		}
		k, err := fromYAML(kid, levels+1)
		if err != nil {
			return Node{}, err
		}
		if n.Kind == ObjectKind {
			k.Line = int32(y.Content[i-1].Line)
		}
		n.Kids = append(n.Kids, k)
	}
	return n, nil
}

// fieldName returns the name of a field; numbers and true are kept as written.
func fieldName(y *yaml.Node) (string, error) {
	switch _, err := fromYAML(y, 0); {
	case err != nil:
		return "", err
	case y.Kind != yaml.ScalarNode || y.Value == "" && y.Style == 0:
		return "", nodeError(y, "want a plain word as the name of a field")
	case y.Value == "<<" && y.Style == 0:
		return "", nodeError(y, "merge keys are not supported; write the fields in full")
	}
	return y.Value, nil
}

var yamlNumber = regexp.MustCompile(
	`^([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|` +
		`[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`,
)

// mayBeNumber reports whether a text begins like a number; most words do not.
func mayBeNumber(s string) bool { return strings.IndexByte("+-.0123456789", s[0]) >= 0 }

// isDecimal reports whether a text is digits with at most one point after the first of them, as
// most numbers are.
func isDecimal(s string) bool {
	points := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.' && i > 0 && points == 0:
			points++
		case c < '0' || c > '9':
			return false
		}
	}
	return true
}

// fromScalar returns the value of a scalar in the core schema of YAML 1.2; the parser follows
// version 1.1 in part.
func fromScalar(y *yaml.Node) Node {
	n := Node{Kind: TextKind, Text: y.Value, Line: int32(y.Line)}
	if y.Style != 0 { // quoted, or after | or >
		return n
	}
	switch y.Value {
	case "", "~", "null", "Null", "NULL":
		n.Kind, n.Text = NullKind, ""
	case "true", "True", "TRUE", "false", "False", "FALSE":
		n.Kind, n.Text = BoolKind, strings.ToLower(y.Value)
	default:
		if isDecimal(y.Value) || mayBeNumber(y.Value) && yamlNumber.MatchString(y.Value) {
			n.Kind = NumberKind
		}
	}
	return n
}

func nodeError(y *yaml.Node, reason string) error {
	return &SyntaxError{Line: y.Line, Column: y.Column, Reason: reason}
}
