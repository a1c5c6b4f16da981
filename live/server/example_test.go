package server_test

import (
	"context"
	"fmt"
	"log"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/server"
	"productform/live/wire"
)

func Example() {
	ctx := context.Background()
	s, err := server.Start(ctx, server.Settings{}) // in memory, since Store is empty
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	nc, err := nats.Connect(s.URL())
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Prepare(ctx, js, server.Layout{Memory: true}); err != nil {
		log.Fatal(err)
	}
	_, first := js.Publish(ctx, wire.Done("squares", 3), []byte("9"))
	_, second := js.Publish(ctx, wire.Done("squares", 3), []byte("8"))
	fmt.Println("taken:", first == nil, second == nil)
	// Output: taken: true false
}
