package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/live/client"
	"productform/live/sweep"
	"productform/live/wire"
	"productform/live/worker"
)

func newSweep() *cobra.Command {
	var url, folder string
	cmd := help(&cobra.Command{
		Use: "sweep -- COMMAND...",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("sweep wants a COMMAND after --, such as pfq simulate MODEL")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if folder == "" {
				return fmt.Errorf("sweep wants --results DIR")
			}
			c, err := sweep.NewCommand(args, folder)
			if err != nil {
				return err
			}
			return withClient(cmd, url, func(ctx context.Context, client *client.Client) error {
				s := sweep.Settings{Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr()}
				return sweep.Run(ctx, c, s, func(ctx context.Context, job wire.Job, files map[string][]byte, take func(int, []byte) error) (int, string, error) {
					return runJob(ctx, client, job, files, take)
				})
			})
		},
	})
	addURL(cmd, &url)
	cli.AddText(cmd, &folder, "results", "", "the name of a folder", "`DIR` in which the results of runs are kept")
	return cmd
}

// runJob does a job by the workers, as [sweep.Submit] says. A job that is not done when it ends is cancelled.
func runJob(ctx context.Context, c *client.Client, job wire.Job, files map[string][]byte, take func(int, []byte) error) (failed int, why string, err error) {
	job.Name = "sweep-" + rand.Text()
	job.Run.Inputs = map[string]string{}
	for name, content := range files {
		if job.Run.Inputs[name], err = c.Upload(ctx, bytes.NewReader(content)); err != nil {
			return 0, "", err
		}
	}
	if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{job}}); err != nil {
		return 0, "", err
	}
	defer func() {
		if err != nil {
			_ = c.Cancel(context.WithoutCancel(ctx), job.Name) // the error that ended it matters
		}
	}()
	seen := map[int]bool{}
	for r, err := range c.Results(ctx, job.Name, 0) {
		if err != nil {
			return 0, "", err
		}
		if seen[r.Report.Task] {
			continue
		}
		seen[r.Report.Task] = true
		var b bytes.Buffer
		if err := c.Output(ctx, &r.Report, &b); err != nil {
			return 0, "", err
		}
		if err := take(r.Report.Task, b.Bytes()); err != nil {
			return 0, "", err
		}
	}
	if failed = job.Tasks - len(seen); failed > 0 {
		failures, err := c.Failures(ctx, job.Name)
		if err != nil {
			return 0, "", err
		}
		if len(failures) > 0 {
			why = failures[len(failures)-1].Reason
		}
	}
	return failed, why, nil
}

// sweepHandlers let workers do runs of the pfq and figures beside this program, if there are any. close ends their children.
func sweepHandlers(s *worker.Settings) (end func(), err error) {
	programs, err := sweep.Beside()
	if err != nil || len(programs) == 0 {
		return func() {}, err
	}
	r := sweep.NewRunner(programs)
	s.Handlers = map[string]worker.Handler{sweep.Kind: r.Handle}
	return r.Close, nil
}
