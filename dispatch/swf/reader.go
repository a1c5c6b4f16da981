package swf

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"

	"productform/internal/input"
)

// mostComments is the maximum total size of the comments of a log, in bytes, with one byte for each
// line end.
const mostComments = 1 << 20

// A Reader reads a log job by job. It keeps one line and the comments in memory.
type Reader struct {
	text     input.Reader
	last     []byte // line of the last job read
	comments []byte // each followed by a line feed
	err      error  // error that ended the log
}

// NewReader returns a reader of the log in r. A gzip file, recognized by the bytes 1f 8b at its
// start, is decompressed. The reader reads ahead. Errors begin with "name:LINE: ", where lines are
// counted in the decompressed text.
func NewReader(r io.Reader, name string) *Reader { return &Reader{text: *input.NewReader(r, name)} }

// Read returns the next job, or [io.EOF] after the last one. Any other error concerns a line that
// is not a job or is longer than 65535 bytes, comments of more than 1 MiB in total, with one byte
// per line end, or a failure to read or decompress. If a gzip file ends early, the error wraps
// [io.ErrUnexpectedEOF]. After an error, Read keeps returning it.
//
// Lines end in a line feed, possibly after carriage returns; the last line may lack it. A byte
// order mark at the start of the log is ignored.
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
				r.err = r.text.At(lengthError(n))
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

// All iterates over the remaining jobs. An error other than the end of the log is yielded last,
// with a zero job.
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

// Line returns the number of the last line read, from 1.
func (r *Reader) Line() int { return r.text.Line() }

// Field returns field 1 to 18 of the last job read, as written in the log, for callers that need
// more digits than a float64 holds. It is valid until the next Read.
func (r *Reader) Field(field int) string {
	rec := record{rest: r.last}
	var text []byte
	for range field {
		text = rec.next()
	}
	return string(text)
}

// Header returns the comments read so far, anywhere in the log, without line ends.
func (r *Reader) Header() []string {
	if len(r.comments) == 0 {
		return nil
	}
	return strings.Split(string(r.comments[:len(r.comments)-1]), "\n")
}

// lengthError returns the error for comments of n bytes, line ends included.
func lengthError(n int) error {
	return input.Errorf("comments", fmt.Sprintf("%d bytes", n), "at most %d bytes in total, line ends included",
		mostComments)
}
