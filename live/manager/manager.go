package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/book"
	"productform/live/wire"
)

// Times for renewing and acquiring the lease, which expires after server.Lease, and the pause after
// an error.
const (
	renewEvery = 500 * time.Millisecond
	tryEvery   = 250 * time.Millisecond
	restTime   = 100 * time.Millisecond

	requestTime = 2 * time.Second // maximum time for a response; a server that shuts down may never respond
)

// A manager holds the state that is kept between standing by and leading.
type manager struct {
	settings Settings
	nc       *nats.Conn
	js       jetstream.JetStream
	store    jetstream.ObjectStore
	leader   jetstream.KeyValue
	times    *times
	damage   string // last logged damage
}

// Run manages the cluster until the context is done, alternating between standing by and leading.
// The streams and buckets must exist. The error is a *num.InputError about the settings or a
// missing bucket, a [*book.OutdatedError], or the loss of the connection. Other failures are logged
// and retried.
func Run(ctx context.Context, nc *nats.Conn, s Settings) error {
	s = s.defaults()
	if err := s.check(); err != nil {
		return err
	}
	m := &manager{settings: s, nc: nc}
	var err error
	if m.times, err = newTimes(s.Registry); err != nil {
		return err
	}
	if m.js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(requestTime)); err != nil {
		return err
	}
	for err := m.open(ctx); err != nil; err = m.open(ctx) {
		if !wire.IsAway(err) || ctx.Err() != nil || nc.IsClosed() {
			return err
		}
		s.Log.Warn("waiting for the server", "manager", s.Name, "error", err)
		rest(ctx, restTime)
	}
	for ctx.Err() == nil {
		err := m.serveTerm(ctx)
		// no reconnection: the key was revoked, or the connection was closed on purpose
		if nc.IsClosed() && ctx.Err() == nil {
			return fmt.Errorf("manager %s: connection closed: %w",
				s.Name, cmp.Or(nc.LastError(), nats.ErrConnectionClosed))
		}
		if isOutdated(err) && ctx.Err() == nil {
			return fmt.Errorf("manager %s: %w", s.Name, err)
		}
		var damage *DamageError
		if errors.As(err, &damage) && ctx.Err() == nil {
			m.refuse(ctx, damage)
			continue
		}
		if ctx.Err() == nil {
			s.Log.Warn("standby", "manager", s.Name, "why", err)
			rest(ctx, restTime)
		}
	}
	return nil
}

// open opens the buckets and the store.
func (m *manager) open(ctx context.Context) (err error) {
	if m.store, err = m.js.ObjectStore(ctx, wire.SnapshotStore); err != nil {
		return fmt.Errorf("%s: %w", wire.SnapshotStore, err)
	}
	if m.leader, err = m.js.KeyValue(ctx, wire.LeaderBucket); err != nil {
		return fmt.Errorf("%s: %w", wire.LeaderBucket, err)
	}
	for _, name := range []string{wire.JobsBucket, wire.WorkersBucket, wire.BatchesBucket, wire.ProfilesBucket} {
		if _, err = m.js.KeyValue(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// serveTerm stands by until no manager leads, then leads until it must stop. It returns the reason.
func (m *manager) serveTerm(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f, err := m.replayPlans(ctx)
	if err != nil {
		return fmt.Errorf("reading the plans: %w", err)
	}
	defer f.plans.stop()
	l := &lease{bucket: m.leader, name: m.settings.Name, every: renewEvery}
	if err := m.standBy(ctx, f, l); err != nil {
		return err
	}
	kept := make(chan error, 1)
	go func() {
		err := l.keep(ctx)
		cancel(fmt.Errorf("the lease is lost: %w", err))
		kept <- err
	}()
	err = m.lead(ctx, f)
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	cancel(nil)
	<-kept
	if !errors.Is(err, errRefused) {
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
		l.release(end)
		stop()
	}
	return err
}

// A fold is a book and its position in the log.
type fold struct {
	book     *book.Book
	epoch    float64 // Unix time of 0 on the clock, for the first plan
	sequence uint64  // sequence in PFQ_PLAN of the last plan in the book
	since    int     // messages of PFQ_IN and plans since the last snapshot
	plans    *reader
}

// add folds a plan.
func (f *fold) add(msg message) error {
	p, err := wire.Decode[wire.Plan](msg.data)
	if err != nil {
		return toDamageError(fmt.Errorf("plan at %d: %w", msg.sequence, err))
	}
	if err := f.book.Fold(p); err != nil {
		return toDamageError(fmt.Errorf("plan %d: %w", p.Number, err))
	}
	f.sequence = msg.sequence
	f.since += 1 + len(p.What)
	return nil
}

// replayPlans starts folding from the latest readable snapshot, or from the first plan if there is
// none.
func (m *manager) replayPlans(ctx context.Context) (*fold, error) {
	f := &fold{epoch: unix(m.settings.Now())}
	settings := book.Settings{
		Leader: m.settings.Name, Rules: m.settings.Rules, Rigid: m.settings.Rigid, Epoch: f.epoch,
		Random: m.settings.Random, Logical: m.settings.Logical,
		Replan: m.settings.Replan.Seconds(), Keep: m.settings.Keep.Seconds(),
	}
	list, err := listSnapshots(ctx, m.store)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		s, err := readSnapshot(ctx, m.store, o)
		if err == nil {
			f.book, err = book.Restore(settings, s.data)
		}
		if err == nil {
			f.sequence = s.sequence
			break
		}
		if isOutdated(err) {
			return nil, fmt.Errorf("snapshot %s: %w", o.Name, err)
		}
		m.settings.Log.Error("cannot read a snapshot", "name", o.Name, "error", err)
	}
	if f.book == nil {
		if f.book, err = book.New(settings); err != nil {
			return nil, err
		}
	}
	f.plans, err = read(ctx, m.js, wire.PlanStream, f.sequence+1)
	return f, err
}

// standBy folds the plans of other managers until it acquires the lease.
func (m *manager) standBy(ctx context.Context, f *fold, l *lease) error {
	try := time.NewTimer(0)
	defer try.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case msg := <-f.plans.messages:
			if err := f.add(msg); err != nil {
				return err
			}
			continue
		case <-try.C:
		}
		taken, err := l.acquire(ctx)
		if err != nil {
			return fmt.Errorf("the lease: %w", err)
		}
		if taken {
			return nil
		}
		try.Reset(tryEvery)
	}
}

// catchUp folds all plans that are currently in the log.
func (m *manager) catchUp(ctx context.Context, f *fold) error {
	to, err := last(ctx, m.js, wire.PlanStream)
	if err != nil {
		return err
	}
	if f.sequence > to {
		return damaged("%s ends at sequence %d, but the last snapshot at %d", wire.PlanStream, to, f.sequence)
	}
	wait, err := patience(ctx, m.js)
	if err != nil {
		return err
	}
	there, err := lastPlan(ctx, m.js)
	if err != nil {
		return err
	}
	if wait == 0 && f.sequence < to && there < to {
		return damaged("%s has lost its messages from sequence %d to %d", wire.PlanStream, there+1, to)
	}
	stalled := time.NewTimer(stallTime)
	defer stalled.Stop()
	for f.sequence < to {
		stalled.Reset(stallTime)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stalled.C:
			if list, _, err := wire.NextMessages(ctx, m.js, wire.PlanStream, wire.PlanSubject, f.sequence+1,
				1); err == nil && len(list) == 0 {
				return damaged("%s has lost its messages from sequence %d to %d", wire.PlanStream, f.sequence+1, to)
			}
			return fmt.Errorf("%s: %w", wire.PlanStream, errStalled)
		case msg := <-f.plans.messages:
			if err := f.add(msg); err != nil {
				return err
			}
		}
	}
	return nil
}
