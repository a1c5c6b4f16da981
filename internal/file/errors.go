package file

import (
	"fmt"
	"strings"

	"productform/internal/input"
	"productform/num"
)

// A SyntaxError reports text that is not JSON or YAML. Package num declares it.
type SyntaxError = num.SyntaxError

// InFile adds the name of the file to an error of reading a tree.
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
