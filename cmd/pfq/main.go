// Command pfq answers one question about one model of a computer cluster:
//
//	pfq solve MODEL      mean jobs, delays, waiting times and utilizations of a cluster
//	pfq stability MODEL  whether the cluster is stable, by what margin, and which classes decide
//	pfq estimate MODEL   estimates of what solve computes, for hundreds of classes and servers
//	pfq simulate MODEL   estimates of the same by simulation, under many policies, for any distribution of sizes
//	pfq network MODEL    queueing networks, closed, open and mixed, and systems in which jobs are lost
//	pfq plan PLAN        what to buy for a cluster so that it meets targets at minimum cost, with a proof
//	pfq plot MODEL       a picture of a cluster or a pool against load, or of what plans cost
//	pfq plot tags        a picture of hosts that guess job sizes against load
//	pfq tags             hosts that guess job sizes: best cutoffs, compared with other policies
//	pfq allocate POOL    divisible resources shared among permanent jobs, or jobs that arrive and depart
//	pfq dispatch TRACE   a log of jobs, or drawn jobs, under policies that share workers
//	pfq log LOG          loads, waiting times, arrivals and sizes in a log of jobs; the log in another format
//	pfq live ARGS        runs pfq-live, which shares a real cluster among jobs
//	pfq example [NAME]   a model to start from
//	pfq man FOLDER       manual pages of all commands
//
// MODEL, PLAN and POOL are files in JSON or YAML, TRACE and LOG are logs of jobs, - is the standard input.
// The answer is text, JSON or CSV. The exit status is 0 if there is an answer, 1 if the answer is
// no (for example, the model is unstable), 2 for bad usage or bad input, with one line on the
// standard error, and 130 after a signal. An interrupted simulation reports how many of its runs
// are kept.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"productform/cmd/pfq/internal/command"
	"productform/internal/cli"
)

func main() {
	collectLess()
	os.Exit(command.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func newRoot() *cobra.Command {
	return command.Root(
		newSolveCommand(), newStability(), newEstimateCommand(), newSimulateCommand(), newNetworkCommand(),
		newPlanCommand(), newPlot(), newTagsCommand(), newAllocateCommand(), newDispatchCommand(), newLogCommand(),
		newLive(), newExample(), newMan(), newVersion(), command.Help(&cobra.Command{Use: "model"}),
	)
}

func newVersion() *cobra.Command {
	return command.Help(&cobra.Command{
		Use:  "version",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), cli.Version("pfq"))
			return err
		},
	})
}
