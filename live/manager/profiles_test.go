package manager

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"

	"productform/dispatch"
	"productform/live/internal/servertest"
	"productform/live/wire"
	"productform/live/worker"
)

// A worker that runs bills at half its declared speed is detected, and the bucket of profiles shows
// it. A manager that takes over knows it too: a job with a deadline then gets both workers,
// although one worker of the declared speed would have met the deadline alone.
func TestSpeedsAreLearned(t *testing.T) {
	ats.Register()
	defer ats.Unregister()
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t)
		rules := dispatch.Rules{
			Policy:   dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
			Learning: dispatch.Learning{Speeds: true},
		}
		stopManager := runManager(t, s, Settings{Name: "m1", Rules: rules})
		bill := func(ctx context.Context, k wire.Task) ([]byte, error) {
			time.Sleep(time.Duration(k.Work * 2 * 1e9))
			return nil, ctx.Err()
		}
		var stops []func()
		for _, name := range []string{"w0", "w1"} {
			stops = append(stops, runWorkers(t, s, worker.Settings{
				Name:     name,
				Handlers: map[string]worker.Handler{"bill": bill},
			}))
			time.Sleep(time.Second)
		}
		c := connect(t, s)
		run := func(name string, in float64) wire.JobView {
			t.Helper()
			b, err := c.Submit(t.Context(), wire.Batch{
				Jobs: []wire.Job{{Name: name, Tasks: 20, Work: 10, DeadlineIn: in, Run: wire.Run{Kind: "bill"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			views, err := b.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return views[0]
		}
		late := func(v wire.JobView) float64 { return *v.Finish - *v.Deadline }
		run("first", 190) // more than one worker of the declared speed can do
		stopManager()
		stopManager = runManager(t, s, Settings{Name: "m2", Rules: rules})
		if l := late(run("second", 250)); l > 0 {
			t.Errorf("the deadline is missed by %v s", l)
		}
		profiles, err := c.Profiles(t.Context())
		if err != nil || len(profiles) != 1 || profiles[0].Kind != "bill" || len(profiles[0].Workers) != 2 {
			t.Fatalf("profiles %+v, error %v", profiles, err)
		}
		for _, w := range profiles[0].Workers {
			if math.Abs(w.Speed-0.5) > 0.01 || w.Declared != 1 || w.Tasks < 3 || math.Abs(w.Seconds-20) > 0.1 {
				t.Errorf("%+v", w)
			}
		}
		if _, err := Audit(t.Context(), streams(t, s)); err != nil {
			t.Error(err)
		}
		for _, stop := range append(stops, stopManager) {
			stop()
		}
	})
}
