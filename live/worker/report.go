package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"

	"productform/live/wire"
)

// maxReason is the maximum size in bytes of the reason of a failure.
const maxReason = 4 << 10

// report publishes the end of an attempt until the server has stored it, has a report of another
// worker, or ctx is done.
func (s *slot) report(ctx context.Context, o *wire.Order, r outcome) {
	log := s.log.With("job", o.Job, "task", o.Task, "attempt", o.Attempt)
	subject, message := o.ReportTo(), wire.Message(nil)
	if r.err == nil {
		message, r.err = s.success(ctx, o, r)
	}
	if r.err != nil {
		subject, message = wire.Failed(o.Job, o.Task, o.Attempt), s.failure(o, r)
		log.Warn("attempt failed", "error", r.err)
	}
	data, err := wire.Encode(message)
	if err != nil {
		log.Error("report not written", "error", err)
		return
	}
	first := false
	err = retryWhileFull(ctx, log, func() (err error) {
		first, err = wire.WriteOnce(ctx, s.js, subject, data)
		return err
	})
	if err != nil {
		log.Error("report not stored", "error", err)
		return
	}
	log.Debug("reported", "subject", subject, "first", first)
}

// success makes the report of a result. A result that is too large for a message is first stored
// under its digest.
func (s *slot) success(ctx context.Context, o *wire.Order, r outcome) (*wire.Report, error) {
	m := &wire.Report{
		Version: wire.Version, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: s.name, Token: o.Token,
		At: r.at, Seconds: r.seconds, Size: int64(len(r.output)),
	}
	if len(r.output) <= wire.MaxOutput {
		m.Output = r.output
		return m, nil
	}
	err := retryWhileFull(ctx, s.log, func() (err error) {
		m.Digest, _, err = wire.PutContent(ctx, s.js, bytes.NewReader(r.output))
		return err
	})
	return m, err
}

// retryWhileFull calls do again while the server has no room, until ctx is done.
func retryWhileFull(ctx context.Context, log *slog.Logger, do func() error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := do()
		if err == nil || !errors.Is(err, wire.ErrFull) {
			return err
		}
		log.Warn("waiting for room on the server", "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func (s *slot) failure(o *wire.Order, r outcome) *wire.Failure {
	reason := r.err.Error()
	m := &wire.Failure{
		Version: wire.Version, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: s.name, Token: o.Token,
		At: r.at, Seconds: r.seconds, Reason: clean(reason[:min(len(reason), maxReason)]),
	}
	var exit *ExitError
	if errors.As(r.err, &exit) {
		m.Exit = exit.Code
	}
	return m
}
