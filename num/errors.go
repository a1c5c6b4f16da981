package num

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnstable is wrapped by the errors of all theories for a model that has no stationary
// distribution. The errors name the overloaded part: cluster.UnstableError, tags.UnstableError and
// traffic.UnstableError.
var ErrUnstable = errors.New("unstable: work arrives at least as fast as it can be done")

// ErrDigits is the error of the engine Float, if requested by name, when float64 has too few digits
// for a proved bound.
var ErrDigits = errors.New("float64 has too few digits for a proved bound: use auto, enclose or exact")

// ErrFloatRange is the error of the engine Float, if requested by name, when numbers leave the
// range of float64.
var ErrFloatRange = errors.New("numbers leave the range of float64: use auto, enclose or exact")

// An InputError points at one invalid entry of a model, a setting or a file: its place, its value,
// and the valid values. All packages of this module return it.
type InputError struct {
	File  string // name of the file; empty if the entry is not in a file, or the file has no name
	Line  int    // line in the file, from 1; 0 if unknown
	Path  string // field, as written in the file: "classes[3].arrival_rate"; empty for the whole input
	Value string // the invalid value as written, shortened; empty if the entry is missing
	Want  string // the accepted range, such as "a number >= 0"
	Cause error  // wrapped error, whose text ends the message; nil if there is none
}

// InputErrorf returns an [InputError] with a value formatted with %v and cut at 60 characters. Want
// is a format, as in [fmt.Errorf].
func InputErrorf(path string, value any, want string, args ...any) *InputError {
	v := []rune(fmt.Sprint(value))
	if len(v) > 60 {
		v = append(v[:57], []rune("...")...)
	}
	return &InputError{Path: path, Value: string(v), Want: fmt.Sprintf(want, args...)}
}

func (e *InputError) Unwrap() error { return e.Cause }

// Error returns the place, FILE:LINE, followed by the message.
func (e *InputError) Error() string {
	switch what := e.message(); {
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

// message returns the message without the place.
func (e *InputError) message() string {
	text := e.short()
	if e.Cause != nil {
		text += "; " + e.Cause.Error()
	}
	return text
}

// short returns the message without the place and the cause.
func (e *InputError) short() string {
	switch {
	case e.Path == "":
		return fmt.Sprintf("want %s, not %s", e.Want, e.Value)
	case e.Value == "":
		return fmt.Sprintf("%s is missing: want %s", e.Path, e.Want)
	}
	return fmt.Sprintf("%s = %s: want %s", e.Path, e.Value, e.Want)
}

// A SyntaxError names the place where a file stops being JSON, YAML or text.
type SyntaxError struct {
	File         string // name of the file; empty if it has none
	Line, Column int    // from 1; columns count characters
	Reason       string // description of the fault
}

func (e *SyntaxError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// A Remedy is a way to get an answer for a model that is too large.
type Remedy string

// The remedies.
const (
	Bounds     Remedy = "bounds"
	Simulation Remedy = "simulation"
)

// A TooLargeError rejects a model, or an engine for it, because of the memory that it would need.
// It wraps an *[InputError], whose text its message includes.
type TooLargeError struct {
	Input   *InputError
	States  float64  // states of the tables; 0 if they were not counted
	Bytes   float64  // required memory; 0 if it is only known to exceed the limit
	Limit   int64    // bytes allowed
	Instead []Remedy // alternatives without this limit
}

func (e *TooLargeError) Error() string {
	text := e.Input.Error()
	if more := e.Remedies(func(r Remedy) string { return string(r) }); more != "" {
		text += "; " + more
	}
	return text
}

// Remedies returns a sentence about the alternatives without this limit, named by name, which
// returns "" for an alternative to omit. It returns "" if there are none.
func (e *TooLargeError) Remedies(name func(Remedy) string) string {
	var names []string
	for _, r := range e.Instead {
		if n := name(r); n != "" {
			names = append(names, n)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " has no such limit"
	}
	return strings.Join(names, " and ") + " have no such limit"
}

func (e *TooLargeError) Unwrap() error { return e.Input }
