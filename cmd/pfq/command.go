package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"productform/cluster"
	"productform/cmd/internal/cli"
	"productform/cmd/internal/output"
	"productform/cmd/internal/render"
	"productform/internal/input"
	"productform/internal/tree"
	"productform/num"
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

// A scaled says of which factor an answer is.
type scaled struct {
	Scale render.Number `json:"scale"`
}

// atFactors gives one answer for every factor, and says whether all have what was asked for. In text they follow each other.
func atFactors(factors []*big.Rat, one func(*big.Rat) (render.Answer, bool, error)) (all render.Answer, found bool, err error) {
	var objects []any
	var texts []func(*render.Text)
	found = true
	for _, factor := range factors {
		a, ok, err := one(factor)
		if err != nil {
			return all, false, err
		}
		found = found && ok
		scale := render.Fields(scaled{render.Rat(factor, render.Unproved)})
		objects = append(objects, slices.Concat(scale, render.Fields(a.JSON)))
		for _, l := range a.Lines {
			head := scale
			if l.Head != nil {
				head = slices.Concat(scale, render.Fields(l.Head))
			}
			all.Lines = append(all.Lines, render.Lines{Kind: cmp.Or(l.Kind, "unstable"), Head: head, Of: l.Of}) // an answer without kinds says why
		}
		if len(a.Columns) >= len(all.Columns) { // those of an answer that there is
			all.Columns = append([]string{"scale"}, a.Columns...)
		}
		texts = append(texts, func(t *render.Text) {
			t.Line("scale %s", render.SixRat(factor))
			a.Text(t)
			t.Digits, t.Fraction = 0, 0
		})
	}
	all.JSON = objects
	all.Text = func(t *render.Text) {
		for i, write := range texts {
			if i > 0 {
				t.Blank()
			}
			write(t)
		}
	}
	return all, found, nil
}

func addFormat(cmd *cobra.Command, format *string) {
	cli.AddChoice(cmd, format, "format", render.Formats, "form of the answer")
}

// readModel reads the model in the file, or on the standard input if the name is "-".
func readModel(name string, stdin io.Reader) (*cluster.Model, error) {
	var m *cluster.Model
	var err error
	if name != "-" {
		m, err = cluster.ReadFile(name)
	} else if m, err = cluster.Read(stdin); err != nil {
		err = tree.InFile(source(name), err)
	}
	return m, meantFor(err, "allocate", "resources", "jobs")
}

// source returns the name that errors give to a MODEL.
func source(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func addOutput(cmd *cobra.Command, file *string) {
	cli.AddText(cmd, file, "output", "o", "the name of a file, or - for the standard output",
		"write the answer to `FILE`, whole or not at all, instead of the standard output (-)")
}

// addNumber adds a flag that takes the numbers that are good.
func addNumber(cmd *cobra.Command, target *float64, name, standard, want, usage string, good func(float64) bool) {
	cli.Flag[float64]{Name: name, Kind: "float", Usage: usage, Default: standard, Want: want,
		Parse: func(text string) (float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil && good(v)
		}}.Add(cmd, target)
}

func parseInt(most int) func(string) (int, bool) { return parseIntFrom(1, most) }

func parseIntFrom(least, most int) func(string) (int, bool) {
	return func(text string) (int, bool) {
		v, err := strconv.Atoi(text)
		return v, err == nil && v >= least && v <= most
	}
}

func parseTolerance(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 1e-300 && v < 1
}

// addScale adds --scale, a list of factors and of ranges of factors.
func addScale(cmd *cobra.Command, target *[]*big.Rat, usage string) {
	cli.Flag[[]*big.Rat]{Name: "scale", Usage: usage,
		Want: fmt.Sprintf("numbers >= 0 or ranges FROM:TO:STEP, separated by commas, %d numbers at most", mostFactors), Parse: parseFactors}.Add(cmd, target)
}

const mostFactors = 10_000

// parseFactors reads numbers and ranges FROM:TO:STEP: FROM, FROM+STEP, ... up to TO, exactly.
func parseFactors(text string) (factors []*big.Rat, ok bool) {
	for word := range strings.SplitSeq(text, ",") {
		var bounds []*big.Rat
		for part := range strings.SplitSeq(word, ":") {
			v, err := num.ParseRat(part)
			if err != nil || v.Sign() < 0 {
				return nil, false
			}
			bounds = append(bounds, v)
		}
		switch {
		case len(bounds) == 1:
			factors = append(factors, bounds[0])
		case len(bounds) != 3 || bounds[2].Sign() == 0 || bounds[0].Cmp(bounds[1]) > 0:
			return nil, false
		default:
			for v := bounds[0]; v.Cmp(bounds[1]) <= 0 && len(factors) <= mostFactors; v = new(big.Rat).Add(v, bounds[2]) {
				factors = append(factors, v)
			}
		}
		if len(factors) > mostFactors {
			return nil, false
		}
	}
	return factors, true
}
