package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"productform/live/store"
	"productform/live/wire"
)

// ErrNotDone says that a job goes on, ErrDone that it has ended.
var (
	ErrNotDone = errors.New("the job is not done; cancel it first")
	ErrDone    = errors.New("the job has ended")
)

// Cancel cancels a job: its tasks in hand are dropped. What is done stays done, and a job that has ended stays as it is.
func (c *Client) Cancel(ctx context.Context, job string) error {
	if _, err := c.Job(ctx, job); err != nil {
		return err
	}
	return c.wish(ctx, wire.Cancel(job), &wire.Wish{})
}

// Clear makes the system forget a job that is done: its results are removed, and its name is not used again. The error wraps
// [ErrNotDone] if the job is not done. Clearing a job twice is no error.
func (c *Client) Clear(ctx context.Context, job string) error {
	v, err := c.Job(ctx, job)
	if err != nil {
		_, gone := store.Last(ctx, c.js, wire.InStream, wire.Clear(job))
		if errors.Is(err, ErrUnknown) && gone == nil {
			return nil
		}
		return err
	}
	if !isDone(v.State) {
		return fmt.Errorf("job %s: %w", job, ErrNotDone)
	}
	return c.wish(ctx, wire.Clear(job), &wire.Wish{})
}

// Change changes priority or deadline of a job, those fields of w that are not nil. The error wraps [ErrUnknown] or [ErrDone], or is an
// *[num.InputError] if nothing is to be changed, or to what cannot be.
func (c *Client) Change(ctx context.Context, job string, w wire.Wish) error {
	v, err := c.Job(ctx, job)
	if err != nil {
		return err
	}
	if isDone(v.State) {
		return fmt.Errorf("job %s: %w", job, ErrDone)
	}
	w.Verb, w.Name = wire.ToChange, job
	return c.number(ctx, wire.ChangesOf(job), func(n int) string { return wire.Change(job, n) }, &w)
}

// Drain asks a worker to end its task and take no more.
func (c *Client) Drain(ctx context.Context, worker string) error {
	if _, err := c.Worker(ctx, worker); err != nil {
		return err
	}
	return c.number(ctx, wire.DrainsOf(worker), func(n int) string { return wire.Drain(worker, n) },
		&wire.Wish{Verb: wire.ToDrain, Name: worker})
}

// wish publishes a wish that can be made once.
func (c *Client) wish(ctx context.Context, subject string, w *wire.Wish) error {
	w.Version = wire.Version
	data, err := wire.Encode(w)
	if err == nil {
		_, err = store.Once(ctx, c.js, subject, data)
	}
	return err
}

// number publishes a wish under the number after the last one among all that match. If somebody else has taken that number
// for the same wish, that will do: it may be this one, whose acknowledgement was lost.
func (c *Client) number(ctx context.Context, all string, subject func(n int) string, w *wire.Wish) error {
	w.Version = wire.Version
	data, err := wire.Encode(w)
	if err != nil {
		return err
	}
	if _, err := wire.DecodeWish(w.Verb, w.Name, data); err != nil {
		return err
	}
	last := 0
	for from := uint64(1); ; {
		list, next, err := store.Next(ctx, c.js, wire.InStream, all, from, page)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for _, m := range list {
			if n, err := strconv.Atoi(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]); err == nil {
				last = max(last, n)
			}
		}
		from = next
	}
	for {
		last++
		if there, _, err := c.once(ctx, subject(last), data); err != nil || bytes.Equal(there, data) {
			return err
		}
	}
}
