//go:build !linux && !darwin

package server

// freeBytes reports that the number of free bytes is unknown.
func freeBytes(string) (n int64, isKnown bool) { return 0, false }
