package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

func streams(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(servertest.Connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// A manager that does not know the last plan cannot append.
func TestAppendIsFenced(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	js := streams(t, s)
	p := &wire.Plan{Version: wire.Version, Number: 1, Leader: "a"}
	first, err := appendPlan(t.Context(), js, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range []uint64{0, first + 1} {
		if _, err := appendPlan(t.Context(), js, p, last); !errors.Is(err, errRefused) {
			t.Errorf("append after %d, with %d in the log: %v", last, first, err)
		}
	}
	if _, err := appendPlan(t.Context(), js, p, first); err != nil {
		t.Error(err)
	}
}

// hold starts a test worker that takes one order and then only sends heartbeats, until quiet is
// closed.
func hold(t *testing.T, s *server.Server, name string, quiet <-chan struct{}) (nc *nats.Conn, ordered chan wire.Order) {
	t.Helper()
	nc, err := nats.Connect("", s.InProcess(), nats.Name(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	ordered = make(chan wire.Order, 100)
	if _, err := nc.Subscribe(wire.OrderTo(name), func(m *nats.Msg) {
		if o, err := wire.Decode[wire.Order](m.Data); err == nil && !o.Idle {
			ordered <- *o
		}
	}); err != nil {
		t.Fatal(err)
	}
	go func() {
		beat, err := wire.Encode(&wire.Beat{Version: wire.Version, Worker: name, Process: "p-" + name, Speed: 1})
		for err == nil {
			err = nc.Publish(wire.BeatOf(name), beat)
			select {
			case <-quiet:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return nc, ordered
}

// begin submits a job of one task to a cluster with one worker from hold.
func begin(t *testing.T, s *server.Server, quiet <-chan struct{}) (nc *nats.Conn, b *client.Batch) {
	t.Helper()
	ctx := deadline(t)
	nc, ordered := hold(t, s, "bad", quiet)
	c := connect(t, s)
	for heard := false; !heard; time.Sleep(20 * time.Millisecond) { // otherwise an earlier process might get the task
		workers, err := c.Workers(ctx)
		heard = err == nil && slices.ContainsFunc(workers, func(w wire.WorkerView) bool { return w.Process == "p-bad" })
		if ctx.Err() != nil {
			t.Fatal("no beat arrives")
		}
	}
	b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("j", 1, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-ordered:
	case <-ctx.Done():
		t.Fatal("no order")
	}
	return nc, b
}

// end waits for a job whose first attempt was lost.
func end(t *testing.T, s *server.Server, b *client.Batch) {
	t.Helper()
	runWorkers(t, s, worker.Settings{Name: "good", Beat: 50 * time.Millisecond})
	views, err := b.Wait(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if v := views[0]; v.State != wire.JobCompleted || v.Lost != 1 {
		t.Errorf("%+v", v)
	}
}

// A worker is declared missing as soon as its connection ends; silence alone would take an hour
// here.
func TestKilledWorkerIsFound(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority, LostAfter: time.Hour})
	nc, b := begin(t, s, nil)
	nc.Close()
	end(t, s, b)
}

// A connected but silent worker is declared missing.
func TestSilentWorkerIsFound(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority, LostAfter: time.Second})
	quiet := make(chan struct{})
	_, b := begin(t, s, quiet)
	close(quiet)
	end(t, s, b)
}

// A silent worker is declared missing even if its last beat was a late one of a former process.
func TestSilentWorkerIsFoundAfterLateBeat(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority, LostAfter: time.Second})
	c, ctx := connect(t, s), deadline(t)
	nc, err := nats.Connect("", s.InProcess())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	beat, err := wire.Encode(&wire.Beat{Version: wire.Version, Worker: "bad", Process: "before", Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for joined := false; !joined; time.Sleep(20 * time.Millisecond) {
		if err := errors.Join(nc.Publish(wire.BeatOf("bad"), beat), ctx.Err()); err != nil {
			t.Fatal(err)
		}
		status, err := c.Status(ctx)
		joined = err == nil && len(status.Workers) == 1
	}
	quiet := make(chan struct{})
	_, b := begin(t, s, quiet)
	close(quiet)
	time.Sleep(300 * time.Millisecond) // the last beat was sent
	if err := nc.Publish(wire.BeatOf("bad"), beat); err != nil {
		t.Fatal(err)
	}
	end(t, s, b)
}

// A lost order is sent again.
func TestOrderIsSentAgain(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority})
	_, ordered := hold(t, s, "w", nil)
	ctx := deadline(t)
	if _, err := connect(t, s).Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("j", 1, 0)}}); err != nil {
		t.Fatal(err)
	}
	var first wire.Order
	for k := range 3 {
		select {
		case o := <-ordered:
			if k == 0 {
				first = o
			}
			if o.Token != first.Token || o.Attempt != 1 {
				t.Errorf("order %+v, at first %+v", o, first)
			}
		case <-ctx.Done():
			t.Fatal("the order is not sent again")
		}
	}
}

// A clean stop leaves a snapshot, plans before the last two snapshots are purged, and audit
// continues from there. A cleared job leaves only its tombstone.
func TestSnapshotsAndClear(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	c, ctx, js := connect(t, s), deadline(t), streams(t, s)
	runWorkers(t, s, worker.Settings{Name: "w"})
	for k := range 4 {
		stop := runManager(t, s, Settings{Name: fmt.Sprintf("m%d", k), Rules: byPriority})
		b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers(fmt.Sprintf("job%d", k), 5, 0)}})
		if err == nil {
			_, err = b.Wait(ctx)
		}
		if err == nil && k == 3 {
			err = c.Clear(ctx, "job0")
		}
		if err != nil {
			t.Fatal(err)
		}
		for k == 3 && results(ctx, t, js, "job0") > 0 { // removed after the plan that clears the job
			rest(ctx, 10*time.Millisecond)
		}
		stop()
	}
	store, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		t.Fatal(err)
	}
	list, err := listSnapshots(ctx, store)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d snapshots, want 2; %v", len(list), err)
	}
	plans, err := js.Stream(ctx, wire.PlanStream)
	if err != nil {
		t.Fatal(err)
	}
	if first := plans.CachedInfo().State.FirstSeq; first != sequenceOf(list[1]) {
		t.Errorf("the first plan is at %d, the earlier snapshot at %d", first, sequenceOf(list[1]))
	}
	a, err := Audit(ctx, js)
	if err != nil {
		t.Fatal(err)
	}
	if n := a.Cluster.Counts; n.Finished != 20 || n.Cleared != 1 {
		t.Errorf("audit: %+v", a)
	}
	if n := results(ctx, t, js, "job1"); n != 5 {
		t.Errorf("%d results of a job that was not cleared, want 5", n)
	}
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.GetLastMsgForSubject(ctx, wire.Clear("job0")); err != nil {
		t.Errorf("tombstone: %v", err)
	}
}

// results returns the number of stored results of a job.
func results(ctx context.Context, t *testing.T, js jetstream.JetStream, job string) int {
	t.Helper()
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	info, err := in.Info(ctx, jetstream.WithSubjectFilter(wire.DoneOf(job)))
	if err != nil {
		t.Fatal(err)
	}
	return len(info.State.Subjects)
}

// A server that has lost the end of PFQ_IN, but not the plans about it, reuses the lost sequences.
// The new leader processes the new messages, and so does the next leader, which has folded all
// plans.
func TestServerLosesMessages(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	js, c, ctx := streams(t, s), connect(t, s), deadline(t)
	runWorkers(t, s, worker.Settings{Name: "w", Slots: 2})
	stop := runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	work := func(name string, tasks int) {
		t.Helper()
		b, err := c.Submit(ctx, wire.Batch{Name: name, Jobs: []wire.Job{sleepers(name, tasks, 0)}})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := b.Wait(ctx); err != nil || v[0].State != wire.JobCompleted {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	work("before", 20)
	stop()
	if err := js.DeleteStream(ctx, wire.InStream); err != nil {
		t.Fatal(err)
	}
	if err := server.Prepare(ctx, js, server.Layout{Memory: true}); err != nil {
		t.Fatal(err)
	}
	stop = runManager(t, s, Settings{Name: "m2", Rules: byPriority})
	for status, err := c.Status(ctx); err != nil || status.Cluster.Leader != "m2"; status, err = c.Status(ctx) {
		time.Sleep(10 * time.Millisecond)
	}
	runManager(t, s, Settings{Name: "m3", Rules: byPriority})
	work("after", 3)
	stop()
	work("later", 3)
	if n := results(ctx, t, js, "after") + results(ctx, t, js, "later"); n != 6 {
		t.Errorf("%d results, want 6", n)
	}
}

// Invalid messages on every subject are counted, and the manager continues.
func TestJunk(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority})
	nc, js := servertest.Connect(t, s), streams(t, s)
	ctx := deadline(t)
	for k, junk := range []string{"", "{", `{"v": 9}`, "\xff", `{"v":1,"name":"b","jobs":[{"name":"j","tasks":-1}]}`} {
		for _, subject := range []string{
			wire.Submit(fmt.Sprintf("b%d", k)), wire.Done("j", k), wire.Clear(fmt.Sprintf("j%d", k)),
			"pfq.in.other." + fmt.Sprint(k),
		} {
			if _, err := js.Publish(ctx, subject, []byte(junk)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(nc.Publish(wire.BeatOf("w"), []byte(junk)), nc.Publish(wire.AssignService, []byte(junk)),
			nc.Publish("$SYS.ACCOUNT.PFQ.DISCONNECT", []byte(junk))); err != nil {
			t.Fatal(err)
		}
	}
	runWorkers(t, s, worker.Settings{Name: "w"})
	c := connect(t, s)
	b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("good", 3, 0)}})
	if err == nil {
		_, err = b.Wait(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, err := c.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if status.Cluster.Counts.Refused < 20 || status.Malformed < 19 { // one is a request about a missing job
		t.Errorf("%d refused, %d malformed of 20 messages", status.Cluster.Counts.Refused, status.Malformed)
	}
	var refused *client.RefusedError
	if _, err := c.Submit(ctx, wire.Batch{
		Name: "again",
		Jobs: []wire.Job{sleepers("good", 1, 0)},
	}); !errors.As(err, &refused) {
		t.Errorf("a name used twice: %v", err)
	}
}

// The services return the state of the book.
func TestServices(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	runManager(t, s, Settings{Name: "m", Rules: byPriority})
	runWorkers(t, s, worker.Settings{Name: "w", Slots: 2})
	c, nc, ctx := connect(t, s), servertest.Connect(t, s), deadline(t)
	b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("j", 10, 0.01)}})
	if err == nil {
		_, err = b.Wait(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	var h wire.History
	if err := ask(ctx, nc, wire.HistoryService, "j", &h); err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, span := range h.Spans {
		if span.To == nil || span.How != "finished" || span.Job != "j" || *span.To < span.From {
			t.Errorf("%+v", span)
		}
		held++
	}
	if last := h.Curve[len(h.Curve)-1]; held != 10 || last.Hand != 0 || len(h.Decisions) == 0 {
		t.Errorf("%d spans, last point %+v, %d decisions", held, last, len(h.Decisions))
	}
	var r struct{ Tasks int }
	if err := ask(ctx, nc, wire.ReportService, "", &r); err != nil || r.Tasks != 10 {
		t.Errorf("report %+v, %v", r, err)
	}
	q := wire.Assignment{
		Policy: "edf",
		Speeds: []float64{1},
		Jobs:   []wire.AskedJob{{Name: "a", Tasks: 1, Deadline: 9}, {Name: "b", Tasks: 1, Deadline: 5}},
	}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(ctx, nc, wire.AssignService, string(text), &q); err != nil || len(q.Workers) != 1 ||
		*q.Workers[0] != "b" {
		t.Errorf("assignment %+v, %v", q, err)
	}
}

func ask(ctx context.Context, nc *nats.Conn, service, question string, answer any) error {
	m, err := nc.RequestWithContext(ctx, service, []byte(question))
	if err != nil {
		return err
	}
	return json.Unmarshal(m.Data, answer)
}
