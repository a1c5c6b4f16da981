package main

import (
	"cmp"
	"context"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/live/worker"
)

// workerFlags are the flags of workers.
type workerFlags struct {
	worker.Settings
	allow, facts string
}

func (f *workerFlags) add(cmd *cobra.Command) {
	f.Speed, f.Beat = 1, 500*time.Millisecond
	addNumber(cmd, &f.Speed, "speed", "1", "speed of each worker: units of work per second")
	cli.AddText(
		cmd, &f.allow, "allow", "", "the name of a file", "`FILE` with the programs that tasks may run (default none)",
	)
	cli.AddText(cmd, &f.facts, "facts", "", "a command",
		"`COMMAND` that prints a JSON object about the machine, which \"pfq-live status\" shows")
	cli.AddSwitch(cmd, &f.AsRoot, "as-root", "run programs even as root")
	addDuration(cmd, &f.Beat, "beat", time.Millisecond, "time between heartbeats")
}

func (f *workerFlags) settings() (worker.Settings, error) {
	s := f.Settings
	s.Version = programVersion()
	if f.facts != "" {
		s.Facts = strings.Fields(f.facts)
	}
	var err error
	if f.allow != "" {
		s.Allow, err = worker.ReadAllowFile(f.allow)
	}
	return s, err
}

func newWorker() *cobra.Command {
	var f workerFlags
	var log string
	f.Slots, f.Pace = 1, 1
	cmd := help(&cobra.Command{
		Use: "worker", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.settings()
			if err != nil {
				return err
			}
			s.Name, s.Log = cmp.Or(s.Name, uniqueName()), newLog(cmd.ErrOrStderr(), log)
			end, err := sweepHandlers(&s)
			if err != nil {
				return err
			}
			defer end()
			leave := make(chan struct{})
			s.Leave = leave
			term, stop := cli.UntilSignal(context.Background(), syscall.SIGTERM)
			defer stop()
			context.AfterFunc(term, func() { close(leave) })
			return worker.Run(cmd.Context(), s)
		},
	})
	addURL(cmd, &f.Server)
	addName(cmd, &f.Name)
	addInt(cmd, &f.Slots, "slots", 1, 1024, "workers of this process")
	cli.AddText(
		cmd, &f.Folder, "folder", "", "the name of a folder",
		"`DIR` for the files of tasks, used by this process only (default a temporary one)",
	)
	addNumber(cmd, &f.Pace, "pace", "1", "seconds of the clock of a replay per second of real time")
	f.add(cmd)
	addLog(cmd, &log)
	return cmd
}
