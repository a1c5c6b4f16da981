package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

const attendedEvery = 5 * time.Second

// attended does what may take long, and tells from time to time that it goes on. It ends early if a signal comes; the
// work then goes on unattended until the program ends.
func attended[T any](ctx context.Context, stderr io.Writer, work func() (T, error)) (T, error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	start := time.Now()
	go func() {
		value, err := work()
		done <- answer{value, err}
	}()
	tick := time.NewTicker(attendedEvery)
	defer tick.Stop()
	for {
		select {
		case a := <-done:
			return a.value, a.err
		case <-ctx.Done():
			var none T
			return none, errInterrupted
		case <-tick.C:
			fmt.Fprintf(stderr, "pfq: solving, %.0f s\n", time.Since(start).Seconds())
		}
	}
}
