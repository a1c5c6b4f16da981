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

// replicate simulates a plan made with these settings, until a signal comes. speed is the number of jumps per second,
// nil if all runs were found.
func replicate(ctx context.Context, plan *sim.Plan, settings sim.Settings, stderr io.Writer) (r *sim.Result, speed *float64, err error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	var last sweep.Progress
	bar := cli.NewProgress(stderr, "pfq")
	defer bar.Clear()
	if settings.Precision == 0 {
		bar.Show(0, settings.Runs, "runs")
	}
	start := time.Now()
	r, err = plan.Run(ctx, func(p sweep.Progress) {
		last = p
		bar.Show(p.Done, p.Total, left(p, settings.Precision > 0))
	})
	if err != nil {
		return nil, nil, stopped(ctx, err, settings.Folder, last.Done)
	}
	if computed := float64(last.Done - last.Reused); computed > 0 {
		all := r.Jumps * (1 + r.WarmUp/r.Time) / float64(r.Runs) * computed // in warm-ups there are as many in proportion
		rate := all / time.Since(start).Seconds()
		speed = &rate
	}
	return r, speed, nil
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
