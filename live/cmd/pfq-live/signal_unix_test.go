//go:build unix

package main

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A worker that nohup starts in the background of a script, with SIGHUP and SIGINT ignored,
// survives all other common signals and leaves only at SIGTERM.
func TestWorkerUnderNohup(t *testing.T) {
	address := freeAddress(t)
	url := "nats://" + address
	start(t, "serve", "--memory", "--listen", address, "--http", "none", "--workers", "0")
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	worker := start(t, "worker", "--url", url, "--name", "w")
	signal.Reset(syscall.SIGHUP, syscall.SIGINT)
	ended := make(chan error, 1)
	go func() { ended <- worker.cmd.Wait() }()
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		const jobs = `{"jobs": [{"name": "j", "tasks": 2, "work": 0, "run": {"kind": "sleep"}}]}`
		status, out, errs := pfqLive(jobs, "submit", "-", "--wait", "--url", url)
		if status != 0 || !strings.Contains(out, "completed") {
			t.Errorf("status %d: %s%s", status, out, errs)
		}
	}()
	select {
	case err := <-ended:
		t.Fatal("the worker ended:", err)
	case <-submitted:
	}
	for _, sig := range []syscall.Signal{
		syscall.SIGURG, syscall.SIGWINCH, syscall.SIGCHLD, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM,
	} {
		if err := worker.cmd.Process.Signal(sig); err != nil {
			t.Fatal(sig, err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Inputs that may never end are rejected before a server is contacted, and before they are opened.
func TestSubmitRejectsEndlessInputs(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(folder, "large")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, maxInput+1)); err != nil {
		t.Fatal(err)
	}
	jobs := filepath.Join(folder, "jobs.json")
	for name, why := range map[string]string{
		"/dev/zero": "", "fifo": "", ".": "", "large": "", "missing": ": no such file or directory",
	} {
		text := `{"jobs": [{"name": "j", "tasks": 1, "work": 0, ` +
			`"run": {"kind": "sleep", "inputs": {"in": "` + name + `"}}}]}`
		if err := os.WriteFile(jobs, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, errs := pfqLive("", "submit", jobs, "--url", "nats://127.0.0.1:1")
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		want := "pfq-live: " + jobs + ": jobs[0].run.inputs.in = " + name +
			": want a regular file of at most 10 GiB" + why + "\n"
		if status != 2 || errs != want {
			t.Errorf("status %d: %s, want %s", status, errs, want)
		}
	}
}

// A signal ends a command that waits for input.
func TestSubmitInterruptedWhileReading(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "jobs.json")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "submit", fifo)
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // opens once the command reads
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // the status is checked below
	if status := p.cmd.ProcessState.ExitCode(); status != 130 || p.said.String() != "pfq-live: interrupted\n" {
		t.Errorf("status %d: %s", status, p.said)
	}
}
