//go:build !unix

package processes

import (
	"context"
	"errors"
	"os/exec"
)

// Run returns an error: this system has no process groups.
func Run(context.Context, string, *exec.Cmd) error {
	return errors.New("programs are run on Unix only, where process groups end as a whole")
}

// KillLeft has nothing to do.
func KillLeft(string) (killed int, err error) { return 0, nil }
