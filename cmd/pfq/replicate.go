package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"productform/cmd/internal/cli"
	"productform/sim"
	"productform/sweep"
)

// errInterrupted ends a command that a signal stopped.
var errInterrupted = errors.New("interrupted")

// run simulates the system, until a signal comes.
func (s *simulation) run(ctx context.Context, plan *sim.Plan, stderr io.Writer) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	var last sweep.Progress
	bar := cli.NewProgress(stderr, "pfq")
	defer bar.Clear()
	if s.flags.settings.Precision == 0 {
		bar.Show(0, s.flags.settings.Runs, "runs")
	}
	start := time.Now()
	r, err := plan.Run(ctx, func(p sweep.Progress) {
		last = p
		bar.Show(p.Done, p.Total, left(p, s.flags.settings.Precision > 0))
	})
	if err != nil {
		return stopped(ctx, err, s.flags.settings.Folder, last.Done)
	}
	s.result = r
	if computed := float64(last.Done - last.Reused); computed > 0 {
		all := r.Jumps * (1 + r.WarmUp/r.Time) / float64(r.Runs) * computed // in warm-ups there are as many in proportion
		s.speed = all / time.Since(start).Seconds()
	}
	return nil
}

// stopped returns the error of a simulation, or if a signal stopped it, what is kept of it.
func stopped(ctx context.Context, err error, folder string, done int) error {
	switch {
	case ctx.Err() == nil:
		return err
	case folder == "":
		return fmt.Errorf("%w; with --results the runs done would be kept", errInterrupted)
	}
	return fmt.Errorf("%w; %s keeps %d runs for the next time", errInterrupted, folder, done)
}

// untilSignal returns a context that is done when a signal comes that would end the program. A second one does end it.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGTERM}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as nohup has it
			signals = append(signals, sig)
		}
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// left says how long a simulation goes on.
func left(p sweep.Progress, precision bool) string {
	switch {
	case !p.LeftKnown:
		return "runs"
	case precision:
		return fmt.Sprintf("runs, %v to the next check", p.Left.Round(time.Second))
	}
	return fmt.Sprintf("runs, %v left", p.Left.Round(time.Second))
}
