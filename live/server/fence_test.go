package server_test

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"productform/live/keys"
	"productform/live/server"
	"productform/live/wire"
)

// A restarted is a server with a folder that can be restarted at the same address.
type restarted struct {
	set server.Settings
	now *server.Server
}

func start(t *testing.T, set server.Settings) *restarted {
	t.Helper()
	s, err := server.Start(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	set.Listen = strings.TrimPrefix(s.URL(), "nats://")
	r := &restarted{set, s}
	t.Cleanup(func() { r.now.Close() })
	if err := server.Prepare(context.Background(), r.connect(t), server.Layout{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *restarted) connect(t *testing.T) jetstream.JetStream {
	t.Helper()
	nc, err := keys.Connect(context.Background(), "nats://"+r.set.Listen, "test")
	if err != nil {
		if nc, err = keys.Connect(context.Background(), r.now.URL(), "test"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(nc.Close)
	return stream(t, nc)
}

func (r *restarted) restart(t *testing.T) {
	t.Helper()
	r.now.Close()
	var err error
	if r.now, err = server.Start(context.Background(), r.set); err != nil {
		t.Fatal(err)
	}
}

// readAll reads a stream from the start.
func readAll(ctx context.Context, t *testing.T, js jetstream.JetStream, name string) (list []*wire.Stored) {
	t.Helper()
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, name, ">", from, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return list
		}
		list, from = append(list, page...), next
	}
}

// Two managers, each believing that it leads, append plans by compare-and-set while the server
// restarts. Each acknowledged plan is in the log at its sequence, and each plan was made with
// knowledge of all plans before it.
func TestFence(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*waitLimit)
	defer cancel()
	s := start(t, server.Settings{Store: t.TempDir(), Sync: time.Minute})
	const plans = 300
	var (
		writers       sync.WaitGroup
		appended      atomic.Int64
		mu            sync.Mutex
		acknowledged  = map[uint64]string{}
		refused, lost atomic.Int64
	)
	for who := range 2 {
		js := s.connect(t)
		writers.Go(func() {
			last, rng := uint64(0), rand.New(rand.NewPCG(1, uint64(who)))
			for n := 0; (appended.Load() < plans || refused.Load() == 0) && ctx.Err() == nil; n++ {
				text := fmt.Sprintf("%d of %d after %d", n, who, last)
				try, cancel := context.WithTimeout(ctx, time.Second)
				ack, err := js.Publish(
					try, wire.PlanSubject, []byte(text), jetstream.WithExpectLastSequencePerSubject(last),
					jetstream.WithRetryAttempts(0),
				)
				cancel()
				var api *jetstream.APIError
				switch {
				case err == nil:
					mu.Lock()
					acknowledged[ack.Sequence] = text
					mu.Unlock()
					appended.Add(1)
					last = ack.Sequence
					continue
				case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
					refused.Add(1)
				case wire.IsAway(err):
					lost.Add(1)
				default:
					t.Error(err)
					return
				}
				if rng.IntN(4) > 0 { // otherwise it still believes that it leads, and must do no harm
					if m, err := wire.LastMessage(ctx, js, wire.PlanStream, wire.PlanSubject); err == nil {
						last = m.Sequence
					} else if !errors.Is(err, wire.ErrNotFound) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for appended.Load() < plans/2 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	s.restart(t)
	writers.Wait()

	log := readAll(ctx, t, s.connect(t), wire.PlanStream)
	found := 0
	for i, m := range log {
		if m.Sequence != uint64(i+1) || !strings.HasSuffix(string(m.Data), fmt.Sprintf(" after %d", i)) {
			t.Fatalf("plan %d: %d %s", i+1, m.Sequence, m.Data)
		}
		if text, ok := acknowledged[m.Sequence]; ok {
			found++
			if text != string(m.Data) {
				t.Errorf("plan %d is %q, but %q was acknowledged", i+1, m.Data, text)
			}
		}
	}
	if found != len(acknowledged) || found < plans {
		t.Errorf("%d plans were acknowledged, %d of them are in the log", len(acknowledged), found)
	}
	if refused.Load() == 0 {
		t.Error("no append was rejected, so this test shows nothing")
	}
}

// Four workers report each of 5,000 tasks, each in its own order, while the server restarts. Each
// task has one result. If the server acknowledged a worker's report as the first, the result is
// that report.
func TestWriteOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*waitLimit)
	defer cancel()
	s := start(t, server.Settings{Store: t.TempDir(), Sync: time.Minute})
	const tasks, workers, lanes = 5000, 4, 4
	var (
		done    sync.WaitGroup
		first   [tasks]atomic.Int32 // 1 + worker
		reports atomic.Int64
	)
	for w := range workers {
		js := s.connect(t)
		order := rand.New(rand.NewPCG(2, uint64(w))).Perm(tasks)
		for lane := range lanes {
			done.Go(func() {
				for i := lane; i < tasks; i += lanes {
					task := order[i]
					wrote, err := wire.WriteOnce(ctx, js, wire.Done("j", task), fmt.Appendf(nil, "worker %d", w))
					if err != nil {
						t.Errorf("task %d: %v", task, err)
						return
					}
					if wrote && !first[task].CompareAndSwap(0, int32(1+w)) {
						t.Errorf("task %d was accepted twice", task)
					}
					reports.Add(1)
				}
			})
		}
	}
	for reports.Load() < tasks*workers/4 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	s.restart(t)
	done.Wait()

	seen, unknown := map[string]bool{}, 0
	list := readAll(ctx, t, s.connect(t), wire.InStream)
	for _, m := range list {
		var task int
		if _, err := fmt.Sscanf(m.Subject, "pfq.in.done.j.%d", &task); err != nil || seen[m.Subject] {
			t.Fatalf("%s: %v", m.Subject, err)
		}
		seen[m.Subject] = true
		if w := first[task].Load(); w == 0 {
			unknown++ // its acknowledgement was lost when the server stopped
		} else if string(m.Data) != fmt.Sprintf("worker %d", w-1) {
			t.Errorf("task %d is from %s, but the report of worker %d was acknowledged", task, m.Data, w-1)
		}
	}
	if len(list) != tasks || unknown > workers*lanes {
		t.Errorf("%d results, %d without an acknowledgement", len(list), unknown)
	}
}

// A store at its limit rejects results and submissions, but neither plans nor user requests. It
// keeps everything acknowledged, also after a restart, and accepts more once there is room.
func TestFull(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	s := start(t, server.Settings{Store: t.TempDir(), Sync: time.Minute, MaxStore: 1 << 20})
	js := s.connect(t)
	data := make([]byte, 100_000)
	kept := 0
	for ; ; kept++ {
		wrote, err := wire.WriteOnce(ctx, js, wire.Done("a", kept), data)
		if errors.Is(err, wire.ErrFull) {
			break
		}
		if !wrote || err != nil {
			t.Fatal(kept, wrote, err)
		}
	}
	for try := range 2 {
		if _, err := js.Publish(ctx, wire.PlanSubject, data); err != nil {
			t.Errorf("a plan: %v", err)
		}
		wish, err := wire.Encode(&wire.Wish{Version: wire.Version})
		if err != nil {
			t.Fatal(err)
		}
		if wrote, err := wire.WriteOnce(ctx, js, wire.Clear("a"+strconv.Itoa(try)), wish); !wrote || err != nil {
			t.Error("a request:", wrote, err)
		}
		report := &wire.Report{Version: wire.Version, Job: "b", Attempt: 1, Worker: "w", Token: crand.Text()}
		short, err := wire.Encode(report)
		if err != nil {
			t.Fatal(err)
		}
		for !errors.Is(err, wire.ErrFull) { // a server that has just started needs a moment to close its streams
			if _, err = wire.WriteOnce(ctx, js, wire.Done("b", 0), short); err != nil && !errors.Is(err, wire.ErrFull) {
				t.Fatal("the shortest report:", err)
			}
		}
		for err = nil; err == nil; { // one stream closes before the other
			_, _, err = wire.PutContent(ctx, js, strings.NewReader(crand.Text()))
		}
		if !errors.Is(err, wire.ErrFull) {
			t.Error("an input:", err)
		}
		if try == 0 {
			s.restart(t)
			js = s.connect(t)
			if err := server.Prepare(ctx, js, server.Layout{}); err != nil {
				t.Error(err)
			}
		}
	}
	results := func() (n int) {
		for _, m := range readAll(ctx, t, js, wire.InStream) {
			if strings.HasPrefix(m.Subject, "pfq.in.done.a.") {
				n++
			}
		}
		return n
	}
	if n := results(); n != kept {
		t.Errorf("%d of %d results are there", n, kept)
	}
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kept - 1 {
		if err := in.Purge(ctx, jetstream.WithPurgeSubject(wire.Done("a", i))); err != nil {
			t.Fatal(err)
		}
	}
	for {
		wrote, err := wire.WriteOnce(ctx, js, wire.Done("a", 0), data)
		if wrote {
			break
		}
		if !errors.Is(err, wire.ErrFull) {
			t.Fatal(wrote, err)
		}
	}
	if n := results(); n != 2 {
		t.Errorf("%d of 2 results are there, want 2", n)
	}
}
