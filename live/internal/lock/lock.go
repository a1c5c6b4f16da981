// Package lock gives a folder to one process at a time.
//
// The lock is one of the system on a file named lock in the folder, which ends with the process that has it, however that
// ends. Where the system is none of Unix, every process gets it.
package lock

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrTaken says that another process has the folder, or another part of this one.
var ErrTaken = errors.New("another process uses the folder")

// Try takes a folder, which is there, until release is called. The error is [ErrTaken] if somebody has it.
func Try(folder string) (release func(), err error) { return take(folder, false) }

// Wait takes a folder as [Try] does, and waits for whoever has it.
func Wait(folder string) (release func(), err error) { return take(folder, true) }

func take(folder string, wait bool) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, wait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}
