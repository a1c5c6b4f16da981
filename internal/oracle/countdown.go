package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// A Countdown is a context that is cancelled after a given number of checks.
type Countdown struct {
	context.Context
	limit int64
	asked atomic.Int64
}

// NewCountdown returns a context that is cancelled after limit checks.
func NewCountdown(limit int) *Countdown {
	return &Countdown{Context: context.Background(), limit: int64(limit)}
}

// Asked returns the number of checks so far.
func (c *Countdown) Asked() int { return int(c.asked.Load()) }

// Err counts a check, and returns [context.Canceled] once the limit is exceeded.
func (c *Countdown) Err() error {
	if c.asked.Add(1) > c.limit {
		return context.Canceled
	}
	return nil
}

// CheckEnds returns an error unless ask returns the error of its context, at whichever check the
// context is cancelled, after at most the given number of further checks (those of the loops that
// it must leave). The context is cancelled after 0, 1, 9, 73, ... checks, up to the given number,
// or up to the number that ask needs to answer. An answer without any check is an error.
func CheckEnds(ask func(context.Context) error, looks, more int) error {
	for last := 0; last <= looks; last = 8*last + 1 {
		ctx := NewCountdown(last)
		err := ask(ctx)
		switch {
		case ctx.Asked() == 0 && err == nil:
			return errors.New("an answer without a check of the context")
		case ctx.Asked() <= last:
			return err
		case !errors.Is(err, context.Canceled):
			return fmt.Errorf("after %d checks: error %v, want that of the context", last, err)
		case ctx.Asked()-last > more:
			return fmt.Errorf("%d checks of a cancelled context", ctx.Asked()-last)
		}
	}
	return nil
}
