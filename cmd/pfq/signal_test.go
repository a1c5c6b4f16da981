//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A program that writes one file again and again is terminated: whenever that is, the file is whole and nothing else
// is left.
func TestTerminatedWhileWriting(t *testing.T) {
	if dir := os.Getenv("PFQ_TEST_WRITE"); dir != "" {
		for {
			if _, stderr, status := pfq("", "example", "storage", "-o", filepath.Join(dir, "answer")); status != 0 {
				t.Fatal(stderr)
			}
		}
	}
	want, _, _ := pfq("", "example", "storage")
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTerminatedWhileWriting$")
		c.Env = append(os.Environ(), "PFQ_TEST_WRITE="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		file := filepath.Join(dir, "answer")
		for running := true; running; { // a signal that comes while the file is written does nothing
			select {
			case <-ended:
				running = false
			case <-time.After(time.Millisecond):
				if _, err := os.Stat(file); err == nil {
					_ = c.Process.Signal(sig) // it may have ended
				}
			}
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%v: the file has %q, error %v", sig, text, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("%v: files %v were left, error %v", sig, files, err)
		}
	}
}
