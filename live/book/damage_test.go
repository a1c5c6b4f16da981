package book_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/live/book"
	"productform/live/wire"
)

// A plannedRun is a cluster whose workers finish their tasks as ordered, with its messages and
// plans.
type plannedRun struct {
	settings book.Settings
	book     *book.Book
	in       []book.Input // messages of PFQ_IN; sequences are indices + 1
	plans    []*wire.Plan
	at       float64
}

func newPlannedRun(t *rapid.T, seed uint64) *plannedRun {
	var key [32]byte
	key[0] = byte(seed)
	s := book.Settings{
		Leader: "m", Epoch: 1e9, Random: rand.NewChaCha8(key),
		Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}},
	}
	b, err := book.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return &plannedRun{settings: s, book: b}
}

// hear passes inputs to the book and keeps the plans.
func (r *plannedRun) hear(list ...book.Input) error {
	r.at++
	for p, err := r.book.Take(r.at, list); p != nil || err != nil; p, err = r.book.Take(r.at, nil) {
		if err != nil {
			return err
		}
		data, err := wire.Encode(p)
		if err != nil {
			return err
		}
		if p, err = wire.Decode[wire.Plan](data); err != nil {
			return err
		}
		r.plans = append(r.plans, p)
	}
	return nil
}

// writes adds a message to PFQ_IN and passes it to the book.
func (r *plannedRun) writes(in wire.In) error {
	m := book.Input{Sequence: uint64(len(r.in) + 1), In: in}
	r.in = append(r.in, m)
	return r.hear(m)
}

func (r *plannedRun) joins(n int) error {
	for w := range n {
		name := fmt.Sprint("w", w)
		beat := &wire.Beat{Version: 1, Worker: name, Process: "p", Speed: 1}
		if err := r.hear(book.Input{Beat: beat}); err != nil {
			return err
		}
	}
	return nil
}

// runs lets workers report or fail until nothing is left to do or the steps are exhausted. A task
// with a report in PFQ_IN is not reported again because its subject is taken. It returns the number
// of new reports.
func (r *plannedRun) runs(t *rapid.T, steps int, recorded map[string]bool) (reports int, err error) {
	for range steps {
		var busy []book.Order
		for _, o := range r.book.Orders() {
			if !o.Order.Idle {
				busy = append(busy, o)
			}
		}
		if len(busy) == 0 {
			return reports, nil
		}
		o := busy[rapid.IntRange(0, len(busy)-1).Draw(t, "worker")]
		if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
			f := &wire.Failure{Version: 1, Job: o.Order.Job, Task: o.Order.Task, Attempt: o.Order.Attempt,
				Worker: o.Worker,
				Token:  o.Order.Token, Exit: 1}
			subject := wire.Failed(f.Job, f.Task, f.Attempt)
			if recorded[subject] {
				return reports, fmt.Errorf("subject %s is taken", subject)
			}
			recorded[subject] = true
			if err := r.writes(wire.In{Failure: f}); err != nil {
				return reports, err
			}
			continue
		}
		subject := wire.Done(o.Order.Job, o.Order.Task)
		if recorded[subject] {
			return reports, fmt.Errorf("%s has a report, but its task is ordered", subject)
		}
		recorded[subject] = true
		reports++
		report := &wire.Report{Version: 1, Job: o.Order.Job, Task: o.Order.Task, Attempt: o.Order.Attempt,
			Worker: o.Worker,
			Token:  o.Order.Token, Seconds: 1}
		if err := r.writes(wire.In{Report: report}); err != nil {
			return reports, err
		}
	}
	return reports, nil
}

func batchOf(name string, tasks int) wire.In {
	job := wire.Job{Name: name, Tasks: tasks, Work: 1, Attempts: 100, Run: wire.Run{Kind: "sleep"}}
	return wire.In{Batch: &wire.Batch{Version: 1, Name: name, Jobs: []wire.Job{job}}}
}

// The log loses its end after a random plan, and again after a repair. Reports on lost plans are
// detected, and none of them is removed. After the repair each task ends once, with the report that
// was recorded first, and no task with a report runs again.
func TestLostPlans(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		r := newPlannedRun(t, 1)
		if err := r.joins(rapid.IntRange(1, 4).Draw(t, "workers")); err != nil {
			t.Fatal(err)
		}
		recorded := map[string]bool{}
		tasks := 0
		for round := range 2 {
			n := rapid.IntRange(1, 12).Draw(t, "tasks")
			tasks += n
			if err := r.writes(batchOf(fmt.Sprint("j", round), n)); err != nil {
				t.Fatal(err)
			}
			if _, err := r.runs(t, rapid.IntRange(0, 15).Draw(t, "steps"), recorded); err != nil {
				t.Fatal(err)
			}
			if r.loses(t) {
				found++
			}
		}
		if err := r.joins(2); err != nil {
			t.Fatal(err)
		}
		if _, err := r.runs(t, 1000, recorded); err != nil {
			t.Fatal(err)
		}
		c := r.book.Cluster().Counts
		maps.DeleteFunc(recorded, func(subject string, _ bool) bool {
			return strings.HasPrefix(subject,
				"pfq.in.fail.")
		})
		if c.Tasks != tasks || c.Finished != tasks || len(recorded) != tasks || len(r.book.Removals()) > 0 ||
			c.Aside > 0 {
			t.Fatalf("%d tasks, %d reports, removals %v: %+v", tasks, len(recorded), r.book.Removals(), c)
		}
	})
	if found == 0 {
		t.Error("no plan was missed")
	}
}

// loses cuts the log, folds the rest, repairs it if reports prove the loss, and replays PFQ_IN. It
// returns whether the loss was proved.
func (r *plannedRun) loses(t *rapid.T) bool {
	keep := rapid.IntRange(0, len(r.plans)).Draw(t, "plans kept")
	newest := r.book.Number()
	key := r.book.Key()
	b, err := book.New(r.settings)
	if err != nil {
		t.Fatal(err)
	}
	base := r.plans
	for k := len(base) - 1; k >= 0; k-- { // a repair starts a new log
		if base[k] == nil {
			base = base[k+1:]
			break
		}
	}
	if len(base) < len(r.plans) {
		return false // this test does not keep the log from before a repair
	}
	for _, p := range r.plans[:keep] {
		if err := b.Fold(p); err != nil {
			t.Fatal(err)
		}
	}
	b.SetKey(key, 0)
	var lost *book.LostPlansError
	for i := range r.in {
		if r.in[i].Sequence > b.Upto() {
			if err := b.Trace(&r.in[i]); err != nil && !errors.As(err, &lost) {
				t.Fatal(err)
			}
		}
	}
	if lost == nil && b.Number() == newest {
		r.book = b
		return false
	}
	// If reports do not prove the loss, a view does.
	if err := b.Repair(newest+7, uint64(len(r.in)), 1e9); err != nil {
		t.Fatal(err)
	}
	data, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if r.book, err = book.Restore(r.settings, data); err != nil {
		t.Fatal(err)
	}
	upto := r.book.Upto()
	r.plans = append(r.plans[:0:0], nil)
	for _, m := range r.in {
		if m.Sequence > upto {
			if err := r.hear(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.joins(4); err != nil {
		t.Fatal(err)
	}
	return lost != nil
}

// A worker without a valid token cannot make a report that proves lost plans, regardless of the
// numbers in it. Such a report is refused and removed, and so is an honest report with changed
// fields.
func TestForgedTokensProveNoLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newPlannedRun(t, 2)
		if err := errors.Join(r.joins(2), r.writes(batchOf("j", 5))); err != nil {
			t.Fatal(err)
		}
		var o book.Order
		for _, o = range r.book.Orders() {
			if !o.Order.Idle {
				break
			}
		}
		forged := wire.Report{Version: 1, Job: "j", Task: rapid.IntRange(0, 4).Draw(t, "task"), Worker: "w0",
			Token: o.Order.Token, Seconds: 1,
			Attempt: rapid.IntRange(1, 1<<40).Draw(t, "attempt")}
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0: // signed with another key
			token := wire.Token{Term: wire.NewTerm([8]byte{1}), Plan: rapid.Uint64Range(0, 1<<50).Draw(t, "plan"),
				Job:  "j",
				Task: forged.Task, Attempt: forged.Attempt, Worker: "w0"}
			forged.Token = token.Sign(make([]byte, book.KeyBytes))
		case 1: // one character of a valid token changed
			text := []byte(o.Order.Token)
			at := rapid.IntRange(0, len(text)-2).Draw(t, "at") // the last character has unused bits
			text[at] = map[bool]byte{true: 'B', false: 'A'}[text[at] == 'A']
			forged.Token, forged.Attempt = string(text), o.Order.Attempt
			forged.Task, forged.Worker = o.Order.Task, o.Worker
		case 2: // a valid token of another attempt
			if forged.Attempt <= 2 {
				forged.Attempt += 2
			}
		case 3:
			forged.Token = rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`).Draw(t, "token")
		}
		in := wire.In{Report: &forged}
		if err := r.book.Trace(&book.Input{Sequence: 2, In: in}); err != nil {
			t.Fatal(err)
		}
		if err := r.writes(in); err != nil {
			t.Fatal(err)
		}
		if list := r.book.Removals(); len(list) != 1 || list[0].Sequence != 2 || list[0].Aside {
			t.Fatalf("removals %v", list)
		}
	})
}

// A removed report that the server restores is removed again. Otherwise it would block its task,
// since plans already mention its sequence.
func TestRestoredReportIsRemovedAgain(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a")
	d.submits("j", 1)
	forged := wire.In{Report: &wire.Report{Version: 1, Job: "j", Attempt: 1, Worker: "a", Token: "guessed"}}
	refuses(t, d.send(forged), "the token does not match the attempt")
	for _, r := range d.book.Removals() {
		d.hear(book.Input{Removed: &r})
	}
	if list := d.book.Removals(); len(list) > 0 || !d.book.Open()["j"][0] {
		t.Fatalf("removals %v, open %v", list, d.book.Open())
	}
	if d.hear(book.Input{Sequence: d.next, In: forged}); len(d.book.Removals()) > 0 {
		t.Fatal("a message that plans mention is processed again")
	}
	d.hear(book.Input{Sequence: d.next, Restored: true, In: forged})
	if list := d.book.Removals(); len(list) != 1 || list[0].Sequence != d.next {
		t.Fatalf("removals %v", list)
	}
}

// All plans are lost and, at first, all reports. The server restores reports after plans have
// passed their sequences. Each of them is adopted, and its task does not run again.
func TestRestoredReportsAreAdopted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newPlannedRun(t, 3)
		tasks := rapid.IntRange(1, 12).Draw(t, "tasks")
		if err := errors.Join(r.joins(rapid.IntRange(1, 4).Draw(t, "workers")),
			r.writes(batchOf("j", tasks))); err != nil {
			t.Fatal(err)
		}
		recorded := map[string]bool{}
		reports, err := r.runs(t, rapid.IntRange(1, 15).Draw(t, "steps"), recorded)
		if err != nil {
			t.Fatal(err)
		}
		number, key := r.book.Number(), r.book.Key()
		if r.book, err = book.New(r.settings); err != nil {
			t.Fatal(err)
		}
		r.book.SetKey(key, 0)
		if err := r.book.Repair(number+7, uint64(len(r.in)), 1e9); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.hear(r.in[0]), r.writes(batchOf("k", 1))); err != nil {
			t.Fatal(err)
		}
		for _, in := range r.in[1 : len(r.in)-1] {
			if in.In.Report != nil {
				in.Restored = true
				if err := r.hear(in); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := r.book.Cluster().Counts.Adopted; n != reports {
			t.Fatalf("%d of %d reports adopted", n, reports)
		}
		if err := r.joins(2); err != nil {
			t.Fatal(err)
		}
		if _, err := r.runs(t, 1000, recorded); err != nil {
			t.Fatal(err)
		}
		if c := r.book.Cluster().Counts; c.Finished != tasks+1 {
			t.Fatalf("%d of %d tasks finished", c.Finished, tasks+1)
		}
	})
}
