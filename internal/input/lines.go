// This file reads text files, compressed by gzip or not, line by line; memory holds one line at a
// time.

package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
)

// Longest is the maximum number of bytes in a line, without its end.
const Longest = 1<<16 - 1

// A Reader reads the lines of a file.
type Reader struct {
	name   string
	source io.Reader
	text   *bufio.Reader // uncompressed; nil before the first line
	packed bool
	number int // number of the last line read
}

// NewReader returns a reader of the lines in r, which is unpacked if it is a gzip file, one that
// starts with the bytes 1f 8b. It reads ahead. Errors contain the name and the line of the unpacked
// text.
func NewReader(r io.Reader, name string) *Reader { return &Reader{name: name, source: r} }

// Next returns the next line without its end, until the next call, or [io.EOF] after the last one.
// Any other error concerns a line of more than [Longest] bytes, or one that cannot be read or
// unpacked. If a gzip file ends early, the error wraps [io.ErrUnexpectedEOF]. Lines end in a line
// feed, possibly after carriage returns; only the last one may lack it. A byte order mark at the
// start of the text is skipped.
func (r *Reader) Next() ([]byte, error) {
	if r.text == nil {
		if err := r.open(); err != nil {
			r.number = 1
			return nil, r.At(err)
		}
	}
	line, err := r.text.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	r.number++
	line = bytes.TrimSuffix(line, []byte("\n"))
	switch {
	case err == bufio.ErrBufferFull || len(line) > Longest:
		return nil, r.At(Errorf("", Shown(line[:64]), "a line of at most %d bytes", Longest))
	case err != nil && err != io.EOF: // the line may be incomplete
		return nil, r.At(r.unpacking(err))
	}
	if r.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r"), nil
}

// Line returns the number of the last line read, from 1.
func (r *Reader) Line() int { return r.number }

// At adds the file name and the number of the last line read to an error; an error of the operating
// system gets only the name.
func (r *Reader) At(err error) error {
	if bad, ok := err.(*Error); ok {
		at := *bad
		at.Line = r.number
		return InFile(r.name, &at)
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return InFile(r.name, err)
	}
	return InFile(fmt.Sprintf("%s:%d", r.name, r.number), err)
}

// open unpacks the file if it is compressed, and checks that its text is not in UTF-16.
func (r *Reader) open() error {
	b := bufio.NewReaderSize(r.source, Longest+1)
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
		r.text = bufio.NewReaderSize(z, Longest+1)
	}
	if start, err = r.text.Peek(4); err != nil && err != io.EOF {
		return r.unpacking(err)
	}
	return CheckEncoding(start)
}

// unpacking adds the failed operation, and the meaning of an unexpected end, to a read error.
func (r *Reader) unpacking(err error) error {
	switch {
	case !r.packed:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("unpacking: the file ends early: %w", err)
	}
	return fmt.Errorf("unpacking: %w", err)
}

// Shown returns text for an error: as it is, or quoted if it contains invisible characters.
func Shown(text []byte) string {
	plain, quoted := string(text), strconv.Quote(string(text))
	if quoted[1:len(quoted)-1] == plain {
		return plain
	}
	return quoted
}
