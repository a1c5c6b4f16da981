package book_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/live/book"
	"productform/live/wire"
)

// A scenario is a dispatch.Scenario, or a rigid.Scenario if rigid has a policy.
type scenario struct {
	dispatch.Scenario
	rigid rigid.Policy
}

// isRigid reports whether all tasks of a job start together.
func (s *scenario) isRigid() bool { return s.rigid != rigid.Policy{} }

// drawScenario draws a cluster with jobs ordered by submission. All times are multiples of a unit.
func drawScenario(t *rapid.T, unit float64, speeds ...float64) scenario {
	number := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
	s := scenario{Scenario: dispatch.Scenario{Policy: rapid.SampledFrom([]dispatch.Policy{
		{Rule: dispatch.Priority, Reserve: 0.5}, {Rule: dispatch.Proportion}, {Rule: dispatch.Workload, Horizon: 3},
		{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline}, {Rule: dispatch.EDF},
		{Rule: dispatch.Deadline, Spare: dispatch.SpareKept},
	}).Draw(t, "policy")}}
	if rapid.IntRange(0, 2).Draw(t, "rigid") == 0 {
		s.rigid = rapid.SampledFrom(rigid.Policies()).Draw(t, "rigid policy")
		speeds = []float64{1}
	} else if rapid.Bool().Draw(t, "learns") {
		s.Learning = dispatch.Learning{Default: 1.5, Window: number(0, 3, "window")}
	}
	if !s.isRigid() {
		s.Learning.Speeds = rapid.Bool().Draw(t, "learns speeds")
	}
	if !s.isRigid() && rapid.Bool().Draw(t, "emergencies") {
		s.Emergency = 3
	}
	if !s.isRigid() && rapid.Bool().Draw(t, "replans") {
		s.Replan = 7 * unit
	}
	for range number(1, 5, "workers") {
		s.Speeds = append(s.Speeds, rapid.SampledFrom(speeds).Draw(t, "speed"))
	}
	at := 0.0
	for range number(1, 6, "jobs") {
		at += unit * float64(number(0, 20, "gap"))
		j := dispatch.Job{
			Submit:   at,
			Priority: float64(number(0, 4, "priority")),
			Tasks:    number(1, 6, "tasks"),
			Kind:     "sleep",
		}
		if rapid.Bool().Draw(t, "deadline") {
			j.Deadline = at + unit*float64(number(1, 60, "in"))
		}
		if s.isRigid() {
			j.Tasks, j.Work = min(j.Tasks, len(s.Speeds)), unit*float64(number(0, 20, "work"))
			j.Estimate = max(unit, j.Work+unit*float64(number(0, 20, "more")))
			s.Jobs = append(s.Jobs, j)
			continue
		}
		if j.MaxWorkers = number(0, 3, "most"); rapid.Bool().Draw(t, "differ") {
			for range j.Tasks {
				j.Works = append(j.Works, unit*float64(number(0, 20, "work")))
			}
		} else {
			j.Work = unit * float64(number(0, 20, "work"))
		}
		s.Jobs = append(s.Jobs, j)
	}
	for w := range s.Speeds {
		from := 0.0
		for range number(0, 2, "outages") {
			from += unit * float64(number(1, 20, "up"))
			to := from + unit*float64(number(1, 20, "away"))
			s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: from, To: to})
			from = to
		}
	}
	return s
}

// simulate runs the scenario and returns its result, from package dispatch or rigid, and its events
// with the times of their decisions.
func simulate(t *rapid.T, s scenario) (any, []string) {
	var log []string
	if s.isRigid() {
		r, err := rigid.Run(context.Background(), rigid.Scenario{
			Jobs:    s.Jobs,
			Workers: len(s.Speeds),
			Policy:  s.rigid,
			Outages: s.Outages,
			Events: func(at float64, events []dispatch.Event) {
				for _, e := range events {
					log = append(log, fmt.Sprint(at, e))
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r, log
	}
	s.Watch = func(d *dispatch.Decision) {
		for _, e := range d.Events {
			log = append(log, fmt.Sprint(d.Time, e))
		}
	}
	r, err := dispatch.Run(context.Background(), s.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	return r, log
}

// logged returns the events of plans, without those that register the workers.
func logged(plans []*wire.Plan) (log []string) {
	for _, p := range plans {
		if len(p.NewWorkers) > 0 {
			continue
		}
		for _, e := range p.Events {
			log = append(log, fmt.Sprint(p.At, e))
		}
	}
	return log
}

// batches returns the jobs of a scenario as batches, one per time of submission.
func batches(s scenario, logical bool) (list []wire.Batch, at []float64) {
	for i, j := range s.Jobs {
		if i == 0 || j.Submit != at[len(at)-1] {
			b := wire.Batch{Version: 1, Name: fmt.Sprintf("batch-%d", i)}
			at = append(at, j.Submit)
			if logical {
				b.At = &s.Jobs[i].Submit
			}
			list = append(list, b)
		}
		b := &list[len(list)-1]
		b.Jobs = append(b.Jobs, wire.Job{
			Name: fmt.Sprintf("job-%d", i), Priority: j.Priority, DeadlineAt: j.Deadline,
			MaxWorkers: j.MaxWorkers, Tasks: j.Tasks,
			Work: j.Work, Works: j.Works, Estimate: j.Estimate, Run: wire.Run{Kind: "sleep"},
		})
	}
	return list, at
}

// report returns the result in the same form as simulate.
func report(s scenario, b *book.Book) any {
	if s.isRigid() {
		return b.Measures()
	}
	return b.Report()
}

func settings(s scenario, seed uint64, logical bool) book.Settings {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	set := book.Settings{
		Leader: "m", Rules: dispatch.Rules{Policy: s.Policy, Learning: s.Learning, Emergency: s.Emergency},
		Replan: s.Replan,
		Random: rand.NewChaCha8(key), Logical: logical, Losses: 1000,
	}
	if s.isRigid() {
		set.Rules, set.Rigid = dispatch.Rules{}, s.rigid
	}
	return set
}

// On the wall clock, without delays and losses, plans match dispatch.Run to the last digit. Jobs
// are submitted when accepted, and work is measured, so times are chosen to avoid rounding.
func TestWallClockMatchesRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t, 0.125, 0.5, 1, 1, 2)
		want, wantLog := simulate(t, s)
		b, err := book.New(settings(s, 1, false))
		if err != nil {
			t.Fatal(err)
		}
		w := &quietWorld{t: t, s: s, book: b, next: 1}
		w.run(len(s.Jobs))
		if got := logged(w.plans); !slices.Equal(got, wantLog) {
			t.Fatalf("plans:\n%v\nsimulated:\n%v", got, wantLog)
		}
		if got := report(s, w.book); !reflect.DeepEqual(got, want) {
			t.Fatalf("report:\n%+v\nsimulated:\n%+v", got, want)
		}
		checkLog(t, settings(s, 2, false), w.book, w.plans)
	})
}

// A quietWorld has no delays or losses: workers report exactly when their tasks end.
type quietWorld struct {
	t     *rapid.T
	s     scenario
	book  *book.Book
	plans []*wire.Plan
	next  uint64 // sequence
	hands map[int]*wire.Order
}

func name(worker int) string { return fmt.Sprintf("w%d", worker) }

func (w *quietWorld) take(at float64, in []book.Input) {
	for {
		p, err := w.book.Take(at, in)
		if err != nil {
			w.t.Fatal(err)
		}
		if p == nil {
			break
		}
		in = nil
		p = rewritten(w.t, p)
		w.plans = append(w.plans, p)
		for _, o := range w.book.OrdersOf(p) {
			var n int
			fmt.Sscanf(o.Worker, "w%d", &n)
			if delete(w.hands, n); !o.Order.Idle {
				w.hands[n] = &o.Order
			}
		}
	}
	if rapid.IntRange(0, 9).Draw(w.t, "restored") == 1 { // another manager takes over
		snapshot, err := w.book.Snapshot()
		if err != nil {
			w.t.Fatal(err)
		}
		if w.book, err = book.Restore(settings(w.s, uint64(len(w.plans)), false), snapshot); err != nil {
			w.t.Fatal(err)
		}
	}
}

// rewritten encodes a plan and decodes it again.
func rewritten(t *rapid.T, p *wire.Plan) *wire.Plan {
	data, err := wire.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	q, err := wire.Decode[wire.Plan](data)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (w *quietWorld) message(in wire.In) book.Input {
	w.next++
	return book.Input{Sequence: w.next, In: in}
}

func (w *quietWorld) beat(worker int) book.Input {
	return book.Input{Beat: &wire.Beat{Version: 1, Worker: name(worker), Process: "p", Speed: w.s.Speeds[worker]}}
}

// run advances from moment to moment until the given number of jobs is done. Times that agree up to
// rounding are one moment.
func (w *quietWorld) run(jobs int) {
	w.hands = map[int]*wire.Order{}
	var in []book.Input
	for n := range w.s.Speeds {
		in = append(in, w.beat(n))
	}
	w.take(0, in)
	type event struct {
		at   float64
		make func() book.Input
	}
	var coming []event
	list, at := batches(w.s, false)
	for i := range list {
		coming = append(coming, event{at[i], func() book.Input { return w.message(wire.In{Batch: &list[i]}) }})
	}
	for _, o := range w.s.Outages {
		coming = append(coming, event{o.From, func() book.Input {
			delete(w.hands, o.Worker)
			return book.Input{Down: &book.Down{Worker: name(o.Worker), Process: "p"}}
		}},
			event{o.To, func() book.Input { return w.beat(o.Worker) }})
	}
	for w.book.Cluster().Counts.Completed < jobs {
		all := slices.Clone(coming)
		for n, o := range w.hands {
			seconds := o.Work / w.s.Speeds[n]
			all = append(all, event{o.At + seconds, func() book.Input {
				delete(w.hands, n)
				return w.message(wire.In{Report: &wire.Report{
					Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: name(n),
					Token: o.Token, Seconds: seconds,
				}})
			}})
		}
		first := w.book.Next()
		for _, e := range all {
			first = min(first, e.at)
		}
		now, last := first, first*(1+1e-12)
		var in []book.Input
		for _, e := range all {
			if e.at <= last {
				now = max(now, e.at)
				in = append(in, e.make())
			}
		}
		coming = slices.DeleteFunc(coming, func(e event) bool { return e.at <= last })
		w.take(now, in)
	}
}

// checkLog compares the book with folding the plans, from the start or from any snapshot, and with
// deciding them again.
func checkLog(t *rapid.T, s book.Settings, b *book.Book, plans []*wire.Plan) {
	checkLost(t, b, plans)
	want, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := audit(s, plans)
	if err != nil {
		t.Fatal(err)
	}
	folded, err := book.New(s)
	if err != nil {
		t.Fatal(err)
	}
	cut := rapid.IntRange(1, len(plans)).Draw(t, "snapshot at")
	for i, p := range plans {
		if p.Number != uint64(i+1) {
			t.Fatalf("plan %d has number %d", i+1, p.Number)
		}
		if err := folded.Fold(p); err != nil {
			t.Fatalf("plan %d: %v", i+1, err)
		}
		if i+1 == cut {
			snapshot, err := folded.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if folded, err = book.Restore(s, snapshot); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, other := range []*book.Book{again, folded} {
		got, err := other.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("book %d:\n%s\nwant:\n%s", i, got, want)
		}
	}
}

// checkLost counts the lost and preempted attempts in the plans. They must match the counts of the
// book and of its workers, and the sum over its jobs if no job is cleared.
func checkLost(t *rapid.T, b *book.Book, plans []*wire.Plan) {
	lost, preempted := 0, 0
	names, ofWorkers := map[int]string{}, map[int]int{} // by number, which may be reused for another worker
	if script := plans[0].Script; script != nil {
		for n, w := range script.Workers {
			names[n] = w.Name
		}
	}
	for _, p := range plans {
		for _, n := range p.NewWorkers {
			if names[n.Number] != n.Name {
				names[n.Number], ofWorkers[n.Number] = n.Name, 0
			}
		}
		for i := range p.Events {
			switch e := &p.Events[i]; e.Kind {
			case dispatch.Lost:
				lost++
				ofWorkers[e.Worker]++
			case dispatch.Preempted:
				preempted++
			}
		}
	}
	c := b.Cluster().Counts
	ofJobs := 0
	for _, j := range b.Latest(c.Jobs) {
		ofJobs += j.Lost
	}
	if c.Lost != lost || c.Preempted != preempted || c.Cleared == 0 && ofJobs != lost {
		t.Fatalf("%d attempts lost and %d preempted; the book counts %d and %d, its jobs %d lost",
			lost, preempted, c.Lost, c.Preempted, ofJobs)
	}
	for _, w := range b.Workers() {
		if w.Name != names[w.Number] || w.Lost != ofWorkers[w.Number] {
			t.Fatalf("worker %d is %s and lost %d attempts, want %s and %d",
				w.Number, w.Name, w.Lost, names[w.Number], ofWorkers[w.Number])
		}
	}
}
