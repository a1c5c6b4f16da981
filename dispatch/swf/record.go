package swf

import (
	"bytes"
	"fmt"
	"strconv"

	"productform/internal/input"
)

// fieldPath returns the path of field 1 to 18 of a job in an error. Further fields have only a
// number.
func fieldPath(field int) string {
	names := [...]string{
		"job number", "submit time", "wait time", "run time", "allocated processors", "processor time used",
		"memory used", "requested processors", "requested time", "requested memory", "status", "user", "group",
		"executable", "queue", "partition", "preceding job", "think time",
	}
	path := "field " + strconv.Itoa(field)
	if field <= len(names) {
		path += ", " + names[field-1]
	}
	return path
}

// A record splits a line into fields.
type record struct {
	rest  []byte // unread part of the line
	field int    // number of the last field read
	err   error  // error about the first invalid field
}

// parse returns the job in a line. It does not allocate for a valid job, unless a decimal number
// has more than 32 bytes.
func parse(line []byte) (j Job, err error) {
	r := record{rest: line}
	j = Job{
		Number:              r.integer(),
		Submit:              r.seconds(),
		Wait:                r.seconds(),
		RunTime:             r.seconds(),
		Processors:          r.integer(),
		CPUTime:             r.seconds(),
		Memory:              r.kilobytes(),
		RequestedProcessors: r.integer(),
		RequestedTime:       r.seconds(),
		RequestedMemory:     r.kilobytes(),
		Status:              r.integer(),
		User:                r.integer(),
		Group:               r.integer(),
		Executable:          r.integer(),
		Queue:               r.integer(),
		Partition:           r.integer(),
		PrecedingJob:        r.integer(),
		ThinkTime:           r.seconds(),
	}
	if more := r.next(); len(more) > 0 {
		r.refuse(more, wantEnd)
	}
	if r.err == nil {
		return j, nil
	}
	if kind := otherFormat(line); kind != "" {
		return Job{}, &input.Error{Value: input.Shown(line), Want: "18 numbers separated by blanks",
			Cause: fmt.Errorf(`this looks like %s, not SWF: see "A log of my own" in docs/guide/dispatch.md`, kind)}
	}
	return Job{}, r.err
}

// otherFormat guesses the format of a line that is not a job. It returns "" if the line may be a
// damaged job.
func otherFormat(line []byte) string {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 || len(bytes.Fields(line)) >= Columns {
		return ""
	}
	isLetter := line[0] >= 'A' && line[0] <= 'Z' || line[0] >= 'a' && line[0] <= 'z'
	switch {
	case line[0] == '{' || line[0] == '[':
		return "JSON"
	case bytes.IndexByte(line, '|') >= 0:
		return "the output of sacct --parsable"
	case line[0] == '#' || isLetter && (bytes.HasSuffix(line, []byte(":")) || bytes.Contains(line, []byte(": "))):
		return "YAML"
	case bytes.IndexByte(line, ',') >= 0 || bytes.IndexByte(line, ';') >= 0:
		return "CSV"
	case isLetter && len(bytes.Fields(line)) > 1:
		return "a table with a heading"
	}
	return ""
}

// next returns the next field, or nothing at the end of the line.
func (r *record) next() []byte {
	line, start := r.rest, 0
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	end := start
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	r.rest = line[end:]
	r.field++
	return line[start:end]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func (r *record) seconds() float64   { return r.real(wantSeconds) }
func (r *record) kilobytes() float64 { return r.real(wantKilobytes) }

// Valid values of fields, and valid text after the last field.
const (
	wantEnd       = "the end of the line after 18 fields"
	wantAll       = "18 fields in each line, -1 for what is unknown"
	wantInteger   = "an integer from 0 to 2^53, or -1 if unknown"
	wantSeconds   = "a finite number of seconds >= 0, or -1 if unknown"
	wantKilobytes = "a finite number of kilobytes >= 0, or -1 if unknown"
)

func (r *record) integer() int64 {
	text := r.next()
	digits, isNegative := bytes.CutPrefix(text, []byte("-"))
	switch n, ok := input.Digits(digits); {
	case ok && !isNegative:
		return n
	case ok && n == -Unknown:
		return Unknown
	}
	r.refuse(text, wantInteger)
	return 0
}

func (r *record) real(want string) float64 {
	text := r.next()
	decimals, isNegative := bytes.CutPrefix(text, []byte("-"))
	switch v, ok := input.Decimal(decimals); {
	case ok && !isNegative:
		return v
	case ok && v == -Unknown:
		return Unknown
	}
	r.refuse(text, want)
	return 0
}

// refuse records an error unless there is one already.
func (r *record) refuse(text []byte, want string) {
	if len(text) == 0 {
		want = wantAll
	}
	if r.err == nil {
		r.err = input.Errorf(fieldPath(r.field), input.Shown(text), "%s", want)
	}
}
