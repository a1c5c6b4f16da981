package tree

import (
	"fmt"
	"strings"

	"productform/internal/input"
)

// A SyntaxError says where a file stops being JSON, YAML or text at all.
type SyntaxError struct {
	File         string // its name, empty if it has none
	Line, Column int    // from 1; columns count characters
	Reason       string
}

func (e *SyntaxError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// InFile returns the error of reading a tree with the name of the file.
func InFile(name string, err error) error {
	if syntax, ok := err.(*SyntaxError); ok {
		named := *syntax
		named.File = name
		return &named
	}
	return input.InFile(name, err)
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
