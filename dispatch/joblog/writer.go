package joblog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	"productform/dispatch/swf"
	"productform/internal/input"
)

// columns are the columns of a written log: the fields of a job in Standard Workload Format, in the
// same order, and the account.
var columns = [...]field{
	fieldID, fieldSubmit, fieldWait, fieldRunTime, fieldProcessors, fieldCPUTime, fieldMemory,
	fieldRequestedProcessors, fieldRequestedTime, fieldRequestedMemory, fieldStatus, fieldUser, fieldGroup,
	fieldExecutable, fieldQueue, fieldPartition, fieldPrecedingJob, fieldThinkTime, fieldAccount,
}

// A Writer writes a log in CSV. A [Reader] reads back the same comments, jobs and names.
type Writer struct {
	text     *bufio.Writer
	comments *swf.Writer // into the text
	names    *Reader     // nil if only numbers are known
	hasHead  bool
	numbers  []byte // scratch: the job in Standard Workload Format
	line     []byte // scratch
}

// NewWriter returns a writer to w. It buffers text until [Writer.Flush]. If names is not nil, it is
// the reader of the jobs, and users, groups, accounts, queues, partitions and executables are
// written by their names.
func NewWriter(w io.Writer, names *Reader) *Writer {
	text := bufio.NewWriter(w)
	return &Writer{text: text, comments: swf.NewWriter(text), names: names}
}

// Comment writes a line before the heading, such as "; MaxProcs: 400". It returns an error as
// [swf.Writer.Comment] does, and after the first job.
func (w *Writer) Comment(line string) error {
	if w.hasHead {
		return input.Errorf("comment", strconv.Quote(line), "a comment before the first job")
	}
	return w.comments.Comment(line)
}

// Write writes a job. Times are seconds, without exponents, and unknown values are empty. If a
// field is neither [swf.Unknown] nor a number that a [Reader] accepts, or a name has more than one
// line or makes the row longer than 65535 bytes, it returns an error and writes nothing.
func (w *Writer) Write(j Job) error {
	var err error
	if w.numbers, err = j.Job.AppendText(w.numbers[:0]); err != nil {
		return err
	}
	if j.Account != swf.Unknown && !(j.Account >= 0 && j.Account <= input.MaxInteger) {
		return input.Errorf("account", j.Account, "%s, or -1 if unknown", wantCount)
	}
	w.numbers = strconv.AppendInt(append(w.numbers, ' '), j.Account, 10)
	w.line = w.line[:0]
	rest := w.numbers
	for i, f := range columns {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		var cell []byte
		if cell, rest, _ = bytes.Cut(rest, []byte(" ")); f == fieldID || string(cell) != "-1" {
			w.line = w.appendCell(w.line, f, cell)
		}
	}
	if bytes.IndexByte(w.line, '\n') >= 0 {
		return input.Errorf("names", strconv.Quote(string(w.line)), "names in one line")
	}
	if n := len(w.line); n > input.Longest {
		return input.Errorf("row", fmt.Sprintf("%d bytes", n), "at most %d bytes", input.Longest)
	}
	w.head()
	w.line = append(w.line, '\n')
	_, err = w.text.Write(w.line)
	return err
}

// appendCell appends a number, or its name.
func (w *Writer) appendCell(line []byte, f field, digits []byte) []byte {
	if w.names == nil || w.names.names[f].names == nil {
		return append(line, digits...)
	}
	number, _ := input.Digits(digits)
	name, ok := w.names.names[f].names[number]
	switch {
	case !ok:
		return append(line, digits...)
	case bytes.ContainsAny([]byte(name), `,"`):
		line = append(line, '"')
		line = append(line, bytes.ReplaceAll([]byte(name), []byte(`"`), []byte(`""`))...)
		return append(line, '"')
	}
	return append(line, name...)
}

// head writes the heading before the first job.
func (w *Writer) head() {
	if w.hasHead {
		return
	}
	w.hasHead = true
	for i, f := range columns {
		if i > 0 {
			w.text.WriteByte(',')
		}
		w.text.WriteString(fields[f].name)
	}
	w.text.WriteByte('\n') // the text keeps errors until Flush
}

// Flush writes the buffered text, with the heading even if there are no jobs.
func (w *Writer) Flush() error {
	w.head()
	return w.text.Flush()
}
