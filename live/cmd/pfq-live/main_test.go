package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the program itself, or a NATS server, in processes that tests start.
func TestMain(m *testing.M) {
	if os.Getenv("PFQ_LIVE_TEST_PROGRAM") != "" {
		go func() { // ends with the test
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
		if os.Args[1] == "nats" { // an external server
			runNATS(os.Args[2])
		}
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is a running pfq-live.
type process struct {
	cmd  *exec.Cmd
	said *lines
}

// lines collects the output of processes.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts a process that ends with the test at the latest.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith is like start, with process attributes for the system.
func startWith(t testing.TB, attributes *syscall.SysProcAttr, args ...string) *process {
	t.Helper()
	p := &process{exec.Command(os.Args[0], args...), &lines{}}
	p.cmd.SysProcAttr = attributes
	p.cmd.Env = append(os.Environ(), "PFQ_LIVE_TEST_PROGRAM=1")
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	if _, err := p.cmd.StdinPipe(); err != nil { // keeps the pipe open
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s:\n%s", strings.Join(args, " "), p.said)
		}
	})
	return p
}

// kill kills the process and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// freeAddress returns a free address of this machine.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// pfqLive runs a command line in this process, and returns its exit status and output.
func pfqLive(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// One command starts everything, and others submit, wait and read. After a kill, the command can be
// started again.
func TestServe(t *testing.T) {
	folder, address := t.TempDir(), freeAddress(t)
	url := "nats://" + address
	serve := []string{"serve", "--store", folder, "--listen", address, "--http", "none", "--workers", "2"}
	first := start(t, serve...)
	status, out, errs := pfqLive(
		`{"jobs": [{"name": "quick", "tasks": 4, "work": 0, "run": {"kind": "sleep"}}, {"name": "slow", "tasks": 6, `+
			`"work": 0.2, "run": {"kind": "sleep"}}]}`,
		"submit", "-", "--url", url,
	)
	if status != 0 || !strings.Contains(out, "quick, slow") {
		t.Fatalf("submit: status %d: %s%s", status, out, errs)
	}
	first.kill()
	start(t, serve...)
	if status, out, errs = pfqLive("", "wait", "quick", "slow", "--url", url, "--format", "csv"); status != 0 ||
		strings.Count(out, "completed") != 2 {
		t.Fatalf("wait: status %d: %s%s", status, out, errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"results", "slow"}, "5     local-"},
		{[]string{"status"}, "2 of 2 jobs completed, 10 of 10 tasks finished"},
		{[]string{"report", "--format", "json"}, `"task_count": 10`},
		{[]string{"audit"}, "are the same; 10 tasks finished, 2 jobs completed"},
		{[]string{"clear", "quick"}, ""},
	} {
		if status, out, errs := pfqLive("", append(c.args, "--url", url)...); status != 0 ||
			!strings.Contains(out, c.want) {
			t.Errorf("%v: status %d: %s%s", c.args, status, out, errs)
		}
	}
	if status, _, errs := pfqLive("", "cancel", "nothing", "--url", url); status != 2 ||
		!strings.Contains(errs, "nothing") {
		t.Errorf("cancel of a missing job: status %d: %s", status, errs)
	}
}

// With keys, each part of serve and the client have their own keys.
func TestServeWithKeys(t *testing.T) {
	folder, address, page := filepath.Join(t.TempDir(), "keys"), freeAddress(t), freeAddress(t)
	if status, _, errs := pfqLive("", "keys", "init", "--keys", folder, "--url", "nats://"+address); status != 0 {
		t.Fatal(errs)
	}
	start(t, "serve", "--memory", "--keys", folder, "--listen", address, "--http", page, "--workers", "2")
	key := filepath.Join(folder, "client.key")
	if status, out, errs := pfqLive(`{"jobs": [{"name": "j", "tasks": 3, "work": 0, "run": {"kind": "sleep"}}]}`,
		"submit", "-", "--wait", "--url", key); status != 0 || !strings.Contains(out, "completed") {
		t.Fatalf("submit: status %d: %s%s", status, out, errs)
	}
	r, err := http.Get("http://" + page + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil ||
		!strings.Contains(string(text), "\npfq_tasks{state=\"finished\"} 3\n") {
		t.Errorf("metrics: %v\n%s", err, text)
	}
	if status, _, errs := pfqLive("", "status", "--url", "nats://"+address); status != 2 ||
		!strings.Contains(errs, "needs a key: give its file instead of the URL") {
		t.Errorf("without a key: status %d: %s", status, errs)
	}
	for args, want := range map[string]string{ // errors found before contacting the server
		"submit ../../examples/sleep.yaml --url monitor": "role = monitor: want a key of a client",
		"cancel j --url monitor":                         "role = monitor: want a key of a client",
		"results j --to there --url monitor":             "role = monitor: want a key of a client",
		"status --url manager":                           "role = manager: want a key of a client or a monitor",
		"timeline --url local-1":                         "role = worker: want a key of a client or a monitor",
		"audit --url client":                             "role = client: want a key of a manager",
		"manager --url client":                           "role = client: want a key of a manager",
		"worker --name w --url client":                   "role = client: want a key of a worker",
		"worker --name w --url local-1":                  "name = local-1: want a key named w",
	} {
		words := strings.Fields(args)
		words[len(words)-1] = filepath.Join(folder, words[len(words)-1]+".key")
		if status, _, errs := pfqLive("", words...); status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d: %s", args, status, errs)
		}
	}
	for _, args := range []string{"wait j", "results j", "status", "report", "timeline", "profiles"} {
		if status, _, errs := pfqLive(
			"", append(strings.Fields(args), "--url", filepath.Join(folder, "monitor.key"))...,
		); status != 0 {
			t.Errorf("%s: status %d: %s", args, status, errs)
		}
	}
}

func TestBadUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"submit", "submit needs FILE"},
		{"serve --policy best", "--policy"},
		{"serve --memory --store x", "--store and --memory cannot be combined"},
		{"serve --memory --listen 0.0.0.0:0", "--listen"},
		{"serve --workers 0 --lost-after 1", "--lost-after"},
		{"manager --learn-last 10", "--learn-last = 10: want 0 without --learn"},
		{"statsu", "status"},
		{"serve --memory --policy easy --learn 5", "--learn and --policy easy/fcfs cannot be combined"},
		{"serve --memory --policy easy --learn-speeds", "--learn-speeds and --policy easy/fcfs cannot be combined"},
		{"manager --policy-service mine", "--policy-service; managers use no policy service; --policy"},
		{"serve --memory --verify 0.1", "--verify; no task runs twice; submit a job under two names"},
		{"manager --policy sjf --emergency 5", "--emergency and --policy sjf cannot be combined"},
		{"replay SDSC-Par-1996 --outages 9@1-2", "--outages[0]"},
		{"replay SDSC-Par-1996 --policy easy,fcfs", "--policy = easy,fcfs"},
		{"replay SDSC-Par-1996 --policy easy --replan 5", "--replan and --policy easy/fcfs cannot be combined"},
		{"replay SDSC-Par-1996 --policy easy --heterogeneous 8x2",
			"--heterogeneous and --policy easy/fcfs cannot be combined"},
		{"replay SDSC-Par-1996 --policy conservative", "at most 8, the number of workers"},
		{"replay SDSC-Par-1996 --workers 1001", "--workers = 1001: want an integer in 1..1000"},
		{"replay SDSC-Par-1996 --requests 2", "--requests needs fcfs"},
		{"replay SDSC-Par-1996 --heterogeneous 1,x", "--heterogeneous[1]"},
		{"status extra", "takes flags only"},
		{"serve --memory --lost-after 800ms", "--lost-after = 800ms: want at least 1s, twice --beat"},
		{"status --url 127.0.0.1:4222", "--url = 127.0.0.1:4222: want a URL such as nats://"},
		{"manager --url nowhere.key", "--url = nowhere.key: want a URL"},
		{"manager --url nats://127.0.0.1:1 --name a.b", "--name"},
		{"manager --url nats://127.0.0.1:1 --replicas 2", "--replicas = 2: want 1 or 3"},
		{"report --url nats://127.0.0.1:1", "no server responds at nats://127.0.0.1:1"},
		{"keys list --keys nowhere", "--keys = nowhere: want a folder"},
		{"serve --keys nowhere --listen 127.0.0.1:0 --http none", "--keys = nowhere: want a folder"},
		{"results job --failures --to folder", "--to and --failures cannot be combined"},
		{"plan", "standard input: want an object in JSON"},
		{"change job --url nats://127.0.0.1:1 --deadline soon", "--deadline"},
	} {
		status, out, errs := pfqLive("", strings.Fields(c.args)...)
		if status != 2 || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", c.args, status, out, errs)
		}
	}
}

// Submitting a job that workers cannot run prints the command that shows the reason. Invalid names
// are rejected without contacting a server.
func TestFailuresAreReported(t *testing.T) {
	address := freeAddress(t)
	url := "nats://" + address
	start(t, "serve", "--memory", "--listen", address, "--http", "none", "--workers", "2")
	status, out, errs := pfqLive(
		`{"jobs": [{"name": "odd", "tasks": 1, "work": 0, "run": {"kind": "odd"}}]}`, "submit", "-",
		"--wait", "--url", url,
	)
	if status != 1 || !strings.Contains(out, "\nwhy tasks of odd failed: pfq-live results odd --failures\n") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	for _, form := range []string{"text", "json", "csv"} {
		status, out, errs = pfqLive("", "results", "odd", "--failures", "--url", url, "--format", form)
		if n := strings.Count(out, "has no handler for tasks of kind"); status != 0 || n < 3 {
			t.Errorf("status %d: %d failures, want at least three: %s%s", status, n, out, errs)
		}
	}
	for args, want := range map[string]string{
		"results nothing --failures": "job nothing: unknown",
		"wait a.b":                   `job = "a.b": want a name`,
	} {
		if status, _, errs := pfqLive("", append(strings.Fields(args), "--url", url)...); status != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: status %d: %s", args, status, errs)
		}
	}
}

// If no manager processes a batch, submit waits and prints a note.
func TestSubmitWithoutManager(t *testing.T) {
	address := freeAddress(t)
	start(t, "server", "--memory", "--listen", address)
	p := start(t, "submit", "../../examples/sleep.yaml", "--url", "nats://"+address)
	for begun := time.Now(); !strings.Contains(
		p.said.String(), "no manager has checked the batch yet",
	); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("no note is printed")
		}
	}
}

func TestPlan(t *testing.T) {
	status, out, errs := pfqLive(`{"policy": "edf", "now": 0, "speeds": [1],
		"jobs": [{"name": "late", "deadline": 90, "tasks": 5, "work": 5},
			{"name": "soon", "deadline": 10, "tasks": 1, "work": 1}]}`,
		"plan")
	if want := "[\n  \"soon\"\n]\n"; status != 0 || out != want {
		t.Errorf("status %d, %q, %q; want %q", status, out, errs, want)
	}
	if status, _, errs := pfqLive(`{"policy": "edf", "speed": []}`, "plan"); status != 2 ||
		!strings.Contains(errs, "speed") {
		t.Errorf("unknown field: status %d, %q", status, errs)
	}
}

// A replay of a baseline prints the measures of pfq dispatch, and the jobs that exceed their
// requested time. With three jobs on two workers, the second waits for the first, from 1 to 4, and
// is due at 3; the third requests 1 s but runs for 2 s.
func TestReplayOfBaseline(t *testing.T) {
	log := "1 0 -1 4 2 -1 -1 -1 5 -1 1 1 -1 -1 -1 -1 -1 -1\n2 1 -1 1 1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n" +
		"3 5 -1 2 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
	const flags = "replay - --policy conservative --workers 2 --sample 3 --time-scale 1 --gap-scale 1 --batch 0 " +
		"--deadline-factor 2 --check --format json"
	for args, want := range map[string][]string{
		flags: {
			`"makespan": 7,`, `"missed": 1,`, `"outlived": 1`, `"task_count": 4,`, `"decisions": null`,
			`"max": 3`, `"same_as_simulated": true`,
		},
		flags + " --kill": {`"makespan": 6,`, `"outlived": 1`, `"same_as_simulated": true`},
	} {
		status, out, errs := pfqLive(log, strings.Fields(args)...)
		for _, w := range want {
			if status != 0 || !strings.Contains(out, w) {
				t.Errorf("status %d, no %s in %s%s", status, w, out, errs)
			}
		}
	}
}

// The replay in the help matches the simulation.
func TestReplayCheck(t *testing.T) {
	status, out, errs := pfqLive(
		"", strings.Fields("replay SDSC-Par-1996 --sample 20 --gap-scale 0.001 --outages 1-3@1-5 --check")...,
	)
	if status != 0 ||
		!strings.HasPrefix(out, "policy deadline/priority, 477 moments\nsame as simulated, to the last digit\n") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// hours returns the factor by which a manual test runs longer than an automatic one.
func hours(t *testing.T) int {
	text := os.Getenv("PFQ_LIVE_LONG")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PFQ_LIVE_LONG=%s: want an integer >= 1", text)
	}
	return n
}

// limited returns a context that bounds a test that would otherwise wait forever.
func limited(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
