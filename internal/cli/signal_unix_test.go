//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// A context whose signals are all ignored survives them; one with a remaining signal is cancelled
// by it.
func TestUntilSignalIgnoresIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT)
	defer signal.Reset(syscall.SIGHUP, syscall.SIGINT)
	ignoring, stop := UntilSignal(t.Context(), syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	heeding, stop := UntilSignal(t.Context(), syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	defer stop()
	for _, sig := range []syscall.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGUSR1,
	} {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
	}
	<-heeding.Done()
	if ignoring.Err() != nil {
		t.Error(context.Cause(ignoring))
	}
}
