package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"productform/internal/cli"
)

const (
	heartbeat = 5 * time.Second
	barEvery  = 100 * time.Millisecond
	grace     = 500 * time.Millisecond
)

// WithProgress runs a long computation, and prints every few seconds how long it has run and which
// part of the answer it computes. A signal ends it immediately.
func WithProgress[T any](q Query, work func(context.Context) (T, error)) (T, error) {
	start := time.Now()
	share := ""
	if q.of > 1 {
		share = fmt.Sprintf(" %s %d of %d", cmp.Or(q.each, "answer"), q.done+1, q.of)
	}
	tell := func() { fmt.Fprintf(q.Stderr, "pfq: solving%s, %.0f s\n", share, time.Since(start).Seconds()) }
	return Watched(q.Ctx, heartbeat, tell, work)
}

// WithBar runs a long computation and shows how many of its steps are done: as a bar on a terminal,
// elsewhere as a line every few seconds. A signal ends it immediately.
func WithBar[T any](
	q Query, pieces string, work func(ctx context.Context, report func(done, total int)) (T, error),
) (T, error) {
	bar := cli.NewProgress(q.Stderr, "pfq")
	defer bar.Clear()
	start := time.Now()
	if q.of > 1 {
		pieces = fmt.Sprintf("%s of %s %d of %d", pieces, cmp.Or(q.each, "answer"), q.done+1, q.of)
	}
	var done, total atomic.Int64
	tell := func() {
		d, n := done.Load(), total.Load()
		if d == 0 {
			return
		}
		left := time.Duration(float64(time.Since(start)) * float64(n-d) / float64(d))
		bar.Show(int(d), int(n), fmt.Sprintf("%s, %v left", pieces, left.Round(time.Second)))
	}
	return Watched(q.Ctx, barEvery, tell, func(ctx context.Context) (T, error) {
		return work(ctx, func(d, n int) { total.Store(int64(n)); done.Store(int64(d)) })
	})
}

// Watched runs a long computation, and calls tell periodically. A signal cancels the context of the
// computation. Watched then waits only briefly for it to end: a read from a pipe cannot be
// interrupted, but the program is about to exit anyway.
func Watched[T any](
	ctx context.Context, every time.Duration, tell func(), work func(context.Context) (T, error),
) (T, error) {
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

// untilSignal returns a context that is cancelled by the first signal that would end the program. A
// second signal ends the program.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return cli.UntilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
