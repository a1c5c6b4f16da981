package server

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"productform/live/keys"
)

const (
	tendPeriod = 500 * time.Millisecond // how often a server looks after its keys and its disk
	tendTimes  = 4                      // how often in a row a stream is stuck before something is done: one that is being made looks the same
)

// tend looks after a server until stop is called: it reads the folder of keys when that changes,
// keeps the store below its limit, and opens the store again after the disk was full. Connections
// whose keys are revoked end; all others stay. The server has the keys seen, or later ones.
func (s *Server) tend(set Settings, seen *keys.Folder, store string, log *logger) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	if set.Store != "" {
		g, err := openGate(s.nats, set, s.own, log.to)
		if err != nil {
			cancel()
			return nil, err
		}
		done.Go(func() { g.watch(ctx) })
	}
	done.Go(func() {
		tick := time.NewTicker(tendPeriod)
		defer tick.Stop()
		for stuck := 0; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if set.Keys != "" {
				// A folder that cannot be read leaves the keys as they are.
				if now, err := keys.Load(set.Keys); err == nil && !reflect.DeepEqual(now, seen) {
					if err := s.reload(set, store); err != nil {
						log.Errorf("new keys: %v", err)
						continue
					}
					seen = now
				}
			}
			if set.Store == "" || !s.isStuck() {
				stuck = 0
			} else if stuck++; stuck >= tendTimes && hasRoom(store) {
				stuck = 0
				if err := s.reopen(store); err != nil {
					log.Errorf("the store cannot be opened again: %v", err)
				}
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}, nil
}

// reload gives the server the keys that the folder has now.
func (s *Server) reload(set Settings, store string) error {
	o, err := options(set, s.own)
	if err != nil {
		return err
	}
	o.StoreDir = store
	return s.nats.ReloadOptions(o)
}

// isStuck tells whether a write of a stream failed. NATS answers no further message to that stream then, even as there is
// room again; what was acknowledged is kept.
func (s *Server) isStuck() bool {
	if !s.nats.JetStreamEnabled() {
		return true // it could not be opened again before
	}
	for _, e := range s.nats.Healthz(&server.HealthzOptions{Details: true}).Errors {
		if e.Type == server.HealthzErrorStream {
			return true
		}
	}
	return false
}

// room is the number of bytes that must be free before a store is opened.
const room = 1 << 20

// awaitRoom waits until a store can be opened: NATS ends the process if it finds no room for a new
// file.
func awaitRoom(ctx context.Context, folder string, log *slog.Logger) error {
	if hasRoom(folder) {
		return nil
	}
	if log != nil {
		log.Error("the disk is full: the server starts once there is room", "store", folder, "wanted", room)
	}
	tick := time.NewTicker(tendPeriod)
	defer tick.Stop()
	for !hasRoom(folder) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// hasRoom reports whether a folder takes room bytes.
func hasRoom(folder string) bool {
	f, err := os.CreateTemp(folder, "room-")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, room))
	return errors.Join(err, f.Sync(), f.Close()) == nil
}

// reopen ends JetStream and starts it again on its folder. Connections stay.
func (s *Server) reopen(store string) error {
	c := s.nats.JetStreamConfig()
	if err := s.nats.ShutdownJetStream(); err != nil {
		return err
	}
	again := server.JetStreamConfig{StoreDir: store}
	if c != nil {
		again.MaxMemory, again.MaxStore, again.SyncAlways, again.SyncInterval = c.MaxMemory, c.MaxStore, c.SyncAlways, c.SyncInterval
	}
	return s.nats.EnableJetStream(&again)
}
