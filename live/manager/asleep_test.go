package manager

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/live/worker"
)

// A manager that was suspended does not replace views of later plans, whether it has written those
// views before or not.
func TestViewsOfLaterPlansStay(t *testing.T) {
	t.Parallel()
	js := streams(t, servertest.Start(t))
	ctx, k := deadline(t), key{wire.JobsBucket, "j"}
	viewers := map[string]*viewer{}
	for _, name := range []string{"asleep", "leads", "other"} {
		viewers[name] = &viewer{js: js, log: testLog(t), sequences: map[key]uint64{}, next: map[key]view{}}
	}
	for i, step := range []struct {
		who   string
		write view
		want  string
	}{
		{"asleep", view{3, []byte("three")}, "3 three"},
		{"leads", view{9, []byte("nine")}, "9 nine"},
		{"asleep", view{4, []byte("four")}, "9 nine"},
		{"other", view{5, []byte("five")}, "9 nine"},
		{"leads", view{9, []byte("nine again")}, "9 nine again"},
		{"leads", view{10, nil}, "10 "},
		{"asleep", view{5, []byte("five")}, "10 "},
		{"leads", view{11, []byte("eleven")}, "11 eleven"},
	} {
		v := viewers[step.who]
		if err := v.write(ctx, k, step.write); err != nil { // its sequence of the view was outdated
			if err := v.write(ctx, k, step.write); err != nil {
				t.Fatal(i, err)
			}
		}
		m, err := wire.LastMessage(ctx, js, "KV_"+wire.JobsBucket, "$KV."+wire.JobsBucket+".j")
		if err != nil {
			t.Fatal(i, err)
		}
		if got := m.Header.Get(planField) + " " + string(m.Data); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		if (m.Header.Get("KV-Operation") != "") != strings.HasSuffix(step.want, " ") {
			t.Errorf("step %d: header %v", i, m.Header)
		}
	}
}

// A manager that was suspended removes no message that it has not processed.
func TestRemovalsFollowPlans(t *testing.T) {
	t.Parallel()
	js := streams(t, servertest.Start(t))
	ctx := deadline(t)
	for task := range 4 {
		if _, err := wire.WriteOnce(ctx, js, wire.Done("j", task), []byte("report")); err != nil {
			t.Fatal(err)
		}
	}
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		removal wire.Removal
		upto    uint64
		left    []uint64
	}{
		{wire.Removal{Sequence: 2}, 3, []uint64{1, 3, 4}},
		{wire.Removal{Job: "j"}, 3, []uint64{4}},
		{wire.Removal{Job: "j"}, 3, []uint64{4}},
		{wire.Removal{Job: "j"}, 4, nil},
	} {
		if err := purge(ctx, in, step.removal, step.upto); err != nil {
			t.Fatal(err)
		}
		list, _, err := wire.NextMessages(ctx, js, wire.InStream, ">", 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		var left []uint64
		for _, m := range list {
			left = append(left, m.Sequence)
		}
		if !slices.Equal(left, step.left) {
			t.Errorf("%+v up to %d: %v are left, want %v", step.removal, step.upto, left, step.left)
		}
	}
}

// A manager restarts reading when messages are no longer delivered although the server sends
// heartbeats.
func TestStalledMessages(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority})
	runWorkers(t, s, worker.Settings{Name: "w"})
	c, ctx, js := connect(t, s), deadline(t), streams(t, s)
	for _, job := range []string{"before", "after"} {
		if job == "after" {
			pauseConsumers(ctx, t, js, wire.InStream)
		}
		if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers(job, 1, 0)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(ctx, job); err != nil {
			t.Fatal(err)
		}
	}
}

// A report without the valid token takes the subject of the worker's report. The manager removes it
// without blaming any worker, and the worker reports again.
func TestForgedReport(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	c, ctx, js := connect(t, s), deadline(t), streams(t, s)
	begun, end := make(chan wire.Task, 9), make(chan struct{})
	runWorkers(t, s, worker.Settings{Name: "w", Slots: 2, Handlers: map[string]worker.Handler{
		"wait": func(_ context.Context, t wire.Task) ([]byte, error) {
			begun <- t
			<-end
			return []byte("true"), nil
		},
	}})
	stop := runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	job := wire.Job{Name: "j", Tasks: 1, Work: 1, Run: wire.Run{Kind: "wait"}}
	if _, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{job}}); err != nil {
		t.Fatal(err)
	}
	task := <-begun
	stop()
	forged, err := wire.Encode(&wire.Report{
		Version: wire.Version,
		Job:     "j",
		Attempt: task.Attempt,
		Worker:  task.Worker,
		Token:   "guessed",
		Output:  []byte("false"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if wrote, err := wire.WriteOnce(ctx, js, wire.Done("j", 0), forged); !wrote || err != nil {
		t.Fatal(wrote, err)
	}
	close(end) // the server tells the worker that there already is a report
	rest(ctx, 100*time.Millisecond)
	runManager(t, s, Settings{Name: "m2", Rules: byPriority})
	if views, err := c.Wait(ctx, "j"); err != nil || views[0].State != wire.JobCompleted || views[0].Lost != 0 {
		t.Errorf("%+v, %v", views, err)
	}
	for r, err := range c.Results(ctx, "j", 0) {
		if err != nil || string(r.Report.Output) != "true" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if len(begun) > 0 {
		t.Error("the task was run again")
	}
	if n := refusals(ctx, t, c); n == 0 {
		t.Error("nothing was refused")
	}
}

// refusals returns the number of refused messages.
func refusals(ctx context.Context, t *testing.T, c *client.Client) int {
	t.Helper()
	status, err := c.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return status.Cluster.Counts.Refused
}

// pauseConsumers makes the server stop delivering a stream to its current readers.
func pauseConsumers(ctx context.Context, t *testing.T, js jetstream.JetStream, stream string) {
	t.Helper()
	from, err := js.Stream(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	list := from.ConsumerNames(ctx)
	paused := 0
	for name := range list.Name() {
		if _, err := from.PauseConsumer(ctx, name, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		paused++
	}
	if err := list.Err(); err != nil || paused == 0 {
		t.Fatal(paused, err)
	}
}
