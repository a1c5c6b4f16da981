//go:build !linux && !darwin

package server

// freeBytes does not know how many bytes are free.
func freeBytes(string) (n int64, isKnown bool) { return 0, false }
