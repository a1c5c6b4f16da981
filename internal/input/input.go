// Package input defines the error that every reader and solver returns: how is an invalid input
// reported? The error has the path of the entry, its value, and the valid values. The package also
// reads text files line by line, plain or compressed.
package input

import (
	"errors"
	"fmt"
	"io/fs"

	"productform/num"
)

// An Error points at one entry of a model, a setting or a file. Package num declares it.
type Error = num.InputError

// InFile returns the error with the name of the file that it concerns: an [*Error] has it as a
// field, other errors start with it. It replaces the file name in errors of the operating system.
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

// Errorf returns an [Error] as [num.InputErrorf] does.
func Errorf(path string, value any, format string, args ...any) *Error {
	return num.InputErrorf(path, value, format, args...)
}
