package manager

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"productform/live/book"
	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/live/worker"
)

// Managers, repairs and audits reject a store whose plans an earlier version made with a policy
// service, and they change nothing in it.
func TestOutdatedStore(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	ctx, js, c := deadline(t), streams(t, s), connect(t, s)
	stop := runManager(t, s, Settings{Name: "m1", Rules: byPriority})
	stopWorkers := runWorkers(t, s, worker.Settings{Name: "w"})
	b, err := c.Submit(ctx, wire.Batch{Jobs: []wire.Job{sleepers("j", 3, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	stopWorkers()
	stop()
	const plan = `{"v":1,"n":1000,"leader":"m1","at":1e9,"upto":1,"advice":{"service":"mine","jobs":[0]}}`
	if _, err := js.Publish(ctx, wire.PlanSubject, []byte(plan)); err != nil {
		t.Fatal(err)
	}
	before, snapshots := kept(ctx, t, js), snapshotNames(ctx, t, js)
	nc := servertest.Connect(t, s)
	run := func(nc *nats.Conn) error { return Run(ctx, nc, Settings{Name: "m2", Rules: byPriority}) }
	repair := func(nc *nats.Conn) error { _, err := Repair(ctx, nc, true); return err }
	audit := func(*nats.Conn) error { _, err := Audit(ctx, js); return err }
	for name, try := range map[string]func(*nats.Conn) error{"run": run, "repair": repair, "audit": audit} {
		var outdated *book.OutdatedError
		if err := try(nc); !errors.As(err, &outdated) || outdated.Used != "a policy service" {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if after := kept(ctx, t, js); !maps.EqualFunc(before, after, bytes.Equal) {
		t.Errorf("results changed: %d are kept, %d before", len(after), len(before))
	}
	if after := snapshotNames(ctx, t, js); !slices.Equal(after, snapshots) {
		t.Errorf("snapshots %v, before %v", after, snapshots)
	}
}

// snapshotNames returns the names of all snapshots.
func snapshotNames(ctx context.Context, t *testing.T, js jetstream.JetStream) (names []string) {
	objects, err := js.ObjectStore(ctx, wire.SnapshotStore)
	if err != nil {
		t.Fatal(err)
	}
	list, err := listSnapshots(ctx, objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}
