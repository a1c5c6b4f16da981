package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/input"
	"productform/live/client"
	"productform/live/wire"
)

// newWish returns a command that sends a request about a job or a worker.
func newWish(name, argument string, ask func(context.Context, *client.Client, string) error) *cobra.Command {
	var url string
	cmd := help(&cobra.Command{
		Use: name + " " + argument, Args: arguments(argument),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, url, func(ctx context.Context, c *client.Client) error {
				return ask(ctx, c, args[0])
			})
		},
	})
	addURL(cmd, &url)
	return cmd
}

func newCancel() *cobra.Command {
	return newWish("cancel", "JOB", func(ctx context.Context, c *client.Client, job string) error {
		return c.Cancel(ctx, job)
	})
}

func newClear() *cobra.Command {
	return newWish("clear", "JOB", func(ctx context.Context, c *client.Client, job string) error {
		return c.Clear(ctx, job)
	})
}

func newDrain() *cobra.Command {
	return newWish("drain", "WORKER", func(ctx context.Context, c *client.Client, worker string) error {
		return c.Drain(ctx, worker)
	})
}

func newChange() *cobra.Command {
	var w wire.Wish
	cmd := newWish("change", "JOB", func(ctx context.Context, c *client.Client, job string) error {
		if w.Priority == nil && w.DeadlineIn == nil && w.DeadlineAt == nil {
			return fmt.Errorf("change needs --priority or --deadline")
		}
		return c.Change(ctx, job, w)
	})
	cli.Flag[*float64]{Name: "priority", Kind: "float", Usage: "the new priority", Want: input.Time.Want(),
		Parse: func(text string) (*float64, bool) {
			v, err := strconv.ParseFloat(text, 64)
			return &v, err == nil && input.Time.Has(v)
		}}.Add(cmd, &w.Priority)
	cli.Flag[string]{
		Name:  "deadline",
		Kind:  "duration|time|none",
		Usage: "the new deadline: from now, such as 200s, or a time, such as 2030-01-02T15:04:05Z, or none",
		Want:  "a duration such as 200s, a time such as 2030-01-02T15:04:05Z, or none",
		Parse: func(text string) (string, bool) {
			w.DeadlineIn, w.DeadlineAt = nil, nil
			zero := 0.0
			if text == "none" {
				w.DeadlineAt = &zero
				return text, true
			}
			if d, err := time.ParseDuration(text); err == nil {
				in := d.Seconds()
				w.DeadlineIn = &in
				return text, in > 0
			}
			t, err := time.Parse(time.RFC3339, text)
			at := float64(t.UnixMilli()) / 1000
			w.DeadlineAt = &at
			return text, err == nil
		},
	}.Add(cmd, new(string))
	return cmd
}
