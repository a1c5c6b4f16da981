package book_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// Plans on a logical clock match dispatch.Run to the last digit, even if messages are delayed,
// repeated or reordered, and if the manager is killed before or after an append.
func TestLogicalClockMatchesRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t, 0.1, 0.3, 0.7, 1, 1, 1.7)
		want, wantLog := simulate(t, s)
		w := &logicalWorld{t: t, s: s, hands: map[string]*wire.Order{}}
		w.publish()
		w.restart()
		for steps := 0; w.book.Cluster().Counts.Completed < len(s.Jobs); steps++ {
			if steps > 10_000 {
				t.Fatalf("the clock stopped at %v: %+v", w.book.At(), w.book.Jobs())
			}
			w.step()
		}
		for tries := 0; w.book.Upto() < uint64(len(w.in)); tries++ {
			if tries > 1000 {
				t.Fatalf("all jobs are done, but only %d of %d messages are processed", w.book.Upto(), len(w.in))
			}
			w.take(w.in[w.book.Upto():])
		}
		if got := logged(w.plans); !slices.Equal(got, wantLog) {
			t.Fatalf("plans:\n%v\nsimulated:\n%v", got, wantLog)
		}
		if got := report(s, w.book); !reflect.DeepEqual(got, want) {
			t.Fatalf("report:\n%+v\nsimulated:\n%+v", got, want)
		}
		checkLog(t, settings(s, 2, true), w.book, w.plans)
	})
}

// A logicalWorld is a cluster whose workers report at random times.
type logicalWorld struct {
	t     *rapid.T
	s     scenario
	book  *book.Book
	in    []book.Input // PFQ_IN
	plans []*wire.Plan
	told  int // number of messages passed to the book
	hands map[string]*wire.Order
	seen  map[string]bool // subjects of published reports
	lives uint64
	saved []byte // snapshot
}

func (w *logicalWorld) add(in wire.In) {
	w.in = append(w.in, book.Input{Sequence: uint64(len(w.in) + 1), In: in})
}

// publish writes the script and the batches to PFQ_IN; batches of different times arrive in random
// order.
func (w *logicalWorld) publish() {
	w.seen = map[string]bool{}
	list, _ := batches(w.s, true)
	script := &wire.Script{Version: 1, Batches: len(list), Replan: w.s.Replan}
	for n, v := range w.s.Speeds {
		script.Workers = append(script.Workers, wire.Scripted{Name: name(n), Speed: v})
	}
	for _, o := range w.s.Outages {
		script.Outages = append(script.Outages, wire.ScriptedOutage{Worker: o.Worker, From: o.From, To: o.To})
	}
	all := []wire.In{{Script: script}}
	for i := range list {
		all = append(all, wire.In{Batch: &list[i]})
	}
	for _, in := range rapid.Permutation(all).Draw(w.t, "order") {
		w.add(in)
	}
}

// restart starts a new manager from the log or from a snapshot.
func (w *logicalWorld) restart() {
	w.lives++
	fresh, err := book.New(settings(w.s, w.lives, true))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.book = fresh; w.saved != nil {
		if w.book, err = book.Restore(settings(w.s, w.lives, true), w.saved); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, p := range w.plans[w.book.Number():] {
		if err := w.book.Fold(p); err != nil {
			w.t.Fatal(err)
		}
	}
	w.told = int(w.book.Upto())
	w.beats()
}

// beats passes a beat of each process to the book.
func (w *logicalWorld) beats() {
	var in []book.Input
	for n := range w.s.Speeds {
		in = append(in, book.Input{Beat: &wire.Beat{Version: 1, Worker: name(n), Process: "p", Speed: 1}})
	}
	w.take(in)
}

// take lets the book decide; the manager may be killed at any append.
func (w *logicalWorld) take(in []book.Input) {
	for {
		p, err := w.book.Take(0, in)
		if err != nil {
			w.t.Fatal(err)
		}
		if in = nil; p == nil {
			return
		}
		fate := rapid.IntRange(0, 19).Draw(w.t, "fate")
		if fate != 1 {
			w.plans = append(w.plans, rewritten(w.t, p))
		}
		if fate == 1 || fate == 2 {
			w.restart()
			return
		}
		if fate == 3 {
			if w.saved, err = w.book.Snapshot(); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// step simulates one of the possible next events.
func (w *logicalWorld) step() {
	switch rapid.IntRange(0, 5).Draw(w.t, "step") {
	case 0: // a worker receives its order, or an earlier one
		for _, o := range w.book.Orders() {
			if rapid.Bool().Draw(w.t, "heard") {
				w.hands[o.Worker] = &o.Order
			}
		}
	case 1, 2: // workers report, possibly on attempts that the script took away
		for n := range w.s.Speeds {
			o := w.hands[name(n)]
			if o == nil || o.Idle || rapid.IntRange(0, 3).Draw(w.t, "slow") == 0 {
				continue
			}
			if w.seen[o.ReportTo()] {
				continue
			}
			w.seen[o.ReportTo()] = true
			seconds := o.Work / w.s.Speeds[n]
			w.add(wire.In{Report: &wire.Report{
				Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: name(n), Token: o.Token,
				At: o.At + seconds, Seconds: seconds,
			}})
		}
	case 3, 4: // the manager receives some messages, possibly again
		again := rapid.IntRange(0, min(3, w.told)).Draw(w.t, "again")
		n := rapid.IntRange(0, len(w.in)-w.told).Draw(w.t, "messages")
		in := slices.Clone(w.in[w.told-again : w.told+n])
		w.told += n
		w.take(in)
	case 5:
		w.beats()
	}
}

// A report that is ahead of the clock waits. If its task is taken from the worker first, the report
// does not count.
func TestEarlyReportWaits(t *testing.T) {
	s := scenario{Scenario: dispatch.Scenario{
		Policy: dispatch.Policy{Rule: dispatch.Priority}, Emergency: 5, Speeds: []float64{1, 1},
		Jobs: []dispatch.Job{{Tasks: 2, Works: []float64{10, 2}}, {Submit: 5, Priority: 9, Tasks: 2, Work: 1}},
	}}
	b, err := book.New(settings(s, 1, true))
	if err != nil {
		t.Fatal(err)
	}
	sequence := uint64(0)
	hear := func(in wire.In) {
		t.Helper()
		sequence++
		list := []book.Input{
			{Sequence: sequence, In: in}, {Beat: &wire.Beat{Version: 1, Worker: "w0", Process: "p", Speed: 1}},
			{Beat: &wire.Beat{Version: 1, Worker: "w1", Process: "p", Speed: 1}},
		}
		for {
			p, err := b.Take(0, list)
			if err != nil {
				t.Fatal(err)
			}
			if list = nil; p == nil {
				return
			}
		}
	}
	report := func(worker int) {
		t.Helper()
		o := b.Orders()[worker].Order
		hear(wire.In{Report: &wire.Report{
			Version: 1,
			Job:     o.Job,
			Task:    o.Task,
			Attempt: o.Attempt,
			Worker:  name(worker),
			Token:   o.Token,
			At:      o.At + o.Work,
		}})
	}
	hear(wire.In{Script: &wire.Script{
		Version: 1,
		Batches: 2,
		Workers: []wire.Scripted{{Name: "w0", Speed: 1}, {Name: "w1", Speed: 1}},
	}})
	list, _ := batches(s, true)
	hear(wire.In{Batch: &list[1]})
	hear(wire.In{Batch: &list[0]})
	report(0) // at time 10
	if b.At() != 0 || b.Upto() >= sequence {
		t.Fatalf("the clock is at %v with %d of %d messages processed, but a task that ends at 2 is not reported",
			b.At(), b.Upto(), sequence)
	}
	report(1) // at time 2, which moves the clock to 5
	if o := b.Orders()[0].Order; b.At() != 5 || o.Job != "job-1" || b.Upto() != sequence {
		t.Fatalf("at %v: %+v, %d of %d messages processed", b.At(), o, b.Upto(), sequence)
	}
	report(0)
	report(1) // at time 6
	report(0) // the second attempt at task 0, at time 16
	if c := b.Cluster().Counts; c.Completed != 2 || c.Preempted != 1 || b.At() != 16 || b.Upto() != sequence {
		t.Errorf("%+v at %v, %d of %d messages processed", c, b.At(), b.Upto(), sequence)
	}
}
