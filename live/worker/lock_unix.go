//go:build unix

package worker

import (
	"os"
	"syscall"
)

// lockFile takes a file for this process, until it is closed or the process ends.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
