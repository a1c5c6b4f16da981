//go:build unix

package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A long computation reports progress every few seconds, and then gives its answer.
func TestProgressReports(t *testing.T) {
	signals := make(chan os.Signal, 1) // package signal starts its goroutine here, outside the bubble
	signal.Notify(signals, syscall.SIGTERM)
	defer signal.Stop(signals)
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		want := errors.New("done")
		part := Query{Ctx: t.Context(), Stderr: &stderr}.Of("load").Part(2, 12)
		v, err := WithProgress(part, func(context.Context) (int, error) {
			time.Sleep(12 * time.Second)
			return 7, want
		})
		const text = "pfq: solving load 3 of 12, 5 s\npfq: solving load 3 of 12, 10 s\n"
		if v != 7 || !errors.Is(err, want) || stderr.String() != text {
			t.Errorf("%d, %v, %q", v, err, stderr.String())
		}
	})
}

// A signal ends it immediately.
func TestProgressInterrupted(t *testing.T) {
	_, err := WithProgress(Query{Ctx: context.Background(), Stderr: &bytes.Buffer{}}, func(
		ctx context.Context,
	) (int, error) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return 0, ctx.Err()
	})
	if !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}
