//go:build unix && !linux

package processes

import (
	"fmt"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// KillLeft returns an error if there are marks in folder: on this system it cannot find the
// processes with these marks.
func KillLeft(folder string) (killed int, err error) {
	words, err := marks(folder)
	if err == nil && len(words) > 0 {
		err = fmt.Errorf(
			"%s: processes with %s=%s in their environment may be left; end them, and remove the files *%s",
			folder, mark, words[0], suffix,
		)
	}
	return 0, err
}
