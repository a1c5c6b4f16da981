package server

import (
	"context"
	"errors"
	"os"
	"reflect"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"productform/live/keys"
)

const (
	tendPeriod = 500 * time.Millisecond // how often a server looks after its keys and its disk
	tendTimes  = 4                      // how often in a row a stream is stuck before something is done: one that is being made looks the same
)

// tend looks after a server until the function that it returns is called: it takes up what becomes of the folder of keys,
// and opens the store again after the disk was full. Connections whose keys are revoked end; all others stay. The server has
// the keys seen, or later ones.
func (s *Server) tend(set Settings, seen *keys.Folder, store string, log *logger) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
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
	}()
	return func() {
		cancel()
		<-done
	}
}

// reload gives the server the keys that the folder has now.
func (s *Server) reload(set Settings, store string) error {
	o, err := options(set)
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

// room is how many bytes must be free before a store is opened again.
const room = 4 << 20

// hasRoom tries whether a folder takes as much.
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
