// This file starts a live system within an example. If something fails, the program ends, because an
// example has no test to fail.

package servertest

import (
	"context"
	"log"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/server"
)

// Example starts a server in memory on a free port, with all streams, until stop is called. nc is a
// connection to it.
func Example() (url string, nc *nats.Conn, stop func()) {
	v, err := server.Start(context.Background(), server.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	nc, err = nats.Connect(v.URL())
	if err != nil {
		log.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Prepare(context.Background(), js, server.Layout{Memory: true}); err != nil {
		log.Fatal(err)
	}
	return v.URL(), nc, func() {
		nc.Close()
		v.Close()
	}
}

// ExampleWith is like [Example], and also runs a manager with its settings.
func ExampleWith[S any](run func(context.Context, *nats.Conn, S) error, s S) (
	url string, nc *nats.Conn, stop func(),
) {
	url, nc, stopServer := Example()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, nc, s) }()
	return url, nc, func() {
		cancel()
		if err := <-ended; err != nil {
			log.Fatal(err)
		}
		stopServer()
	}
}
