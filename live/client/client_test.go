package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/dispatch"
	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/manager"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
	"productform/num"
)

// inProcess is the address of a server in this process, which an option reaches.
const inProcess = "nats://in-process"

// background runs a function until the test ends or stop is called. stop waits until it has ended.
func background(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// runManager runs a manager.
func runManager(t testing.TB, url string, options ...nats.Option) (stop func()) {
	t.Helper()
	nc, err := nats.Connect(url, append(options, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	return background(t, func(ctx context.Context) error {
		defer nc.Close()
		return manager.Run(ctx, nc, manager.Settings{
			Name:  "m",
			Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.Priority}},
		})
	})
}

// outputs returns the outputs of a job, sorted.
func outputs(t testing.TB, ctx context.Context, c *client.Client, job string) (list []string) {
	t.Helper()
	for r, err := range c.Results(ctx, job, 0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(r.Report.Output))
	}
	slices.Sort(list)
	return list
}

// begin starts a server, a manager and two workers, and connects a client.
func begin(t testing.TB, handlers map[string]worker.Handler) (c *client.Client, ctx context.Context) {
	t.Helper()
	v := servertest.Start(t)
	runManager(t, "", v.InProcess())
	background(t, func(ctx context.Context) error {
		return worker.Run(ctx, worker.Settings{
			Server:   inProcess,
			Options:  []nats.Option{v.InProcess()},
			Name:     "w",
			Slots:    2,
			Handlers: handlers,
		})
	})
	return connect(t, inProcess, v.InProcess())
}

func connect(t testing.TB, url string, options ...nats.Option) (*client.Client, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c, err := client.Connect(ctx, url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, ctx
}

func submit(t testing.TB, ctx context.Context, c *client.Client, b wire.Batch) *client.Batch {
	t.Helper()
	accepted, err := c.Submit(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	return accepted
}

// doubled is a handler whose result is twice the number of the task.
func doubled(_ context.Context, t wire.Task) ([]byte, error) {
	return fmt.Append(nil, 2*t.Number), nil
}

func job(name, kind string, tasks int) wire.Job {
	return wire.Job{Name: name, Tasks: tasks, Work: 0.01, Run: wire.Run{Kind: kind}}
}

// A batch submitted twice runs once. Its results can be read while they arrive, and again later.
func TestSubmitWaitResults(t *testing.T) {
	c, ctx := begin(t, map[string]worker.Handler{"double": doubled})
	batch := wire.Batch{Name: "monday", Jobs: []wire.Job{job("bills", "double", 30), job("mails", "double", 3)}}
	b := submit(t, ctx, c, batch)
	if b.Name != "monday" || fmt.Sprint(b.Jobs) != "[bills mails]" {
		t.Errorf("batch %+v", b)
	}
	submit(t, ctx, c, batch) // again, as after a lost response
	got := map[int]string{}
	var third uint64
	for r, err := range c.Results(ctx, "bills", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := got[r.Report.Task]; twice {
			t.Errorf("task %d twice", r.Report.Task)
		}
		got[r.Report.Task] = string(r.Report.Output)
		if len(got) == 3 {
			third = r.Sequence
		}
	}
	for task := range 30 {
		if want := fmt.Sprint(2 * task); got[task] != want {
			t.Errorf("task %d: %q, want %q", task, got[task], want)
		}
	}
	rest := 0
	for _, err := range c.Results(ctx, "bills", third) {
		if err != nil {
			t.Fatal(err)
		}
		rest++
	}
	if rest != 27 {
		t.Errorf("%d results after the third, want 27", rest)
	}
	views, err := b.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range batch.Jobs {
		if v := views[i]; v.Name != want.Name || v.State != wire.JobCompleted || v.Tasks != want.Tasks || v.Left != 0 {
			t.Errorf("job %+v", v)
		}
	}
	all, err := c.Jobs(ctx)
	if err != nil || len(all) != 2 {
		t.Errorf("jobs %+v, %v", all, err)
	}
	// one worker may have done everything before the other joined
	for workers := 0; workers != 2; time.Sleep(time.Millisecond) {
		views, err := c.Workers(ctx)
		if err != nil {
			t.Fatal(err)
		}
		workers = len(views)
	}
	if s, err := c.Status(ctx); err != nil || s.Cluster.Counts.Completed != 2 {
		t.Errorf("status %+v, %v", s, err)
	}
}

// Refused and invalid batches give errors with the reason.
func TestSubmitRefused(t *testing.T) {
	c, ctx := begin(t, nil)
	submit(t, ctx, c, wire.Batch{Name: "one", Jobs: []wire.Job{job("bills", worker.KindSleep, 1)}})
	_, err := c.Submit(ctx, wire.Batch{Name: "one", Jobs: []wire.Job{job("bills", worker.KindSleep, 2)}})
	if !errors.Is(err, client.ErrTaken) {
		t.Errorf("a different batch with the same name: %v", err)
	}
	_, err = c.Submit(
		ctx, wire.Batch{Jobs: []wire.Job{job("new", worker.KindSleep, 1), job("bills", worker.KindSleep, 1)}},
	)
	var refused *client.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, "bills") {
		t.Errorf("a job name in use: %v", err)
	}
	if _, err := c.Job(ctx, "new"); !errors.Is(err, client.ErrUnknown) {
		t.Errorf("a job in a refused batch: %v", err)
	}
	_, err = c.Submit(ctx, wire.Batch{Jobs: []wire.Job{job("a.b", worker.KindSleep, 1)}})
	var bad *num.InputError
	if !errors.As(err, &bad) || bad.Path != "jobs[0].name" {
		t.Errorf("an invalid name: %v", err)
	}
}

// A refused batch can be corrected and submitted again under the same name. The response is about
// the new batch, not the old one.
func TestSubmitCorrected(t *testing.T) {
	c, ctx := begin(t, nil)
	submit(
		t, ctx, c, wire.Batch{Jobs: []wire.Job{job("bills", worker.KindSleep, 1), job("letters", worker.KindSleep, 1)}},
	)
	var refused *client.RefusedError
	for _, taken := range []string{"bills", "letters"} {
		_, err := c.Submit(ctx, wire.Batch{
			Name: "monday",
			Jobs: []wire.Job{job("new-"+taken, worker.KindSleep, 1), job(taken, worker.KindSleep, 1)},
		})
		if !errors.As(err, &refused) || !strings.Contains(refused.Why, taken) {
			t.Errorf("with %s, a name in use: %v", taken, err)
		}
	}
	b, err := c.Submit(ctx, wire.Batch{Name: "monday", Jobs: []wire.Job{job("corrected", worker.KindSleep, 1)}})
	if err != nil {
		t.Fatalf("corrected: %v", err)
	}
	if views, err := b.Wait(ctx); err != nil || views[0].State != wire.JobCompleted {
		t.Errorf("%+v, %v", views, err)
	}
}

// Failures are reported separately from results.
func TestFailures(t *testing.T) {
	c, ctx := begin(t, map[string]worker.Handler{"odd": func(ctx context.Context, t wire.Task) ([]byte, error) {
		if t.Number%2 == 1 {
			return nil, errors.New("no luck")
		}
		return doubled(ctx, t)
	}})
	j := job("bills", "odd", 4)
	j.Attempts = 2
	b := submit(t, ctx, c, wire.Batch{Jobs: []wire.Job{j}})
	views, err := b.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if v := views[0]; v.State != wire.JobFailures || v.Failed != 2 {
		t.Errorf("job %+v", v)
	}
	results := 0
	for r, err := range c.Results(ctx, "bills", 0) {
		if err != nil || r.Report.Task%2 == 1 {
			t.Errorf("result %+v, %v", r, err)
		}
		results++
	}
	failures, err := c.Failures(ctx, "bills")
	if err != nil || results != 2 || len(failures) < 4 {
		t.Errorf("%d results, %d failures, %v; want 2, and at least 2 of both tasks", results, len(failures), err)
	}
	for _, f := range failures {
		if f.Task%2 == 0 || f.Reason != "no luck" {
			t.Errorf("failure %+v", f)
		}
	}
}

// Inputs are uploaded once, and large outputs can be read back.
func TestUploadAndOutput(t *testing.T) {
	c, ctx := begin(t, map[string]worker.Handler{"large": func(context.Context, wire.Task) ([]byte, error) {
		return bytes.Repeat([]byte("x"), 1<<20), nil
	}})
	content := []byte("a content")
	first, err := c.Upload(ctx, bytes.NewReader(content))
	if err != nil || first != wire.Digest(content) {
		t.Errorf("digest %s, %v", first, err)
	}
	// a reader that cannot seek
	if again, err := c.Upload(ctx, io.MultiReader(bytes.NewReader(content))); err != nil || again != first {
		t.Errorf("digest %s, %v", again, err)
	}
	var back bytes.Buffer
	if err := c.Download(ctx, first, &back); err != nil || !bytes.Equal(back.Bytes(), content) {
		t.Errorf("content %q, %v", back.Bytes(), err)
	}
	submit(t, ctx, c, wire.Batch{Jobs: []wire.Job{job("large", "large", 2)}})
	for r, err := range c.Results(ctx, "large", 0) {
		if err != nil {
			t.Fatal(err)
		}
		back.Reset()
		if err := c.Output(ctx, &r.Report, &back); err != nil || back.Len() != 1<<20 || r.Report.Digest == "" {
			t.Errorf("output of %d bytes, %v", back.Len(), err)
		}
	}
}

// Jobs can be changed, cancelled and cleared, and workers can be drained. Requests about unknown
// jobs or workers return ErrUnknown.
func TestWishes(t *testing.T) {
	c, ctx := begin(t, map[string]worker.Handler{"wait": func(ctx context.Context, _ wire.Task) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	b := submit(t, ctx, c, wire.Batch{Jobs: []wire.Job{job("endless", "wait", 4)}})
	for _, priority := range []float64{5, 3, 5} {
		if err := c.Change(ctx, "endless", wire.Wish{Priority: &priority}); err != nil {
			t.Fatal(err)
		}
		until(t, "the priority is changed", func() bool {
			v, err := c.Job(ctx, "endless")
			return err == nil && v.Priority == priority
		})
	}
	if err := c.Clear(ctx, "endless"); !errors.Is(err, client.ErrNotDone) {
		t.Errorf("cleared while it runs: %v", err)
	}
	if err := c.Change(ctx, "endless", wire.Wish{}); err == nil {
		t.Error("a change without fields returns no error")
	}
	until(t, "the worker is known", func() bool {
		_, err := c.Worker(ctx, "w-2")
		return err == nil
	})
	if err := c.Drain(ctx, "w-2"); err != nil {
		t.Fatal(err)
	}
	if err := c.Cancel(ctx, "endless"); err != nil {
		t.Fatal(err)
	}
	views, err := b.Wait(ctx)
	if err != nil || views[0].State != wire.JobCancelled {
		t.Errorf("job %+v, %v", views, err)
	}
	nine := 9.0
	if err := c.Change(ctx, "endless", wire.Wish{Priority: &nine}); !errors.Is(err, client.ErrDone) {
		t.Errorf("changed after its end: %v", err)
	}
	until(t, "the worker is gone", func() bool {
		v, err := c.Worker(ctx, "w-2")
		return err == nil && v.State == wire.WorkerGone
	})
	if err := c.Clear(ctx, "endless"); err != nil {
		t.Fatal(err)
	}
	until(t, "the job is forgotten", func() bool {
		_, err := c.Job(ctx, "endless")
		return errors.Is(err, client.ErrUnknown)
	})
	if err := c.Clear(ctx, "endless"); err != nil {
		t.Errorf("cleared again: %v", err)
	}
	for name, err := range map[string]error{
		"Cancel": c.Cancel(ctx, "unknown"),
		"Clear":  c.Clear(ctx, "unknown"),
		"Change": c.Change(ctx, "unknown", wire.Wish{}),
		"Drain":  c.Drain(ctx, "unknown"),
	} {
		if !errors.Is(err, client.ErrUnknown) {
			t.Errorf("%s of an unknown name: %v", name, err)
		}
	}
}

// until polls for a condition.
func until(t testing.TB, what string, isSo func() bool) {
	t.Helper()
	for begun := time.Now(); !isSo(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("timeout waiting until %s", what)
		}
	}
}

// The server restarts while a client waits and while it reads results. Another client, as after a
// restart of the program, finds the job by its name.
func TestServerRestarts(t *testing.T) {
	folder := t.TempDir()
	v, err := server.Start(t.Context(), server.Settings{Store: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { v.Close() }()
	url := v.URL()
	prepare(t, url)
	runManager(t, url)
	begun, end := make(chan struct{}, 2), make(chan struct{})
	background(t, func(ctx context.Context) error {
		return worker.Run(ctx, worker.Settings{Server: url, Name: "w", Slots: 2, Handlers: map[string]worker.Handler{
			"wait": func(context.Context, wire.Task) ([]byte, error) {
				begun <- struct{}{}
				<-end
				return []byte("done"), nil
			},
		}})
	})
	c, ctx := connect(t, url)
	b := submit(t, ctx, c, wire.Batch{Jobs: []wire.Job{job("bills", "wait", 2)}})
	waited, read := make(chan error, 1), make(chan error, 1)
	go func() { _, err := b.Wait(ctx); waited <- err }()
	go func() {
		n := 0
		for _, err := range c.Results(ctx, "bills", 0) {
			if n++; err != nil {
				read <- err
				return
			}
		}
		if n != 2 {
			read <- fmt.Errorf("%d results", n)
			return
		}
		read <- nil
	}()
	<-begun
	<-begun
	v.Close()
	if v, err = server.Start(ctx, server.Settings{
		Store:  folder,
		Listen: strings.TrimPrefix(url, "nats://"),
	}); err != nil {
		t.Fatal(err)
	}
	close(end)
	if err := <-waited; err != nil {
		t.Errorf("wait: %v", err)
	}
	if err := <-read; err != nil {
		t.Errorf("results: %v", err)
	}
	again, ctx := connect(t, url)
	if views, err := again.Wait(ctx, "bills"); err != nil || views[0].State != wire.JobCompleted {
		t.Errorf("another client: %+v, %v", views, err)
	}
}

// prepare creates the streams of a server.
func prepare(t testing.TB, url string) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Prepare(t.Context(), js, server.Layout{}); err != nil {
		t.Fatal(err)
	}
}
