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

// workerFlags are those of workers, wherever they run.
type workerFlags struct {
	speed  float64
	allow  string
	facts  string
	beat   time.Duration
	asRoot bool
}

func (f *workerFlags) add(cmd *cobra.Command) {
	f.speed, f.beat = 1, 500*time.Millisecond
	addNumber(cmd, &f.speed, "speed", "1", "of each worker: units of work a second")
	cli.AddText(cmd, &f.allow, "allow", "", "the name of a file", "`FILE` of the programs that tasks may run (default none)")
	cli.AddText(cmd, &f.facts, "facts", "", "a command",
		"`COMMAND` that prints a JSON object about the machine, which \"pfq-live status\" shows")
	cli.AddSwitch(cmd, &f.asRoot, "as-root", "run programs even as root")
	addDuration(cmd, &f.beat, "beat", time.Millisecond, "between heartbeats")
}

func (f *workerFlags) settings() (worker.Settings, error) {
	s := worker.Settings{Speed: f.speed, AsRoot: f.asRoot, Beat: f.beat, Version: programVersion()}
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
	var url, name, folder, log string
	slots, pace := 1, 1.0
	cmd := help(&cobra.Command{
		Use: "worker", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.settings()
			if err != nil {
				return err
			}
			s.Server, s.Name, s.Slots, s.Folder, s.Pace = url, cmp.Or(name, ownName()), slots, folder, pace
			s.Log = newLog(cmd.ErrOrStderr(), log)
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
	addURL(cmd, &url)
	addName(cmd, &name)
	addInt(cmd, &slots, "slots", 1, 1024, "workers of this process")
	cli.AddText(cmd, &folder, "folder", "", "the name of a folder", "`DIR` for the files of tasks, of this process alone (default one that is removed)")
	addNumber(cmd, &pace, "pace", "1", "seconds of the clock of a replay in one of real time")
	f.add(cmd)
	addLog(cmd, &log)
	return cmd
}
