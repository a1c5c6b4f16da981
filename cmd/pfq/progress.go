package main

import (
	"context"
	"fmt"
	"time"
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
