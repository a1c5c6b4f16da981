package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"productform/dispatch"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/wire"
)

func Example() {
	_, nc, stop := servertest.Example() // a connection to a server that package server has prepared
	defer stop()
	begin := func(name string) (end func() error) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		rules := dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}
		go func() { ended <- manager.Run(ctx, nc, manager.Settings{Name: name, Rules: rules}) }()
		return func() error {
			cancel()
			return <-ended
		}
	}
	first := begin("first")
	fmt.Println(leader(nc), "leads")
	second := begin("second") // stands by
	fmt.Println("first ends:", first())
	fmt.Println(leader(nc), "leads")
	fmt.Println("second ends:", second())
	// Output:
	// first leads
	// first ends: <nil>
	// second leads
	// second ends: <nil>
}

// leader waits until a manager responds and returns its name.
func leader(nc *nats.Conn) string {
	for {
		m, err := nc.Request(wire.StatusService, nil, time.Second)
		var s wire.Status
		if err == nil && json.Unmarshal(m.Data, &s) == nil {
			return s.Cluster.Leader
		}
		time.Sleep(5 * time.Millisecond)
	}
}
