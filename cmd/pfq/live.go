package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
)

// newLive returns the command that runs the program of the live system, which belongs to another
// module.
func newLive() *cobra.Command {
	return command.Help(&cobra.Command{
		Use: "live", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := findLive()
			if err != nil {
				return err
			}
			c := exec.CommandContext(cmd.Context(), path, args...)
			c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return runProgram(c)
		},
	})
}

// findLive returns the path of pfq-live: next to this program, or otherwise in the search path.
func findLive() (string, error) {
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), "pfq-live")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("pfq-live")
	if err != nil {
		return "", errors.New("no pfq-live next to pfq or in the PATH; go install ./cmd/pfq-live in the folder live " +
			"of the source installs it")
	}
	return path, nil
}

// runProgram runs a program until it ends, and forwards signals to it. The error is a
// *[command.EndedError] unless its exit status is 0.
func runProgram(c *exec.Cmd) error {
	signals := make(chan os.Signal, 10)
	// A signal that this process ignores must stay ignored: a caught one would end the program,
	// which inherits the default.
	if list := cli.NotIgnored(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP); len(list) > 0 {
		signal.Notify(signals, list...)
	}
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	ended, stop := context.WithCancel(context.Background())
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		for {
			select {
			case s := <-signals:
				_ = c.Process.Signal(s) // the program may have ended
			case <-ended.Done():
				return
			}
		}
	}()
	err := c.Wait()
	stop()
	<-passed
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &command.EndedError{Status: cmp.Or(max(exit.ExitCode(), 0), 2)}
	}
	return err
}
