package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/wire"
)

// The store loses all plans, snapshots and submissions, and the results of one of two jobs. audit
// and repair end with status 1. After repair --apply, audit still does because results are lost.
func TestAuditAndRepairOfLostPlans(t *testing.T) {
	folder, address := t.TempDir(), freeAddress(t)
	url := "nats://" + address
	serve := start(t, "serve", "--store", folder, "--listen", address, "--http", "none", "--workers", "2")
	batch := `{"jobs": [{"name": "gone", "tasks": 4, "work": 0, "run": {"kind": "sleep"}},
		{"name": "there", "tasks": 3, "work": 0, "run": {"kind": "sleep"}}]}`
	if status, out, errs := pfqLive(batch, "submit", "-", "--wait", "--url", url); status != 0 {
		t.Fatalf("submit: status %d: %s%s", status, out, errs)
	}
	ctx := limited(t, time.Minute)
	dial := func() *nats.Conn { // waits for the server
		nc, err := connect(ctx, url, "test", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	nc := dial()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range [][2]string{{wire.PlanStream, wire.PlanSubject}, {wire.InStream, wire.DoneOf("gone")},
		{wire.InStream, wire.Submit("*")}, {"OBJ_" + wire.SnapshotStore, ">"}} {
		s, err := js.Stream(ctx, lost[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Purge(ctx, jetstream.WithPurgeSubject(lost[1])); err != nil {
			t.Fatal(err)
		}
	}
	serve.kill()
	start(t, "server", "--store", folder, "--listen", address)
	dial()
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"audit", 1, "are gone, and there is no snapshot"},
		{"repair", 1, "nothing was changed"},
		{"repair --apply", 0, "done: managers continue from here"},
		{"repair", 0, "the log of plans is complete: nothing to repair"},
		{"audit", 1, "job gone: 4 results are missing"},
		{"audit --format json", 1, `"whole": false`},
	} {
		status, out, errs := pfqLive("", append(strings.Fields(c.args), "--url", url)...)
		if status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, want %d and %q: %s%s", c.args, status, c.status, c.want, out, errs)
		}
		if strings.Contains(out, "job there: 3 results") {
			t.Errorf("%s: no result of job there is missing: %s", c.args, out)
		}
	}
}

// A store with a permanent loss is not whole. A store that lost only plans whose results were all
// adopted is whole.
func TestLossesAfterRepair(t *testing.T) {
	for _, c := range []struct {
		counts wire.Counts
		whole  bool
		lines  int
	}{
		{wire.Counts{}, true, 0},
		{wire.Counts{LostPlans: 9, Adopted: 4}, true, 1},
		{wire.Counts{LostPlans: 9, Adopted: 4, Aside: 1}, false, 2},
		{wire.Counts{Gone: 2}, false, 1},
	} {
		t.Run(fmt.Sprint(c.lines, c.whole), func(t *testing.T) {
			a := newStatusAnswer(&wire.Status{Cluster: wire.ClusterView{Counts: c.counts}})
			if a.Whole != c.whole || len(a.Damage) != c.lines {
				t.Errorf("whole = %v, %q", a.Whole, a.Damage)
			}
		})
	}
}
