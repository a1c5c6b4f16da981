package oracle

import (
	"context"
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
