// Package input holds the one error that every reader and solver of the module
// returns for an input it cannot use: where the entry stands, what it is, and
// what would have been accepted.
package input

import "fmt"

// An Error points at one entry of a model, a setting or a file.
type Error struct {
	Path  string // field, as written in the file: "classes[3].arrival_rate"; empty for the whole input
	Value string // the offending value as written, shortened; empty when the entry is missing
	Want  string // the accepted range, such as "a number >= 0"
}

func (e *Error) Error() string {
	switch {
	case e.Path == "":
		return fmt.Sprintf("want %s, not %s", e.Want, e.Value)
	case e.Value == "":
		return fmt.Sprintf("%s is missing: want %s", e.Path, e.Want)
	}
	return fmt.Sprintf("%s = %s: want %s", e.Path, e.Value, e.Want)
}

// Errorf returns an [Error] whose value is formatted with %v and cut at 60 characters.
func Errorf(path string, value any, format string, args ...any) *Error {
	v := []rune(fmt.Sprint(value))
	if len(v) > 60 {
		v = append(v[:57], []rune("...")...)
	}
	return &Error{Path: path, Value: string(v), Want: fmt.Sprintf(format, args...)}
}
