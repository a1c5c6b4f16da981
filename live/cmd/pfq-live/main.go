// Command pfq-live shares a cluster of machines among jobs, live, by the policies of package dispatch:
//
//	pfq-live serve                      all in one process: server, manager, workers, status page
//	pfq-live server, manager, worker    each of them alone
//	pfq-live submit, wait, results      jobs, and what became of them
//	pfq-live cancel, change, clear      wishes about jobs; drain: about a worker
//	pfq-live status, report, timeline   how things stand, and how they went
//	pfq-live audit                      decides all plans of the log again, and checks the store
//	pfq-live repair                     makes a damaged store usable
//	pfq-live replay TRACE               a log of jobs through the whole system, on a logical clock
//	pfq-live sweep -- COMMAND           the runs of a simulation by the workers
//	pfq-live plan                       asks a policy alone
//	pfq-live keys                       who may do what
//
// The exit status is 0 if there is an answer, 1 if the answer is no (a job has failures, say), 2 for bad usage or bad
// input, with one line on the standard error, and 130 if a signal ended it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/live/client"
	"productform/live/sweep"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes a command line, and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	signals := []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGTERM}
	if len(args) > 0 && args[0] == "worker" {
		signals = signals[:2] // it ends its tasks first at SIGTERM
	}
	ctx, stop := cli.UntilSignal(context.Background(), signals...)
	defer stop()
	err := cli.Execute(ctx, root, args)
	var ended *sweep.StatusError
	var damage *client.DamageError
	var missing *client.MissingError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended): // it has said why
		return ended.Status
	case errors.Is(err, errNoAnswer):
		return 1
	case errors.As(err, &damage):
		fmt.Fprintln(stderr, "pfq-live:", cli.OneLine(err)+seeRepair)
		return 1
	case errors.As(err, &missing):
		fmt.Fprintln(stderr, "pfq-live:", cli.OneLine(err))
		return 1
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "pfq-live: interrupted")
		return cli.Interrupted
	}
	fmt.Fprintln(stderr, "pfq-live:", cli.OneLine(atFlag(root, args, err)))
	return 2
}

// atFlag puts the name of a flag in place of the path of an error about a setting, if the command has such a flag.
func atFlag(root *cobra.Command, args []string, err error) error {
	bad, ok := err.(*input.Error)
	if !ok || bad.Path == "" || bad.File != "" {
		return err
	}
	cmd, _, missing := root.Find(args)
	if missing != nil {
		return err
	}
	name := strings.ReplaceAll(bad.Path, "_", "-")
	at := *bad
	if name == "folder" && cmd.Flags().Lookup(name) == nil { // that of the keys
		name = "keys"
		if cmd.Name() != "init" {
			at.Want += ", which pfq-live keys init makes"
		}
	}
	if cmd.Flags().Lookup(name) == nil {
		return err
	}
	at.Path = "--" + name
	return &at
}

// seeRepair ends the messages of a damaged store.
const seeRepair = ": see pfq-live repair"

// errNoAnswer ends a command that has written why the answer is no.
var errNoAnswer = errors.New("no answer")

func newRoot() *cobra.Command {
	root := help(&cobra.Command{Use: "pfq-live", Version: cli.Version("pfq-live")})
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(newServe(), newServer(), newManager(), newWorker(),
		newSubmit(), newWait(), newResults(), newCancel(), newChange(), newClear(), newDrain(), newStatus(), newProfiles(),
		newReport(), newTimeline(), newAudit(), newRepair(), newPlan(), newKeys(), newSweep(), newReplay())
	return root
}
