//go:build !unix

package worker

import "os"

// lockFile does nothing: on this system no programs are run, so that two processes can use one folder.
func lockFile(*os.File) error { return nil }
