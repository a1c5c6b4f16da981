package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"productform/live/store"
	"productform/live/wire"
	"productform/num"
)

// A Layout says how streams are kept. The zero value is one copy on disk.
type Layout struct {
	Memory   bool // nothing on disk
	Replicas int  // 1 or 3 copies, each on a server of its own; 0 for 1
}

// Lease is how long the sign of a leader holds that is not renewed.
const Lease = 2 * time.Second

// Prepare makes the streams, object stores and buckets of package wire that are not there. One that is there with another
// setting than wanted is left alone: the error is a *num.InputError with the path STREAM.SETTING. Servers of a cluster have 5 s
// to find each other.
func Prepare(ctx context.Context, js jetstream.JetStream, l Layout) error {
	if l.Replicas != 0 && l.Replicas != 1 && l.Replicas != 3 {
		return &num.InputError{Path: "replicas", Value: fmt.Sprint(l.Replicas), Want: "1 or 3"}
	}
	for _, c := range l.streams() {
		err := create(ctx, js, c)
		if err == nil {
			err = checkStream(ctx, js, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// formTime is how long servers of a cluster that have just started may take to find each other.
const formTime = 5 * time.Second

// codeNoPeers is what a cluster answers that has not enough servers, or not yet.
const codeNoPeers jetstream.ErrorCode = 10005

// create makes a stream if there is none of its name.
func create(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) error {
	for begun := time.Now(); ; {
		_, err := js.CreateStream(ctx, c)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return nil // with other settings
		}
		var e *jetstream.APIError
		forming := store.Away(err) || errors.As(err, &e) && e.ErrorCode == codeNoPeers
		if err == nil || !forming || time.Since(begun) > formTime {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// streams are those of package wire. Object stores and buckets are streams, too, with settings that clients of NATS rely on.
func (l Layout) streams() []jetstream.StreamConfig {
	storage := jetstream.FileStorage
	if l.Memory {
		storage = jetstream.MemoryStorage
	}
	base := jetstream.StreamConfig{
		MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1, MaxMsgsPerSubject: -1,
		MaxMsgSize: wire.MaxMessage, Discard: jetstream.DiscardNew, Storage: storage, Replicas: max(l.Replicas, 1),
		AllowDirect: true, DenyDelete: true,
	}
	once := func(name string, subjects string) jetstream.StreamConfig {
		c := base
		c.Name, c.Subjects = name, []string{subjects}
		c.MaxMsgsPerSubject, c.DiscardNewPerSubject = 1, true
		return c
	}
	plan := base
	plan.Name, plan.Subjects = wire.PlanStream, []string{wire.PlanSubject}

	objects := base
	objects.Name = "OBJ_" + wire.SnapshotStore
	objects.Subjects = []string{"$O." + wire.SnapshotStore + ".C.>", "$O." + wire.SnapshotStore + ".M.>"}
	objects.DenyDelete, objects.AllowRollup = false, true

	bucket := func(name string) jetstream.StreamConfig {
		c := base
		c.Name, c.Subjects = "KV_"+name, []string{"$KV." + name + ".>"}
		c.MaxMsgsPerSubject, c.AllowRollup = 1, true
		return c
	}
	leader := bucket(wire.LeaderBucket)
	leader.MaxAge = Lease

	return []jetstream.StreamConfig{
		once(wire.InStream, wire.InSubjects),
		once(wire.BlobStream, wire.BlobSubjects),
		plan,
		objects,
		leader,
		bucket(wire.JobsBucket),
		bucket(wire.WorkersBucket),
		bucket(wire.BatchesBucket),
		bucket(wire.ProfilesBucket),
	}
}

// checkStream compares the settings of a stream with those wanted.
func checkStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) error {
	s, err := js.Stream(ctx, want.Name)
	if err != nil {
		return fmt.Errorf("server: %s: %w", want.Name, err)
	}
	got, err := settings(s.CachedInfo().Config)
	if err != nil {
		return err
	}
	wanted, err := settings(want)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		got[key] = cmp.Or(got[key], "not set")
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if w := cmp.Or(wanted[key], "not set"); got[key] != w {
			return &num.InputError{Path: want.Name + "." + key, Value: got[key], Want: w}
		}
	}
	return nil
}

// settings returns the settings of a stream by their names on the wire, without those that an
// operator may choose: a limit of bytes loses nothing, since what does not fit is refused. A full
// store has closed some streams for now.
func settings(c jetstream.StreamConfig) (map[string]string, error) {
	if c.MaxMsgSize == closedSizes()[c.Name] {
		c.MaxMsgSize = wire.MaxMessage
	}
	c.Description, c.MaxBytes, c.MaxConsumers, c.Placement, c.Metadata = "", 0, 0, nil, nil
	c.Duplicates, c.Compression, c.ConsumerLimits = 0, 0, jetstream.StreamConsumerLimits{}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	all := make(map[string]string, len(fields))
	for key, value := range fields {
		all[key] = string(value)
	}
	return all, nil
}
