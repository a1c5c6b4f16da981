package manager

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// testLog returns a logger that writes to the log of the test.
func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// runManager runs a manager until stop is called. stop waits until the manager has ended.
func runManager(t *testing.T, s *server.Server, settings Settings) (stop func()) {
	t.Helper()
	settings.Log = testLog(t).With("who", settings.Name)
	nc, err := nats.Connect("", s.InProcess())
	if err != nil {
		t.Fatal(err)
	}
	return inBackground(t, func(ctx context.Context) error {
		defer nc.Close()
		return Run(ctx, nc, settings)
	})
}

// runWorkers runs workers until stop is called.
func runWorkers(t *testing.T, s *server.Server, settings worker.Settings) (stop func()) {
	settings.Server, settings.Options = inProcess, []nats.Option{s.InProcess()}
	settings.Log = testLog(t)
	return inBackground(t, func(ctx context.Context) error {
		if err := worker.Run(ctx, settings); ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// inBackground runs a function until stop is called or the test ends.
func inBackground(t *testing.T, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return run(ctx) })
	stop = func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func connect(t *testing.T, s *server.Server) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), inProcess, s.InProcess())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var byPriority = dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority, Spare: dispatch.SpareByPriority}}

func sleepers(name string, tasks int, work float64) wire.Job {
	return wire.Job{Name: name, Tasks: tasks, Work: work, Run: wire.Run{Kind: worker.KindSleep}}
}

// deadline returns a context that bounds a test that would otherwise wait forever.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestJobsRun(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	runWorkers(t, s, worker.Settings{Name: "w", Slots: 3})
	c, ctx := connect(t, s), deadline(t)
	b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("a", 20, 0.01), sleepers("b", 5, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	views, err := b.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{20, 5} {
		v := views[i]
		if v.State != wire.JobCompleted || v.Left != 0 || v.Tasks != want {
			t.Errorf("%+v", v)
		}
		seen := map[int]bool{}
		for r, err := range c.Results(ctx, v.Name, 0) {
			if err != nil {
				t.Fatal(err)
			}
			seen[r.Report.Task] = true
		}
		if len(seen) != want {
			t.Errorf("job %s: %d results, want %d", v.Name, len(seen), want)
		}
	}
	status, err := c.Status(ctx)
	for err == nil && len(status.Workers) < 3 { // a late worker may find all tasks done
		time.Sleep(10 * time.Millisecond)
		status, err = c.Status(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := status.Cluster.Counts; n.Finished != 25 || n.Begun != 25 || len(status.Workers) != 3 ||
		status.Cluster.Leader != "m1" {
		t.Errorf("status %+v", status)
	}
}

// A second manager continues after the first was stopped or killed. A third one uses the snapshot.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	c, ctx := connect(t, s), deadline(t)
	runWorkers(t, s, worker.Settings{Name: "w", Slots: 2})
	var batches []*client.Batch
	for k := range 3 {
		stop := runManager(t, s, Settings{Name: fmt.Sprintf("m%d", k), Rules: byPriority})
		b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers(fmt.Sprintf("job%d", k), 30, 0.02)}})
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
		if k < 2 {
			stop()
		}
	}
	for _, b := range batches {
		views, err := b.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if v := views[0]; v.State != wire.JobCompleted || v.Lost > 0 {
			t.Errorf("%+v", v)
		}
	}
	status, err := c.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := status.Cluster.Counts; n.Finished != 90 || n.Begun != 90 {
		t.Errorf("counts %+v", n)
	}
}

// inProcess is the URL of a server that is connected within the process; its host does not matter.
const inProcess = "nats://127.0.0.1"

// The wait of a job that finds an idle worker is measured too: it includes the append to the log.
func TestSubmitToStartIsMeasured(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	registry := prometheus.NewRegistry()
	runManager(t, s, Settings{Name: "m", Rules: byPriority, Registry: registry})
	runWorkers(t, s, worker.Settings{Name: "w"})
	c, ctx := connect(t, s), deadline(t)
	const jobs = 3
	for k := range jobs {
		name := fmt.Sprintf("job%d", k)
		if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers(name, 2, 0.01)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "pfq_submit_to_start_seconds" {
			continue
		}
		if h := f.GetMetric()[0].GetHistogram(); h.GetSampleCount() != jobs ||
			!(h.GetSampleSum() > 0 && h.GetSampleSum() < 60) {
			t.Errorf("%v", h)
		}
		return
	}
	t.Error("no such metric")
}
