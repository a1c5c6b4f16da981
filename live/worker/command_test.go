//go:build linux

package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// shell returns a program that runs a script.
func shell(script string, args ...string) worker.Program {
	return worker.Program{Path: "/bin/sh", Args: append([]string{"-c", script}, args...)}
}

// run returns the Run of a job of kind command.
func run(program string, args ...string) wire.Run {
	return wire.Run{Kind: worker.KindCommand, Program: program, Args: args}
}

// A program runs in its folder, with the arguments that the allow-list leaves open and without the
// worker's environment.
func TestCommand(t *testing.T) {
	t.Setenv("WORKERS_SECRET", "42")
	folder := t.TempDir()
	m, _ := begin(t, worker.Settings{Folder: folder, AsRoot: true, Allow: worker.Allow{
		"show": shell(`echo "$@"; cat in.txt; pwd; env`, "sh", "{job}-{task}", "{args}", "a{attempt}", "{folder}"),
	}})
	o := order(1, "bills", run("show", "x y", "$(touch z)", "{task}"))
	o.Task, o.Run.Inputs = 7, map[string]string{"in.txt": putBlob(t, m, []byte("input\n"))}
	m.order("w", o)
	lines := strings.Split(strings.TrimSpace(string(m.report("bills", 7).Output)), "\n")
	taskFolder := lines[2]
	if filepath.Dir(taskFolder) != folder {
		t.Errorf("ran in %s, want a folder in %s", taskFolder, folder)
	}
	if want := "bills-7 x y $(touch z) {task} a1 " + taskFolder; lines[0] != want {
		t.Errorf("arguments %q, want %q", lines[0], want)
	}
	if lines[1] != "input" {
		t.Errorf("input %q", lines[1])
	}
	for _, line := range lines[3:] {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "PATH", "PRODUCTFORM_GROUP", "PWD", "_", "SHLVL", "OLDPWD":
		case "HOME", "TMPDIR":
			if value != taskFolder {
				t.Errorf("%s, want the folder of the task", line)
			}
		case "PFQ_JOB", "PFQ_TASK", "PFQ_ATTEMPT":
			if want := map[string]string{"PFQ_JOB": "bills", "PFQ_TASK": "7", "PFQ_ATTEMPT": "1"}[name]; value != want {
				t.Errorf("%s, want %s", line, want)
			}
		default:
			t.Errorf("environment has %s", line)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 2 || left[0].Name() != "inputs" || left[1].Name() != "lock" {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// Programs that differ from the allow-list never run.
func TestCommandsThatNeverRun(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "ran")
	sum := sha256.Sum256(readFile(t, "/bin/sh"))
	right, wrong := shell("echo ran >>"+witness), shell("echo ran >>"+witness)
	right.SHA256, wrong.SHA256 = hex.EncodeToString(sum[:]), strings.Repeat("0", 64)
	m, _ := begin(t, worker.Settings{AsRoot: true, Allow: worker.Allow{"right": right, "wrong": wrong}})
	for i, c := range []struct {
		run  wire.Run
		want string
	}{
		{run("sh", "-c", "echo ran >>"+witness), "not in the allow-list"},
		{run("right", "-c"), "takes no arguments from jobs"},
		{run("wrong"), "which differs from the allow-list"},
		{wire.Run{Kind: worker.KindCommand}, "not in the allow-list"},
	} {
		job := "job" + strconv.Itoa(i)
		m.order("w", order(uint64(i+1), job, c.run))
		if f := m.failure(job, 0, 1); !strings.Contains(f.Reason, c.want) {
			t.Errorf("%+v: %s, want %s", c.run, f.Reason, c.want)
		}
	}
	if exists(witness) {
		t.Errorf("a forbidden program ran")
	}
	m.order("w", order(9, "allowed", run("right")))
	m.report("allowed", 0)
	if !exists(witness) {
		t.Errorf("the allowed program did not run")
	}
}

// If a program fails or prints too much, the failure has its exit code and the end of its standard
// error.
func TestCommandFails(t *testing.T) {
	m, _ := begin(t, worker.Settings{AsRoot: true, Allow: worker.Allow{
		"exit":    shell("yes no | head -c 100000 >&2; echo the end >&2; exit 3"),
		"signal":  shell("kill -9 $$"),
		"long":    shell("yes"),
		"missing": {Path: "/no/such/program"},
	}})
	for i, c := range []struct {
		program, reason string
		exit            int
	}{
		{"exit", "the end", 3},
		{"signal", "signal: killed", -1},
		{"long", "standard output is longer than 67108864 bytes", 0},
		{"missing", "no such file or directory", 0},
	} {
		job := "job" + strconv.Itoa(i)
		m.order("w", order(uint64(i+1), job, run(c.program)))
		if f := m.failure(job, 0, 1); f.Exit != c.exit || !strings.Contains(f.Reason, c.reason) ||
			len(f.Reason) > 4096 {
			t.Errorf("%s: exit %d, %s; want %d, %s", c.program, f.Exit, f.Reason, c.exit, c.reason)
		}
	}
}

// When a task reaches its time limit or is dropped, all its processes end.
func TestCommandEndsWithItsProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	script := `sleep 1000 & (sleep 1000 & echo $!; sleep 1000) & echo $! $$ >>` + file + `; echo whole >>` +
		file + `; wait`
	m, _ := begin(t, worker.Settings{AsRoot: true, Allow: worker.Allow{"tree": shell(script)}})
	plan := uint64(0)
	for limit := 0.1; ; limit *= 2 {
		plan++
		job := "limit" + strconv.Itoa(int(plan))
		o := order(plan, job, run("tree"))
		o.Run.Limit = limit
		m.order("w", o)
		if f := m.failure(job, 0, 1); !strings.Contains(f.Reason, "time limit of the task") {
			t.Errorf("failed with %s", f.Reason)
		}
		if exists(file) && strings.Contains(string(readFile(t, file)), "whole") { // it started in time
			break
		}
	}
	allGone(t, file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	m.order("w", order(plan+1, "dropped", run("tree")))
	until(t, "the program has started", func() bool {
		return exists(file) && strings.Contains(string(readFile(t, file)), "whole")
	})
	m.order("w", wire.Order{Plan: plan + 2, Idle: true})
	m.hears("w", "idle", func(b wire.Beat) bool { return b.Plan == plan+2 && b.Token == "" })
	allGone(t, file)
}

// allGone waits until the processes whose IDs are in a file have ended.
func allGone(t testing.TB, file string) {
	t.Helper()
	for _, word := range strings.Fields(string(readFile(t, file))) {
		if pid, err := strconv.Atoi(word); err == nil {
			until(t, "process "+word+" ends", func() bool { return !runs(pid) })
		}
	}
}

// runs reports whether a process runs. An ended process may stay in the process list until its
// parent waits for it.
func runs(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && len(line) > 0
}

// childVariable makes this test program act as a worker for other tests.
const childVariable = "PRODUCTFORM_TEST_WORKER"

func TestMain(m *testing.M) {
	if settings, ok := os.LookupEnv(childVariable); ok {
		os.Exit(child(settings))
	}
	os.Exit(m.Run())
}

// child runs a worker that leaves on SIGTERM.
func child(settings string) int {
	part := strings.Split(settings, "|")
	term, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := worker.Run(context.Background(), worker.Settings{
		Server: part[0],
		Name:   "w",
		Folder: part[1],
		AsRoot: true,
		Leave:  term.Done(),
		Allow:  worker.Allow{"tree": shell(part[2], "sh", "{args}")},
	})
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

// startChild starts a worker in its own process.
func startChild(t testing.TB, url, folder, script string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childVariable+"="+url+"|"+folder+"|"+script)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// listening starts a server that other processes can reach.
func listening(t testing.TB) (url string) {
	t.Helper()
	v, err := server.Start(t.Context(), server.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	prepare(t, v.URL(), server.Layout{Memory: true})
	return v.URL()
}

// Processes left behind by a killed worker are killed when another worker starts in its folder,
// even if they have left its process group.
func TestProcessesOfKilledWorkerAreKilled(t *testing.T) {
	url, folder, file := listening(t), t.TempDir(), filepath.Join(t.TempDir(), "pids")
	m := connectManager(t, url)
	script := `sleep 1000 & echo $! >>$1; setsid sh -c 'echo $$ >>"$0"; echo whole >>"$0"; sleep 1000' $1 & wait`
	cmd := startChild(t, url, folder, script)
	m.order("w", order(1, "tree", run("tree", file)))
	until(t, "the program has started", func() bool {
		return exists(file) && strings.Contains(string(readFile(t, file)), "whole")
	})
	if err := worker.Run(t.Context(), worker.Settings{
		Server: url,
		Name:   "w",
		Folder: folder,
	}); pathOf(err) != "folder" {
		t.Errorf("a second worker in the folder: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	left := 0
	for _, word := range strings.Fields(string(readFile(t, file))) {
		if pid, err := strconv.Atoi(word); err == nil && runs(pid) {
			left++
		}
	}
	if left == 0 {
		t.Error("nothing was left behind, so this test shows nothing")
	}
	start(t, worker.Settings{Server: url, Name: "again", Folder: folder})
	m.process("again")
	for _, word := range strings.Fields(string(readFile(t, file))) {
		if pid, err := strconv.Atoi(word); err == nil && runs(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
	if marks, err := filepath.Glob(filepath.Join(folder, "*.group")); len(marks) > 0 || err != nil {
		t.Errorf("marks %v are left, %v", marks, err)
	}
}

// A worker that receives SIGTERM finishes its task, reports it and exits successfully.
func TestSIGTERM(t *testing.T) {
	url, file := listening(t), filepath.Join(t.TempDir(), "go")
	m := connectManager(t, url)
	cmd := startChild(t, url, t.TempDir(), `echo begun >$1; while ! test -e $2; do sleep 0.01; done; echo done`)
	m.order("w", order(1, "last", run("tree", file+"-begun", file)))
	until(t, "the program has started", func() bool { return exists(file + "-begun") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.hears("w", "leaving with a running task", func(b wire.Beat) bool { return b.Leaving && b.Running })
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.report("last", 0); string(r.Output) != "done\n" {
		t.Errorf("output %q", r.Output)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}
