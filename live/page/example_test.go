package page_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"productform/dispatch"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/page"
	"productform/live/wire"
)

func Example() {
	nc, stop := startCluster() // a connection to a server on which a manager leads
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h, err := page.Handler(ctx, nc, prometheus.NewRegistry())
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(h) // or http.ListenAndServe("127.0.0.1:8222", h)
	defer web.Close()
	for _, path := range []string{"/", "/metrics", "/healthz"} {
		r, err := http.Get(web.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		r.Body.Close()
		fmt.Println(path, r.Status, r.Header.Get("Content-Type")[:10])
	}
	// Output:
	// / 200 OK text/html;
	// /metrics 200 OK text/plain
	// /healthz 200 OK text/plain
}

// startCluster starts a server and a manager, and waits until the manager leads.
func startCluster() (nc *nats.Conn, stop func()) {
	_, nc, stop = servertest.ExampleWith(manager.Run, manager.Settings{
		Name:  "m",
		Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}},
	})
	for {
		if _, err := nc.Request(wire.StatusService, nil, time.Second); err == nil {
			return nc, stop
		}
		time.Sleep(5 * time.Millisecond)
	}
}
