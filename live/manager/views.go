package manager

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// viewsEvery is the minimum time between two rounds of writing views. Several changes in between
// are written once.
const viewsEvery = 50 * time.Millisecond

// planField is the header field of a view with the number of the plan that it reflects.
const planField = "Pfq-Plan"

// A key identifies a view: a bucket and a key in it.
type key struct{ bucket, name string }

// A view is the value of a key after a plan, nil if the key is deleted.
type view struct {
	plan uint64
	data []byte
}

// A viewer writes views in the background of the leader's loop. Views may be behind the plans, and
// failed writes are retried. No view is replaced by one of an earlier plan: a manager that was
// suspended may not know that another one leads.
type viewer struct {
	js  jetstream.JetStream
	log *slog.Logger

	sequences map[key]uint64 // last known sequence of each key

	mu    sync.Mutex
	next  map[key]view // views to be written
	wake  chan struct{}
	ended sync.WaitGroup
	end   context.CancelFunc
}

func newViewer(ctx context.Context, m *manager) *viewer {
	ctx, cancel := context.WithCancel(ctx)
	v := &viewer{
		js:        m.js,
		log:       m.settings.Log,
		sequences: map[key]uint64{},
		next:      map[key]view{},
		wake:      make(chan struct{}, 1),
		end:       cancel,
	}
	v.ended.Go(func() { v.run(ctx) })
	return v
}

// stop ends the writing. The next manager writes the remaining views.
func (v *viewer) stop() {
	v.end()
	v.ended.Wait()
}

// set queues the values of keys after a plan, nil for deleted keys.
func (v *viewer) set(plan uint64, values map[key][]byte) {
	if len(values) == 0 {
		return
	}
	v.mu.Lock()
	for k, data := range values {
		v.next[k] = view{plan, data}
	}
	v.mu.Unlock()
	v.wakeUp()
}

func (v *viewer) wakeUp() {
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
		v.next = map[key]view{}
		v.mu.Unlock()
		failed := map[key]view{}
		for k, w := range list {
			if err := v.write(ctx, k, w); err != nil {
				if ctx.Err() != nil {
					return
				}
				v.log.Warn("view not written", "bucket", k.bucket, "key", k.name, "error", err)
				failed[k] = w
			}
		}
		v.retry(failed)
		rest(ctx, viewsEvery)
	}
}

// write writes a view, unless there is one of a later plan, and publishes changes to jobs. The
// server accepts it only if this manager knows the last message of the key.
func (v *viewer) write(ctx context.Context, k key, w view) error {
	m := nats.NewMsg("$KV." + k.bucket + "." + k.name)
	m.Data = w.data
	m.Header.Set(planField, strconv.FormatUint(w.plan, 10))
	if w.data == nil {
		m.Header.Set("KV-Operation", "DEL")
	}
	sequence, known := v.sequences[k]
	if !known {
		switch last, err := wire.LastMessage(ctx, v.js, "KV_"+k.bucket, m.Subject); {
		case errors.Is(err, wire.ErrNotFound):
		case err != nil:
			return err
		case planOf(last) > w.plan:
			return nil
		default:
			sequence = last.Sequence
		}
	}
	ack, err := v.js.PublishMsg(
		ctx, m, jetstream.WithExpectLastSequencePerSubject(sequence), jetstream.WithRetryAttempts(0),
	)
	if err != nil {
		delete(v.sequences, k) // the write may have succeeded, or another manager has written
		return err
	}
	if v.sequences[k] = ack.Sequence; w.data == nil {
		delete(v.sequences, k)
	}
	if k.bucket == wire.JobsBucket {
		return v.js.Conn().Publish(wire.News(k.name), w.data)
	}
	return nil
}

// planOf returns the number of the plan of a view, or 0 if it has none.
func planOf(m *wire.Stored) uint64 {
	plan, err := strconv.ParseUint(m.Header.Get(planField), 10, 64)
	if err != nil {
		return 0
	}
	return plan
}

// retry queues failed views again, unless there are newer ones.
func (v *viewer) retry(failed map[key]view) {
	if len(failed) == 0 {
		return
	}
	v.mu.Lock()
	for k, w := range failed {
		if _, newer := v.next[k]; !newer {
			v.next[k] = w
		}
	}
	v.mu.Unlock()
	v.wakeUp()
}
