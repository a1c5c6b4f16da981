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

const (
	heartbeat = 5 * time.Second
	grace     = 500 * time.Millisecond
)

// withProgress does what may take long, and tells every few seconds that it goes on. A signal ends it at once.
func withProgress[T any](q query, work func(context.Context) (T, error)) (T, error) {
	start := time.Now()
	tell := func() { fmt.Fprintf(q.stderr, "pfq: solving, %.0f s\n", time.Since(start).Seconds()) }
	return watched(q.ctx, heartbeat, tell, work)
}

// watched does what may take long, and calls tell every so often meanwhile. If a signal comes it ends the context of the
// work and waits for its end, but not long: reading from a pipe cannot be stopped, and the program ends next.
func watched[T any](ctx context.Context, every time.Duration, tell func(), work func(context.Context) (T, error)) (T, error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := work(ctx)
		done <- answer{value, err}
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	var none T
	for {
		select {
		case a := <-done:
			if a.err != nil && ctx.Err() != nil {
				return none, errInterrupted
			}
			return a.value, a.err
		case <-ctx.Done():
			select {
			case <-done:
			case <-time.After(grace):
			}
			return none, errInterrupted
		case <-tick.C:
			tell()
		}
	}
}

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
