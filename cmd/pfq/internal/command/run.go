package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"productform/internal/cli"
)

// Root returns pfq with these commands.
func Root(commands ...*cobra.Command) *cobra.Command {
	root := Help(&cobra.Command{Use: "pfq", Version: cli.Version("pfq")})
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(commands...)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			addSchema(c)
		}
	}
	return root
}

// Run executes one command line of pfq and returns its exit status.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Status(Execute(root, args, stdin, stdout, stderr), stderr)
}

// Execute executes one command line of pfq.
func Execute(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return cli.Execute(context.Background(), root, args)
}

// Status writes an error, and returns its exit status.
func Status(err error, stderr io.Writer) int {
	var ended *EndedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.Status
	case errors.Is(err, ErrNoAnswer):
		return 1
	}
	fmt.Fprintln(stderr, "pfq:", cli.OneLine(err))
	if errors.Is(err, ErrInterrupted) {
		return cli.Interrupted
	}
	return 2
}

// An EndedError reports the status, not 0, of a program that did the work of the command and has
// printed why.
type EndedError struct{ Status int }

func (e *EndedError) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// ErrNoAnswer ends a command that has written why its valid model has no answer.
var ErrNoAnswer = errors.New("no answer")
