package wire_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/internal/servertest"
	"productform/live/wire"
)

func Example_store() {
	ctx := context.Background()
	js, stop := startServer() // a program gets js from its connection
	defer stop()
	for _, result := range []string{"9", "8"} {
		wrote, err := wire.WriteOnce(ctx, js, wire.Done("squares", 3), []byte(result))
		fmt.Println(result, "written:", wrote, err)
	}
	digest, size, err := wire.PutContent(ctx, js, strings.NewReader("a result of any size"))
	if err != nil {
		log.Fatal(err)
	}
	var back bytes.Buffer
	err = wire.GetContent(ctx, js, digest, &back)
	fmt.Println(digest[:8], size, "bytes:", back.String(), err)
	// Output:
	// 9 written: true <nil>
	// 8 written: false <nil>
	// e4d55df3 20 bytes: a result of any size <nil>
}

func startServer() (js jetstream.JetStream, stop func()) {
	_, nc, stop := servertest.Example()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	return js, stop
}
