// This file locks a folder for one process at a time: how do two programs avoid sharing a store?
//
// The lock is a system lock on a file named lock in the folder. It ends with its process,
// regardless of how the process ends. On systems other than Unix, every process gets the lock.

package processes

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrTaken reports that another process, or another part of this one, has the lock.
var ErrTaken = errors.New("another process uses the folder")

// Try locks an existing folder until release is called. The error is [ErrTaken] if the folder is
// locked.
func Try(folder string) (release func(), err error) { return take(folder, false) }

// Wait is like [Try], but waits until the folder is free.
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
