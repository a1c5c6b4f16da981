package client_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// copies answers direct requests like the servers of a cluster in turn: every other one is behind
// and lacks recent messages.
type copies struct {
	mu    sync.Mutex
	asked map[string]int               // number of requests by subject
	known map[string][]byte            // last messages
	next  map[uint64]map[string][]byte // by subject: candidates for the next message, of which one is returned
}

// answer responds to a request.
func (c *copies) answer(m *nats.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	question := m.Subject + string(m.Data)
	c.asked[question]++
	isBehind := c.asked[question]%2 == 1
	_, subject, isLast := strings.Cut(strings.TrimPrefix(m.Subject, "$JS.API.DIRECT.GET."), ".")
	reply := nats.NewMsg(m.Reply)
	found := func(sequence uint64, subject string, data []byte) *nats.Msg {
		reply := nats.NewMsg(m.Reply)
		reply.Header.Set(jetstream.SequenceHeader, fmt.Sprint(sequence))
		reply.Header.Set(jetstream.SubjectHeader, subject)
		reply.Header.Set(jetstream.TimeStampHeaer, time.Now().Format(time.RFC3339Nano))
		reply.Data = data
		return reply
	}
	switch data, ok := c.known[subject]; {
	case isLast && ok && !isBehind:
		reply = found(1, subject, data)
	case isLast || isBehind:
		reply.Header.Set("Status", "404")
	default:
		var q struct {
			From uint64 `json:"seq"`
		}
		_ = json.Unmarshal(m.Data, &q) // this program made it
		for subject, data := range c.next[q.From] {
			_ = m.RespondMsg(found(q.From, subject, data))
		}
		reply.Header.Set("Status", "204")
		if c.next[q.From] == nil {
			reply.Header.Set("Status", "404")
		}
	}
	_ = m.RespondMsg(reply)
}

func encoded(t *testing.T, m wire.Message) []byte {
	t.Helper()
	data, err := wire.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A cluster answers reads from copies that may be behind. The client repeats the requests for
// messages that were already written.
func TestStaleCopies(t *testing.T) {
	s, err := natsserver.NewServer(&natsserver.Options{DontListen: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	batch := wire.Batch{Version: wire.Version, Name: "b", Jobs: []wire.Job{job("j", "double", 3)}}
	report := func(task int) []byte {
		return encoded(t, &wire.Report{
			Version: wire.Version,
			Job:     "j",
			Task:    task,
			Attempt: 1 + task,
			Worker:  "w",
			Token:   "t",
		})
	}
	end := 9.0
	c := &copies{
		asked: map[string]int{},
		known: map[string][]byte{
			wire.Submit("b"):    encoded(t, &batch),
			"$KV.pfq_batches.b": encoded(t, &wire.BatchView{Version: wire.Version, Name: "b", Jobs: []string{"j"}}),
			"$KV.pfq_jobs.j": encoded(t, &wire.JobView{
				Version: wire.Version,
				Name:    "j",
				Batch:   "b",
				State:   wire.JobFailures,
				Tasks:   3,
				Failed:  1,
				Finish:  &end,
			}),
		},
		next: map[uint64]map[string][]byte{1: {wire.Done("j", 0): report(0)}, 2: {wire.Done("j", 2): report(2)}},
	}
	for subject, answer := range map[string]nats.MsgHandler{
		"$JS.API.DIRECT.GET.>": c.answer,
		"pfq.in.>": func(m *nats.Msg) { // the message exists already
			_ = m.Respond(
				[]byte(`{"error": {"code": 400, "err_code": 10071, "description": "wrong last sequence: 1"}}`),
			)
		},
	} {
		if _, err := nc.Subscribe(subject, answer); err != nil {
			t.Fatal(err)
		}
	}
	user, ctx := connect(t, inProcess, nats.InProcessServer(s))
	b, err := user.Submit(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	if views, err := b.Wait(ctx); err != nil || views[0].State != wire.JobFailures {
		t.Errorf("%+v, %v", views, err)
	}
	for after, want := range map[uint64]string{0: "[0 2]", 1: "[2]", 2: "[]"} {
		tasks := []int{}
		for r, err := range user.Results(ctx, "j", after) {
			if err != nil {
				t.Fatal(err)
			}
			tasks = append(tasks, r.Report.Task)
		}
		if fmt.Sprint(tasks) != want {
			t.Errorf("results after %d of tasks %v, want %s", after, tasks, want)
		}
	}
}
