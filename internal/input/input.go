// Package input holds the one error that every reader and solver of the module returns for an input it cannot use: where
// the entry stands, what it is, and what would have been accepted.
package input

import (
	"errors"
	"fmt"
	"io/fs"

	"productform/num"
)

// An Error points at one entry of a model, a setting or a file. Package num declares it.
type Error = num.InputError

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

// Errorf returns an [Error] as [num.InputErrorf] does.
func Errorf(path string, value any, format string, args ...any) *Error {
	return num.InputErrorf(path, value, format, args...)
}
