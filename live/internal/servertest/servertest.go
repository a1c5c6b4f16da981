// Package servertest gives tests a server in memory that ends with the test, and examples a live
// system: how does a test get streams without a port or a folder?
package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/live/server"
)

// Start starts a server in memory, without a port, with all streams, object stores and buckets. It
// ends with the test.
func Start(t testing.TB) *server.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := server.Start(ctx, server.Settings{NoListen: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	js, err := jetstream.New(Connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Prepare(ctx, js, server.Layout{Memory: true}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Connect connects to a server within this process. The connection ends with the test.
func Connect(t testing.TB, s *server.Server) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("", s.InProcess())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
