package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"productform/internal/input"
)

// longestLine is the largest number of bytes of a line, without its end.
const longestLine = 1<<16 - 1

// mostComments is the largest number of bytes of all comments of a log, with one for the end of each.
const mostComments = 1 << 20

// A Reader reads a log job by job, in the memory of a line and of the comments.
type Reader struct {
	name     string
	source   io.Reader
	text     *bufio.Reader // unpacked; nil before the first line
	packed   bool
	lines    int    // read so far
	comments []byte // each with a line feed
	err      error  // that ended the log
}

// NewReader returns a reader of the log in r, which is unpacked if it is a gzip file, one that starts with the bytes
// 1f 8b. It reads ahead. The name is for errors, which begin with "name:LINE: ", the line of the unpacked text.
func NewReader(r io.Reader, name string) *Reader { return &Reader{name: name, source: r} }

// Read returns the next job, or [io.EOF] after the last one. Any other error is about a line that is not a job, longer
// than 65535 bytes, a comment beyond 1 MiB of them, or cannot be read or unpacked; where a gzip file ends early it wraps
// [io.ErrUnexpectedEOF]. After an error Read returns it again. The end of a comment counts as a byte. Lines end in a line feed, with carriage returns before it or none, but the last one
// may end without; a byte order mark at the start of the log is left out.
func (r *Reader) Read() (Job, error) {
	for r.err == nil {
		line, err := r.line()
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
				r.err = r.at(tooLong(n))
			}
		default:
			job, err := parse(start)
			if err == nil {
				return job, nil
			}
			r.err = r.at(err)
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

// line returns the next line without its end, until the next call, or [io.EOF] after the last one.
func (r *Reader) line() ([]byte, error) {
	if r.text == nil {
		if err := r.open(); err != nil {
			r.lines = 1
			return nil, r.at(err)
		}
	}
	line, err := r.text.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	r.lines++
	line = bytes.TrimSuffix(line, []byte("\n"))
	switch {
	case err == bufio.ErrBufferFull || len(line) > longestLine:
		return nil, r.at(input.Errorf("", shown(line[:64]), "a line of at most %d bytes", longestLine))
	case err != nil && err != io.EOF: // what was read of the line may not be all of it
		return nil, r.at(r.unpacking(err))
	}
	if r.lines == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r"), nil
}

// open looks whether the log is packed.
func (r *Reader) open() error {
	b := bufio.NewReaderSize(r.source, longestLine+1)
	start, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return err
	}
	r.text = b
	if r.packed = string(start) == "\x1f\x8b"; r.packed {
		z, err := gzip.NewReader(b)
		if err != nil {
			return r.unpacking(err)
		}
		r.text = bufio.NewReaderSize(z, longestLine+1)
	}
	return nil
}

// at adds name and line to an error.
func (r *Reader) at(err error) error { return fmt.Errorf("%s:%d: %w", r.name, r.lines, err) }

// unpacking says what was done when the log could not be read, and what an unexpected end means.
func (r *Reader) unpacking(err error) error {
	switch {
	case !r.packed:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("unpacking: the file ends early: %w", err)
	}
	return fmt.Errorf("unpacking: %w", err)
}
