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
	"productform/live/wire"
	"productform/num"
)

// A Layout describes how streams are stored. The zero value means one copy on disk.
type Layout struct {
	Memory   bool // store nothing on disk
	Replicas int  // 1 or 3 copies, each on its own server; 0 for 1
}

// Lease is the time after which the lease of a leader expires unless it is renewed.
const Lease = 2 * time.Second

// Prepare creates the missing streams, object stores and buckets of package wire. It does not
// change an existing one with different settings: the error is a *num.InputError with the path
// STREAM.SETTING. Servers of a cluster have 5 s to find each other.
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

// formTime is the time that servers of a new cluster have to find each other.
const formTime = 5 * time.Second

// codeNoPeers is the error code of a cluster with too few servers, possibly only at its start.
const codeNoPeers jetstream.ErrorCode = 10005

// create creates a stream unless one with its name exists.
func create(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) error {
	for begun := time.Now(); ; {
		_, err := js.CreateStream(ctx, c)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return nil // exists with other settings
		}
		var e *jetstream.APIError
		forming := wire.IsAway(err) || errors.As(err, &e) && e.ErrorCode == codeNoPeers
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

// streams returns the configurations of the streams of package wire. Object stores and buckets are
// streams too, with settings that NATS clients rely on.
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

// checkStream compares the settings of a stream with the required ones.
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

// settings returns the settings of a stream by their JSON names, without those that an operator may
// choose. A byte limit is allowed because it loses nothing: the server rejects what does not fit. A
// full store may also have closed some streams temporarily.
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
