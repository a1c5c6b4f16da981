// Package input holds the one error that every reader and solver of the module returns for an input it cannot use: where
// the entry stands, what it is, and what would have been accepted.
package input

import (
	"errors"
	"fmt"
	"io/fs"
)

// An Error points at one entry of a model, a setting or a file.
type Error struct {
	File  string // its name, empty if the entry is of no file or the file has no name
	Line  int    // of the file, from 1; 0 if the entry is of no line
	Path  string // field, as written in the file: "classes[3].arrival_rate"; empty for the whole input
	Value string // the offending value as written, shortened; empty when the entry is missing
	Want  string // the accepted range, such as "a number >= 0"
	Cause error  // what the error wraps, and what its text ends with; nil if it says all
}

func (e *Error) Unwrap() error { return e.Cause }

// Error says what is wrong after the place, FILE:LINE.
func (e *Error) Error() string {
	switch what := e.what(); {
	case e.File != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, what)
	case e.File != "":
		return e.File + ": " + what
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, what)
	default:
		return what
	}
}

// what says what is wrong.
func (e *Error) what() string {
	text := e.short()
	if e.Cause != nil {
		text += "; " + e.Cause.Error()
	}
	return text
}

func (e *Error) short() string {
	switch {
	case e.Path == "":
		return fmt.Sprintf("want %s, not %s", e.Want, e.Value)
	case e.Value == "":
		return fmt.Sprintf("%s is missing: want %s", e.Path, e.Want)
	}
	return fmt.Sprintf("%s = %s: want %s", e.Path, e.Value, e.Want)
}

// InFile returns the error with the name of the file that it is about: an [*Error] has it as a field, others begin with it.
// Of the operating system's errors it keeps what follows their own name of the file.
func InFile(name string, err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	if bad, ok := err.(*Error); ok {
		named := *bad
		named.File = name
		return &named
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Errorf returns an [Error] whose value is formatted with %v and cut at 60 characters.
func Errorf(path string, value any, format string, args ...any) *Error {
	v := []rune(fmt.Sprint(value))
	if len(v) > 60 {
		v = append(v[:57], []rune("...")...)
	}
	return &Error{Path: path, Value: string(v), Want: fmt.Sprintf(format, args...)}
}
