//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"productform/cmd/pfq/internal/command"
	"productform/cmd/pfq/internal/commandtest"
	"productform/internal/cli"
)

// A signal ends dispatch both while it reads and while it runs, with the status of an interrupted
// command, and leaves no file behind. The first log never ends, so it is still being read; the
// second, one job of 10^9 tasks on one worker, takes minutes.
func TestInterruptedDispatch(t *testing.T) {
	if os.Getenv("PFQ_TEST_DISPATCH") != "" {
		// otherwise the signal is ignored if the tests run in the background
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		os.Exit(command.Run(
			dispatchProgram(), strings.Fields("dispatch - --workers 1 --policy edf --records jobs.csv -o answer"),
			os.Stdin, os.Stdout, os.Stderr,
		))
	}
	const forever = "1 0 -1 1 1000000000 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1\n"
	for name, log := range map[string]string{
		"reading": strings.Repeat("; more\n", 1<<17),
		"running": strings.Repeat("; more\n", 1<<17) + forever,
	} {
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInterruptedDispatch$")
		c.Env = append(os.Environ(), "PFQ_TEST_DISPATCH=1")
		c.Dir = dir
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// more than the pipe and buffers hold, so dispatch is reading
		if _, err := io.WriteString(stdin, log); err != nil {
			t.Fatal(err)
		}
		if name == "running" {
			stdin.Close()
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // the status is checked below
		if said := commandtest.ProgressLines.ReplaceAllString(
			stderr.String(), "",
		); c.ProcessState.ExitCode() != cli.Interrupted ||
			stdout.Len() > 0 || said != "pfq: interrupted\n" {
			t.Errorf("%s: %v, %s%s", name, c.ProcessState, stdout.String(), said)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("%s: files %v were left, error %v", name, files, err)
		}
	}
}
