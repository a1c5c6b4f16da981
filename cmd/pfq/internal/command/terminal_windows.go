package command

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// isTerminal reports whether an output is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(file.Fd()), &mode) == nil
}
