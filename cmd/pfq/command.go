package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"productform/cmd/internal/output"
	"productform/cmd/internal/render"
	"productform/internal/input"
)

// The help of a command is its short description, an empty line, and the text; its examples stand in a file of their own.
//
//go:embed help
var helpFiles embed.FS

// helpOf gives a command its help.
func helpOf(cmd *cobra.Command) *cobra.Command {
	text, err := helpFiles.ReadFile("help/" + cmd.Name() + ".txt")
	if err != nil {
		panic(err) // embedded
	}
	cmd.Short, cmd.Long, _ = strings.Cut(strings.TrimRight(string(text), "\n"), "\n\n")
	if examples, err := helpFiles.ReadFile("help/examples/" + cmd.Name() + ".txt"); err == nil { // topics have none
		cmd.Example = strings.TrimRight(string(examples), "\n")
	}
	return cmd
}

// A query is one question: about a file, with where its answer goes.
type query struct {
	ctx    context.Context
	file   string // - for the standard input; empty for commands that take none
	stdin  io.Reader
	stderr io.Writer
	format string
	to     string // file of the answer
}

// newCommand returns a command that answers a question about a file, which is its argument, and adds the flags --format and
// --output. The answer comes with whether there is what was asked for; if not, it says why.
func newCommand(use string, answer func(query) (a render.Answer, found bool, err error)) *cobra.Command {
	var q query
	name, kind, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use: use,
		Args: func(_ *cobra.Command, args []string) error {
			if kind == "" && len(args) > 0 {
				return fmt.Errorf("unexpected argument %q: %s takes flags only", args[0], name)
			}
			if kind == "" {
				return nil
			}
			if len(args) != 1 {
				return fmt.Errorf("%s wants one %s, a file or - for the standard input, not %d arguments", name, kind, len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.ctx, q.stdin, q.stderr = cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr()
			if kind != "" {
				q.file = args[0]
				if err := output.NotInput("--output", q.to, q.file, q.stdin); err != nil {
					return err
				}
			}
			a, found, err := answer(q)
			if err != nil {
				return err
			}
			text, err := a.Format(q.format)
			if err != nil {
				return err
			}
			if err := output.Write(text, q.to, cmd.OutOrStdout()); err != nil {
				return err
			}
			if !found {
				return errNoAnswer
			}
			return nil
		},
	}
	addFormat(cmd, &q.format)
	addOutput(cmd, &q.to)
	return helpOf(cmd)
}

// A flagError is about a flag: no file is to blame.
type flagError struct{ error }

func (e flagError) Unwrap() error { return e.error }

// ofFile gives an error the name of the file that it is about, unless it is about a flag or a signal.
func ofFile(name string, err error) error {
	var flag flagError
	if err == nil || errors.As(err, &flag) || errors.Is(err, errInterrupted) {
		return err
	}
	return input.InFile(source(name), err)
}
