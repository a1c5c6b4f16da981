package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// A Countdown is a context that is done once it was asked a number of times whether it is.
type Countdown struct {
	context.Context
	limit int64
	asked atomic.Int64
}

// NewCountdown returns a context that is not done for so many questions.
func NewCountdown(limit int) *Countdown {
	return &Countdown{Context: context.Background(), limit: int64(limit)}
}

// Asked returns the number of questions so far.
func (c *Countdown) Asked() int { return int(c.asked.Load()) }

// Err returns [context.Canceled] after the last question at which the context is not done.
func (c *Countdown) Err() error {
	if c.asked.Add(1) > c.limit {
		return context.Canceled
	}
	return nil
}

// CheckEnds returns an error unless ask ends with the error of its context wherever that is done, after at most so many
// looks more: those of the loops that it has to leave. The context is done after 0, 1, 9, 73, ... looks, up to so many or
// as many as ask takes to answer.
func CheckEnds(ask func(context.Context) error, looks, more int) error {
	for last := 0; last <= looks; last = 8*last + 1 {
		ctx := NewCountdown(last)
		err := ask(ctx)
		switch {
		case ctx.Asked() <= last:
			return err
		case !errors.Is(err, context.Canceled):
			return fmt.Errorf("after %d looks error %v, want that of the context", last, err)
		case ctx.Asked()-last > more:
			return fmt.Errorf("%d looks at a context that has ended", ctx.Asked()-last)
		}
	}
	return nil
}
