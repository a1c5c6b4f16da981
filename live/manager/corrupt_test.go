package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/client"
	"productform/live/internal/servertest"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// say returns the output of a task of kind say. Every fifth output is so large that it is stored as
// content under its digest.
func say(job string, task int) []byte {
	text := []byte(fmt.Sprintf("%s %d", job, task))
	if task%5 == 0 {
		return bytes.Repeat(text, 70_000/len(text)+1)
	}
	return text
}

var sayHandlers = map[string]worker.Handler{"say": func(ctx context.Context, t wire.Task) ([]byte, error) {
	rest(ctx, time.Duration(t.Work*1e9))
	return say(t.Job, t.Number), ctx.Err()
}}

// A savedStore is a copy of the store of a server, killed or running.
type savedStore struct {
	name    string
	folder  string
	results map[string][]byte // recorded by the plans, by subject
	jobs    map[string]int    // number of tasks of accepted jobs
}

// onDisk starts a server with a store on disk.
func onDisk(t *testing.T, folder string) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), server.Settings{Store: folder, NoListen: true, Sync: 2 * time.Minute,
		MaxStore: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := server.Prepare(deadline(t), streams(t, s), server.Layout{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// copyStore copies the store of a server that may be running. Files may change and disappear in the
// meantime.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		part, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, part), 0o700)
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, part), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// kept returns the results in PFQ_IN by subject.
func kept(ctx context.Context, t *testing.T, js jetstream.JetStream) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for from := uint64(1); ; {
		page, next, err := wire.NextMessages(ctx, js, wire.InStream, "pfq.in.done.>", from, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		for _, m := range page {
			all[m.Subject] = m.Data
		}
		from = next
	}
}

// saveStores runs jobs and saves the store: while they run, after they end, with and without a
// snapshot, and while more jobs run.
func saveStores(t *testing.T) (saved []savedStore) {
	ctx, folder := deadline(t), t.TempDir()
	s := onDisk(t, folder)
	js, c := streams(t, s), connect(t, s)
	stop := runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	runWorkers(t, s, worker.Settings{Name: "w", Slots: 3, Handlers: sayHandlers, Beat: 50 * time.Millisecond})
	jobs := map[string]int{}
	submit := func(work float64, names ...string) *client.Batch {
		batch := wire.Batch{}
		for _, name := range names {
			batch.Jobs = append(batch.Jobs, wire.Job{Name: name, Tasks: 20, Work: work, Run: wire.Run{Kind: "say"}})
		}
		b, err := c.Submit(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			jobs[name] = 20
		}
		return b
	}
	save := func(name string) {
		// The copy contains everything that exists now. The plans record it once no more are made.
		known := map[string][]byte{}
		status, err := c.Status(ctx)
		for ; err != nil; status, err = c.Status(ctx) {
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
		for subject, data := range kept(ctx, t, js) {
			if m, err := wire.LastMessage(ctx, js, wire.InStream, subject); err == nil &&
				m.Sequence <= status.Cluster.Upto {
				known[subject] = data
			}
		}
		to := t.TempDir()
		accepted := maps.Clone(jobs)
		copyStore(t, folder, to)
		saved = append(saved, savedStore{name, to, known, accepted})
	}
	wait := func(b *client.Batch) {
		if _, err := b.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	wait(submit(0, "a", "b"))
	save("done")
	b := submit(0.01, "c", "d")
	rest(ctx, 50*time.Millisecond)
	save("running")
	wait(b)
	stop() // writes a snapshot
	stop = runManager(t, s, Settings{Name: "m2", Rules: byPriority})
	b = submit(0.01, "e", "f")
	rest(ctx, 50*time.Millisecond)
	save("running after a snapshot")
	wait(b)
	stop()
	stop = runManager(t, s, Settings{Name: "m3", Rules: byPriority})
	wait(submit(0, "g"))
	save("done after two snapshots")
	stop()
	return saved
}

// A recorder is a log handler that keeps the messages.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *recorder) hasError() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.text.String(), "level=ERROR")
}

// Files of all streams are damaged in copies of consistent and inconsistent stores: bits are
// flipped, and blocks are cut, zeroed and deleted. Nothing recorded is lost silently: it still
// exists in the end, or the log has an error, and audit and status name what is missing. Nothing is
// counted twice. PFQ_LIVE_LONG=N runs N times as many cases.
func TestDamagedStores(t *testing.T) {
	t.Parallel()
	cases := 12
	if n, err := strconv.Atoi(os.Getenv("PFQ_LIVE_LONG")); err == nil {
		cases *= n
	}
	saved := saveStores(t)
	t.Run("cases", func(t *testing.T) {
		for seed := range uint64(cases) {
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 1))
				of := saved[seed%uint64(len(saved))]
				folder := t.TempDir()
				copyStore(t, of.folder, folder)
				t.Log(of.name)
				for _, k := range r.Perm(len(servertest.CorruptibleStreams))[:r.IntN(3)] {
					damageStream(t, r, folder, servertest.CorruptibleStreams[k])
				}
				if r.IntN(2) == 0 { // the most harmful damage
					damageStream(t, r, folder, []string{wire.InStream, wire.PlanStream}[r.IntN(2)])
				}
				recover(t, folder, &of)
			})
		}
	})
}

func damageStream(t *testing.T, r *rand.Rand, folder, stream string) {
	t.Helper()
	what, err := servertest.CorruptStream(r, folder, stream)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(what)
}

// recover starts everything on a store, repairs the store if managers refuse to lead, waits until
// all known jobs are done, and checks the results.
func recover(t *testing.T, folder string, of *savedStore) {
	ctx := deadline(t)
	s := onDisk(t, folder)
	js, c := streams(t, s), connect(t, s)
	before := kept(ctx, t, js) // results that the server has not lost
	for subject, data := range of.results {
		if there, ok := before[subject]; ok && !bytes.Equal(there, data) {
			t.Errorf("%s: %q, want %q", subject, there, data)
		}
	}
	log := new(recorder)
	run := func(name string) (stop func()) {
		nc := servertest.Connect(t, s)
		settings := Settings{Name: name, Rules: byPriority, Log: slog.New(slog.NewTextHandler(log, nil))}
		return inBackground(t, func(ctx context.Context) error { return Run(ctx, nc, settings) })
	}
	run("m8")
	var damage *client.DamageError
	_, err := c.Status(ctx)
	for ; err != nil && !errors.As(err, &damage); _, err = c.Status(ctx) {
		if ctx.Err() != nil {
			t.Fatal(err, log.text.String())
		}
	}
	if damage != nil {
		t.Log(damage)
		if !log.hasError() {
			t.Error("managers refuse to lead, but log no error")
		}
		if _, err := Audit(ctx, js); err == nil {
			t.Error("managers refuse to lead, but the audit finds nothing")
		}
		isKept(ctx, t, js, before, nil)
		repairStore(ctx, t, s, before)
	}
	stopWorkers := runWorkers(t, s, worker.Settings{Name: "w", Slots: 3, Handlers: sayHandlers,
		Beat: 50 * time.Millisecond})
	status, err := c.Status(ctx)
	for ; err != nil || slices.ContainsFunc(status.Jobs,
		func(v wire.JobView) bool { return v.State == wire.JobPresent }); status, err = c.Status(ctx) {
		if rest(ctx, 20*time.Millisecond); ctx.Err() != nil {
			t.Fatalf("%v\n%+v\n%s", err, status, log.text.String())
		}
	}
	stopWorkers()
	isKept(ctx, t, js, before, aside(ctx, t, js))
	checkJobs(ctx, t, js, c, status, of, log)
}

// repairStore repairs a store that managers reject, and checks that a dry run changes nothing.
func repairStore(ctx context.Context, t *testing.T, s *server.Server, before map[string][]byte) {
	t.Helper()
	nc := servertest.Connect(t, s)
	for _, apply := range []bool{false, true} {
		r, err := Repair(ctx, nc, apply)
		if err != nil {
			t.Fatal(err)
		}
		if r.Damage == "" || r.Applied != apply {
			t.Fatalf("%+v", r)
		}
		t.Logf("%+v", r)
		isKept(ctx, t, streams(t, s), before, nil)
	}
	if r, err := Repair(ctx, nc, true); !errors.Is(err, ErrLeads) && (err != nil || r.Damage != "") {
		t.Errorf("after the repair: %+v, %v", r, err)
	}
}

func aside(ctx context.Context, t *testing.T, js jetstream.JetStream) []AsideReport {
	t.Helper()
	list, err := Aside(ctx, js)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// isKept fails unless all results exist or were put aside.
func isKept(ctx context.Context, t *testing.T, js jetstream.JetStream, want map[string][]byte, aside []AsideReport) {
	t.Helper()
	there := kept(ctx, t, js)
	for subject, data := range want {
		isAside := slices.ContainsFunc(aside, func(r AsideReport) bool {
			return r.Subject == subject &&
				bytes.Equal(r.Data, data)
		})
		if !bytes.Equal(there[subject], data) && !isAside {
			t.Errorf("%s is gone or has changed", subject)
		}
	}
}

// checkJobs checks that each task has finished once and has its result, or that its loss is
// reported.
func checkJobs(ctx context.Context, t *testing.T, js jetstream.JetStream, c *client.Client, status *wire.Status,
	of *savedStore, log *recorder) {
	t.Helper()
	a, err := Audit(ctx, js)
	if err != nil {
		t.Fatal(err)
	}
	contents := strings.Join(a.Contents, "\n")
	views := map[string]wire.JobView{}
	for _, v := range status.Jobs {
		views[v.Name] = v
	}
	for job, tasks := range of.jobs {
		v, ok := views[job]
		if !ok {
			if !log.hasError() {
				t.Errorf("job %s is gone, but no loss is reported", job)
			}
			continue
		}
		if v.State != wire.JobCompleted || v.Tasks != tasks || v.Left != 0 {
			t.Errorf("%+v", v)
		}
		seen := map[int]bool{}
		var missing *client.MissingError
		for r, err := range c.Results(ctx, job, 0) {
			if errors.As(err, &missing) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if seen[r.Report.Task] {
				t.Errorf("task %d of job %s has two results", r.Report.Task, job)
			}
			seen[r.Report.Task] = true
			if strings.Contains(contents, fmt.Sprintf("output of task %d of job %s:", r.Report.Task, job)) {
				continue
			}
			var b bytes.Buffer
			if err := c.Output(ctx, &r.Report, &b); err != nil || !bytes.Equal(b.Bytes(), say(job, r.Report.Task)) {
				t.Errorf("output of task %d of job %s is missing or wrong: %v; the audit names %q", r.Report.Task, job,
					err, contents)
			}
		}
		lost := tasks - len(seen)
		// The leader checks results in the background.
		for ; v.Missing != lost && ctx.Err() == nil; rest(ctx, 10*time.Millisecond) {
			if now, err := c.Job(ctx, job); err == nil {
				v = *now
			}
		}
		if lost != v.Missing || lost != a.Missing[job] || lost > 0 && (!log.hasError() || missing == nil ||
			len(missing.Tasks) != lost) {
			t.Errorf("%d results of job %s are gone; status names %d, audit %d, results %v", lost, job, v.Missing,
				a.Missing[job], missing)
		}
	}
	if n := &status.Cluster.Counts; n.LostPlans == 0 && n.Finished != n.Tasks {
		t.Errorf("%d tasks finished of %d", n.Finished, n.Tasks)
	}
}
