package cli

import (
	"io"
	"os"
)

// IsTerminal reports whether an output is a terminal: a character device other than the usual
// exceptions, such as /dev/null.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	for _, name := range []string{os.DevNull, "/dev/full", "/dev/zero"} {
		if device, err := os.Stat(name); err == nil && os.SameFile(info, device) {
			return false
		}
	}
	return true
}
