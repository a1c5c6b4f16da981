package manager

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// leaseKey is the only key of the lease bucket; its value is the name of the leading manager.
const leaseKey = "leader"

// A lease records which manager leads. It expires automatically unless it is renewed, after the
// time to live of its bucket.
type lease struct {
	bucket   jetstream.KeyValue
	name     string
	every    time.Duration // between two renewals
	revision uint64
}

// acquire takes the lease if it is free.
func (l *lease) acquire(ctx context.Context) (taken bool, err error) {
	l.revision, err = l.bucket.Create(ctx, leaseKey, []byte(l.name))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	return err == nil, err
}

// keep renews the lease until the context is done or the lease is lost, which is the error. A
// renewal that is not acknowledged in time counts as a loss.
func (l *lease) keep(ctx context.Context) error {
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		renewal, cancel := context.WithTimeout(ctx, 2*l.every)
		revision, err := l.bucket.Update(renewal, leaseKey, []byte(l.name), l.revision)
		cancel()
		if err != nil {
			return err
		}
		l.revision = revision
	}
}

// release ends the lease if this manager still has it, so another manager need not wait. Failure is
// harmless.
func (l *lease) release(ctx context.Context) {
	_ = l.bucket.Delete(ctx, leaseKey, jetstream.LastRevision(l.revision))
}
