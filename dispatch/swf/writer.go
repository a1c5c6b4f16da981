package swf

import (
	"bufio"
	"io"
	"math"
	"strconv"
	"strings"

	"productform/internal/input"
)

// A Writer writes a log, such as the log of a simulated cluster or a part of another log. A
// [Reader] reads back exactly what was written.
type Writer struct {
	text     *bufio.Writer
	line     []byte
	comments int // bytes written, including line ends
}

// NewWriter returns a writer to w. It buffers text until [Writer.Flush].
func NewWriter(w io.Writer) *Writer { return &Writer{text: bufio.NewWriter(w)} }

// Comment writes a header line, which must start with ";". It returns an error if the line contains
// a line feed, ends in a carriage return or has more than 65535 bytes, if the first line looks like
// UTF-16, or if all comments together, line ends included, exceed 1 MiB.
func (w *Writer) Comment(line string) error {
	switch {
	case !strings.HasPrefix(strings.TrimLeft(line, " \t"), ";"):
		return input.Errorf("comment", strconv.Quote(line), `a line that starts with ";"`)
	case strings.Contains(line, "\n") || strings.HasSuffix(line, "\r"):
		return input.Errorf("comment", strconv.Quote(line), "one line without its end")
	case len(line) > input.Longest:
		return input.Errorf("comment", strconv.Quote(line), "a line of at most %d bytes", input.Longest)
	case w.comments == 0 && input.CheckEncoding([]byte(line[:min(4, len(line))])) != nil:
		return input.Errorf("comment", strconv.Quote(line), "a first line without zero bytes, as in UTF-16")
	case w.comments+len(line)+1 > mostComments:
		return lengthError(w.comments + len(line) + 1)
	}
	w.comments += len(line) + 1
	w.line = append(append(w.line[:0], line...), '\n')
	_, err := w.text.Write(w.line)
	return err
}

// Write writes a job, without exponents. If a field is neither [Unknown] nor a number that a
// [Reader] accepts, it returns an error and writes nothing.
func (w *Writer) Write(j Job) error {
	var err error
	if w.line, err = j.AppendText(w.line[:0]); err != nil {
		return err
	}
	w.line = append(w.line, '\n')
	_, err = w.text.Write(w.line)
	return err
}

// AppendText appends the line of a job to text, without its end, as [Writer.Write] writes it and
// with the same errors.
func (j Job) AppendText(text []byte) ([]byte, error) {
	p := printer{line: text}
	p.integer(j.Number)
	p.real(j.Submit, wantSeconds)
	p.real(j.Wait, wantSeconds)
	p.real(j.RunTime, wantSeconds)
	p.integer(j.Processors)
	p.real(j.CPUTime, wantSeconds)
	p.real(j.Memory, wantKilobytes)
	p.integer(j.RequestedProcessors)
	p.real(j.RequestedTime, wantSeconds)
	p.real(j.RequestedMemory, wantKilobytes)
	p.integer(j.Status)
	p.integer(j.User)
	p.integer(j.Group)
	p.integer(j.Executable)
	p.integer(j.Queue)
	p.integer(j.Partition)
	p.integer(j.PrecedingJob)
	p.real(j.ThinkTime, wantSeconds)
	return p.line, p.err
}

// Flush writes the buffered text.
func (w *Writer) Flush() error { return w.text.Flush() }

// A printer assembles a line field by field.
type printer struct {
	line  []byte
	field int   // number of the last field added
	err   error // error about the first invalid field
}

// separate starts a field.
func (p *printer) separate() {
	if p.field++; p.field > 1 {
		p.line = append(p.line, ' ')
	}
}

func (p *printer) integer(v int64) {
	p.separate()
	if p.err == nil && v != Unknown && !(v >= 0 && v <= input.MaxInteger) {
		p.err = input.Errorf(fieldPath(p.field), v, "%s", wantInteger)
	}
	p.line = strconv.AppendInt(p.line, v, 10)
}

func (p *printer) real(v float64, want string) {
	p.separate()
	if p.err == nil && v != Unknown && !(v >= 0 && v <= math.MaxFloat64) {
		p.err = input.Errorf(fieldPath(p.field), v, "%s", want)
	}
	if v == math.Trunc(v) && math.Abs(v) <= input.MaxInteger { // -0 is also written as 0
		p.line = strconv.AppendInt(p.line, int64(v), 10)
		return
	}
	p.line = strconv.AppendFloat(p.line, v, 'f', -1, 64)
}
