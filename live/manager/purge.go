package manager

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/book"
	"productform/live/wire"
)

// remove takes out of PFQ_IN what the book says, and reports whether the next plan has to tell so.
func (l *leader) remove(ctx context.Context) (removed bool, err error) {
	list := l.book.Removals()
	if len(list) == 0 {
		return false, nil
	}
	in, err := l.js.Stream(ctx, wire.InStream)
	if err != nil {
		return false, err
	}
	for _, r := range list {
		if err := l.putAside(ctx, in, r); err != nil {
			return false, fmt.Errorf("putting aside message %d: %w", r.Sequence, err)
		}
		if err := purge(ctx, in, r, l.book.Upto()); err != nil {
			return false, fmt.Errorf("removing %+v: %w", r, err)
		}
		l.heard = append(l.heard, book.Input{Removed: &r})
	}
	return true, nil
}

// asidePrefix begins the names of messages of PFQ_IN that were put aside; sequence and digest follow.
// subjectField in their description holds the subject.
const (
	asidePrefix  = "aside-"
	subjectField = "subject"
)

// putAside copies a message to the store of snapshots before it is removed, if it may be genuine.
func (l *leader) putAside(ctx context.Context, in jetstream.Stream, r wire.Removal) error {
	if !r.Aside {
		return nil
	}
	m, err := in.GetMsg(ctx, r.Sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	l.settings.Log.Error("a report may be genuine and cannot be verified: it is put aside for a repair",
		"sequence", r.Sequence, "subject", m.Subject)
	// sequences can repeat, see book.Rewind
	name := asidePrefix + strconv.FormatUint(r.Sequence, 10) + "-" + wire.Digest(m.Data)[:16]
	about := jetstream.ObjectMeta{Name: name, Metadata: map[string]string{subjectField: m.Subject}}
	return put(ctx, l.store, about, m.Data)
}

// purge carries out one removal. Messages of the stream cannot be deleted, subjects can be purged: one has a message at most.
// Only messages are removed that plans tell of, up to a sequence: the manager may have been asleep, and another may have heard
// what stands in a place that was cleared.
func purge(ctx context.Context, in jetstream.Stream, r wire.Removal, upto uint64) error {
	var subjects []string
	switch {
	case r.Job != "":
		subjects = []string{wire.DoneOf(r.Job), wire.FailedOf(r.Job), wire.Cancel(r.Job), wire.ChangesOf(r.Job)}
	case r.Batch != "":
		subjects = []string{wire.Submit(r.Batch)}
	default:
		m, err := in.GetMsg(ctx, r.Sequence)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		subjects, upto = []string{m.Subject}, r.Sequence
	}
	for _, s := range subjects {
		if err := in.Purge(ctx, jetstream.WithPurgeSubject(s), jetstream.WithPurgeSequence(upto+1)); err != nil {
			return err
		}
	}
	return nil
}
