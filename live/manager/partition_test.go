package manager

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/internal/servertest"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// A gate blocks pass while it is closed.
type gate struct{ mu sync.RWMutex }

// close closes the gate until open is called or the test ends.
func (g *gate) close(t *testing.T) (open func()) {
	g.mu.Lock()
	open = sync.OnceFunc(g.mu.Unlock)
	t.Cleanup(open)
	return open
}

func (g *gate) pass() {
	g.mu.RLock()
	defer g.mu.RUnlock()
}

// A network connects workers to a server, and delays traffic while its gates are closed.
type network struct {
	to             nats.InProcessConnProvider
	received, sent gate         // traffic to and from the workers
	held           atomic.Int64 // bytes waiting to be received
}

func newNetwork(t *testing.T, s *server.Server) *network {
	t.Helper()
	var o nats.Options
	if err := s.InProcess()(&o); err != nil {
		t.Fatal(err)
	}
	return &network{to: o.InProcessServer}
}

func (n *network) InProcessConn() (net.Conn, error) {
	c, err := n.to.InProcessConn()
	return &heldConn{c, n}, err
}

type heldConn struct {
	net.Conn
	network *network
}

func (c *heldConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.network.held.Add(int64(n))
	c.network.received.pass()
	c.network.held.Add(-int64(n))
	return n, err
}

func (c *heldConn) Write(p []byte) (int, error) {
	c.network.sent.pass()
	return c.Conn.Write(p)
}

// A worker is cut off while its order is in transit. The manager gives it up and another worker
// runs the task. When the order arrives later, the task does not run again. Afterwards the worker
// runs tasks as before.
func TestLateOrderIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	ctx, c := deadline(t), connect(t, s)
	runManager(t, s, Settings{Name: "m", Rules: byPriority, LostAfter: 500 * time.Millisecond})
	var executions sync.Map // by job: *atomic.Int64
	count := func(job string) *atomic.Int64 {
		n, _ := executions.LoadOrStore(job, new(atomic.Int64))
		return n.(*atomic.Int64)
	}
	handlers := map[string]worker.Handler{"say": func(ctx context.Context, t wire.Task) ([]byte, error) {
		count(t.Job).Add(1)
		return nil, nil
	}}
	net := newNetwork(t, s)
	settings := worker.Settings{Name: "cut", Handlers: handlers, Beat: 20 * time.Millisecond, Server: inProcess,
		Log: testLog(t), Options: []nats.Option{nats.InProcessServer(net)}}
	inBackground(t, func(ctx context.Context) error {
		if err := worker.Run(ctx, settings); ctx.Err() == nil {
			return err
		}
		return nil
	})
	isWorker := func(name string, state wire.WorkerState) bool {
		v, err := c.Worker(ctx, name)
		return err == nil && v.State == state
	}
	await := func(what string, isSo func() bool) {
		t.Helper()
		for !isSo() {
			if rest(ctx, 5*time.Millisecond); ctx.Err() != nil {
				t.Fatal("timeout: " + what)
			}
		}
	}
	run := func(job string) {
		t.Helper()
		if _, err := c.Submit(ctx,
			wire.Batch{Jobs: []wire.Job{{Name: job, Tasks: 1, Run: wire.Run{Kind: "say"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	await("worker idle", func() bool { return isWorker("cut", wire.WorkerAvailable) })
	openReceived := net.received.close(t)
	run("late")
	await("order in transit", func() bool { return net.held.Load() > 0 && isWorker("cut", wire.WorkerOccupied) })
	openSent := net.sent.close(t)
	await("worker down", func() bool { return isWorker("cut", wire.WorkerDown) })
	stop := runWorkers(t, s, worker.Settings{Name: "other", Handlers: handlers, Beat: 20 * time.Millisecond})
	if _, err := c.Wait(ctx, "late"); err != nil {
		t.Fatal(err)
	}
	stop()
	openReceived()
	openSent()
	await("worker idle again", func() bool { return isWorker("cut", wire.WorkerAvailable) })
	run("next")
	if _, err := c.Wait(ctx, "next"); err != nil {
		t.Fatal(err)
	}
	if n := count("late").Load(); n != 1 {
		t.Errorf("the task of the late order ran %d times, want 1", n)
	}
	if n := count("next").Load(); n != 1 {
		t.Errorf("the next task ran %d times, want 1", n)
	}
}
