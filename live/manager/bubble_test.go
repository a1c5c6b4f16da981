package manager

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/live/book"
	"productform/live/internal/servertest"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// A startedTask is a started task.
type startedTask struct {
	job, task int
	worker    string
	at        float64
}

// The whole system, with a real server, manager and workers on the wall clock of a bubble, starts
// tasks in the order of dispatch.Run, on the same workers and at the same times up to rounding.
func TestWholeSystemMatchesRun(t *testing.T) {
	ats.Register() // the server's only shared goroutine must start outside the bubble
	defer ats.Unregister()
	for k, name := range []string{"deadline/priority", "proportion", "edf"} {
		t.Run(name, func(t *testing.T) {
			policy, err := dispatch.ParsePolicy(name)
			if err != nil {
				t.Fatal(err)
			}
			s := busyScenario(uint64(k), policy)
			want := simulated(t, s)
			synctest.Test(t, func(t *testing.T) {
				compareStarted(t, live(t, s, Settings{Rules: dispatch.Rules{Policy: s.Policy}}), want)
			})
		})
	}
	t.Run("easy", func(t *testing.T) {
		s := busyRigid(7)
		var want []startedTask
		s.Events = func(at float64, events []dispatch.Event) { want = addStarted(want, at, events) }
		if _, err := rigid.Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		all := dispatch.Scenario{Jobs: s.Jobs, Speeds: slices.Repeat([]float64{1}, s.Workers)}
		synctest.Test(t, func(t *testing.T) { compareStarted(t, live(t, all, Settings{Rigid: s.Policy}), want) })
	})
}

// busyRigid returns a scenario whose tasks start together, with jobs that request more time than
// they take.
func busyRigid(seed uint64) rigid.Scenario {
	r := rand.New(rand.NewPCG(seed, 4))
	s := rigid.Scenario{Workers: 5, Policy: rigid.Policy{Order: rigid.FCFS, Backfill: rigid.EASY}}
	for at := 1.0; len(s.Jobs) < 25; at += 20 * r.Float64() {
		work := 1 + 30*r.Float64()
		s.Jobs = append(s.Jobs, dispatch.Job{
			Submit:   at,
			Deadline: at + 100,
			Tasks:    1 + r.IntN(5),
			Work:     work,
			Estimate: work * (1.1 + r.Float64()),
		})
	}
	return s
}

// busyScenario returns a scenario with waiting jobs and workers of different speeds.
func busyScenario(seed uint64, policy dispatch.Policy) dispatch.Scenario {
	r := rand.New(rand.NewPCG(seed, 3))
	s := dispatch.Scenario{Policy: policy, Speeds: []float64{1, 0.7, 1.3, 0.9, 1.1}}
	at := 1.0
	for range 25 {
		at += 20 * r.Float64()
		j := dispatch.Job{
			Submit:   at,
			Deadline: at + 20 + 200*r.Float64(),
			Priority: float64(r.IntN(5)),
			Tasks:    1 + r.IntN(8),
		}
		for range j.Tasks {
			j.Works = append(j.Works, 1+30*r.Float64())
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

func simulated(t *testing.T, s dispatch.Scenario) (list []startedTask) {
	s.Watch = func(d *dispatch.Decision) { list = addStarted(list, d.Time, d.Events) }
	if _, err := dispatch.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return list
}

// addStarted appends the tasks that start at a moment.
func addStarted(list []startedTask, at float64, events []dispatch.Event) []startedTask {
	for _, e := range events {
		if e.Kind == dispatch.Started {
			list = append(list, startedTask{e.Job, e.Task, fmt.Sprintf("w%d", e.Worker), at})
		}
	}
	return list
}

// live runs the scenario in the bubble, under a manager with the given settings. Heartbeats are rare
// because many minutes pass in the bubble.
func live(t *testing.T, s dispatch.Scenario, m Settings) []startedTask {
	v := servertest.Start(t)
	m.Name, m.LostAfter = "m", 20*time.Second
	stopManager := runManager(t, v, m)
	time.Sleep(time.Second) // it leads, and hears the first beats
	var stops []func()
	for w, speed := range s.Speeds {
		stops = append(stops, runWorkers(t, v, worker.Settings{
			Name: fmt.Sprintf("w%d", w), Speed: speed, Beat: 5 * time.Second,
		}))
		time.Sleep(time.Second) // it has joined and has the next number
	}
	c := connect(t, v)
	zero := time.Now()
	var names []string
	for i, j := range s.Jobs {
		time.Sleep(time.Until(zero.Add(time.Duration(j.Submit * 1e9))))
		job := wire.Job{
			Name: fmt.Sprintf("j%d", i), Priority: j.Priority, DeadlineIn: j.Deadline - j.Submit, Tasks: j.Tasks,
			Work: j.Work, Works: j.Works, Estimate: j.Estimate,
			Run: wire.Run{Kind: worker.KindSleep},
		}
		if _, err := c.Submit(t.Context(), wire.Batch{Name: "b" + job.Name, Jobs: []wire.Job{job}}); err != nil {
			t.Fatal(err)
		}
		names = append(names, job.Name)
	}
	if _, err := c.Wait(t.Context(), names...); err != nil {
		t.Fatal(err)
	}
	list := startedTasks(t, v, zero)
	for _, stop := range append(stops, stopManager) {
		stop()
	}
	return list
}

// startedTasks reads the started tasks from the log, with times in seconds since zero.
func startedTasks(t *testing.T, v *server.Server, zero time.Time) (list []startedTask) {
	js := streams(t, v)
	to, err := last(t.Context(), js, wire.PlanStream)
	if err != nil {
		t.Fatal(err)
	}
	b, err := book.New(book.Settings{Leader: "reader", Rules: byPriority, Random: nothingDrawn{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for p, err := range Plans(ctx, js) {
		if err == nil {
			err = b.Fold(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Events {
			if e.Kind == dispatch.Started {
				var job int
				if _, err := fmt.Sscanf(b.JobName(e.Job), "j%d", &job); err != nil {
					t.Fatal(err)
				}
				list = append(list, startedTask{job, e.Task, b.WorkerName(e.Worker), p.At + b.Epoch() - unix(zero)})
			}
		}
		if p.Number == to {
			break
		}
	}
	return list
}

// compareStarted compares starts of tasks. Sleeps are rounded to nanoseconds, and times since 1970
// to 2.4e-7 s. Along chains of a few hundred tasks the error stays below 1e-3 s, and any two ends
// of different tasks differ by more.
func compareStarted(t *testing.T, got, want []startedTask) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tasks started, simulated %d", len(got), len(want))
	}
	worst := 0.0
	for k := range want {
		g, w := got[k], want[k]
		if g.job != w.job || g.task != w.task || g.worker != w.worker {
			t.Fatalf("start %d: %+v, simulated %+v", k, g, w)
		}
		worst = max(worst, math.Abs(g.at-w.at))
	}
	if worst > 1e-3 {
		t.Errorf("times differ by up to %v s", worst)
	}
	t.Logf("%d tasks within %v s", len(want), worst)
}
