package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/live/client"
	"productform/live/sweep"
	"productform/live/worker"
)

func newSweep() *cobra.Command {
	var url, folder string
	var q sweep.Queue
	var deadline time.Duration
	cmd := help(&cobra.Command{
		Use: "sweep --results DIR -- COMMAND...",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &input.Error{Path: "COMMAND", Want: "pfq or figures with arguments, after --"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := sweep.NewCommand(args, folder)
			if err != nil {
				return err
			}
			q.DeadlineIn = deadline.Seconds()
			return withClient(cmd, url, func(ctx context.Context, client *client.Client) error {
				s := sweep.Settings{
					Queue:  q,
					Stdout: cmd.OutOrStdout(),
					Stderr: cmd.ErrOrStderr(),
					Name:   cmd.Root().Name(),
				}
				return sweep.Run(ctx, c, s, client.RunJob)
			})
		},
	})
	addURL(cmd, &url)
	cli.AddText(cmd, &folder, "results", "", "the name of a folder", "`DIR` for the results of runs")
	addNumber(cmd, &q.Priority, "priority", "", "priority of the jobs; larger is more urgent (default 0)")
	addDuration(cmd, &deadline, "deadline", 0, "deadline of each job, from its submission; 0s for none")
	addInt(cmd, &q.MaxWorkers, "max-workers", 0, 1_000_000, "maximum number of workers of a job; 0 for no limit")
	return cmd
}

// sweepHandlers lets workers compute runs with the pfq and figures programs next to this one, if
// any. end stops their children.
func sweepHandlers(s *worker.Settings) (end func(), err error) {
	programs, err := sweep.Beside()
	if err != nil || len(programs) == 0 {
		return func() {}, err
	}
	r := sweep.NewRunner(programs)
	s.Handlers = map[string]worker.Handler{sweep.Kind: r.Handle}
	return r.Close, nil
}
