package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/keys"
	"productform/live/manager"
	"productform/live/page"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// violations are the permission errors that the parts of the system received.
type violations struct {
	mu  sync.Mutex
	all []string
}

func (v *violations) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if bytes.Contains(b, []byte("ermission")) {
		v.all = append(v.all, string(b))
	}
	return len(b), nil
}

func (v *violations) option(name string) nats.Option {
	return nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { fmt.Fprintln(v, name, err) })
}

// In the whole system with a key for each part, over TLS, no part needs more than its key allows.
func TestSystemWithKeys(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*waitLimit)
	defer cancel()
	g := guard(t)
	for _, name := range []string{"manager", "client", "w7", "w8"} { // as if the keys had always existed
		path := filepath.Join(g.folder, name+".key")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(
			path, []byte(strings.Replace(string(text), "nats://127.0.0.1:4222", g.URL(), 1)), 0o600,
		); err != nil {
			t.Fatal(err)
		}
	}
	var refused violations
	log := slog.New(slog.NewTextHandler(&refused, nil))
	parts, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	nc, err := keys.Connect(ctx, filepath.Join(g.folder, "manager.key"), "", refused.option("manager"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if lacks, err := server.Check(ctx, stream(t, nc), server.Layout{}); err != nil || len(lacks) != 0 {
		t.Error(lacks, err)
	}
	running.Go(func() {
		rules := dispatch.Rules{
			Policy:   dispatch.Policy{Rule: dispatch.Priority},
			Learning: dispatch.Learning{Speeds: true},
		}
		err := manager.Run(parts, nc, manager.Settings{Name: "m", Rules: rules, Log: log})
		if err != nil && parts.Err() == nil {
			t.Error(err)
		}
	})
	echo := func(_ context.Context, t wire.Task) ([]byte, error) {
		return bytes.Repeat([]byte{byte('a' + t.Number)}, 100_000), nil // too large for a report
	}
	for _, name := range []string{"w7", "w8"} {
		running.Go(func() {
			err := worker.Run(parts, worker.Settings{
				Server:   filepath.Join(g.folder, "{name}.key"),
				Name:     name,
				Handlers: map[string]worker.Handler{"echo": echo},
				Log:      log,
			})
			if err != nil && parts.Err() == nil {
				t.Error(err)
			}
		})
	}
	c, err := client.Connect(ctx, filepath.Join(g.folder, "client.key"), refused.option("client"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for joined := 0; joined < 2; time.Sleep(time.Millisecond) {
		workers, err := c.Workers(ctx)
		if err != nil {
			t.Fatal(err)
		}
		joined = len(workers)
	}
	digest, err := c.Upload(ctx, strings.NewReader("an input"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Submit(ctx, wire.Batch{Name: "b", Jobs: []wire.Job{{
		Name:  "j",
		Tasks: 6,
		Work:  0.01,
		Run:   wire.Run{Kind: "echo", Inputs: map[string]string{"in": digest}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	results := 0
	for r, err := range c.Results(ctx, "j", 0) {
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := c.Output(ctx, &r.Report, &out); err != nil || out.Len() != 100_000 ||
			out.Bytes()[0] != byte('a'+r.Report.Task) {
			t.Error(r.Report.Task, out.Len(), err)
		}
		results++
	}
	if results != 6 {
		t.Errorf("%d results, want 6", results)
	}

	// A monitor watches the system by views and by the page.
	watch := g.connect(t, "monitor", refused.option("monitor"))
	handler, err := page.Handler(ctx, watch, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/healthz", "/", "/metrics"} {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(ctx, "GET", path, nil)
		if handler.ServeHTTP(answer, request); answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	status, err := c.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := status.Cluster.Counts; n.Completed != 1 || n.Finished != 6 {
		t.Errorf("%+v", n)
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) { // views are written in the background
		profiles, err := c.Profiles(ctx)
		if err == nil && len(profiles) == 1 && profiles[0].Kind == "echo" {
			break
		}
		if err != nil || time.Since(begun) > waitLimit {
			t.Fatal(profiles, err)
		}
	}

	// The manager purges a cleared job.
	if err := c.Clear(ctx, "j"); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := wire.LastMessage(ctx, stream(t, watch), wire.InStream, wire.Done("j", 0))
		if errors.Is(err, wire.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stop()
	running.Wait()
	for _, v := range refused.all {
		t.Error(v)
	}
}

// A manager stops when its key is revoked.
func TestRevokedManager(t *testing.T) {
	g := guard(t)
	nc := g.connect(t, "manager", nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	ended := make(chan error, 1)
	go func() {
		ended <- manager.Run(t.Context(), nc, manager.Settings{
			Name:  "m",
			Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}},
		})
	}()
	if err := keys.Revoke(g.folder, "manager"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !keys.Refused(err) {
			t.Error(err)
		}
	case <-time.After(waitLimit):
		t.Error("it still runs")
	}
}
