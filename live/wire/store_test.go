package wire_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"
	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/num"
)

func start(t *testing.T) jetstream.JetStream {
	js, err := jetstream.New(servertest.Connect(t, servertest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// The first message on a subject stays, and later writes change nothing.
func TestOnce(t *testing.T) {
	ctx, js := context.Background(), start(t)
	if wrote, err := wire.WriteOnce(ctx, js, wire.Done("a", 1), []byte("first")); !wrote || err != nil {
		t.Fatal(wrote, err)
	}
	for range 2 {
		if wrote, err := wire.WriteOnce(ctx, js, wire.Done("a", 1), []byte("second")); wrote || err != nil {
			t.Fatal(wrote, err)
		}
	}
	if m, err := wire.LastMessage(ctx, js, wire.InStream, wire.Done("a", 1)); err != nil ||
		string(m.Data) != "first" || m.Sequence != 1 {
		t.Fatal(m, err)
	}
	if m, err := wire.LastMessage(ctx, js, wire.InStream, wire.Done("a", 2)); !errors.Is(err, wire.ErrNotFound) {
		t.Fatal(m, err)
	}
	var e *num.InputError
	if _, err := wire.WriteOnce(ctx, js, wire.Done("a", 3), make([]byte, wire.MaxData+1)); !errors.As(err, &e) {
		t.Error(err)
	}
	if wrote, err := wire.WriteOnce(ctx, js, wire.Done("a", 3), make([]byte, wire.MaxData)); !wrote || err != nil {
		t.Error(err)
	}
	// A subject without a stream gets no response, and the write is retried until the context ends.
	short, cancel := context.WithTimeoutCause(ctx, 120*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := wire.WriteOnce(short, js, "pfq.other", nil); err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

// Pages of Next contain the same messages as a consumer, for any subjects, page sizes and purges.
func TestNextAgainstConsumer(t *testing.T) {
	ctx, js := context.Background(), start(t)
	stream, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := stream.Purge(ctx); err != nil {
			t.Fatal(err)
		}
		job := func(label string) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label) }
		for i := range rapid.IntRange(0, 30).Draw(t, "messages") {
			if _, err := wire.WriteOnce(ctx, js, wire.Done(job("job"), i), fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject("pfq.in.done."+job("purged")+".>")); err != nil {
			t.Fatal(err)
		}
		filter := rapid.SampledFrom([]string{
			wire.InSubjects, "pfq.in.done.a.>", "pfq.in.done.*.3", "pfq.in.fail.>",
		}).Draw(t, "filter")
		want := consume(ctx, t, js, filter)
		most := rapid.IntRange(1, 12).Draw(t, "most")
		var got []string
		for from := uint64(1); ; {
			list, next, err := wire.NextMessages(ctx, js, wire.InStream, filter, from, most)
			if err != nil || len(list) > most {
				t.Fatal(len(list), err)
			}
			if len(list) == 0 {
				break
			}
			for _, m := range list {
				got = append(got, fmt.Sprint(m.Sequence, m.Subject, string(m.Data)))
			}
			from = next
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// consume reads all matching messages with a consumer.
func consume(ctx context.Context, t *rapid.T, js jetstream.JetStream, filter string) (all []string) {
	c, err := js.CreateConsumer(ctx, wire.InStream, jetstream.ConsumerConfig{
		FilterSubject: filter,
		AckPolicy:     jetstream.AckNonePolicy,
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.FetchNoWait(1000)
	if err != nil {
		t.Fatal(err)
	}
	for m := range list.Messages() {
		at, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(at.Sequence.Stream, m.Subject(), string(m.Data())))
	}
	if err := js.DeleteConsumer(ctx, wire.InStream, c.CachedInfo().Name); err != nil {
		t.Fatal(err)
	}
	return all
}

// Contents with sizes around multiples of the piece size can be read back after concurrent writes.
func TestBlobs(t *testing.T) {
	ctx, js := context.Background(), start(t)
	if err := wire.GetContent(ctx, js, wire.Digest([]byte("never put")), io.Discard); !errors.Is(
		err, wire.ErrNotFound,
	) {
		t.Error(err)
	}
	for _, size := range []int{0, 1, 512<<10 - 1, 512 << 10, 512<<10 + 1, 1<<20 + 7} {
		content := bytes.Repeat([]byte{byte(size), 1, 2, 3, 4, 5, 6}, size/7+1)[:size]
		want := fmt.Sprintf("%x", sha256.Sum256(content))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if digest, n, err := wire.PutContent(ctx, js, bytes.NewReader(content)); digest != want ||
					n != int64(size) || err != nil {
					t.Errorf("%d: %s, %d, %v", size, digest, n, err)
				}
			})
		}
		all.Wait()
		var got bytes.Buffer
		if err := wire.GetContent(ctx, js, want, &got); err != nil || !bytes.Equal(got.Bytes(), content) {
			t.Errorf("%d: %v", size, err)
		}
		if wire.Digest(content) != want {
			t.Error(size)
		}
	}
	stream, err := js.Stream(ctx, wire.BlobStream)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 6+0+1+1+1+2+3 { // one size message each, and the pieces
		t.Errorf("%d messages", n)
	}
}

// Put and Get detect that other content was written under a digest.
func TestCorruptBlob(t *testing.T) {
	ctx, js := context.Background(), start(t)
	content := []byte("the content")
	digest := wire.Digest(content)
	if _, err := wire.WriteOnce(ctx, js, wire.Blob(digest, 0), []byte("not it at a")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := wire.PutContent(ctx, js, bytes.NewReader(content)); !errors.Is(err, wire.ErrCorrupt) {
		t.Error(err)
	}
	if err := wire.GetContent(ctx, js, digest, io.Discard); !errors.Is(err, wire.ErrCorrupt) {
		t.Error(err)
	}
	for _, size := range []string{"x", "-1", "3", "9000000"} {
		other := wire.Digest([]byte(size))
		for i, data := range map[string]string{wire.Blob(other, 0): "ab", wire.BlobSize(other): size} {
			if _, err := wire.WriteOnce(ctx, js, i, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		if err := wire.GetContent(ctx, js, other, io.Discard); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: %v", size, err)
		}
	}
	for _, bad := range []string{"", "*", digest[1:], strings.ToUpper(digest), digest[:62] + ".1"} {
		var e *num.InputError
		if err := wire.GetContent(ctx, js, bad, io.Discard); !errors.As(err, &e) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Uploading endless content stops once the context is done.
func TestPutEndsWithContext(t *testing.T) {
	js, err := jetstream.New(servertest.Connect(t, servertest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	if _, _, err := wire.PutContent(ctx, js, &endless{after: 5, call: func() { cancel(stop) }}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// endless is content without an end that calls a function at a given read.
type endless struct {
	after int
	call  func()
}

func (e *endless) Read(p []byte) (int, error) {
	if e.after--; e.after == 0 {
		e.call()
	}
	return len(p), nil
}

func (e *endless) Seek(int64, int) (int64, error) { return 0, nil }
