//go:build linux || darwin

package server

import "syscall"

// freeBytes returns the number of free bytes on the disk of a folder.
func freeBytes(folder string) (n int64, isKnown bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
