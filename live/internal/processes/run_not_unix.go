//go:build !unix

package processes

import (
	"context"
	"errors"
	"os/exec"
)

// Run returns an error: this system has no process groups.
func Run(context.Context, string, *exec.Cmd) error {
	return errors.New("programs need Unix, where process groups can be killed")
}

// KillLeft does nothing.
func KillLeft(string) (killed int, err error) { return 0, nil }
