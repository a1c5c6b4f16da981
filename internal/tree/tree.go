package tree

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// A Node is one value of a file, JSON or YAML, with its numbers as they are written.
type Node struct {
	Kind Kind
	Line int32    // from 1: of its key if it is a field of an object, else of its beginning
	Text string   // a number as written, a string decoded, true or false
	Keys []string // of an object, in the order of the file; keys may repeat
	Kids []Node   // values of an object, in step with Keys, or elements of an array
}

// A Kind is a type of JSON.
type Kind uint8

// The types of JSON.
const (
	Null Kind = iota
	Boolean
	Number
	Text
	Array
	Object
)

// String names what was found, for a message: an array, a string "abc".
func (n *Node) String() string {
	switch n.Kind {
	case Boolean:
		return n.Text
	case Number:
		return "the number " + n.Text
	case Text:
		return "a string " + input.Quote(n.Text)
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "null"
}

// written returns a number as it stands in the file, in quotes if it stands in quotes.
func (n *Node) written() string {
	if n.Kind == Text {
		return strconv.Quote(n.Text)
	}
	return n.Text
}

// AsWritten puts into an error about a number of the tree the way the file writes it.
func (n *Node) AsWritten(err error) error {
	var e *input.Error
	if errors.As(err, &e) {
		if found, whole := n.at(e.Path); whole && (found.Kind == Number || found.Kind == Text) {
			return input.Errorf(e.Path, found.written(), "%s", e.Want)
		}
	}
	return err
}

// LocateNumber returns an error about a number of the tree with its line, and its value as the file writes it;
// nil if the path of the error is not that of a number.
func (n *Node) LocateNumber(e *input.Error) *input.Error {
	found, whole := n.at(e.Path)
	if !whole || found.Kind != Number && found.Kind != Text {
		return nil
	}
	located := *e
	located.Line, located.Value = int(found.Line), input.Errorf("", found.written(), "").Value
	return &located
}

// BeyondFloat returns an error about the first number of the tree, at a path, that is beyond the range of
// float64, or so small that it rounds to 0; nil if there is none.
func (n *Node) BeyondFloat(path string) *input.Error {
	if n.Kind == Number || n.Kind == Text {
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
		if n.Kind == Object {
			at = input.Field(path, n.Keys[i])
		}
		if far := n.Kids[i].BeyondFloat(at); far != nil {
			return far
		}
	}
	return nil
}

// Locate puts into an error about the tree that names no line that of the field at its path, or if there is none, of what
// should hold it.
func (n *Node) Locate(err error) error {
	if bad, ok := err.(*input.Error); ok && bad.Line == 0 {
		found, _ := n.at(bad.Path)
		located := *bad
		located.Line = int(found.Line)
		return &located
	}
	return err
}

// at returns the node at a path such as classes[3].arrival_rate, or the last node on the way there that exists, for which
// whole is false.
func (n *Node) at(path string) (found *Node, whole bool) {
	for path != "" {
		path = strings.TrimPrefix(path, ".")
		var step string
		next := -1
		switch n.Kind {
		case Array:
			end := strings.IndexByte(path, ']') + 1
			step = path[:end]
			if i, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil {
				next = i
			}
		case Object:
			for i, key := range n.Keys {
				field := input.Field("", key)
				rest, ok := strings.CutPrefix(path, field)
				if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
					continue
				}
				if next >= 0 {
					return n, false // long keys that are cut to the same
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
