package server_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/live/internal/servertest"
	"productform/live/server"
	"productform/live/wire"
	"productform/num"
)

// Prepare can be called again, and reports settings that differ.
func TestPrepareAgain(t *testing.T) {
	s := servertest.Start(t)
	js, err := jetstream.New(servertest.Connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	memory := server.Layout{Memory: true}
	if err := server.Prepare(ctx, js, memory); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stream string
		change func(*jetstream.StreamConfig)
		path   string
	}{
		{
			wire.InStream, func(c *jetstream.StreamConfig) { c.DiscardNewPerSubject = false },
			"PFQ_IN.discard_new_per_subject",
		},
		{wire.InStream, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 2 }, "PFQ_IN.max_msgs_per_subject"},
		{wire.InStream, func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true }, "PFQ_IN.allow_msg_ttl"},
		{
			wire.PlanStream, func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "x") },
			"PFQ_PLAN.subjects",
		},
		{wire.BlobStream, func(c *jetstream.StreamConfig) { c.DenyDelete = false }, "PFQ_BLOB.deny_delete"},
	} {
		stream, err := js.Stream(ctx, c.stream)
		if err != nil {
			t.Fatal(err)
		}
		good := stream.CachedInfo().Config
		bad := good
		c.change(&bad)
		if err := js.DeleteStream(ctx, c.stream); err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateStream(ctx, bad); err != nil {
			t.Fatal(err)
		}
		var e *num.InputError
		if err := server.Prepare(ctx, js, memory); !errors.As(err, &e) || e.Path != c.path {
			t.Errorf("%s: %v", c.path, err)
		}
		if err := js.DeleteStream(ctx, c.stream); err != nil {
			t.Fatal(err)
		}
		if err := server.Prepare(ctx, js, memory); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Prepare(ctx, js, server.Layout{Replicas: 2}); err == nil {
		t.Error("2 replicas")
	}
}

// The object store and the buckets of nats.go work with our streams as if nats.go had created them.
func TestLibraryBuckets(t *testing.T) {
	js, err := jetstream.New(servertest.Connect(t, servertest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := objects.PutBytes(ctx, "a", make([]byte, 300_000)); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := objects.GetBytes(ctx, "a"); err != nil || len(b) != 300_000 {
		t.Error(len(b), err)
	}
	for _, name := range []string{
		wire.LeaderBucket, wire.JobsBucket, wire.WorkersBucket, wire.BatchesBucket, wire.ProfilesBucket,
	} {
		kv, err := js.KeyValue(ctx, name)
		if err != nil {
			t.Fatal(name, err)
		}
		at, err := kv.Create(ctx, "k", []byte("1"))
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := kv.Create(ctx, "k", nil); !errors.Is(err, jetstream.ErrKeyExists) {
			t.Error(name, err)
		}
		if _, err := kv.Update(ctx, "k", []byte("2"), at); err != nil {
			t.Error(name, err)
		}
		if _, err := kv.Update(ctx, "k", []byte("3"), at); err == nil {
			t.Error(name, "an outdated revision was accepted")
		}
		if err := kv.Purge(ctx, "k"); err != nil {
			t.Error(name, err)
		}
	}
}

// Stored files outlive the server.
func TestRestart(t *testing.T) {
	ctx := context.Background()
	set := server.Settings{Store: t.TempDir()}
	publish := func(want uint64) {
		s, err := server.Start(ctx, set)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		nc, err := nats.Connect(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Prepare(ctx, js, server.Layout{}); err != nil {
			t.Fatal(err)
		}
		if ack, err := js.Publish(ctx, wire.PlanSubject, []byte("x")); err != nil || ack.Sequence != want {
			t.Error(ack, err)
		}
	}
	publish(1)
	publish(2)
}

func TestBadSettings(t *testing.T) {
	for path, s := range map[string]server.Settings{
		"sync":      {Sync: -1},
		"max_store": {MaxStore: -1},
		"listen":    {Listen: "localhost"},
	} {
		var e *num.InputError
		if _, err := server.Start(context.Background(), s); !errors.As(err, &e) || e.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	s, err := server.Start(context.Background(), server.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := server.Start(context.Background(), server.Settings{Listen: s.URL()[len("nats://"):]}); err == nil {
		t.Error("two servers listen on one port")
	}
}
