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
	maintainPeriod = 500 * time.Millisecond // time between two checks of the keys and the disk
	// consecutive checks that find a stream stuck before the store is reopened; a new stream looks
	// stuck for a moment
	maxStuck = 4
)

// maintain supervises a server until stop is called. It reloads the folder of keys after changes,
// keeps the store below its limit, and reopens the store after the disk was full. Connections with
// revoked keys end, and all others stay. seen are the keys that the server has, or earlier ones.
func (s *Server) maintain(set Settings, seen *keys.Folder, store string, log *logger) (stop func(), err error) {
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
		tick := time.NewTicker(maintainPeriod)
		defer tick.Stop()
		for stuck := 0; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if set.Keys != "" {
				// If the folder cannot be read, the keys stay as they are.
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
			} else if stuck++; stuck >= maxStuck && hasRoom(store) {
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

// reload gives the server the current keys of the folder.
func (s *Server) reload(set Settings, store string) error {
	o, err := options(set, s.own)
	if err != nil {
		return err
	}
	o.StoreDir = store
	return s.nats.ReloadOptions(o)
}

// isStuck reports whether a write of a stream failed. NATS then rejects all further messages to the
// stream, even after there is room again; acknowledged messages are kept.
func (s *Server) isStuck() bool {
	if !s.nats.JetStreamEnabled() {
		return true // reopening it failed before
	}
	for _, e := range s.nats.Healthz(&server.HealthzOptions{Details: true}).Errors {
		if e.Type == server.HealthzErrorStream {
			return true
		}
	}
	return false
}

// room is the number of bytes that must be free to open a store.
const room = 1 << 20

// awaitRoom waits until a store can be opened: NATS would end the process if a new file did not
// fit.
func awaitRoom(ctx context.Context, folder string, log *slog.Logger) error {
	if hasRoom(folder) {
		return nil
	}
	if log != nil {
		log.Error("the disk is full: the server starts once there is room", "store", folder, "wanted", room)
	}
	tick := time.NewTicker(maintainPeriod)
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

// hasRoom reports whether room more bytes fit in a folder.
func hasRoom(folder string) bool {
	f, err := os.CreateTemp(folder, "room-")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, room))
	return errors.Join(err, f.Sync(), f.Close()) == nil
}

// reopen stops JetStream and starts it again on its folder. Connections stay open.
func (s *Server) reopen(store string) error {
	c := s.nats.JetStreamConfig()
	if err := s.nats.ShutdownJetStream(); err != nil {
		return err
	}
	again := server.JetStreamConfig{StoreDir: store}
	if c != nil {
		again.MaxMemory, again.MaxStore, again.SyncAlways, again.SyncInterval = c.MaxMemory, c.MaxStore,
			c.SyncAlways, c.SyncInterval
	}
	return s.nats.EnableJetStream(&again)
}
