package num

import "fmt"

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
