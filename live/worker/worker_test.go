package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/live/worker"
)

// inProcess is the address of a server in this process, which an option reaches.
const inProcess = "nats://in-process"

// start runs workers until the test ends or stop is called. stop waits until they have ended.
func start(t testing.TB, s worker.Settings) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := worker.Run(ctx, s)
		if ctx.Err() == nil && err != nil {
			t.Errorf("worker %s ended: %v", s.Name, err)
		}
		ended <- err
	}()
	stopped := false
	var err error
	stop = func() error {
		if !stopped {
			cancel()
			err, stopped = wait(t, ended), true
		}
		return err
	}
	t.Cleanup(func() { stop() })
	return stop
}

// wait waits for a value from a channel.
func wait[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("timeout")
		panic("not reached")
	}
}

// begin starts a server, a manager and workers with a handler "work". The handler announces each
// task that it starts, and ends it with the given result or when its context is done.
func begin(t testing.TB, s worker.Settings) (m *fakeManager, w *work) {
	v := servertest.Start(t)
	m = newManager(t, v.InProcess())
	w = newWork()
	s.Server, s.Options = inProcess, append(s.Options, v.InProcess())
	if s.Name == "" {
		s.Name = "w"
	}
	if s.Handlers == nil {
		s.Handlers = w.handlers()
	}
	start(t, s)
	return m, w
}

type work struct {
	begun   chan wire.Task
	end     chan result
	dropped chan error
}

func newWork() *work {
	return &work{begun: make(chan wire.Task, 10), end: make(chan result), dropped: make(chan error, 10)}
}

func (w *work) handlers() map[string]worker.Handler { return map[string]worker.Handler{"work": w.run} }

type result struct {
	output []byte
	err    error
}

func (w *work) run(ctx context.Context, t wire.Task) ([]byte, error) {
	w.begun <- t
	select {
	case r := <-w.end:
		return r.output, r.err
	case <-ctx.Done():
		w.dropped <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

var doWork = wire.Run{Kind: "work", Args: []string{"a", "b"}}

// A worker follows an order, and its report repeats the token and the numbers.
func TestOrderIsFollowed(t *testing.T) {
	m, w := begin(t, worker.Settings{Speed: 2, Version: "1.2.3 test"})
	o := order(5, "bills", doWork)
	o.Task, o.Work = 3, 0.25
	m.order("w", o)
	task := wait(t, w.begun)
	if task.Worker != "w" || task.Job != "bills" || task.Number != 3 || task.Attempt != 1 ||
		task.Work != 0.25 || task.Speed != 2 ||
		task.Run.Args[1] != "b" || task.Folder == "" {
		t.Errorf("task %+v", task)
	}
	m.hears("w", "running", func(b wire.Beat) bool {
		return b.Running && b.Job == "bills" && b.Task == 3 && b.Attempt == 1 && b.Token == o.Token &&
			b.Plan == 5 && b.Speed == 2 &&
			b.Program == "1.2.3 test"
	})
	w.end <- result{[]byte("42"), nil}
	r := m.report("bills", 3)
	if string(r.Output) != "42" || r.Size != 2 || r.Digest != "" || r.Worker != "w" || r.Token != o.Token ||
		r.Attempt != 1 || r.At != 0 ||
		r.Seconds < 0 || r.Seconds > patience.Seconds() {
		t.Errorf("report %+v", r)
	}
	m.hears("w", "idle", func(b wire.Beat) bool { return b.Token == "" && !b.Running && b.Plan == 5 })
	// The fake manager repeats the order while the beats differ from it. A finished task is not
	// started again.
	o2 := order(6, "next", doWork)
	m.order("w", o2)
	if task := wait(t, w.begun); task.Job != "next" {
		t.Errorf("task %+v started again", task)
	}
}

// Orders that are older than one already seen, are for another process, or are invalid, are not
// followed.
func TestInvalidOrdersAreIgnored(t *testing.T) {
	m, w := begin(t, worker.Settings{})
	m.order("w", order(5, "first", doWork))
	wait(t, w.begun)
	m.send("w", order(4, "older", doWork))
	m.send("w", wire.Order{Plan: 4, Idle: true})
	other := order(9, "other", doWork)
	other.Process = "another"
	m.send("w", other)
	for _, junk := range []string{"", "{", "{}", `{"v":1,"plan":9}`, `{"v":99}`, "\xff"} {
		if err := m.nc.Publish(wire.OrderTo("w"), []byte(junk)); err != nil {
			t.Fatal(err)
		}
	}
	m.order("w", order(6, "newer", doWork)) // orders arrive one after the other
	if err := wait(t, w.dropped); err == nil {
		t.Error("dropped without a cause")
	}
	if task := wait(t, w.begun); task.Job != "newer" {
		t.Errorf("started %s, want newer", task.Job)
	}
}

// An order to be idle drops the task without a report. Repeating the current order with a later
// plan drops nothing.
func TestDrop(t *testing.T) {
	m, w := begin(t, worker.Settings{})
	o := order(5, "dropped", doWork)
	m.order("w", o)
	wait(t, w.begun)
	o.Plan = 8
	m.order("w", o)
	m.hears("w", "plan 8", func(b wire.Beat) bool { return b.Plan == 8 && b.Running })
	m.order("w", wire.Order{Plan: 9, Idle: true})
	wait(t, w.dropped)
	m.hears("w", "idle", func(b wire.Beat) bool { return b.Plan == 9 && b.Token == "" })
	m.order("w", order(10, "next", doWork))
	wait(t, w.begun)
	w.end <- result{}
	m.report("next", 0)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.in) != 1 {
		t.Errorf("%d messages, want only the report of the next task", len(m.in))
	}
}

// A task fails if its handler fails or panics, and the worker continues.
func TestFailures(t *testing.T) {
	m, w := begin(t, worker.Settings{Handlers: map[string]worker.Handler{
		"fail":  func(context.Context, wire.Task) ([]byte, error) { return nil, errors.New("no\x00 luck") },
		"panic": func(context.Context, wire.Task) ([]byte, error) { panic("out of luck") },
		"long":  func(ctx context.Context, _ wire.Task) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
	}})
	_ = w
	for i, c := range []struct {
		run  wire.Run
		want string
	}{
		{wire.Run{Kind: "fail"}, "no? luck"},
		{wire.Run{Kind: "panic"}, "panic: out of luck"},
		{wire.Run{Kind: "long", Limit: 1e-3}, "time limit of the task: 0.001 s"},
		{wire.Run{Kind: "unknown"}, `worker w has no handler for tasks of kind "unknown"`},
		{wire.Run{Kind: "fail", Inputs: map[string]string{"a.txt": wire.Digest([]byte("not there"))}}, "input a.txt: "},
		{
			wire.Run{Kind: "command", Program: "sh", Args: []string{"-c", "true"}},
			`program "sh" is not in the allow-list of worker w`,
		},
	} {
		job := fmt.Sprintf("job%d", i)
		m.order("w", order(uint64(i+1), job, c.run))
		f := m.failure(job, 0, 1)
		if len(f.Reason) < len(c.want) || f.Reason[:len(c.want)] != c.want || f.Token != "token-"+job ||
			f.Worker != "w" || f.Exit != 0 {
			t.Errorf("%+v: %+v, want %s", c.run, f, c.want)
		}
	}
}

// A sleep takes work/speed. On a logical clock the report gives this time to the last digit, at any
// pace.
func TestSleep(t *testing.T) {
	m, _ := begin(t, worker.Settings{Speed: 3, Pace: 1000})
	o := order(1, "real", wire.Run{Kind: worker.KindSleep})
	o.Work = 0.03
	m.order("w", o)
	if r := m.report("real", 0); r.Seconds < 0.01 || r.At != 0 || r.Size != 0 {
		t.Errorf("report %+v, want 0.01 s or more, and no logical time", r)
	}
	o = order(2, "logical", wire.Run{Kind: worker.KindSleep})
	o.Work, o.At, o.Logical = 10.1, 1e6+0.1, true
	work, speed, at := o.Work, 3.0, o.At
	m.order("w", o)
	var r wire.Report
	m.reported(wire.DoneAttempt("logical", 0, 1), &r)
	if want := at + work/speed; r.At != want {
		t.Errorf("ended at %v, want %v", r.At, want)
	}
}

// An output that is too large for a message is stored as a blob before the report is published.
func TestLargeOutput(t *testing.T) {
	m, w := begin(t, worker.Settings{})
	for i, size := range []int{wire.MaxOutput, wire.MaxOutput + 1, 3 << 20} {
		job := fmt.Sprintf("job%d", i)
		output := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		m.order("w", order(uint64(i+1), job, doWork))
		wait(t, w.begun)
		w.end <- result{output, nil}
		r := m.report(job, 0)
		if r.Size != int64(size) {
			t.Errorf("size %d, want %d", r.Size, size)
		}
		got := r.Output
		if size > wire.MaxOutput {
			if r.Digest != wire.Digest(output) || len(r.Output) != 0 {
				t.Errorf("digest %q, output of %d bytes", r.Digest, len(r.Output))
			}
			got = blobOf(t, m, r.Digest)
		}
		if !bytes.Equal(got, output) {
			t.Errorf("output of %d bytes, want different %d", len(got), size)
		}
	}
}

// Inputs are files in the folder of the task, which is removed afterwards.
func TestInputs(t *testing.T) {
	m, w := begin(t, worker.Settings{})
	content := bytes.Repeat([]byte("input "), 100_000)
	o := order(1, "bills", doWork)
	o.Run.Inputs = map[string]string{"a.txt": putBlob(t, m, content), "b": putBlob(t, m, nil)}
	m.order("w", o)
	task := wait(t, w.begun)
	if got := readFile(t, task.Folder+"/a.txt"); !bytes.Equal(got, content) {
		t.Errorf("input of %d bytes, want %d", len(got), len(content))
	}
	if got := readFile(t, task.Folder+"/b"); len(got) != 0 {
		t.Errorf("input of %d bytes, want none", len(got))
	}
	w.end <- result{}
	m.report("bills", 0)
	m.hears("w", "idle", func(b wire.Beat) bool { return b.Token == "" })
	if exists(task.Folder) {
		t.Error("the folder of the task is still there")
	}
}

// An input is fetched once for many tasks, and checked for each task.
func TestInputsAreKept(t *testing.T) {
	folder := t.TempDir()
	m, w := begin(t, worker.Settings{Folder: folder})
	digest := putBlob(t, m, []byte("content"))
	plan := uint64(0)
	next := func() wire.Order {
		plan++
		o := order(plan, fmt.Sprintf("job%d", plan), doWork)
		o.Run.Inputs = map[string]string{"a.txt": digest}
		m.order("w", o)
		return o
	}
	for range 2 {
		o := next()
		task := wait(t, w.begun)
		if got := readFile(t, task.Folder+"/a.txt"); string(got) != "content" {
			t.Errorf("input %q, want content", got)
		}
		writeFile(t, task.Folder+"/a.txt", "another") // only its own copy changes
		w.end <- result{}
		m.report(o.Job, 0)
		stream, err := m.js.Stream(t.Context(), wire.BlobStream)
		if err == nil {
			err = stream.Purge(t.Context()) // the server no longer has any content
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, folder+"/inputs/"+digest, "Content")
	if f := m.failure(next().Job, 0, 1); !strings.Contains(f.Reason, "input a.txt: ") {
		t.Errorf("failed with %s", f.Reason)
	}
}

// Slots are separate workers that run tasks at the same time.
func TestSlots(t *testing.T) {
	m, w := begin(t, worker.Settings{Slots: 3})
	for i := 1; i <= 3; i++ {
		m.order(fmt.Sprintf("w-%d", i), order(1, fmt.Sprintf("job%d", i), doWork))
	}
	for range 3 {
		wait(t, w.begun)
	}
	for range 3 {
		w.end <- result{}
	}
	for i := 1; i <= 3; i++ {
		if r := m.report(fmt.Sprintf("job%d", i), 0); r.Worker != fmt.Sprintf("w-%d", i) {
			t.Errorf("job%d was run by %s", i, r.Worker)
		}
	}
}

// Two workers report the same task. The first report is the result, and both workers continue.
func TestFirstReportWins(t *testing.T) {
	m, w := begin(t, worker.Settings{Slots: 2})
	m.order("w-1", order(1, "twice", doWork))
	wait(t, w.begun)
	second := order(2, "twice", doWork)
	second.Attempt, second.Token = 2, "second"
	m.order("w-2", second)
	wait(t, w.begun)
	w.end <- result{[]byte("x"), nil}
	first := m.report("twice", 0)
	w.end <- result{[]byte("y"), nil}
	m.hears("w-1", "idle", func(b wire.Beat) bool { return b.Token == "" })
	m.hears("w-2", "idle", func(b wire.Beat) bool { return b.Token == "" && b.Plan == 2 })
	if again := m.report("twice", 0); again.Worker != first.Worker || string(again.Output) != "x" {
		t.Errorf("report %+v, then %+v", first, again)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.in) != 1 {
		t.Errorf("%d messages, want 1", len(m.in))
	}
}

// A leaving worker announces it, finishes and reports its task, takes no other task, and ends.
func TestLeave(t *testing.T) {
	leave := make(chan struct{})
	v := servertest.Start(t)
	m := newManager(t, v.InProcess())
	w := newWork()
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(t.Context(), worker.Settings{
			Server:   inProcess,
			Name:     "w",
			Slots:    2,
			Options:  []nats.Option{v.InProcess()},
			Leave:    leave,
			Handlers: w.handlers(),
		})
	}()
	m.order("w-1", order(1, "last", doWork))
	wait(t, w.begun)
	m.process("w-2")
	close(leave)
	m.hears("w-1", "leaving with a running task", func(b wire.Beat) bool { return b.Leaving && b.Running })
	m.hears("w-2", "leaving", func(b wire.Beat) bool { return b.Leaving && b.Token == "" })
	w.end <- result{[]byte("done"), nil}
	if r := m.report("last", 0); string(r.Output) != "done" {
		t.Errorf("report %+v", r)
	}
	m.hears("w-1", "left", func(b wire.Beat) bool { return b.Leaving && b.Token == "" })
	if err := wait(t, ended); err != nil {
		t.Errorf("left with %v", err)
	}
}

// A worker that is stopped drops its task and returns the cause.
func TestStop(t *testing.T) {
	v := servertest.Start(t)
	m := newManager(t, v.InProcess())
	w := newWork()
	stop := start(t, worker.Settings{
		Server:   inProcess,
		Name:     "w",
		Options:  []nats.Option{v.InProcess()},
		Handlers: w.handlers(),
	})
	m.order("w", order(1, "stopped", doWork))
	wait(t, w.begun)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if err := wait(t, w.dropped); !errors.Is(err, context.Canceled) {
		t.Errorf("task dropped with %v", err)
	}
}

// Heartbeats are sent periodically and contain the facts of the command.
func TestBeats(t *testing.T) {
	v := servertest.Start(t)
	m := newManager(t, v.InProcess())
	start(t, worker.Settings{
		Server:  inProcess,
		Name:    "w",
		Beat:    time.Millisecond,
		Options: []nats.Option{v.InProcess()},
		Facts:   []string{"/bin/echo", `{"gpus": 2, "rack": "r1"}`},
	})
	m.hears("w", "facts", func(b wire.Beat) bool { return b.Facts["gpus"] == 2.0 && b.Facts["rack"] == "r1" })
	m.hears("w", "memory and disk", func(b wire.Beat) bool { return b.Memory > 0 && b.Disk > 0 })
	m.mu.Lock()
	first := m.heard
	m.mu.Unlock()
	m.wait("five more beats", func() bool { return m.heard >= first+5 }, nil)
}

// Invalid facts are omitted, and heartbeats continue.
func TestBadFacts(t *testing.T) {
	for _, text := range []string{`{"gpus": [1, 2]}`, `[1]`, `{"rack": {"name": "r1"}}`, "no JSON"} {
		v := servertest.Start(t)
		m := newManager(t, v.InProcess())
		start(t, worker.Settings{
			Server:  inProcess,
			Name:    "w",
			Beat:    time.Millisecond,
			Options: []nats.Option{v.InProcess()},
			Facts:   []string{"/bin/echo", text},
		})
		time.Sleep(50 * time.Millisecond) // the command has usually run by now
		m.mu.Lock()
		first := m.heard
		m.mu.Unlock()
		m.wait("beats", func() bool { return m.heard >= first+20 }, nil)
		m.hears("w", "no facts", func(b wire.Beat) bool { return len(b.Facts) == 0 })
	}
}

// Invalid settings are rejected with an error about the field.
func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		s    worker.Settings
		want string
	}{
		{worker.Settings{}, "name"},
		{worker.Settings{Name: "a b"}, "name"},
		{worker.Settings{Name: "w", Slots: -1}, "slots"},
		{worker.Settings{Name: "w", Slots: 1e6}, "slots"},
		{worker.Settings{Name: "w", Slots: 2, Server: "w.key"}, "server"},
		{worker.Settings{Name: "w", Speed: -1}, "speed"},
		{worker.Settings{Name: "w", Pace: -1}, "pace"},
		{worker.Settings{Name: "w", Beat: -1}, "beat"},
		{worker.Settings{Name: "w", Handlers: map[string]worker.Handler{"sleep": nil}}, "handlers"},
	} {
		err := worker.Run(t.Context(), c.s)
		if path := pathOf(err); path != c.want {
			t.Errorf("%+v: error %v, want one of %s", c.s, err, c.want)
		}
	}
}
