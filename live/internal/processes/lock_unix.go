//go:build unix

package processes

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file until it is closed or the process ends.
func lockFile(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case errors.Is(err, syscall.EINTR): // interrupted by a signal
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrTaken
		default:
			return err
		}
	}
}
