package manager

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// sequenceField is the metadata field of a snapshot with the sequence in PFQ_PLAN of its last plan.
// repairedField is set in snapshots that [Repair] wrote: the plans before them may not fold.
const (
	sequenceField = "sequence"
	repairedField = "repaired"
)

// A snapshot is the state of the book after the plan at a sequence in PFQ_PLAN.
type snapshot struct {
	sequence uint64
	data     []byte
}

// listSnapshots returns the existing snapshots, the latest first.
func listSnapshots(ctx context.Context, store jetstream.ObjectStore) ([]*jetstream.ObjectInfo, error) {
	list, err := store.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(o *jetstream.ObjectInfo) bool { return o.Metadata[sequenceField] == "" })
	slices.SortFunc(list, func(a, b *jetstream.ObjectInfo) int { return cmp.Compare(sequenceOf(b), sequenceOf(a)) })
	return list, nil
}

// sequenceOf returns the sequence of a snapshot, or 0 if the object is not a snapshot.
func sequenceOf(o *jetstream.ObjectInfo) uint64 {
	sequence, err := strconv.ParseUint(o.Metadata[sequenceField], 10, 64)
	if err != nil {
		return 0
	}
	return sequence
}

// readSnapshot returns the data of a snapshot; the store checks its digest.
func readSnapshot(ctx context.Context, store jetstream.ObjectStore, o *jetstream.ObjectInfo) (snapshot, error) {
	data, err := store.GetBytes(ctx, o.Name)
	return snapshot{sequenceOf(o), data}, err
}

// A delayedEOF is a reader that pauses before it returns io.EOF. Put of nats.go starts a goroutine
// for the first piece, which waits forever if Put has ended before the goroutine runs.
type delayedEOF struct{ *bytes.Reader }

func (r delayedEOF) Read(to []byte) (int, error) {
	n, err := r.Reader.Read(to)
	if err != nil {
		time.Sleep(time.Millisecond)
	}
	return n, err
}

// put writes an object.
func put(ctx context.Context, store jetstream.ObjectStore, about jetstream.ObjectMeta, data []byte) error {
	_, err := store.Put(ctx, about, delayedEOF{bytes.NewReader(data)})
	return err
}

// snapshotMeta returns the metadata of a snapshot.
func snapshotMeta(sequence uint64) jetstream.ObjectMeta {
	return jetstream.ObjectMeta{
		Name: fmt.Sprintf("plan-%020d",
			sequence), Metadata: map[string]string{sequenceField: strconv.FormatUint(sequence, 10)},
	}
}

// writeSnapshot adds a snapshot, then deletes all but the last two and the plans before these.
func writeSnapshot(ctx context.Context, js jetstream.JetStream, store jetstream.ObjectStore, s snapshot) error {
	if err := put(ctx, store, snapshotMeta(s.sequence), s.data); err != nil {
		return err
	}
	list, err := listSnapshots(ctx, store)
	if err != nil || len(list) < 2 {
		return err
	}
	plans, err := js.Stream(ctx, wire.PlanStream)
	if err != nil {
		return err
	}
	// The plan of the earlier snapshot stays so that the stream is never empty: the next append is
	// compared with its last sequence.
	if before := sequenceOf(list[1]); before > 0 {
		if err := plans.Purge(ctx, jetstream.WithPurgeSequence(before)); err != nil {
			return err
		}
	}
	for _, o := range list[2:] {
		if err := store.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	return nil
}
