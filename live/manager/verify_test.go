package manager

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"

	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/live/worker"
)

// A worker that lies is found out by results that differ; the jobs end, each task with one result, and with none counted twice. A manager
// that takes over goes on with what is to be checked.
func TestVerify(t *testing.T) {
	ats.Register()
	defer ats.Unregister()
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t)
		settings := Settings{Name: "m1", Rules: byPriority, Verify: 1}
		stopManager := runManager(t, s, settings)
		var stops []func()
		for _, name := range []string{"a", "b", "liar"} {
			answer := func(ctx context.Context, k worker.Task) ([]byte, error) {
				time.Sleep(time.Second)
				if name == "liar" {
					return []byte("lie"), ctx.Err()
				}
				return []byte(k.Job), ctx.Err()
			}
			stops = append(stops, runWorkers(t, s, worker.Settings{Name: name, Handlers: map[string]worker.Handler{"answer": answer}}))
		}
		time.Sleep(time.Second)
		c := connect(t, s)
		const tasks = 20
		b, err := c.Submit(t.Context(), wire.Batch{Jobs: []wire.Job{{Name: "j", Tasks: tasks, Work: 1, Run: wire.Run{Kind: "answer"}}}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5500 * time.Millisecond)
		stopManager()
		settings.Name = "m2"
		stopManager = runManager(t, s, settings)
		if _, err := b.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		lies, seen := 0, map[int]bool{}
		for r, err := range c.Results(t.Context(), "j", 0) {
			if err != nil || seen[r.Report.Task] {
				t.Fatalf("%+v, error %v", r, err)
			}
			if seen[r.Report.Task] = true; string(r.Report.Output) == "lie" {
				lies++
			}
		}
		status, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := status.Cluster.Counts
		if len(seen) != tasks || n.Checked != tasks || n.Unchecked != 0 || n.Finished != tasks || n.Begun != 2*tasks || n.Lost+n.Late+n.Refused != 0 {
			t.Errorf("%d results, %+v", len(seen), n)
		}
		if n.Differing < lies || n.Differing == 0 || n.Differing == tasks || status.Jobs[0].Differing != n.Differing {
			t.Errorf("%d results are lies, %d differ", lies, n.Differing)
		}
		if a, err := Audit(t.Context(), streams(t, s)); err != nil || a.Cluster.Counts != n {
			t.Errorf("%+v, error %v", a, err)
		}
		for _, stop := range append(stops, stopManager) {
			stop()
		}
	})
}
