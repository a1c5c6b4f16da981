//go:build !unix

package lock

import "os"

// lockFile does nothing.
func lockFile(*os.File, bool) error { return nil }
