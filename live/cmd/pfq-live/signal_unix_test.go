//go:build unix

package main

import (
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// A worker that nohup starts in the background of a script, where SIGHUP and SIGINT are ignored,
// survives all signals that programs receive in passing, and leaves only at SIGTERM.
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
