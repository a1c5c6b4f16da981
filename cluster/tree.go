package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// A node is one value of a file, JSON or YAML, with its numbers as they are written.
type node struct {
	kind kind
	text string   // a number as written, a string decoded, true or false
	keys []string // of an object, in the order of the file; keys may repeat
	kids []node   // values of an object, in step with keys, or elements of an array
}

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// String names what was found, for a message: an array, a string "abc".
func (n *node) String() string {
	switch n.kind {
	case boolean:
		return n.text
	case number:
		return "the number " + n.text
	case text:
		return "a string " + quoteShort(n.text)
	case array:
		return "an array"
	case object:
		return "an object"
	}
	return "null"
}

// written returns a number as it stands in the file, in quotes if it stands in quotes.
func (n *node) written() string {
	if n.kind == text {
		return strconv.Quote(n.text)
	}
	return n.text
}

// at returns the node at a path such as classes[3].arrival_rate, or nil.
func (n *node) at(path string) *node {
	for path != "" {
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path[1:], ".[") + 1
		if end == 0 {
			end = len(path)
		}
		step := path[:end]
		path = path[end:]
		next := -1
		if strings.HasPrefix(step, "[") {
			if i, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && n.kind == array {
				next = i
			}
		} else {
			for i, key := range n.keys {
				if key == step {
					next = i
				}
			}
		}
		if next < 0 || next >= len(n.kids) {
			return nil
		}
		n = &n.kids[next]
	}
	return n
}

// A SyntaxError says where a file stops being JSON, YAML or text at all.
type SyntaxError struct {
	Line, Column int // from 1; columns count characters
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// syntaxErrorAt returns a [SyntaxError] at a byte offset of data.
func syntaxErrorAt(data []byte, offset int, format string, args ...any) error {
	before := string(data[:min(max(offset, 0), len(data))])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + len([]rune(line)),
		Reason: fmt.Sprintf(format, args...),
	}
}
