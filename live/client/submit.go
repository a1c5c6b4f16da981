package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"productform/live/wire"
)

// ErrTaken reports that another batch already has the name.
var ErrTaken = errors.New("another batch has this name")

// ErrLost reports a batch that the server lost before a manager read it. It may be submitted again.
var ErrLost = errors.New("the server has lost the batch before a manager read it: submit it again")

// maxGone is the number of consecutive checks, one second apart, that may find a batch missing that
// no manager has named. A copy of the stream may be behind, and a refused batch disappears shortly
// before its view appears.
const maxGone = 4

// A RefusedError reports that the manager refused a batch. None of its jobs will run.
type RefusedError struct {
	Batch string // name of the batch, which may be used again
	Why   string // the manager's reason
}

func (e *RefusedError) Error() string { return "batch " + e.Batch + " is refused: " + e.Why }

// A Batch is a list of jobs that the manager has accepted.
type Batch struct {
	Name string   // use it to submit the same batch again
	Jobs []string // names of the jobs, as submitted

	client *Client
}

// Submit submits jobs and returns once the manager has accepted all of them, or refused them with a
// [RefusedError]. A batch without a name gets one. Submitting the same batch again is harmless. The
// error wraps [ErrTaken] if a different batch has the name, and is an *[num.InputError] if the
// batch is invalid.
//
// If ctx ends first, the batch may or may not have been submitted; repeating the call resolves
// that.
func (c *Client) Submit(ctx context.Context, b wire.Batch) (*Batch, error) {
	b.Version = wire.Version
	if b.Name == "" {
		b.Name = "batch-" + rand.Text()
	}
	data, err := wire.Encode(&b)
	if err != nil {
		return nil, err
	}
	there, sequence, err := c.writeOnce(ctx, wire.Submit(b.Name), data)
	if err != nil {
		return nil, fmt.Errorf("batch %s: %w", b.Name, err)
	}
	if !bytes.Equal(there, data) {
		return nil, fmt.Errorf("batch %s: %w", b.Name, ErrTaken)
	}
	v, err := c.verdict(ctx, b.Name, sequence)
	if err != nil {
		return nil, fmt.Errorf("batch %s: %w", b.Name, err)
	}
	if v.Refused != "" {
		return nil, &RefusedError{b.Name, v.Refused}
	}
	return &Batch{Name: b.Name, Jobs: v.Jobs, client: c}, nil
}

// writeOnce writes a message to a subject that accepts a single one. It returns the message stored
// there afterwards, and its sequence.
func (c *Client) writeOnce(ctx context.Context, subject string, data []byte) (
	there []byte, sequence uint64, err error,
) {
	for {
		sequence, err = wire.WriteOnceAt(ctx, c.js, subject, data)
		if sequence > 0 || err != nil {
			return data, sequence, err
		}
		m, err := wire.LastMessage(ctx, c.js, wire.InStream, subject)
		if err == nil {
			return m.Data, m.Sequence, nil
		}
		if !errors.Is(err, wire.ErrNotFound) {
			return nil, 0, err
		}
		select { // the copy of the stream is behind, or the manager has just removed the message
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		case <-time.After(longest):
		}
	}
}

// verdict waits for the outcome of a batch whose message has a sequence. The refusal of an earlier
// batch with the same name does not count.
func (c *Client) verdict(ctx context.Context, batch string, sequence uint64) (*wire.BatchView, error) {
	n, err := c.follow(nil)
	if err != nil {
		return nil, err
	}
	defer n.stop()
	checked, gone := time.Now(), 0
	for {
		data, err := c.value(ctx, wire.BatchesBucket, batch)
		if err != nil {
			return nil, err
		}
		if data != nil {
			v, err := wire.Decode[wire.BatchView](data)
			if err != nil || v.Refused == "" || v.Sequence == 0 || v.Sequence >= sequence {
				return v, err
			}
		}
		if time.Since(checked) > time.Second {
			checked = time.Now()
			switch _, err := wire.LastMessage(ctx, c.js, wire.InStream, wire.Submit(batch)); {
			case err == nil:
				gone = 0
			case !errors.Is(err, wire.ErrNotFound):
				return nil, err
			default:
				gone++
			}
			if gone == maxGone {
				return nil, ErrLost
			}
		}
		if err := n.wait(ctx); err != nil {
			return nil, fmt.Errorf("no manager has processed it: %w", err)
		}
	}
}

// Wait waits until all jobs of the batch are done. It returns their states in the order of the
// batch.
func (b *Batch) Wait(ctx context.Context) ([]wire.JobView, error) {
	return b.client.Wait(ctx, b.Jobs...)
}
