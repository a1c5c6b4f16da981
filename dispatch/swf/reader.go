package swf

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"

	"productform/internal/input"
	"productform/internal/lines"
)

// mostComments is the largest number of bytes of all comments of a log, with one for the end of each.
const mostComments = 1 << 20

// A Reader reads a log job by job, in the memory of a line and of the comments.
type Reader struct {
	text     lines.Reader
	last     []byte // line of the job read last
	comments []byte // each with a line feed
	err      error  // that ended the log
}

// NewReader returns a reader of the log in r, which is unpacked if it is a gzip file, one that starts with the bytes
// 1f 8b. It reads ahead. The name is for errors, which begin with "name:LINE: ", the line of the unpacked text.
func NewReader(r io.Reader, name string) *Reader { return &Reader{text: *lines.NewReader(r, name)} }

// Read returns the next job, or [io.EOF] after the last one. Any other error is about a line that is not a job, longer
// than 65535 bytes, a comment beyond 1 MiB of them, or cannot be read or unpacked; where a gzip file ends early it wraps
// [io.ErrUnexpectedEOF]. After an error Read returns it again. The end of a comment counts as a byte. Lines end in a line
// feed, with carriage returns before it or none, but the last one may end without; a byte order mark at the start of the
// log is left out.
func (r *Reader) Read() (Job, error) {
	for r.err == nil {
		line, err := r.text.Next()
		if err != nil {
			r.err = err
			break
		}
		start := bytes.TrimLeft(line, " \t")
		switch {
		case len(start) == 0:
		case start[0] == ';':
			r.comments = append(append(r.comments, line...), '\n')
			if n := len(r.comments); n > mostComments {
				r.err = r.text.At(tooLong(n))
			}
		default:
			r.last = start
			job, err := parse(start)
			if err == nil {
				return job, nil
			}
			r.err = r.text.At(err)
		}
	}
	return Job{}, r.err
}

// All returns the jobs from the next one on. An error other than the end of the log is yielded last, with a job that is
// zero.
func (r *Reader) All() iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		for {
			job, err := r.Read()
			if err == io.EOF || !yield(job, err) || err != nil {
				return
			}
		}
	}
}

// Line returns the number of the line read last, from 1.
func (r *Reader) Line() int { return r.text.Line() }

// Field returns field 1 to 18 of the job read last as it is written, for who needs more digits than a float64 has. It
// may be called until the next Read.
func (r *Reader) Field(field int) string {
	rec := record{rest: r.last}
	var text []byte
	for range field {
		text = rec.next()
	}
	return string(text)
}

// Header returns the comments read so far, wherever they stand, as they are but for the ends of lines.
func (r *Reader) Header() []string {
	if len(r.comments) == 0 {
		return nil
	}
	return strings.Split(string(r.comments[:len(r.comments)-1]), "\n")
}

// tooLong says that comments with their ends have n bytes.
func tooLong(n int) error {
	return input.Errorf("comments", fmt.Sprintf("%d bytes", n), "at most %d bytes in all, line ends included", mostComments)
}
