//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/cli"
)

// ignoredAtStart has the signals that this program and its children may ignore: SIGINT in the
// background of some shells, and SIGHUP under nohup. [signal.Ignored] forgets it once a command has waited for
// the signal.
var ignoredAtStart = map[os.Signal]bool{
	os.Interrupt:    signal.Ignored(os.Interrupt),
	syscall.SIGTERM: signal.Ignored(syscall.SIGTERM),
	syscall.SIGHUP:  signal.Ignored(syscall.SIGHUP),
}

// A program that writes one file again and again is terminated: at any time, the file is complete
// and no other file is left.
func TestTerminatedWhileWriting(t *testing.T) {
	if dir := os.Getenv("PFQ_TEST_WRITE"); dir != "" {
		for {
			if _, stderr, status := pfq("", "example", "storage", "-o", filepath.Join(dir, "answer")); status != 0 {
				t.Fatal(stderr)
			}
		}
	}
	want, _, _ := pfq("", "example", "storage")
	for sig, ignored := range ignoredAtStart {
		if ignored {
			continue
		}
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTerminatedWhileWriting$")
		c.Env = append(os.Environ(), "PFQ_TEST_WRITE="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		file := filepath.Join(dir, "answer")
		for running := true; running; { // a signal during the write of the file has no effect yet
			select {
			case <-ended:
				running = false
			case <-time.After(time.Millisecond):
				if _, err := os.Stat(file); err == nil {
					_ = c.Process.Signal(sig) // the process may have ended
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

// An interrupted simulation ends with the status of an interrupted command and writes no answer.
// The runs that it kept are complete and reused.
func TestInterruptedSimulation(t *testing.T) {
	if args := os.Getenv("PFQ_TEST_SIMULATE"); args != "" {
		// otherwise the signal is ignored if the tests run in the background
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		os.Exit(command.Run(program(), strings.Fields(args), strings.NewReader(oneServer), os.Stdout, os.Stderr))
	}
	for _, c := range []struct {
		sig         os.Signal
		flags, runs string
	}{
		{os.Interrupt, "simulate - --jumps 2e5 --format csv", "--runs"},
		{syscall.SIGTERM, "simulate - --jumps 2e5 --format csv", "--runs"},
		{os.Interrupt, "tags --hosts 2 --load 0.5 --sizes lognormal:2 --mean 1 --jumps 2e4 --format csv", "--runs"},
	} {
		sig, flags, runs := c.sig, c.flags, c.runs
		dir := t.TempDir()
		answer, folder := filepath.Join(dir, "answer"), filepath.Join(dir, "runs")
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInterruptedSimulation$")
		c.Env = append(os.Environ(), "PFQ_TEST_SIMULATE="+flags+" "+runs+" 5000 --results "+folder+" -o "+answer)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for kept := 0; kept < 3; time.Sleep(time.Millisecond) {
			files, _ := filepath.Glob(filepath.Join(folder, "*", "*.json"))
			kept = len(files)
		}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // the status is checked below
		said := commandtest.ProgressLines.ReplaceAllString(stderr.String(), "")
		if c.ProcessState.ExitCode() != cli.Interrupted || stdout.Len() > 0 ||
			!strings.HasPrefix(said, "pfq: interrupted; "+folder+" keeps ") {
			t.Errorf("%v: %v, %s%s", sig, c.ProcessState, stdout.String(), said)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("%v: files %v were left, error %v", sig, files, err)
		}
		files := commandtest.Kept(t, folder)
		for path := range files {
			if filepath.Ext(path) != ".json" {
				t.Errorf("%v: %s was left", sig, path)
			}
		}
		args := append(strings.Fields(flags), runs, "3")
		want, _, _ := pfq(oneServer, args...)
		got, _, status := pfq(oneServer, append(args, "--results", folder)...)
		if diff := cmp.Diff(want, got); status != 0 || diff != "" {
			t.Errorf("%v: status %d, %s", sig, status, diff)
		}
		again := commandtest.Kept(t, folder)
		for path, written := range files {
			if again[path] != written {
				t.Errorf("%v: %s was written again", sig, path)
			}
		}
	}
}

// A picture or an estimate that is interrupted while its numbers are computed leaves no file and
// prints nothing on the standard output.
func TestInterruptedPicture(t *testing.T) {
	if line := os.Getenv("PFQ_TEST_PLOT"); line != "" {
		// otherwise the signal is ignored, or ends the program before it starts
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		commandtest.WriteFile(t, os.Getenv("PFQ_TEST_READY"), "")
		os.Exit(command.Run(program(), strings.Fields(line), os.Stdin, os.Stdout, os.Stderr))
	}
	for _, c := range []struct{ stdin, line, file string }{ // each takes minutes
		{string(readExample("two-classes")), "plot - --policy maxmin --scale 0.9:1.14:0.0001", "p.png"},
		{string(readExample("shop-plan")), "plot - --find growth --scale 0.5:3:0.0005", "p.png"},
		{"", "plot tags --hosts 4 --sizes lognormal:9 --mean 1 --load 0.0007:0.6:0.0007", "p.png"},
		{string(readExample("racks")), "estimate - --precision 1e-7", "answer"},
	} {
		dir, ready := t.TempDir(), filepath.Join(t.TempDir(), "ready")
		run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInterruptedPicture$")
		run.Env = append(
			os.Environ(), "PFQ_TEST_PLOT="+c.line+" -o "+filepath.Join(dir, c.file), "PFQ_TEST_READY="+ready,
		)
		run.Stdin = strings.NewReader(c.stdin)
		var stdout, stderr bytes.Buffer
		run.Stdout, run.Stderr = &stdout, &stderr
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- run.Wait() }()
		for running := true; running; { // a signal before the work begins has no effect
			select {
			case <-ended:
				running = false
			case <-time.After(50 * time.Millisecond):
				if _, err := os.Stat(ready); err == nil {
					_ = run.Process.Signal(os.Interrupt) // the process may have ended
				}
			}
		}
		said := commandtest.ProgressLines.ReplaceAllString(stderr.String(), "")
		if run.ProcessState.ExitCode() != cli.Interrupted || stdout.Len() > 0 || said != "pfq: interrupted\n" {
			t.Errorf("%s: %v, %s%s", c.line, run.ProcessState, stdout.String(), said)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("%s: files %v were left, error %v", c.line, files, err)
		}
	}
}

// A signal that pfq ignores, as under nohup, does not end the pfq-live that it starts.
func TestLiveInheritsIgnoredSignals(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pfq-live")
	commandtest.WriteFile(t, path, "#!/bin/sh\nkill -HUP $$\necho alive\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if stdout, stderr, status := pfq("", "live", "worker"); status != 0 || stdout != "alive\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}
