// This file reads text files, compressed with gzip, zstd or not at all, line by line; memory holds
// one line at a time.

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

	"github.com/klauspost/compress/zstd"
)

// Longest is the maximum number of bytes in a line, without its end.
const Longest = 1<<16 - 1

// A Reader reads the lines of a file.
type Reader struct {
	name   string
	source io.Reader
	text   *bufio.Reader // uncompressed; nil before the first line
	number int           // number of the last line read
}

// NewReader returns a reader of the lines in r, which is unpacked if it is a gzip or zstd file,
// recognized by its first bytes. It reads ahead. Errors contain the name and the line of the
// unpacked text.
func NewReader(r io.Reader, name string) *Reader { return &Reader{name: name, source: r} }

// Next returns the next line without its end, until the next call, or [io.EOF] after the last one.
// Any other error concerns a line of more than [Longest] bytes, or one that cannot be read or
// unpacked. If a compressed file ends early, the error wraps [io.ErrUnexpectedEOF]. Lines end in a
// line feed, possibly after carriage returns; only the last one may lack it. A byte order mark at
// the start of the text is skipped.
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
		return nil, r.At(err)
	}
	if r.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r"), nil
}

// Line returns the number of the last line read, from 1.
func (r *Reader) Line() int { return r.number }

// At adds the file name and the number of the last line read to an error, as [AtLine] does.
func (r *Reader) At(err error) error { return AtLine(r.name, r.number, err) }

// AtLine adds the name of a file and the number of a line to an error; an error of the operating
// system gets only the name.
func AtLine(name string, line int, err error) error {
	if bad, ok := err.(*Error); ok {
		at := *bad
		at.Line = line
		return InFile(name, &at)
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return InFile(name, err)
	}
	return InFile(fmt.Sprintf("%s:%d", name, line), err)
}

// open unpacks the file if it is compressed, and checks that its text is not in UTF-16.
func (r *Reader) open() error {
	text, err := Unpack(r.source)
	if err != nil {
		return err
	}
	r.text = text
	start, err := text.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	return CheckEncoding(start)
}

// The first bytes of compressed files.
const (
	gzipStart = "\x1f\x8b"
	zstdStart = "\x28\xb5\x2f\xfd"
)

// largestWindow is the maximum number of bytes to which a file compressed with zstd may refer back,
// as in the program zstd.
const largestWindow = 128 << 20

// Unpack returns the text of a file, unpacked if it is a gzip or zstd file. It buffers a line of
// [Longest] bytes. Errors of the unpacked text name the failed operation; if the file ends early,
// they wrap [io.ErrUnexpectedEOF].
func Unpack(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, Longest+1)
	start, err := b.Peek(len(zstdStart))
	if err != nil && err != io.EOF && len(start) < len(gzipStart) {
		return b, err
	}
	var packed io.Reader
	switch {
	case bytes.HasPrefix(start, []byte(gzipStart)):
		packed, err = gzip.NewReader(b)
	case string(start) == zstdStart:
		packed, err = zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(largestWindow))
	default:
		return b, nil
	}
	if err != nil {
		return b, unpacking(err)
	}
	return bufio.NewReaderSize(unpacker{packed}, Longest+1), nil
}

// An unpacker adds the failed operation to the errors of a reader that unpacks.
type unpacker struct{ io.Reader }

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = unpacking(err)
	}
	return n, err
}

// unpacking adds the failed operation, and the meaning of an unexpected end, to a read error.
func unpacking(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
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
