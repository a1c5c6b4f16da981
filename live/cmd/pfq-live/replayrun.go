// This file runs a scenario of package dispatch or rigid through the live system, on a logical
// clock, to check that the live system behaves like the simulation. This is the method of [L14],
// section 6.3, in which workers sleep for the run times of the tasks in a log.
//
//	scenario --Publish--> PFQ_IN: a script of workers and outages, and a batch per job
//	manager  decides a moment once every task that is due by then has been reported
//	worker   sleeps work/speed seconds divided by the pace, and reports start + work/speed as the end
//	PFQ_PLAN --Read--> the events with their times
//
// Times and events match [dispatch.Run] or [rigid.Run] to the last digit, even if the machine is
// slow or processes are killed: the script, not the timing, decides which worker fails when.
//
// For example:

package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/live/book"
	"productform/live/manager"
	"productform/live/server"
	"productform/live/wire"
	"productform/live/worker"
)

// A Scenario is a scenario of package dispatch, possibly with a policy of package rigid.
type Scenario struct {
	dispatch.Scenario

	// Rigid, if nonzero, is the policy, which starts all tasks of a job together. The jobs are then
	// those of [rigid.Settled], Policy, Learning, Emergency and Replan are zero, and all speeds are
	// 1.
	Rigid rigid.Policy
}

// isRigid reports whether all tasks of a job start together.
func (s *Scenario) isRigid() bool { return s.Rigid != rigid.Policy{} }

// PolicyName returns the name of the policy.
func (s *Scenario) PolicyName() string {
	if s.isRigid() {
		return s.Rigid.String()
	}
	return s.Policy.String()
}

// A Log is the record of a run.
type Log struct {
	Moments []Moment
	Result  *dispatch.Result // nil under policies of package rigid
	Rigid   *rigid.Result    // nil under other policies
}

// A Moment holds the events at a time.
type Moment struct {
	At     float64 // seconds on the logical clock
	Events []dispatch.Event
}

// Simulate runs the scenario with [dispatch.Run] or [rigid.Run].
func Simulate(ctx context.Context, s Scenario) (l *Log, err error) {
	l = &Log{}
	if s.isRigid() {
		l.Rigid, err = rigid.Run(ctx, rigid.Scenario{
			Jobs:    s.Jobs,
			Workers: len(s.Speeds),
			Policy:  s.Rigid,
			Outages: s.Outages,
			Events:  l.add,
		})
		return l, err
	}
	s.Watch = func(d *dispatch.Decision) { l.add(d.Time, d.Events) }
	l.Result, err = dispatch.Run(ctx, s.Scenario)
	return l, err
}

func (l *Log) add(at float64, events []dispatch.Event) {
	if len(events) > 0 {
		l.Moments = append(l.Moments, Moment{at, append([]dispatch.Event(nil), events...)})
	}
}

// WorkerName returns the name of a worker in a replay; workers are numbered from 0.
func WorkerName(number int) string { return "w" + strconv.Itoa(number+1) }

// jobName returns the name of the job at an index of the scenario.
func jobName(place int) string { return "job-" + strconv.Itoa(place) }

// check rejects scenarios that cannot be replayed: jobs with their own speeds, jobs that are not
// sorted by submission, and settings that a policy of package rigid does not support. The error is
// a *num.InputError.
func check(s *Scenario) error {
	if s.isRigid() {
		if err := checkRigid(s); err != nil {
			return err
		}
	}
	for i := range s.Jobs {
		path := input.Index("Jobs", i)
		if s.Jobs[i].Speeds != nil {
			return input.Errorf(path+".Speeds", len(s.Jobs[i].Speeds), "no speeds of the job in a replay")
		}
		if i > 0 && s.Jobs[i].Submit < s.Jobs[i-1].Submit {
			return input.Errorf(path+".Submit", s.Jobs[i].Submit, "a time >= %v, the submission of the previous job",
				s.Jobs[i-1].Submit)
		}
	}
	return nil
}

// checkRigid rejects settings that a policy of package rigid does not support.
func checkRigid(s *Scenario) error {
	switch {
	case s.Policy != dispatch.Policy{}:
		return input.Errorf("Policy", s.Policy, "no policy, because Rigid is given")
	case s.Learning != dispatch.Learning{}:
		return input.Errorf("Learning.Default", s.Learning.Default, "0 under %s", s.Rigid)
	case s.Emergency != 0:
		return input.Errorf("Emergency", s.Emergency, "0 under %s", s.Rigid)
	case s.Replan != 0:
		return input.Errorf("Replan", s.Replan, "0 under %s", s.Rigid)
	}
	for w, v := range s.Speeds {
		if v != 1 {
			return input.Errorf(input.Index("Speeds", w), v, "1 under %s", s.Rigid)
		}
	}
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Estimate < j.Work {
			return input.Errorf(input.Index("Jobs", i)+".Estimate", j.Estimate, "at least %v, its work", j.Work)
		}
	}
	return nil
}

// managerSettings returns the settings of a manager that replays the scenario.
func managerSettings(s *Scenario, name string) manager.Settings {
	return manager.Settings{
		Name: name, Logical: true,
		Rules: dispatch.Rules{Policy: s.Policy, Learning: s.Learning, Emergency: s.Emergency}, Rigid: s.Rigid,
	}
}

// Publish publishes the script and the jobs of a replay. It may be called again after an error.
func Publish(ctx context.Context, js jetstream.JetStream, s *Scenario) error {
	if err := check(s); err != nil {
		return err
	}
	script := &wire.Script{Version: wire.Version, Batches: len(s.Jobs), Replan: s.Replan}
	for w, v := range s.Speeds {
		script.Workers = append(script.Workers, wire.Scripted{Name: WorkerName(w), Speed: v})
	}
	for _, o := range s.Outages {
		outage := wire.ScriptedOutage{Worker: o.Worker, From: o.From, To: o.To}
		if math.IsInf(o.To, 1) {
			outage.To = 0
		}
		script.Outages = append(script.Outages, outage)
	}
	if err := publish(ctx, js, wire.ScriptSubject, script); err != nil {
		return err
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		b := &wire.Batch{Version: wire.Version, Name: "batch-" + strconv.Itoa(i), At: &j.Submit, Jobs: []wire.Job{{
			Name: jobName(i), Priority: j.Priority, DeadlineAt: j.Deadline, MaxWorkers: j.MaxWorkers,
			Tasks: j.Tasks, Work: j.Work,
			Works: j.Works, Estimate: j.Estimate, Run: wire.Run{Kind: worker.KindSleep},
		}}}
		if err := publish(ctx, js, wire.Submit(b.Name), b); err != nil {
			return fmt.Errorf("job %d: %w", i, err)
		}
	}
	return nil
}

func publish(ctx context.Context, js jetstream.JetStream, subject string, m wire.Message) error {
	data, err := wire.Encode(m)
	if err != nil {
		return err
	}
	_, err = wire.WriteOnce(ctx, js, subject, data)
	return err
}

// Read follows the plans of a replay until all jobs are done, and returns its log. It decides each
// plan again, and returns an error if the rules of the scenario lead to a different plan. It calls
// done with the number of finished jobs.
func Read(ctx context.Context, js jetstream.JetStream, s *Scenario, done func(int)) (*Log, error) {
	m := managerSettings(s, "reader")
	b, err := book.New(book.Settings{Leader: m.Name, Rules: m.Rules, Rigid: m.Rigid, Random: noRandom{}, Logical: true})
	if err != nil {
		return nil, err
	}
	var l Log
	for p, err := range manager.Plans(ctx, js) {
		if err != nil {
			return nil, err
		}
		if err := b.Verify(p); err != nil {
			return nil, err
		}
		l.add(p.At, p.Events)
		n := b.Cluster().Counts.Completed
		if done(n); n == len(s.Jobs) {
			break
		}
	}
	if l.Rigid = b.Measures(); l.Rigid == nil {
		l.Result = b.Report()
	}
	return &l, nil
}

// noRandom is the source of random bytes of a book that makes no decisions.
type noRandom struct{}

func (noRandom) Read([]byte) (int, error) {
	return 0, fmt.Errorf("a read-only book needs no random bytes")
}

// ScenarioSettings configure a replay within this process.
type ScenarioSettings struct {
	Pace float64      // seconds on the logical clock per second of real time, > 0
	Log  *slog.Logger // nil for none
	Done func(int)    // receives the number of finished jobs; may be nil
}

// RunScenario replays the scenario with the server, manager and workers of the live system, in this
// process and on a logical clock. Nothing of them remains when it returns. The error is a
// *num.InputError, or the error of the context.
func RunScenario(ctx context.Context, s Scenario, settings ScenarioSettings) (*Log, error) {
	if err := check(&s); err != nil {
		return nil, err
	}
	v, err := server.Start(ctx, server.Settings{NoListen: true, Log: settings.Log})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	nc, err := nats.Connect("", v.InProcess())
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	if err := server.Prepare(ctx, js, server.Layout{Memory: true}); err != nil {
		return nil, err
	}
	if err := Publish(ctx, js, &s); err != nil {
		return nil, err
	}
	var l *Log
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	group, inner := errgroup.WithContext(inner)
	ms := managerSettings(&s, "replay")
	ms.Log = settings.Log
	group.Go(func() error { return manager.Run(inner, nc, ms) })
	for w, speed := range s.Speeds {
		ws := worker.Settings{
			Server: "nats://in-process", Options: []nats.Option{v.InProcess()}, Name: WorkerName(w),
			Speed: speed, Pace: settings.Pace,
			Log: settings.Log,
		}
		group.Go(func() error {
			if err := worker.Run(inner, ws); inner.Err() == nil {
				return err
			}
			return nil
		})
	}
	group.Go(func() (err error) {
		defer cancel()
		done := settings.Done
		if done == nil {
			done = func(int) {}
		}
		l, err = Read(inner, js, &s, done)
		return err
	})
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return l, nil
}
