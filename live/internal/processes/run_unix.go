//go:build unix

package processes

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// mark is the environment variable that holds the mark of a process group. suffix is the suffix of
// the files that hold marks.
const (
	mark   = "PRODUCTFORM_GROUP"
	suffix = ".group"
)

// Run starts cmd as the leader of a new process group, whose mark is in folder, and waits for its
// end. After that, or when ctx is done, it kills the whole group. The error is the cause of ctx if
// that ended the program, otherwise that of [exec.Cmd.Wait]. Stdin, Stdout and Stderr of cmd must
// be files or nil, so processes left behind cannot keep them open. cmd must be from
// [exec.Command].
func Run(ctx context.Context, folder string, cmd *exec.Cmd) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	word := rand.Text()
	record := filepath.Join(folder, word+suffix)
	// before the start, so a crash in between leaves no unmarked group
	if err := os.WriteFile(record, nil, 0o600); err != nil {
		return err
	}
	defer os.Remove(record)
	cmd.Env = append(cmd.Environ(), mark+"="+word)
	cmd.SysProcAttr = attributes()

	started, ended := make(chan error), make(chan error, 1)
	go func() {
		// The kernel kills the leader when the thread that started it ends, so the thread has to
		// stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		kill(cmd.Process.Pid)
		<-ended
		err = context.Cause(ctx)
	}
	kill(cmd.Process.Pid) // kill processes that the leader left behind
	return err
}

// kill kills the process group of a leader.
func kill(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) } // an error means that no process is left

// marks returns the marks in a folder.
func marks(folder string) (words []string, err error) {
	list, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, f := range list {
		if word, ok := strings.CutSuffix(f.Name(), suffix); ok {
			words = append(words, word)
		}
	}
	return words, err
}
