// Command pfq answers one question about one model of a computer cluster:
//
//	pfq solve MODEL      mean jobs, delays, service rates and utilizations under balanced fairness
//	pfq stability MODEL  whether the cluster is stable, by what margin, and which classes decide
//	pfq simulate MODEL   estimates of the same by simulation, under three policies, for any distribution of sizes
//	pfq tags             hosts that guess job sizes: best cutoffs, and other policies beside them
//	pfq allocate POOL    divisible resources shared among jobs, at rest or in random traffic
//	pfq dispatch TRACE   a log of jobs replayed under policies that share workers among them
//	pfq example [NAME]   a model to start from
//
// MODEL and POOL are files in JSON or YAML, TRACE is a log of jobs, - is the standard input. The answer is text, JSON
// or CSV. The exit status is 0 if there is an answer, 1 if the answer is no (the model is unstable, say), 2 for
// bad usage or bad input, with one line on the standard error, and 130 if a signal ended it. A simulation then says how
// many of its runs are kept.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"productform/cmd/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// errNoAnswer ends a command that has written why its valid model has no answer.
var errNoAnswer = errors.New("no answer")

// run executes one command line and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return status(execute(args, stdin, stdout, stderr), stderr)
}

// execute executes one command line.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := newRoot()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return cli.Execute(context.Background(), root, args)
}

// status writes an error, and returns the exit status that it means.
func status(err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNoAnswer):
		return 1
	}
	fmt.Fprintln(stderr, "pfq:", cli.OneLine(err))
	if errors.Is(err, errInterrupted) {
		return cli.Interrupted
	}
	return 2
}

func newRoot() *cobra.Command {
	root := helpOf(&cobra.Command{Use: "pfq", Version: cli.Version("pfq")})
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(newSolve(), newStability(), newSimulate(), newTags(), newAllocate(), newDispatch(), newExample(), newVersion(),
		helpOf(&cobra.Command{Use: "model"}))
	return root
}

func newVersion() *cobra.Command {
	return helpOf(&cobra.Command{
		Use:  "version",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), cli.Version("pfq"))
			return err
		},
	})
}
