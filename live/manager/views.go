package manager

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// viewsEvery is the least time between two rounds of writing views; what changes in between is written once.
const viewsEvery = 50 * time.Millisecond

// A key is one of a bucket.
type key struct{ bucket, name string }

// A viewer writes views beside the loop of the leader. They may be behind the plans, and one that cannot be written is
// written later.
type viewer struct {
	buckets map[string]jetstream.KeyValue
	nc      *nats.Conn
	log     *slog.Logger

	mu    sync.Mutex
	next  map[key][]byte // to be written; nil for a key that goes
	wake  chan struct{}
	ended sync.WaitGroup
	end   context.CancelFunc
}

func newViewer(ctx context.Context, m *manager) *viewer {
	ctx, cancel := context.WithCancel(ctx)
	v := &viewer{buckets: m.views, nc: m.nc, log: m.settings.Log, next: map[key][]byte{}, wake: make(chan struct{}, 1), end: cancel}
	v.ended.Go(func() { v.run(ctx) })
	return v
}

// stop ends the writing; what is not written yet the next manager writes.
func (v *viewer) stop() {
	v.end()
	v.ended.Wait()
}

// set has values written; nil for those that go.
func (v *viewer) set(values map[key][]byte) {
	if len(values) == 0 {
		return
	}
	v.mu.Lock()
	for k, data := range values {
		v.next[k] = data
	}
	v.mu.Unlock()
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *viewer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
		}
		v.mu.Lock()
		list := v.next
		v.next = map[key][]byte{}
		v.mu.Unlock()
		failed := map[key][]byte{}
		for k, data := range list {
			if err := v.write(ctx, k, data); err != nil {
				if ctx.Err() != nil {
					return
				}
				v.log.Warn("view not written", "bucket", k.bucket, "key", k.name, "error", err)
				failed[k] = data
			}
		}
		v.retry(failed)
		rest(ctx, viewsEvery)
	}
}

// write writes a view, and tells who waits for a job.
func (v *viewer) write(ctx context.Context, k key, data []byte) (err error) {
	if data == nil {
		err = v.buckets[k.bucket].Purge(ctx, k.name)
	} else {
		_, err = v.buckets[k.bucket].Put(ctx, k.name, data)
	}
	if err == nil && k.bucket == wire.JobsBucket {
		err = v.nc.Publish(wire.News(k.name), data)
	}
	return err
}

// retry has values written that failed, unless there are newer ones.
func (v *viewer) retry(failed map[key][]byte) {
	v.mu.Lock()
	for k := range v.next {
		delete(failed, k)
	}
	v.mu.Unlock()
	v.set(failed)
}
