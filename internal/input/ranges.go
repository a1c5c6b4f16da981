// This file defines the valid ranges of times, amounts of work and numbers of tasks of jobs. Within
// them, sums and products of a few times and amounts of work stay within the range of float64.

package input

import (
	"fmt"
	"strings"
)

// Largest is the largest number that inputs may contain, and 1/Largest the smallest that serves as
// a divisor, so a task takes at most 1e100 seconds.
const Largest = 1e50

// MostTasks and MostTasksInAll bound the tasks of a job and of a run. A run takes about 0.1 to 1 µs
// per task: a few minutes for the first limit, an hour or two for the second. The largest clusters
// have 10^7 processors.
const (
	MostTasks      = 1_000_000_000
	MostTasksInAll = int64(10_000_000_000)
)

// A Range is a range of numbers.
type Range struct {
	Least, Most float64
	Zero        string // what 0 means, if the range has it: "or 0 for none"
	Of          string // kind of number, for errors: "a number of seconds"
}

// The ranges of times and priorities, of works and factors, of speeds, of moments, of elapsed
// times, of time limits, and of deadlines. They are never changed.
var (
	Time   = Range{Most: Largest, Of: "a number"}
	Work   = Range{Least: 1 / Largest, Most: Largest, Zero: "or 0", Of: "a number of seconds"}
	Speed  = Range{Least: 1 / Largest, Most: Largest, Of: "a number"}
	Moment = Range{Most: Largest, Of: "a time"}
	Span   = Range{Most: Largest, Of: "a number of seconds"}
	Limit  = Span.ZeroFor("none")
	Due    = Moment.ZeroFor("none")
)

// ZeroFor returns the range with another meaning of 0.
func (r Range) ZeroFor(meaning string) Range { r.Zero = "or 0 for " + meaning; return r }

// Has reports whether v is in the range.
func (r Range) Has(v float64) bool { return v >= r.Least && v <= r.Most || v == 0 && r.Zero != "" }

// Check rejects a value out of the range.
func (r Range) Check(path string, v float64) error {
	if r.Has(v) {
		return nil
	}
	return Errorf(path, v, "%s", r.Want())
}

// Want returns the text for errors, such as "a number of seconds in [1e-50, 1e50], or 0".
func (r Range) Want() string { return r.Of + " in " + r.String() }

// String writes the range: "[1e-50, 1e50], or 0".
func (r Range) String() string {
	text := strings.ReplaceAll(fmt.Sprintf("[%v, %v]", r.Least, r.Most), "e+", "e")
	switch {
	case r.Zero == "":
		return text
	case r.Least == 0:
		text = "(" + text[1:]
	}
	return text + ", " + r.Zero
}

// IsTime reports whether v may be a time or a priority.
func IsTime(v float64) bool { return Time.Has(v) }

// IsWork reports whether v may be a work or a factor: 0 or neither too large nor too small.
func IsWork(v float64) bool { return Work.Has(v) }
