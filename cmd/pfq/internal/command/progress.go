package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	heartbeat = 5 * time.Second
	grace     = 500 * time.Millisecond
)

// WithProgress does what may take long, and tells every few seconds that it goes on, and which share of the answer is done. A signal ends it at once.
func WithProgress[T any](q Query, work func(context.Context) (T, error)) (T, error) {
	start := time.Now()
	share := ""
	if q.of > 1 {
		share = fmt.Sprintf("%d of %d done, ", q.done, q.of)
	}
	tell := func() { fmt.Fprintf(q.Stderr, "pfq: solving, %s%.0f s\n", share, time.Since(start).Seconds()) }
	return Watched(q.Ctx, heartbeat, tell, work)
}

// Watched does what may take long, and calls tell every so often meanwhile. If a signal comes it ends the context of the
// work and waits for its end, but not long: reading from a pipe cannot be stopped, and the program ends next.
func Watched[T any](ctx context.Context, every time.Duration, tell func(), work func(context.Context) (T, error)) (T, error) {
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
				return none, ErrInterrupted
			}
			return a.value, a.err
		case <-ctx.Done():
			select {
			case <-done:
			case <-time.After(grace):
			}
			return none, ErrInterrupted
		case <-tick.C:
			tell()
		}
	}
}

// ErrInterrupted ends a command that a signal stopped.
var ErrInterrupted = errors.New("interrupted")

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
