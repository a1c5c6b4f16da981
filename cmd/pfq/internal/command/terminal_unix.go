//go:build unix

package command

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether an output is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
