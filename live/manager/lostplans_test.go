package manager

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/live/worker"
)

// All plans and snapshots are lost, and also the submissions of jobs gone and there, and the
// results of job gone. Audit after the repair names both jobs and the missing results. It does not
// name job again: the next leader reads its submission again and adopts its results. It names an
// unreadable view, but not a removed one.
func TestAuditNamesJobsOfLostPlans(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	ctx, js, c := deadline(t), streams(t, s), connect(t, s)
	stop := runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	stopWorkers := runWorkers(t, s, worker.Settings{Name: "w", Beat: 50 * time.Millisecond})
	const tasks = 7
	for _, name := range []string{"gone", "there", "again", "cleared"} {
		b, err := c.Submit(ctx, wire.Batch{Name: name, Jobs: []wire.Job{sleepers(name, tasks, 0)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Clear(ctx, "cleared"); err != nil {
		t.Fatal(err)
	}
	for v, err := c.Job(ctx, "cleared"); err == nil; v, err = c.Job(ctx, "cleared") {
		if ctx.Err() != nil {
			t.Fatalf("%+v", v)
		}
	}
	stopWorkers()
	stop()
	plans, err := js.Stream(ctx, wire.PlanStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := plans.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		t.Fatal(err)
	}
	snapshots, err := listSnapshots(ctx, objects)
	if err != nil || len(snapshots) == 0 {
		t.Fatal(snapshots, err)
	}
	for _, o := range snapshots {
		if err := objects.Delete(ctx, o.Name); err != nil {
			t.Fatal(err)
		}
	}
	in, err := js.Stream(ctx, wire.InStream)
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{wire.DoneOf("gone"), wire.Submit("gone"), wire.Submit("there")} {
		if err := in.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Audit(ctx, js); err == nil {
		t.Error("the audit before the repair finds nothing")
	}
	if r, err := Repair(ctx, servertest.Connect(t, s), true); err != nil || !r.Applied {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := js.Publish(ctx, "$KV."+wire.JobsBucket+".odd", []byte("{")); err != nil {
		t.Fatal(err)
	}
	check := func(missing map[string]int) {
		t.Helper()
		a, err := Audit(ctx, js)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(a.Missing, missing) {
			t.Errorf("missing %v, want %v", a.Missing, missing)
		}
		for _, want := range []string{"job gone: ", "job there: ", "view of job odd: "} {
			if !slices.ContainsFunc(a.Contents, func(line string) bool { return strings.HasPrefix(line, want) }) {
				t.Errorf("%q, want a line %q", a.Contents, want)
			}
		}
		if len(a.Contents) != 3 {
			t.Errorf("contents %q, want 3", a.Contents)
		}
	}
	check(map[string]int{"gone": tasks})
	runManager(t, s, Settings{Name: "m2", Rules: byPriority})
	runWorkers(t, s, worker.Settings{Name: "w", Beat: 50 * time.Millisecond})
	status, err := c.Status(ctx)
	for ; err != nil || len(status.Jobs) != 1 || status.Cluster.Counts.Aside != tasks ||
		status.Jobs[0].State != wire.JobCompleted; status, err = c.Status(ctx) {
		if rest(ctx, 10*time.Millisecond); ctx.Err() != nil {
			t.Fatalf("%v, %+v", err, status)
		}
	}
	if n := status.Cluster.Counts.Adopted; status.Jobs[0].Name != "again" || n != tasks {
		t.Errorf("%+v, %d results adopted", status.Jobs, n)
	}
	check(map[string]int{"gone": tasks, "there": tasks}) // the results of job there were put aside
}
