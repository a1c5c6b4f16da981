package server_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"productform/live/internal/servertest"
	"productform/live/keys"
	"productform/live/wire"
)

// waitLimit is the time limit for events that should happen immediately.
const waitLimit = 10 * time.Second

// next returns the next message of a subscription.
func next(t *testing.T, s *nats.Subscription) string {
	t.Helper()
	m, err := s.NextMsg(waitLimit)
	if err != nil {
		t.Fatal(s.Subject, err)
	}
	return string(m.Data)
}

func hear(t *testing.T, nc *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	s, err := nc.SubscribeSync(subject)
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func say(t *testing.T, nc *nats.Conn, subject, text string) {
	t.Helper()
	if err := nc.Publish(subject, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// The roles can do their work: a job goes from the client to a worker and back, and a monitor
// watches.
func TestRolesDoTheirWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	g := guard(t)
	manager, client, monitor, worker := g.connect(t, "manager"), g.connect(t, "client"),
		g.connect(t, "monitor"), g.connect(t, "w7")
	once := func(nc *nats.Conn, subject string, text string) {
		t.Helper()
		if wrote, err := wire.WriteOnce(ctx, stream(t, nc), subject, []byte(text)); !wrote || err != nil {
			t.Fatal(subject, wrote, err)
		}
	}
	same := func(got, want string) {
		t.Helper()
		if got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}

	// The client uploads an input and submits a batch.
	input := bytes.Repeat([]byte("input "), 200_000)
	digest, _, err := wire.PutContent(ctx, stream(t, client), bytes.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	once(client, wire.Submit("b"), "batch")

	// The manager reads it with a consumer, decides, and sends orders.
	consumer, err := stream(t, manager).OrderedConsumer(ctx, wire.InStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := consumer.Next()
	if err != nil {
		t.Fatal(err)
	}
	same(string(m.Data()), "batch")
	if _, err := stream(t, manager).Publish(
		ctx, wire.PlanSubject, []byte("plan"), jetstream.WithExpectLastSequencePerSubject(0),
	); err != nil {
		t.Fatal(err)
	}
	orders, news, beats := hear(t, worker, wire.OrderTo("w7")), hear(t, client, wire.News("j")),
		hear(t, manager, wire.BeatSubject)
	say(t, manager, wire.OrderTo("w7"), "order")
	say(t, manager, wire.News("j"), "news")

	// The worker receives the order, sends a beat, reads inputs, and reports.
	same(next(t, orders), "order")
	same(next(t, news), "news")
	say(t, worker, wire.BeatOf("w7"), "beat")
	same(next(t, beats), "beat")
	if m, err := wire.LastMessage(ctx, stream(t, worker), wire.InStream, wire.Submit("b")); err != nil ||
		string(m.Data) != "batch" {
		t.Fatal(m, err)
	}
	var read bytes.Buffer
	if err := wire.GetContent(ctx, stream(t, worker), digest, &read); err != nil || !bytes.Equal(read.Bytes(), input) {
		t.Fatal(err)
	}
	if _, _, err := wire.PutContent(ctx, stream(t, worker), strings.NewReader("large result")); err != nil {
		t.Fatal(err)
	}
	once(worker, wire.Done("j", 0), "result")
	once(worker, wire.Failed("j", 1, 1), "failure")

	// The manager writes a view and a snapshot, and answers a request.
	views, err := stream(t, manager).KeyValue(ctx, wire.JobsBucket)
	if err == nil {
		_, err = views.Put(ctx, "j", []byte("view"))
	}
	if err != nil {
		t.Fatal(err)
	}
	objects, err := stream(t, manager).ObjectStore(ctx, wire.SnapshotStore)
	if err == nil {
		_, err = objects.PutBytes(ctx, "s", input)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := objects.GetBytes(ctx, "s"); err != nil || !bytes.Equal(got, input) {
		t.Fatal(err)
	}
	lease, err := stream(t, manager).KeyValue(ctx, wire.LeaderBucket)
	if err == nil {
		_, err = lease.Create(ctx, "leader", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manager.Subscribe(
		wire.StatusService, func(m *nats.Msg) { _ = m.Respond([]byte("status")) },
	); err != nil ||
		manager.Flush() != nil {
		t.Fatal(err)
	}

	// Client and monitor read results, plans and views, and send requests.
	for _, nc := range []*nats.Conn{client, monitor} {
		list, _, err := wire.NextMessages(ctx, stream(t, nc), wire.InStream, "pfq.in.done.j.>", 1, 10)
		if err != nil || len(list) != 1 || string(list[0].Data) != "result" {
			t.Fatal(list, err)
		}
		if m, err := wire.LastMessage(ctx, stream(t, nc), "KV_"+
			wire.JobsBucket, "$KV."+wire.JobsBucket+".j"); err != nil || string(m.Data) != "view" {
			t.Fatal(m, err)
		}
		all, _, err := wire.NextMessages(ctx, stream(t, nc), "KV_"+wire.JobsBucket, "$KV."+wire.JobsBucket+".>", 1, 10)
		if err != nil || len(all) != 1 || string(all[0].Data) != "view" {
			t.Fatal(all, err)
		}
		if m, err := nc.RequestWithContext(ctx, wire.StatusService, nil); err != nil || string(m.Data) != "status" {
			t.Fatal(m, err)
		}
	}
	plans, _, err := wire.NextMessages(ctx, stream(t, monitor), wire.PlanStream, wire.PlanSubject, 1, 10)
	if err != nil || len(plans) != 1 {
		t.Fatal(plans, err)
	}
	once(client, wire.Clear("j"), "")

	// The manager purges cleared data, and the subjects can be written again.
	in, err := stream(t, manager).Stream(ctx, wire.InStream)
	if err == nil {
		err = in.Purge(ctx, jetstream.WithPurgeSubject("pfq.in.done.j.>"))
	}
	if err != nil {
		t.Fatal(err)
	}
	once(worker, wire.Done("j", 0), "late")
}

// A stray is a request whose response should go to a subject that the sender may not write.
type stray struct{ subject, request string }

var strays = []stray{
	{wire.Done("x", 1), "report"},
	{"$JS.API.DIRECT.GET.PFQ_BLOB." + wire.Blob("forged", 0), ""},
	{"$JS.API.DIRECT.GET.PFQ_BLOB." + wire.Blob("forged", 0), `{"no_hdr":true}`},
	{"$JS.API.DIRECT.GET.PFQ_IN", `{"last_by_subj":"pfq.in.done.x.1","no_hdr":true}`},
	{"$JS.API.DIRECT.GET.PFQ_IN", `{"seq":1,"next_by_subj":"pfq.in.>","batch":5,"no_hdr":true}`},
	{wire.StatusService, "forged"},
}

// The server writes the response to a request to any subject that the request names, past the
// permissions of the requester. On a server with keys, the response stays in the account of the
// requester. A server without keys shows that the attack works there.
func TestResponsesStayInAccount(t *testing.T) {
	t.Run("with keys", func(t *testing.T) {
		g := guard(t)
		reached := strayed(t, g.connect(t, "manager"), g.connect(t, "w8"), g.connect(t, "w7"), g.connect(t, "client"))
		for target, n := range reached {
			if n != 0 {
				t.Errorf("%d responses reached %s", n, target)
			}
		}
	})
	t.Run("without keys", func(t *testing.T) {
		s := servertest.Start(t)
		reached := strayed(t, servertest.Connect(t, s), servertest.Connect(t, s), servertest.Connect(t, s))
		for target, n := range reached {
			if n == 0 {
				t.Errorf("no response reached %s, so this test shows nothing", target)
			}
		}
	})
}

// strayed lets attackers send all strays for all targets, and counts the responses that reached
// each target. The manager's own requests do reach the targets; it sends two at the end, and once
// their responses are there, all are.
func strayed(t *testing.T, manager, victim *nats.Conn, attackers ...*nats.Conn) (reached map[string]int) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	once := func(nc *nats.Conn, subject, text string) {
		if _, err := wire.WriteOnce(ctx, stream(t, nc), subject, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	once(attackers[0], wire.Done("x", 1), "forged")
	once(attackers[0], wire.Blob("forged", 0), "forged")
	if _, err := manager.Subscribe(wire.StatusService, func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	heard := map[string]*nats.Subscription{
		wire.OrderTo("w8"): hear(t, victim, wire.OrderTo("w8")), wire.BeatOf("w8"): hear(t, manager, wire.BeatSubject),
		"_INBOX_manager.x": hear(t, manager, "_INBOX_manager.x"),
	}
	kept := map[string]string{
		wire.PlanSubject:        wire.PlanStream,
		"$KV.pfq_jobs.j":        "KV_pfq_jobs",
		"$KV.pfq_leader.leader": "KV_pfq_leader",
	}
	targets := slices.Concat(slices.Collect(maps.Keys(heard)), slices.Collect(maps.Keys(kept)))

	for i, nc := range attackers {
		for _, a := range strays {
			for _, target := range targets {
				if err := nc.PublishRequest(a.subject, target, []byte(a.request)); err != nil {
					t.Fatal(err)
				}
			}
		}
		// The responses to these requests come after those to the strays, unless the key may not
		// send them.
		for _, a := range []stray{{wire.Done("x", 2+i), ""}, {wire.StatusService, ""}} {
			if _, err := nc.Request(a.subject, nil, 500*time.Millisecond); err != nil &&
				!errors.Is(err, nats.ErrTimeout) {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	once(attackers[0], wire.Blob("forged", 1), "last")
	once(manager, wire.ScriptSubject, "last")
	for _, target := range targets {
		for _, last := range []string{
			"$JS.API.DIRECT.GET.PFQ_IN." + wire.ScriptSubject, "$JS.API.DIRECT.GET.PFQ_BLOB." + wire.Blob("forged", 1),
		} {
			if err := manager.PublishRequest(last, target, []byte(`{"no_hdr":true}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	reached = map[string]int{}
	for target, s := range heard {
		for last := 0; last < 2; reached[target]++ {
			m, err := s.NextMsg(waitLimit)
			if err != nil {
				t.Fatal(target, err)
			}
			if string(m.Data) == "last" {
				last++
			}
		}
		reached[target] -= 2
	}
	for target, name := range kept {
		s, err := stream(t, manager).Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		for {
			info, err := s.Info(ctx)
			if err != nil {
				t.Fatal(target, reached, err)
			}
			if reached[target] = int(info.State.LastSeq) - 2; reached[target] >= 0 {
				break
			}
		}
	}
	return reached
}

// A manager learns which worker disconnected, even if the worker uses another name.
func TestLeft(t *testing.T) {
	g := guard(t)
	gone := hear(t, g.connect(t, "manager"), keys.Gone)
	g.connect(t, "w7", nats.Name("w8")).Close()
	if name, ok := keys.Left([]byte(next(t, gone))); name != "w7" || !ok {
		t.Error(name, ok)
	}
	s := servertest.Start(t)
	gone = hear(t, servertest.Connect(t, s), keys.Gone)
	nc, err := keys.Connect(context.Background(), "nats://in.process", "w7", s.InProcess())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	if name, ok := keys.Left([]byte(next(t, gone))); name != "w7" || !ok {
		t.Error(name, ok)
	}
}
