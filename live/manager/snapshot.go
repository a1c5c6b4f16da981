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

// sequenceField is the field in the description of a snapshot that holds the sequence in PFQ_PLAN of the last plan in it.
// repairedField is set in those that [Repair] wrote: plans before them need not fold.
const (
	sequenceField = "sequence"
	repairedField = "repaired"
)

// A snapshot is the state of the book after the plan of a sequence in PFQ_PLAN.
type snapshot struct {
	sequence uint64
	data     []byte
}

// listSnapshots returns what there is of snapshots, the latest first.
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

// sequenceOf returns the sequence of a snapshot, 0 if it is none.
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

// An unhurried reader rests before it says that there is no more. Put of nats.go starts a goroutine for the first piece, which waits
// for ever if Put has ended before it runs for the first time.
type unhurried struct{ *bytes.Reader }

func (r unhurried) Read(to []byte) (int, error) {
	n, err := r.Reader.Read(to)
	if err != nil {
		time.Sleep(time.Millisecond)
	}
	return n, err
}

// put writes an object.
func put(ctx context.Context, store jetstream.ObjectStore, about jetstream.ObjectMeta, data []byte) error {
	_, err := store.Put(ctx, about, unhurried{bytes.NewReader(data)})
	return err
}

// snapshotMeta returns the description of a snapshot.
func snapshotMeta(sequence uint64) jetstream.ObjectMeta {
	return jetstream.ObjectMeta{
		Name: fmt.Sprintf("plan-%020d",
			sequence), Metadata: map[string]string{sequenceField: strconv.FormatUint(sequence, 10)},
	}
}

// writeSnapshot adds a snapshot, then deletes all but the last two, and the plans before these.
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
	// The plan in the earlier of the two snapshots stays, so that the stream is never empty: its last sequence is what
	// the next append is compared with.
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
