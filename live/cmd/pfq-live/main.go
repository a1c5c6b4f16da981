// Command pfq-live shares a live cluster of machines among jobs, by the policies of package
// dispatch:
//
//	pfq-live serve                      server, manager, workers and status page in one process
//	pfq-live server, manager, worker    each of them separately
//	pfq-live submit, wait, results      submits jobs and reads their results
//	pfq-live cancel, change, clear      requests about jobs; drain: about a worker
//	pfq-live status, report, timeline   the current state, and the past
//	pfq-live audit                      decides all plans of the log again, and checks the store
//	pfq-live repair                     makes a damaged store usable
//	pfq-live replay TRACE               runs a log of jobs through the whole system, on a logical clock
//	pfq-live sweep -- COMMAND           computes the runs of a simulation on the workers
//	pfq-live plan                       queries a policy without the rest of the system
//	pfq-live keys                       manages keys and their rights
//
// The exit status is 0 for a positive answer, 1 for a negative one (for example, a job has
// failures), 2 for bad usage or bad input, with one line on standard error, and 130 after a signal.
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

// run executes a command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	signals := []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGTERM}
	if len(args) > 0 && args[0] == "worker" {
		signals = signals[:2] // SIGTERM lets the worker finish its tasks first
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
	case errors.As(err, &ended): // the command has printed the reason
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
	fmt.Fprintln(stderr, "pfq-live:", cli.OneLine(nameFlag(root, args, err)))
	return 2
}

// nameFlag replaces the path of an error about a setting with the flag, if the command has such a
// flag.
func nameFlag(root *cobra.Command, args []string, err error) error {
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
	if name == "folder" && cmd.Flags().Lookup(name) == nil { // the folder of keys
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

// seeRepair is appended to messages about a damaged store.
const seeRepair = ": see pfq-live repair"

// errNoAnswer ends a command that has already printed why the answer is no.
var errNoAnswer = errors.New("no answer")

func newRoot() *cobra.Command {
	root := help(&cobra.Command{Use: "pfq-live", Version: cli.Version("pfq-live")})
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(newServe(), newServer(), newManager(), newWorker(),
		newSubmit(), newWait(), newResults(), newCancel(), newChange(), newClear(), newDrain(),
		newStatus(), newProfiles(),
		newReport(), newTimeline(), newAudit(), newRepair(), newPlan(), newKeys(), newSweep(), newReplay())
	return root
}
