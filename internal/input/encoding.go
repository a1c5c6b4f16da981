package input

import (
	"bytes"
	"errors"
)

// errUTF16 is the error for a text in another encoding.
var errUTF16 = errors.New("this looks like UTF-16; save the file as UTF-8")

// CheckEncoding returns an error if the first bytes of a text look like UTF-16: a byte order mark,
// or a 0 in every other one of the first four bytes, as in ASCII letters of 16 bits.
func CheckEncoding(start []byte) error {
	if bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return errUTF16
	}
	if len(start) < 4 || (start[0] == 0) == (start[1] == 0) ||
		(start[2] == 0) != (start[0] == 0) || (start[3] == 0) != (start[1] == 0) {
		return nil
	}
	return errUTF16
}
