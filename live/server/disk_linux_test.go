package server_test

import (
	"context"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"productform/live/server"
	"productform/live/wire"
)

// The disk fills up under the server, simulated by a limit on the size of files. The server
// acknowledges nothing more and loses nothing acknowledged. Once there is room again, it resumes
// without a restart, on the same connections.
func TestDiskFull(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	s := start(t, server.Settings{Store: t.TempDir()})
	js := s.connect(t)
	data := make([]byte, 10_000)
	for i := range 10 {
		if wrote, err := wire.WriteOnce(ctx, js, wire.Done("a", i), data); !wrote || err != nil {
			t.Fatal(i, wrote, err)
		}
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	full := before
	full.Cur = 105_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	refused := 0
	for i := 10; i < 20 && short.Err() == nil; i++ {
		if wrote, err := wire.WriteOnce(short, js, wire.Done("a", i), data); err != nil {
			refused++
		} else if !wrote {
			t.Errorf("task %d was there", i)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if refused == 0 {
		t.Fatal("nothing was rejected, so this test shows nothing")
	}
	for i := range 20 { // unacknowledged results are written again, whether or not they were stored
		if _, err := wire.WriteOnce(ctx, js, wire.Done("a", i), data); err != nil {
			t.Fatal(i, err)
		}
	}
	if n := len(readAll(ctx, t, js, wire.InStream)); n != 20 {
		t.Errorf("%d results, want 20", n)
	}
	if js.Conn().Stats().Reconnects != 0 {
		t.Error("the connection was lost")
	}
}
