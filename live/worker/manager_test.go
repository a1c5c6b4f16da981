package worker_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/server"
	"productform/live/wire"
)

// patience is the maximum time that a test waits for an event.
const patience = 30 * time.Second

// A fakeManager is the manager as seen by a worker. It receives beats, repeats an order while the
// beats differ from it, and reads what workers publish.
type fakeManager struct {
	t  testing.TB
	nc *nats.Conn
	js jetstream.JetStream

	mu      sync.Mutex
	changed *sync.Cond
	beats   map[string]wire.Beat   // the last beat of each worker
	heard   int                    // total number of beats
	orders  map[string]*wire.Order // what each worker should be doing
	in      []message
}

type message struct {
	subject string
	data    []byte
}

func newManager(t testing.TB, options ...nats.Option) *fakeManager {
	return connectManager(t, "", options...)
}

func connectManager(t testing.TB, url string, options ...nats.Option) *fakeManager {
	t.Helper()
	m := &fakeManager{t: t, beats: map[string]wire.Beat{}, orders: map[string]*wire.Order{}}
	m.changed = sync.NewCond(&m.mu)
	options = append(options, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	var err error
	if m.nc, err = nats.Connect(url, options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.nc.Close)
	if m.js, err = jetstream.New(m.nc); err != nil {
		t.Fatal(err)
	}
	if _, err := m.nc.Subscribe(wire.BeatSubject, m.beat); err != nil {
		t.Fatal(err)
	}
	consumer, err := m.js.OrderedConsumer(t.Context(), wire.InStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	consume, err := consumer.Consume(func(msg jetstream.Msg) {
		m.note(func() { m.in = append(m.in, message{msg.Subject(), msg.Data()}) })
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(consume.Stop)
	return m
}

// note changes the state and wakes the waiting goroutines.
func (m *fakeManager) note(change func()) {
	m.mu.Lock()
	change()
	m.mu.Unlock()
	m.changed.Broadcast()
}

func (m *fakeManager) beat(msg *nats.Msg) {
	b, err := wire.Decode[wire.Beat](msg.Data)
	if err != nil {
		m.t.Errorf("beat %s: %v", msg.Data, err)
		return
	}
	m.note(func() { m.beats[b.Worker] = *b; m.heard++ })
	m.mu.Lock()
	o := m.orders[b.Worker]
	m.mu.Unlock()
	if o != nil && o.Token != b.Token {
		m.send(b.Worker, *o)
	}
}

// send sends an order once.
func (m *fakeManager) send(worker string, o wire.Order) {
	if o.Version = wire.Version; o.Process == "" {
		o.Process = m.process(worker)
	}
	data, err := wire.Encode(&o)
	if err != nil {
		m.t.Errorf("order %+v: %v", o, err)
		return
	}
	if err := m.nc.Publish(wire.OrderTo(worker), data); err != nil && !m.nc.IsClosed() {
		m.t.Log(err) // the server is away
	}
}

// order sets what a worker should be doing from now on.
func (m *fakeManager) order(worker string, o wire.Order) {
	m.note(func() { m.orders[worker] = &o })
	m.send(worker, o)
}

// process returns the process of a worker after its first beat.
func (m *fakeManager) process(worker string) string {
	return m.wait("the first beat of "+worker, func() bool { return m.beats[worker].Process != "" }, func() string {
		return m.beats[worker].Process
	})
}

// wait waits for a condition and returns the result of then.
func (m *fakeManager) wait(what string, isSo func() bool, then func() string) string {
	m.t.Helper()
	late := time.AfterFunc(patience, m.changed.Broadcast)
	defer late.Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for begun := time.Now(); !isSo(); m.changed.Wait() {
		if time.Since(begun) >= patience {
			m.t.Fatalf("timeout waiting for %s; beats %+v, %d messages", what, m.beats, len(m.in))
		}
	}
	if then == nil {
		return ""
	}
	return then()
}

// hears waits for a beat of a worker that meets a condition.
func (m *fakeManager) hears(worker, what string, isSo func(wire.Beat) bool) {
	m.t.Helper()
	m.wait("a beat of "+worker+": "+what, func() bool { b, ok := m.beats[worker]; return ok && isSo(b) }, nil)
}

// reported waits for the message on a subject and decodes it into v.
func (m *fakeManager) reported(subject string, v any) {
	m.t.Helper()
	data := m.wait("a message to "+subject, func() bool { return m.of(subject) != nil }, func() string {
		return string(m.of(subject))
	})
	if err := json.Unmarshal([]byte(data), v); err != nil {
		m.t.Fatal(err)
	}
}

func (m *fakeManager) of(subject string) []byte {
	for _, msg := range m.in {
		if msg.subject == subject {
			return msg.data
		}
	}
	return nil
}

// report waits for the result of a task.
func (m *fakeManager) report(job string, task int) (r wire.Report) {
	m.t.Helper()
	m.wait("an end of task "+job, func() bool {
		if failure := m.prefixed("pfq.in.fail." + job + "."); failure != "" {
			m.t.Fatalf("task failed: %s", failure)
		}
		return m.of(wire.Done(job, task)) != nil
	}, nil)
	m.reported(wire.Done(job, task), &r)
	return r
}

// prefixed returns the first message on a subject with the given prefix.
func (m *fakeManager) prefixed(subject string) string {
	for _, msg := range m.in {
		if strings.HasPrefix(msg.subject, subject) {
			return string(msg.data)
		}
	}
	return ""
}

// failure waits for the failure of an attempt.
func (m *fakeManager) failure(job string, task, attempt int) (f wire.Failure) {
	m.t.Helper()
	m.wait("a failure of task "+job, func() bool {
		if m.of(wire.Done(job, task)) != nil {
			m.t.Fatalf("task %s is done, but should have failed", job)
		}
		return m.of(wire.Failed(job, task, attempt)) != nil
	}, nil)
	m.reported(wire.Failed(job, task, attempt), &f)
	return f
}

// order returns an order for the first attempt at task 0 of a job.
func order(plan uint64, job string, run wire.Run) wire.Order {
	return wire.Order{Plan: plan, Job: job, Attempt: 1, Token: "token-" + job, At: 7, Run: run}
}

// prepare creates the streams of a server.
func prepare(t testing.TB, url string, layout server.Layout, options ...nats.Option) {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := server.Prepare(ctx, js, layout); err != nil {
		t.Fatal(err)
	}
}

// until polls for a condition.
func until(t testing.TB, what string, isSo func() bool) {
	t.Helper()
	for begun := time.Now(); !isSo(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("timeout waiting until %s", what)
		}
	}
}
