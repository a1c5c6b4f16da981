package tree

import (
	"fmt"
	"strings"
)

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
