// This file holds the tree into which JSON and YAML 1.2 files of models are read. The tree keeps
// numbers as written, so 0.1 is one tenth, and repeated keys, so a field given twice can be
// rejected.
//
// [Node.Fields], [Node.Rat] and similar methods extract values; their errors are an *[input.Error]
// with the path of the field. Text that is not JSON or YAML gives a *[SyntaxError] with the line.

package file

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// A Node is one value of a JSON or YAML file, with its numbers as written.
type Node struct {
	Kind Kind
	Line int32    // line, from 1, of its key if it is a field of an object, otherwise of its start
	Text string   // a number as written, a string decoded, true or false
	Keys []string // keys of an object, in the order of the file; they may repeat
	Kids []Node   // values of an object, in step with Keys, or elements of an array
}

// A Kind is a type of JSON.
type Kind uint8

// The types of JSON.
const (
	NullKind Kind = iota
	BoolKind
	NumberKind
	TextKind
	ArrayKind
	ObjectKind
)

// String names what was found, for a message: an array, a string "abc".
func (n *Node) String() string {
	switch n.Kind {
	case BoolKind:
		return n.Text
	case NumberKind:
		return "the number " + n.Text
	case TextKind:
		return "a string " + input.Quote(n.Text)
	case ArrayKind:
		return "an array"
	case ObjectKind:
		return "an object"
	}
	return "null"
}

// written returns a number as in the file, including quotes.
func (n *Node) written() string {
	if n.Kind == TextKind {
		return strconv.Quote(n.Text)
	}
	return n.Text
}

// AsWritten replaces the value in an error about a number of the tree by its text in the file.
func (n *Node) AsWritten(err error) error {
	var e *input.Error
	if errors.As(err, &e) {
		if found, whole := n.at(e.Path); whole && (found.Kind == NumberKind || found.Kind == TextKind) {
			return input.Errorf(e.Path, found.written(), "%s", e.Want)
		}
	}
	return err
}

// LocateNumber returns an error about a number of the tree with its line, and its value as the file
// writes it; nil if the path of the error is not that of a number.
func (n *Node) LocateNumber(e *input.Error) *input.Error {
	found, whole := n.at(e.Path)
	if !whole || found.Kind != NumberKind && found.Kind != TextKind {
		return nil
	}
	located := *e
	located.Line, located.Value = int(found.Line), input.Errorf("", found.written(), "").Value
	return &located
}

// BeyondFloat returns an error about the first number of the tree, at a path, that is beyond the
// range of float64, or so small that it rounds to 0; nil if there is none.
func (n *Node) BeyondFloat(path string) *input.Error {
	if n.Kind == NumberKind || n.Kind == TextKind {
		x, err := num.ParseRat(n.Text)
		if err != nil || x.Sign() == 0 {
			return nil
		}
		if f, _ := x.Float64(); f != 0 && !math.IsInf(f, 0) {
			return nil
		}
		far := input.Errorf(path, n.written(),
			"a number within the range of float64, 1e±308: count time, or work, in other units")
		far.Line = int(n.Line)
		return far
	}
	for i := range n.Kids {
		at := input.Index(path, i)
		if n.Kind == ObjectKind {
			at = input.Field(path, n.Keys[i])
		}
		if far := n.Kids[i].BeyondFloat(at); far != nil {
			return far
		}
	}
	return nil
}

// Locate adds the line of the field at its path to an error about the tree without a line. If the
// field is missing, it adds the line of the enclosing value.
func (n *Node) Locate(err error) error {
	if bad, ok := err.(*input.Error); ok && bad.Line == 0 {
		found, _ := n.at(bad.Path)
		located := *bad
		located.Line = int(found.Line)
		return &located
	}
	return err
}

// at returns the node at a path such as classes[3].arrival_rate. If it does not exist, at returns
// the last existing node on the path and whole is false.
func (n *Node) at(path string) (found *Node, whole bool) {
	for path != "" {
		path = strings.TrimPrefix(path, ".")
		var step string
		next := -1
		switch n.Kind {
		case ArrayKind:
			end := strings.IndexByte(path, ']') + 1
			step = path[:end]
			if i, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil {
				next = i
			}
		case ObjectKind:
			for i, key := range n.Keys {
				field := input.Field("", key)
				rest, ok := strings.CutPrefix(path, field)
				if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
					continue
				}
				if next >= 0 {
					return n, false // long keys that are truncated to the same text
				}
				step, next = field, i
			}
		}
		if next < 0 || next >= len(n.Kids) {
			return n, false
		}
		n, path = &n.Kids[next], path[len(step):]
	}
	return n, true
}
