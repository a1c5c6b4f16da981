package worker_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// A kept is a server with a store on disk that can be restarted at the same address.
type kept struct {
	t      testing.TB
	now    *server.Server
	folder string
	listen string
}

func keep(t testing.TB) *kept {
	k := &kept{t: t, folder: t.TempDir(), listen: "127.0.0.1:0"}
	k.start()
	k.listen = strings.TrimPrefix(k.now.URL(), "nats://")
	prepare(t, k.now.URL(), server.Layout{})
	t.Cleanup(func() { k.now.Close() })
	return k
}

func (k *kept) start() {
	k.t.Helper()
	var err error
	if k.now, err = server.Start(k.t.Context(), server.Settings{Store: k.folder, Listen: k.listen}); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) stop() { k.now.Close() }

// stored waits for the message on a subject of the stream.
func stored(t testing.TB, m *fakeManager, subject string) *wire.Stored {
	t.Helper()
	var found *wire.Stored
	until(t, subject+" is stored", func() bool {
		var err error
		if found, err = wire.LastMessage(t.Context(), m.js, wire.InStream, subject); err != nil &&
			!errors.Is(err, wire.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	})
	return found
}

// A task keeps running while the server restarts, and the report of a task that ended in the
// meantime arrives.
func TestServerRestarts(t *testing.T) {
	k := keep(t)
	m := connectManager(t, k.now.URL())
	w := newWork()
	start(t, worker.Settings{Server: k.now.URL(), Name: "w", Handlers: w.handlers()})
	m.order("w", order(1, "first", doWork))
	wait(t, w.begun)
	k.stop()
	m.note(func() { m.beats = map[string]wire.Beat{} })
	k.start()
	m.hears("w", "still running", func(b wire.Beat) bool { return b.Job == "first" && b.Running && b.Plan == 1 })
	w.end <- result{[]byte("x"), nil}
	stored(t, m, wire.Done("first", 0))

	m.order("w", order(2, "second", doWork))
	wait(t, w.begun)
	k.stop()
	w.end <- result{[]byte("y"), nil}
	k.start()
	stored(t, m, wire.Done("second", 0))
	m.hears("w", "idle", func(b wire.Beat) bool { return b.Plan == 2 && b.Token == "" })
}

// The server has the report, but its acknowledgement is lost and the server restarts. The worker
// publishes the report again, is rejected, and continues. The stream has one report.
func TestAcknowledgementIsLost(t *testing.T) {
	k := keep(t)
	m := connectManager(t, k.now.URL())
	w := newWork()
	p := listenAsProxy(t, k.listen)
	start(t, worker.Settings{Server: "nats://" + p.address, Name: "w", Handlers: w.handlers()})
	m.order("w", order(1, "bills", doWork))
	wait(t, w.begun)
	p.mute(true)
	w.end <- result{[]byte("x"), nil}
	first := stored(t, m, wire.Done("bills", 0))
	k.stop()
	p.mute(false)
	k.start()
	m.hears("w", "idle", func(b wire.Beat) bool { return b.Plan == 1 && b.Token == "" })
	again := stored(t, m, wire.Done("bills", 0))
	if again.Sequence != first.Sequence || string(again.Data) != string(first.Data) {
		t.Errorf("report %d %s, then %d %s", first.Sequence, first.Data, again.Sequence, again.Data)
	}
	m.order("w", order(2, "next", doWork))
	wait(t, w.begun)
	w.end <- result{}
	if next := stored(t, m, wire.Done("next", 0)); next.Sequence != first.Sequence+1 {
		t.Errorf("the next report has sequence %d, after %d", next.Sequence, first.Sequence)
	}
}

// A proxy forwards traffic between workers and a server. While it is mute, it drops everything that
// the server sends.
type proxy struct {
	address string

	mu     sync.Mutex
	silent bool
}

func (p *proxy) mute(silent bool) {
	p.mu.Lock()
	p.silent = silent
	p.mu.Unlock()
}

func (p *proxy) isMute() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent
}

func listenAsProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil { // the server is away
				near.Close()
				continue
			}
			all.Go(func() { defer far.Close(); defer near.Close(); _, _ = io.Copy(far, near) })
			all.Go(func() { defer far.Close(); defer near.Close(); _, _ = io.Copy(deafTo{p, near}, far) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return p
}

// A deafTo forwards what a server sends to a worker, unless the proxy is mute.
type deafTo struct {
	proxy *proxy
	near  net.Conn
}

func (d deafTo) Write(b []byte) (int, error) {
	if d.proxy.isMute() {
		return len(b), nil
	}
	return d.near.Write(b)
}

// Workers can leave while their server is away, before and after they have connected.
func TestLeaveWithoutServer(t *testing.T) {
	ends := func(what string, leave func(), err <-chan error) {
		t.Helper()
		leave()
		select {
		case err := <-err:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the worker does not leave", what)
		}
	}
	run := func(url string) (leave func(), err <-chan error) {
		left, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- worker.Run(t.Context(), worker.Settings{Server: url, Name: "w", Slots: 2, Leave: left})
		}()
		return func() { close(left) }, ended
	}
	leave, err := run("nats://127.0.0.1:1")
	ends("never reached", leave, err)

	k := keep(t)
	m := connectManager(t, k.now.URL())
	leave, err = run(k.now.URL())
	m.process("w-1")
	m.process("w-2")
	k.stop()
	ends("lost", leave, err)
}
