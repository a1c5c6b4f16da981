package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"productform/live/wire"
)

// ErrNotDone reports that a job has not ended, and ErrDone that it has ended.
var (
	ErrNotDone = errors.New("the job is not done; cancel it first")
	ErrDone    = errors.New("the job has ended")
)

// Cancel cancels a job and drops its running tasks. Finished tasks keep their results, and a job
// that has ended does not change.
func (c *Client) Cancel(ctx context.Context, job string) error {
	if _, err := c.Job(ctx, job); err != nil {
		return err
	}
	return c.wish(ctx, wire.Cancel(job), &wire.Wish{})
}

// Clear removes the results of a finished job. Its name cannot be used again. The error wraps
// [ErrNotDone] if the job is not done. Clearing a job twice is not an error.
func (c *Client) Clear(ctx context.Context, job string) error {
	v, err := c.Job(ctx, job)
	if err != nil {
		_, gone := wire.LastMessage(ctx, c.js, wire.InStream, wire.Clear(job))
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

// Change changes the priority or the deadline of a job, using the fields of w that are not nil. The
// error wraps [ErrUnknown] or [ErrDone], or is an *[num.InputError] if w has no fields or invalid
// ones.
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

// Drain makes a worker finish its task and take no more.
func (c *Client) Drain(ctx context.Context, worker string) error {
	if _, err := c.Worker(ctx, worker); err != nil {
		return err
	}
	return c.number(ctx, wire.DrainsOf(worker), func(n int) string { return wire.Drain(worker, n) },
		&wire.Wish{Verb: wire.ToDrain, Name: worker})
}

// wish publishes a request that can be made only once.
func (c *Client) wish(ctx context.Context, subject string, w *wire.Wish) error {
	w.Version = wire.Version
	data, err := wire.Encode(w)
	if err == nil {
		_, err = wire.WriteOnce(ctx, c.js, subject, data)
	}
	return err
}

// number publishes a request under the next free number among all matching requests. If the same
// request already has that number, that is enough: it may be this one after a lost acknowledgement.
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
		list, next, err := wire.NextMessages(ctx, c.js, wire.InStream, all, from, page)
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
		if there, _, err := c.writeOnce(ctx, subject(last), data); err != nil || bytes.Equal(there, data) {
			return err
		}
	}
}
