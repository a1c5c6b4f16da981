package manager

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"

	"productform/dispatch"
	"productform/live/internal/servertest"
	"productform/live/policy"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// servePolicy runs a policy service until stop is called, or the test ends.
func servePolicy(t *testing.T, s *server.Server, name string, p policy.Policy) (stop func()) {
	return inBackground(t, func(ctx context.Context) error { return policy.Serve(ctx, inProcess, name, p, s.InProcess()) })
}

// same is the policy that the manager has itself.
func same(q *wire.Question) ([]string, error) {
	a := q.Assignment
	if err := Assign(&a); err != nil {
		return nil, err
	}
	jobs := make([]string, len(a.Workers))
	for w, j := range a.Workers {
		if j != nil {
			jobs[w] = *j
		}
	}
	return jobs, nil
}

// With a policy service that has the policy itself, the whole system begins the same tasks at the same times as without.
func TestWholeSystemAsks(t *testing.T) {
	ats.Register()
	defer ats.Unregister()
	s := busyScenario(3, dispatch.Policy{Rule: dispatch.Proportion}) // a plan that is made anew in between is no other
	want := simulated(t, s)
	synctest.Test(t, func(t *testing.T) {
		compareBegun(t, live(t, s, Settings{Rules: dispatch.Rules{Policy: s.Policy}, Service: "same"}, same), want)
	})
}

// A policy service decides by what workers say of their machines. Where it refuses, answers junk, hangs or is not there, the manager
// decides, and jobs go on; plans tell which of the two it was, and are decided again alike without the service.
func TestPolicyService(t *testing.T) {
	ats.Register()
	defer ats.Unregister()
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t)
		stopManager := runManager(t, s, Settings{Name: "m", Rules: byPriority, Service: "gpus"})
		var how atomic.Value
		stopPolicy := servePolicy(t, s, "gpus", func(q *wire.Question) ([]string, error) {
			switch how.Load() {
			case "refuses":
				return nil, errors.New("not today")
			case "impossible":
				return []string{"nobody"}, nil
			case "hangs":
				time.Sleep(adviceTime + 50*time.Millisecond)
			}
			jobs := make([]string, len(q.About))
			for w, about := range q.About {
				if about.Facts["gpus"] == 2.0 {
					jobs[w] = q.Jobs[0].Name
				}
			}
			return jobs, nil
		})
		stops := []func(){
			runWorkers(t, s, worker.Settings{Name: "plain", Slots: 3}),
			runWorkers(t, s, worker.Settings{Name: "big", Facts: []string{"/bin/echo", `{"gpus": 2}`}}),
		}
		c := connect(t, s)
		counts := func() wire.Counts {
			status, err := c.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return status.Cluster.Counts
		}
		job := func(now string) (at float64) {
			t.Helper()
			how.Store(now)
			time.Sleep(20 * time.Second) // the workers have joined, their facts are there, and nobody is left alone
			begun := time.Now()
			b, err := c.Submit(t.Context(), wire.Batch{Jobs: []wire.Job{sleepers(strings.ReplaceAll(now, " ", "-"), 8, 10)}})
			if err == nil {
				_, err = b.Wait(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			return time.Since(begun).Seconds()
		}
		if took := job("by facts"); took < 80 {
			t.Errorf("8 tasks of 10 s took %v s: another worker than the one with gpus ran some", took)
		}
		if n := counts(); n.Advised < 8 || n.AdviceAbsent+n.AdviceLate+n.AdviceMalformed+n.AdviceImpossible != 0 {
			t.Errorf("%+v", n)
		}
		for _, c := range []struct {
			how   string
			count func(wire.Counts) int
		}{
			{"refuses", func(n wire.Counts) int { return n.AdviceMalformed }},
			{"impossible", func(n wire.Counts) int { return n.AdviceImpossible }},
			{"hangs", func(n wire.Counts) int { return n.AdviceLate }},
			{"is gone", func(n wire.Counts) int { return n.AdviceAbsent }},
		} {
			if c.how == "is gone" {
				stopPolicy()
			}
			before := counts()
			if took := job(c.how); took > 21 {
				t.Errorf("%s: 8 tasks of 10 s on 4 workers took %v s", c.how, took)
			}
			if after := counts(); c.count(after) == c.count(before) || after.Advised != before.Advised {
				t.Errorf("%s: %+v, then %+v", c.how, before, after)
			}
		}
		want := counts()
		a, err := Audit(t.Context(), streams(t, s))
		if err != nil || a.Cluster.Counts != want {
			t.Errorf("decided again: %+v, want %+v, error %v", a, want, err)
		}
		for _, stop := range append(stops, stopManager) {
			stop()
		}
	})
}

// A service that hangs is left alone for a second each time, so that it holds up few decisions.
func TestHangingPolicyService(t *testing.T) {
	ats.Register()
	defer ats.Unregister()
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t)
		asked := 0
		nc := servertest.Connect(t, s)
		if _, err := nc.Subscribe(wire.PolicyService("hangs"), func(*nats.Msg) { asked++ }); err != nil {
			t.Fatal(err)
		}
		stopManager := runManager(t, s, Settings{Name: "m", Rules: byPriority, Service: "hangs"})
		stopWorkers := runWorkers(t, s, worker.Settings{Name: "w"})
		time.Sleep(2 * time.Second)
		c := connect(t, s)
		b, err := c.Submit(t.Context(), wire.Batch{Jobs: []wire.Job{sleepers("j", 1000, 0.01)}})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := b.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		// In each 1.2 s the worker waits for 0.2 s; the clock of a bubble stands still while programs run.
		if took := time.Since(begun); took > 13*time.Second || asked > 11 || asked < 8 {
			t.Errorf("10 s of work took %v, the service was asked %d times", took, asked)
		}
		stopWorkers()
		stopManager()
	})
}

// A manager without a place for an outside policy refuses one.
func TestPolicyServiceIsRefused(t *testing.T) {
	s := servertest.Start(t)
	for _, m := range []Settings{{Name: "m", Rules: byPriority, Service: "a.b"}, {Name: "m", Rigid: busyRigid(1).Policy, Service: "a"}} {
		if err := Run(deadline(t), servertest.Connect(t, s), m); err == nil {
			t.Errorf("%+v: no error", m)
		}
	}
}
