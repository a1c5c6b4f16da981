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

// remove deletes messages from PFQ_IN as the book requires. It reports whether the next plan has to
// record that.
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

// asidePrefix starts the names of messages that were put aside; their sequence and digest follow.
// subjectField in their description holds the subject.
const (
	asidePrefix  = "aside-"
	subjectField = "subject"
)

// putAside copies a message to the snapshot store before it is removed, because it may be genuine.
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
	// Sequences can repeat, see book.Rewind.
	name := asidePrefix + strconv.FormatUint(r.Sequence, 10) + "-" + wire.Digest(m.Data)[:16]
	about := jetstream.ObjectMeta{Name: name, Metadata: map[string]string{subjectField: m.Subject}}
	return put(ctx, l.store, about, m.Data)
}

// purge carries out one removal. The stream forbids deleting messages but allows purging subjects,
// and each subject has at most one message. Only messages up to a sequence that plans cover are
// removed: this manager may have been suspended, and another one may have accepted a new message on
// a freed subject.
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
