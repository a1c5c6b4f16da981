package worker

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"productform/live/wire"
)

// Programs do not run as root unless AsRoot is set.
func TestCheckUser(t *testing.T) {
	allow := Allow{"bill": {Path: "/opt/bill"}}
	for _, c := range []struct {
		s    Settings
		user int
		ok   bool
	}{
		{Settings{}, 0, true},
		{Settings{Allow: allow}, 0, false},
		{Settings{Allow: allow}, 1000, true},
		{Settings{Allow: allow}, -1, true},
		{Settings{Allow: allow, AsRoot: true}, 0, true},
	} {
		if err := c.s.checkUser(c.user); (err == nil) != c.ok {
			t.Errorf("%+v as user %d: %v", c.s, c.user, err)
		}
	}
}

// A worker starts a task only while the manager cannot have given it up: within the time limit of
// the order since the beat that the order names, on the worker's clock.
func TestOrderIsTimely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slot{started: time.Now()}
		time.Sleep(10 * time.Second)
		for _, c := range []struct {
			heard, within float64
			want          bool
		}{
			{9.5, 1, true}, {9, 1, false}, {8, 1, false}, {0, 10.5, true}, {0, 10, false}, {0, 0, true},
		} {
			if got := s.isTimely(&wire.Order{Heard: c.heard, Within: c.within}); got != c.want {
				t.Errorf("at 10 s, heard at %v s, within %v s: %v, want %v", c.heard, c.within, got, c.want)
			}
		}
	})
}

// A worker that receives only older orders for 10 s restarts as a new process. A few older orders,
// as from a suspended manager, are ignored at any time.
func TestWorkerRestartsWithPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slot{
			name:    "w",
			process: "p",
			log:     slog.New(slog.DiscardHandler),
			ordered: make(chan struct{}, 1),
			changed: make(chan struct{}, 1),
		}
		send := func(plan uint64) {
			data, err := wire.Encode(&wire.Order{Version: wire.Version, Plan: plan, Process: "p", Idle: true})
			if err != nil {
				t.Fatal(err)
			}
			s.take(&nats.Msg{Data: data})
		}
		send(100)
		for range 3 {
			for range 20 {
				send(5) // all at once
			}
			time.Sleep(20 * time.Second)
			send(100)
		}
		if s.process != "p" || s.wanted.Plan != 100 {
			t.Fatalf("process %s, %+v", s.process, s.wanted)
		}
		begun := time.Now()
		for s.process == "p" {
			send(5)
			time.Sleep(300 * time.Millisecond)
		}
		if took := time.Since(begun); took < 10*time.Second || took > 11*time.Second || s.wanted != nil {
			t.Errorf("restarted after %v, %+v", took, s.wanted)
		}
		send(5) // for the former process
		if s.wanted != nil {
			t.Errorf("followed %+v", s.wanted)
		}
	})
}

// prune removes the least recently used files until the rest is small enough, but keeps the named
// file.
func TestPrune(t *testing.T) {
	folder := t.TempDir()
	for i, name := range []string{"c", "a", "d", "b"} { // c is the least recently used
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, make([]byte, 10), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		most int64
		want string
	}{{40, "[a b c d]"}, {39, "[b c d]"}, {20, "[b c]"}, {0, "[c]"}} {
		if err := prune(folder, c.most, "c"); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(folder)
		var names []string
		for _, f := range left {
			names = append(names, f.Name())
		}
		if err != nil || fmt.Sprint(names) != c.want {
			t.Errorf("%d bytes: left %v, %v; want %s", c.most, names, err, c.want)
		}
	}
}
