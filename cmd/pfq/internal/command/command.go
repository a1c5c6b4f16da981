// Package command holds the code that the commands of pfq share: how does a question about a file
// become an answer and an exit status? It covers flags of several commands, answers at several
// factors, sizes in files, simulations, progress and signals, and the help.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/internal/render"
)

// A Query is one question about a file, with the destination of its answer.
type Query struct {
	Ctx    context.Context
	File   string // - for the standard input; empty for commands that take none
	Stdin  io.Reader
	Stderr io.Writer
	Format string // format of the answer
	To     string // file of the answer

	done, of int    // finished parts and total parts of the answer; 0 if it has one part
	each     string // what a part is about, such as load; "" for an answer
}

// Of returns the query for parts of the answer about each of something, such as load.
func (q Query) Of(each string) Query {
	q.each = each
	return q
}

// Part returns the query for part k of n of the answer, for progress to show the fraction done.
func (q Query) Part(k, n int) Query {
	q.done, q.of = q.done*n+k, max(q.of, 1)*n
	return q
}

// ask fills in the question of a command.
func (q *Query) ask(cmd *cobra.Command, args []string) {
	q.Ctx, q.Stdin, q.Stderr = cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr()
	if len(args) > 0 {
		q.File = args[0]
	}
}

// New returns a command that answers a question about a file, which is its argument, and adds the
// flags --format and --output. The answer reports whether a result exists; if not, it contains the
// reason.
func New(use string, answer func(Query) (a render.Answer, found bool, err error)) *cobra.Command {
	return NewWriter(use, render.Formats, nil, func(q Query) ([]byte, bool, error) {
		if err := CheckText(q.To); err != nil {
			return nil, false, err
		}
		a, found, err := answer(q)
		if err != nil {
			return nil, false, err
		}
		text, err := a.Format(q.Format)
		return text, found, err
	})
}

// CheckText rejects the name of a picture for the file of an answer in text, JSON or CSV.
func CheckText(file string) error {
	if IsPicture(file) {
		return input.Errorf("--output", file, "a name for text, JSON or CSV: pictures are drawn by pfq plot")
	}
	return nil
}

// IsPicture reports whether the name of a file ends as that of a picture, in a form that the
// program draws or another one, or with more letters, as in .pngg.
func IsPicture(file string) bool {
	end := strings.ToLower(filepath.Ext(file))
	return slices.ContainsFunc([]string{".png", ".svg", ".pdf", ".gif", ".jp", ".tif", ".bmp", ".webp", ".eps"},
		func(start string) bool { return strings.HasPrefix(end, start) })
}

// NewWriter returns a command like that of [New] for answers in other formats; the first is the
// default. If --output is not given and the standard output is a terminal, the answer goes to the
// new file that onTerminal names; it may be nil, or return "". An answer that is nil is not
// written.
func NewWriter(
	use string, formats []string, onTerminal func(Query) string, answer func(Query) (a []byte, found bool, err error),
) *cobra.Command {
	var q Query
	_, kind, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use: use,
		Args: func(cmd *cobra.Command, args []string) error {
			name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
			if kind == "" && len(args) > 0 {
				hint := ""
				isModel := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(args[0]))
				if cmd.Flags().Lookup("sizes") != nil && !isModel {
					hint = "; sizes in a file are --sizes " + FileSizes(args[0])
				}
				return fmt.Errorf("unexpected argument %q: %s takes flags only%s", args[0], name, hint)
			}
			if kind == "" {
				return nil
			}
			if len(args) != 1 {
				hint := ""
				if len(args) > 1 {
					hint = "; put a name with blanks in quotes"
				}
				return fmt.Errorf("%s takes one %s, a file or - for the standard input, not %d arguments%s",
					name, kind, len(args), hint)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.ask(cmd, args)
			if err := cli.CheckTol(cmd.Flags()); err != nil {
				return err
			}
			if kind != "" {
				if err := cli.Check("--output", q.To, q.File, q.Stdin); err != nil {
					return err
				}
			}
			var model bytes.Buffer // what was read from the standard input
			if kind == "MODEL" && q.File == "-" {
				q.Stdin = io.TeeReader(q.Stdin, &model)
			}
			file := "" // new file for a picture that would otherwise go to a terminal
			if q.To == "" && onTerminal != nil && cli.IsTerminal(cmd.OutOrStdout()) {
				file = onTerminal(q)
			}
			if err := cli.CheckNew(file); err != nil {
				return withOutput(err)
			}
			if err := q.settleFormat(formats, cmd.Flags().Changed("format")); err != nil {
				return err
			}
			text, found, err := answer(q)
			if err != nil {
				q.Stdin = &model
				return locate(q, err)
			}
			switch {
			case text == nil:
			case file == "":
				err = cli.Write(text, q.To, cmd.OutOrStdout())
			default:
				if err = withOutput(cli.WriteNew(text, file)); err == nil {
					fmt.Fprintf(q.Stderr, "pfq: wrote %s\n", file)
				}
			}
			if err != nil {
				return err
			}
			if !found {
				return ErrNoAnswer
			}
			return nil
		},
	}
	cli.AddChoice(cmd, &q.Format, "format", formats, "form of the answer")
	AddOutput(cmd, &q.To)
	return Help(cmd)
}

// settleFormat takes the format of an answer in text, JSON or CSV from the end of the name of its
// file: .json or .csv. A given format must not differ from it.
func (q *Query) settleFormat(formats []string, given bool) error {
	end := strings.ToLower(strings.TrimPrefix(filepath.Ext(q.To), "."))
	if !slices.Equal(formats, render.Formats) || !slices.Contains(render.Formats, end) || end == q.Format {
		return nil
	}
	if given {
		return input.Errorf("--output", q.To, "a name that does not end in .%s, for --format %s", end, q.Format)
	}
	q.Format = end
	return nil
}

// withOutput adds to an error about a file named by the command how to name another file.
func withOutput(err error) error {
	if err == nil {
		return nil
	}
	return cli.FlagError{Err: fmt.Errorf("%w; name a file with -o", err)}
}

// InFile adds the name of the file to an error, unless the error is about a flag or a signal.
func InFile(name string, err error) error {
	var flag cli.FlagError
	if err == nil || errors.As(err, &flag) || errors.Is(err, ErrInterrupted) {
		return err
	}
	return input.InFile(cli.Source(name), err)
}
