package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"productform/internal/input"
	"productform/live/internal/processes"
	"productform/live/keys"
	"productform/live/wire"
)

// Run runs the workers of a process until ctx is done or the workers have left: after s.Leave is
// closed, they finish and report their running tasks, and the error is nil. Run waits for an
// unreachable server until the workers should leave; a server that rejects the connection is an
// error. Programs that a killed process left behind in the folder are killed first.
func Run(ctx context.Context, s Settings) error {
	s = s.defaults()
	if err := s.check(); err != nil {
		return err
	}
	folder, release, err := lockFolder(s.Folder)
	if err != nil {
		return err
	}
	defer release()
	if killed, err := processes.KillLeft(folder); err != nil {
		return err
	} else if killed > 0 {
		s.Log.Warn("processes of an earlier start killed", "processes", killed)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers, ctx := errgroup.WithContext(ctx)
	var known facts
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if s.Facts != nil {
			known.watch(ctx, &s)
		}
	}()
	process, started := rand.Text(), time.Now()
	for i := range s.Slots {
		w := &slot{
			settings: &s, name: s.slot(i + 1), process: process, folder: folder, facts: &known, started: started,
			ordered: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		}
		w.log = s.Log.With("worker", w.name)
		workers.Go(func() error { return w.run(ctx) })
	}
	err = workers.Wait()
	cancel()
	<-watched
	return err
}

// lockFolder creates or locks the folder of this process; if path is empty it makes a temporary
// one. No other process can use the folder until release is called.
func lockFolder(path string) (folder string, release func(), err error) {
	if path == "" {
		folder, err = os.MkdirTemp("", "pfq-worker-")
		return folder, func() { os.RemoveAll(folder) }, err
	}
	if folder, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	if err = os.MkdirAll(folder, 0o700); err != nil {
		return "", nil, err
	}
	release, err = processes.Try(folder)
	if errors.Is(err, processes.ErrTaken) {
		return "", nil, input.Errorf("folder", path, "a folder that no other worker process uses")
	}
	if err != nil {
		return "", nil, err
	}
	old, err := filepath.Glob(filepath.Join(folder, "task-*"))
	for _, f := range old {
		err = errors.Join(err, os.RemoveAll(f))
	}
	if err != nil {
		release()
		return "", nil, err
	}
	return folder, release, nil
}

// run connects and follows orders until ctx is done or the worker has left.
func (s *slot) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := s.connect(ctx, cancel); errors.Is(err, errLeft) {
		return nil
	} else if err != nil {
		return fmt.Errorf("worker %s: %w", s.name, err)
	}
	defer s.nc.Close()
	if _, err := s.nc.Subscribe(wire.OrderTo(s.name), s.take); err != nil {
		return err
	}
	beats, stop := context.WithCancel(ctx)
	beaten := make(chan struct{})
	go func() {
		defer close(beaten)
		s.beats(beats)
	}()
	s.follow(ctx)
	stop()
	<-beaten
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.beat()                           // tells the manager that it leaves without a task
	_ = s.nc.FlushTimeout(time.Second) // if the server is unreachable, the closed connection shows it
	return nil
}

// errLeft stops a worker that should leave from waiting for a server.
var errLeft = errors.New("the worker has left")

// connect connects, and waits for an unreachable server. It calls lost when the connection is
// closed for good.
func (s *slot) connect(ctx context.Context, lost context.CancelCauseFunc) (err error) {
	options := append(slices.Clone(s.settings.Options),
		// a beat tells the manager that the worker is back
		nats.ReconnectHandler(func(*nats.Conn) { signal(s.changed) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.log.Warn("connection", "error", err)
		}),
		nats.ClosedHandler(func(nc *nats.Conn) {
			lost(fmt.Errorf("worker %s: connection closed: %w",
				s.name, cmp.Or(nc.LastError(), nats.ErrConnectionClosed)))
		}))
	server := strings.ReplaceAll(s.settings.Server, slotName, s.name)
	if err := keys.Check(server, s.name, keys.Worker); err != nil {
		return err
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		s.nc, err = keys.Connect(ctx, server, s.name, options...)
		if err == nil {
			s.js, err = jetstream.New(s.nc)
			return err
		}
		if !keys.Away(err) {
			return err
		}
		s.log.Warn("waiting for the server", "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.settings.Leave:
			return errLeft
		case <-time.After(pause):
		}
	}
}
