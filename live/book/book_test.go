package book_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/live/book"
	"productform/live/wire"
)

// A desk feeds inputs to a book, one at a time.
type desk struct {
	t        *testing.T
	settings book.Settings
	book     *book.Book
	plans    []*wire.Plan
	at       float64
	next     uint64
}

func newDesk(t *testing.T, change func(s *book.Settings)) *desk {
	s := settings(scenario{Scenario: dispatch.Scenario{Policy: dispatch.Policy{Rule: dispatch.Deadline}}}, 1, false)
	s.Epoch, s.Losses = 1e9, 0
	if change != nil {
		change(&s)
	}
	b, err := book.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t: t, settings: s, book: b}
}

// hear passes inputs to the book one second later and returns the refusals in its plans.
func (d *desk) hear(in ...book.Input) (why []string) {
	d.t.Helper()
	d.at++
	for {
		p, err := d.book.Take(d.at, in)
		if err != nil {
			d.t.Fatal(err)
		}
		if in = nil; p == nil {
			return why
		}
		data, err := wire.Encode(p)
		if err != nil {
			d.t.Fatal(err)
		}
		q, err := wire.Decode[wire.Plan](data)
		if err != nil {
			d.t.Fatal(err)
		}
		d.plans = append(d.plans, q)
		for _, r := range q.Refused {
			why = append(why, r.Why)
		}
	}
}

// send passes a message of PFQ_IN to hear.
func (d *desk) send(in wire.In) []string {
	d.t.Helper()
	d.next++
	return d.hear(book.Input{Sequence: d.next, In: in})
}

// isFolded fails unless folding the plans, from the start or from any snapshot, gives the same
// book.
func (d *desk) isFolded() {
	d.t.Helper()
	want, err := d.book.Snapshot()
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := book.New(d.settings)
	for _, p := range d.plans {
		if err == nil {
			err = b.Fold(p)
		}
		var snapshot []byte
		if err == nil {
			snapshot, err = b.Snapshot()
		}
		if err == nil {
			b, err = book.Restore(d.settings, snapshot)
		}
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if got, err := b.Snapshot(); err != nil || !bytes.Equal(got, want) {
		d.t.Errorf("the plans fold to %s, %v; want %s", got, err, want)
	}
}

func (d *desk) beat(worker, process string) *wire.Beat {
	return &wire.Beat{Version: 1, Worker: worker, Process: process, Speed: 1}
}

func (d *desk) joins(workers ...string) {
	for _, w := range workers {
		d.hear(book.Input{Beat: d.beat(w, w+"-1")})
	}
}

// submits submits a batch with one job of the same name, whose tasks have work 1.
func (d *desk) submits(job string, tasks int) []string {
	return d.send(wire.In{Batch: &wire.Batch{
		Version: 1,
		Name:    job,
		Jobs:    []wire.Job{{Name: job, Tasks: tasks, Work: 1, Run: wire.Run{Kind: "sleep"}}},
	}})
}

func (d *desk) wishes(verb wire.Verb, name string) []string {
	return d.send(wire.In{Wish: &wire.Wish{Verb: verb, Name: name, Version: 1}})
}

// order returns the task assigned to a worker.
func (d *desk) order(worker string) wire.Order {
	d.t.Helper()
	for _, o := range d.book.Orders() {
		if o.Worker == worker {
			return o.Order
		}
	}
	d.t.Fatalf("%s has no order", worker)
	return wire.Order{}
}

// holder returns the first worker with an assigned task.
func (d *desk) holder() string {
	d.t.Helper()
	for _, o := range d.book.Orders() {
		if !o.Order.Idle {
			return o.Worker
		}
	}
	d.t.Fatal("no worker has a task")
	return ""
}

func (d *desk) reports(worker string, o wire.Order) []string {
	return d.send(wire.In{Report: &wire.Report{
		Version: 1,
		Job:     o.Job,
		Task:    o.Task,
		Attempt: o.Attempt,
		Worker:  worker,
		Token:   o.Token,
		Seconds: 1,
	}})
}

func (d *desk) fails(worker string, o wire.Order) []string {
	return d.send(wire.In{Failure: &wire.Failure{
		Version: 1,
		Job:     o.Job,
		Task:    o.Task,
		Attempt: o.Attempt,
		Worker:  worker,
		Token:   o.Token,
		Exit:    1,
	}})
}

func (d *desk) worker(name string, want wire.WorkerState) {
	d.t.Helper()
	if v, ok := d.book.Worker(name); !ok || v.State != want {
		d.t.Errorf("worker %s is %s, want %s", name, v.State, want)
	}
}

func (d *desk) job(name string, want wire.JobState) wire.JobView {
	d.t.Helper()
	v, ok := d.book.Job(name)
	if !ok || v.State != want {
		d.t.Errorf("job %s is %s, want %s", name, v.State, want)
	}
	return v
}

// refuses fails unless there is exactly one refusal, and it contains these words.
func refuses(t *testing.T, why []string, words string) {
	t.Helper()
	if len(why) != 1 || !strings.Contains(why[0], words) {
		t.Errorf("refused: %q, want %q", why, words)
	}
}

// accepts fails if there is a refusal.
func accepts(t *testing.T, why []string) {
	t.Helper()
	if len(why) != 0 {
		t.Errorf("refused: %q", why)
	}
}

func TestBatches(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.MaxJobs, s.MaxTasks = 3, 10 })
	accepts(t, d.submits("a", 4))
	accepts(t, d.submits("a", 4)) // the same batch again
	if got := d.book.Cluster().Counts; got.Jobs != 1 || got.Tasks != 4 {
		t.Errorf("%+v", got)
	}
	two := func(batch, job1, job2 string) wire.In {
		return wire.In{Batch: &wire.Batch{Version: 1, Name: batch, Jobs: []wire.Job{
			{Name: job1, Tasks: 1, Run: wire.Run{Kind: "sleep"}},
			{Name: job2, Tasks: 1, Run: wire.Run{Kind: "sleep"}}}}}
	}
	refuses(t, d.send(two("b", "b1", "a")), `jobs[1].name = a: want a name that no other job has or had`)
	if _, ok := d.book.Job("b1"); ok {
		t.Error("half of a batch is accepted")
	}
	if v, ok := d.book.Batch("b"); !ok || !strings.Contains(v.Refused, "jobs[1].name") || len(d.book.Removals()) != 1 {
		t.Errorf("%+v, %+v", v, d.book.Removals())
	}
	accepts(t, d.send(two("b", "b1", "b2"))) // a corrected batch
	if v, ok := d.book.Batch("b"); !ok || v.Refused != "" || len(v.Jobs) != 2 {
		t.Errorf("%+v", v)
	}
	refuses(t, d.submits("c", 1), "at most 3 jobs that are not cleared")
	d.wishes(wire.ToCancel, "b1")
	d.wishes(wire.ToClear, "b1")
	refuses(t, d.submits("c", 6), "at most 10 tasks in the jobs that are not cleared")
	refuses(t, d.submits("b1", 1), "a name that no other job has or had")
	accepts(t, d.submits("c", 5))
	late := wire.Job{Name: "d", Tasks: 1, DeadlineAt: 1e9 + 2, Run: wire.Run{Kind: "sleep"}}
	refuses(
		t, d.send(wire.In{Batch: &wire.Batch{Version: 1, Name: "d", Jobs: []wire.Job{late}}}),
		"jobs[0].deadline = 2001-09-09T01:46:42Z: want a time after the submission, at 2001-09-09T01:46:51Z",
	)
	at := 3.0
	refuses(
		t, d.send(wire.In{Batch: &wire.Batch{Version: 1, Name: "e", Jobs: []wire.Job{{Name: "e", Tasks: 1}}, At: &at}}),
		"wall clock",
	)
}

// A deadline relative to the submission is fixed when the batch is accepted. A changed deadline
// counts from the request.
func TestDeadlines(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("w")
	five, nine := 5.0, 9.0
	d.send(wire.In{Batch: &wire.Batch{Version: 1, Name: "b", Jobs: []wire.Job{
		{Name: "in", Tasks: 9, Work: 1, DeadlineIn: 10, Run: wire.Run{Kind: "sleep"}},
		{Name: "at", Tasks: 9, Work: 1, DeadlineAt: 1e9 + 40, Run: wire.Run{Kind: "sleep"}}}}}) // at 2
	deadline := func(job string, want float64) {
		t.Helper()
		if v := d.job(job, wire.JobPresent); v.Deadline == nil || *v.Deadline != want {
			t.Errorf("%+v, want deadline %v", v, want)
		}
	}
	deadline("in", 12)
	deadline("at", 40)
	d.send(wire.In{Wish: &wire.Wish{Verb: wire.ToChange, Name: "in", Version: 1, DeadlineIn: &five}}) // at 3
	deadline("in", 8)
	d.send(wire.In{Wish: &wire.Wish{Verb: wire.ToChange, Name: "in", Version: 1, Priority: &nine}})
	deadline("in", 8)
	if v := d.job("in", wire.JobPresent); v.Priority != 9 {
		t.Errorf("%+v", v)
	}
	wish := func(w wire.Wish) book.Input {
		d.next++
		w.Verb, w.Name, w.Version = wire.ToChange, "at", 1
		return book.Input{Sequence: d.next, In: wire.In{Wish: &w}}
	}
	d.hear(wish(wire.Wish{Priority: &nine}), wish(wire.Wish{DeadlineIn: &five})) // at 5, together
	deadline("at", 10)
	if v := d.job("at", wire.JobPresent); v.Priority != 9 {
		t.Errorf("%+v", v)
	}
	refuses(
		t, d.send(wire.In{Wish: &wire.Wish{Verb: wire.ToChange, Name: "at", Version: 1, DeadlineAt: &five}}),
		"deadline",
	)
	refuses(
		t, d.send(wire.In{Wish: &wire.Wish{Verb: wire.ToChange, Name: "no", Version: 1, DeadlineAt: &five}}),
		"there is no such job",
	)
}

// A task is given up after 3 failures on two workers, or after 6 on one worker if there are others.
func TestTasksAreGivenUp(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b", "c")
	d.submits("j", 1)
	failed := map[string]bool{}
	for range 3 {
		d.job("j", wire.JobPresent)
		w := d.holder()
		failed[w] = true
		d.fails(w, d.order(w))
	}
	if v := d.job("j", wire.JobFailures); v.Failed != 1 || v.Left != 0 || len(failed) < 2 {
		t.Errorf("%+v, failed on %v", v, failed)
	}
	if c := d.book.Cluster().Counts; c.Failures != 3 || c.GivenUp != 1 || c.Completed != 1 {
		t.Errorf("%+v", c)
	}

	d = newDesk(t, nil)
	d.joins("a", "b")
	d.submits("long", 1) // keeps b busy
	d.submits("j", 1)
	busy, idle := "a", "b"
	if d.order("a").Job == "j" {
		busy, idle = "b", "a"
	}
	for n := 1; n <= 6; n++ {
		o := d.order(idle)
		if o.Idle || d.order(busy).Job != "long" {
			t.Fatalf("attempt %d: %+v", n, o)
		}
		d.fails(idle, o)
	}
	d.job("j", wire.JobFailures)

	d = newDesk(t, nil)
	d.joins("a")
	d.submits("j", 1)
	for range 3 {
		d.fails("a", d.order("a")) // the only worker
	}
	d.job("j", wire.JobFailures)
}

// A task that kills its workers is given up after 10 losses on two workers.
func TestTasksThatKillWorkers(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	d.submits("j", 1)
	for n := range 10 {
		w := "a"
		if d.order("a").Idle {
			w = "b"
		}
		d.job("j", wire.JobPresent)
		v, _ := d.book.Worker(w)
		d.hear(book.Input{Down: &book.Down{Worker: w, Process: v.Process}})
		d.worker(w, wire.WorkerDown)
		d.hear(book.Input{Beat: d.beat(w, fmt.Sprintf("%s-again-%d", w, n))})
		d.worker(w, d.stateOf(w))
	}
	if v := d.job("j", wire.JobFailures); v.Failed != 1 || v.Lost != 10 {
		t.Errorf("%+v", v)
	}
}

func (d *desk) stateOf(w string) wire.WorkerState {
	if d.order(w).Idle {
		return wire.WorkerAvailable
	}
	return wire.WorkerOccupied
}

// A report must repeat the token of its attempt. A late report counts if it is the first.
func TestReports(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	d.submits("j", 1)
	first := d.order("a")
	forged := first
	forged.Token = "guessed"
	refuses(t, d.reports("b", forged), "the token does not match the attempt")
	d.worker("b", wire.WorkerAvailable) // other workers could have written it
	d.worker("a", wire.WorkerOccupied)
	if got := d.book.Removals(); len(got) != 1 || got[0].Sequence != d.next {
		t.Errorf("%+v", got)
	}
	removal := d.book.Removals()[0]
	d.hear(book.Input{Removed: &removal})
	if got := d.book.Removals(); len(got) != 0 {
		t.Errorf("%+v", got)
	}

	d.hear(book.Input{Down: &book.Down{Worker: "a", Process: "a-0"}}) // about another process
	d.worker("a", wire.WorkerOccupied)
	d.hear(book.Input{Down: &book.Down{Worker: "a", Process: "a-1"}})
	second := d.order("b")
	accepts(t, d.reports("a", first)) // late but first
	if v := d.job("j", wire.JobCompleted); v.Lost != 1 {
		t.Errorf("%+v", v)
	}
	if o := d.order("b"); !o.Idle {
		t.Errorf("b still has a task: %+v", o)
	}
	refuses(t, d.reports("b", second), "the task already has a result")
	if len(d.book.Removals()) != 0 {
		t.Errorf("a result is listed for removal")
	}
	if c := d.book.Cluster().Counts; c.Late != 1 || c.Finished != 1 || c.Lost != 1 || c.Refused != 2 {
		t.Errorf("%+v", c)
	}
	refuses(
		t, d.send(wire.In{Report: &wire.Report{Version: 1, Job: "no", Worker: "a", Token: "x", Attempt: 1}}),
		"there is no such job",
	)
	refuses(
		t, d.send(wire.In{Report: &wire.Report{Version: 1, Job: "j", Task: 1, Worker: "a", Token: "x", Attempt: 1}}),
		"there is no such task",
	)
	d.next++
	refuses(
		t, d.hear(book.Input{Sequence: d.next, Subject: "pfq.in.done.x.y", Err: errors.New("no \x1bJSON")}), "no ?JSON",
	)
}

// Latest returns all unfinished jobs, and the requested number of jobs that ended last.
func TestLatest(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a")
	for _, name := range []string{"i", "j", "k", "l", "m"} {
		d.submits(name, 1)
	}
	for _, name := range []string{"l", "i", "m"} {
		d.wishes(wire.ToCancel, name)
	}
	for most, want := range map[int]string{0: "j k", 1: "j k m", 2: "j k i m", 9: "j k l i m"} {
		var names []string
		for _, v := range d.book.Latest(most) {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d: %s, want %s", most, got, want)
		}
	}
}

// Messages that the server has lost are not removed: by now another message may have their
// sequence, and it is processed.
func TestRewind(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	d.submits("i", 1)
	d.submits("j", 1)
	forged := d.order("b")
	forged.Token = "guessed"
	refuses(t, d.reports("b", forged), "the token does not match the attempt")
	if d.book.Upto() != 3 || len(d.book.Removals()) != 1 {
		t.Fatal(d.book.Upto(), d.book.Removals())
	}
	d.book.Rewind(5) // nothing was lost
	if d.book.Upto() != 3 {
		t.Fatal(d.book.Upto())
	}
	d.book.Rewind(1)
	d.next = 1
	accepts(t, d.reports("b", d.order("b")))
	d.job("j", wire.JobCompleted)
	accepts(t, d.reports("a", d.order("a")))
	d.job("i", wire.JobCompleted)
	again, err := book.New(d.settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.plans {
		if err := again.Fold(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range []*book.Book{d.book, again} {
		if b.Upto() != 3 || len(b.Removals()) != 0 {
			t.Error(b.Upto(), b.Removals())
		}
	}
}

// If one plan processes two reports of a task, the first counts. Only a faulty server delivers
// both.
func TestTwoReportsInOnePlan(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	d.submits("j", 1)
	first := d.order("a")
	d.hear(book.Input{Down: &book.Down{Worker: "a", Process: "a-1"}})
	second := d.order("b")
	report := func(worker string, o wire.Order) book.Input {
		d.next++
		return book.Input{Sequence: d.next, In: wire.In{
			Report: &wire.Report{Version: 1, Job: "j", Attempt: o.Attempt, Worker: worker, Token: o.Token},
		}}
	}
	refuses(t, d.hear(report("b", second), report("a", first)), "the task already has a result")
	d.job("j", wire.JobCompleted)
	if last := d.plans[len(d.plans)-1]; len(last.What) != 1 || last.What[0].Attempt != second.Attempt {
		t.Errorf("%+v", last)
	}
}

// A late beat of an old process changes nothing. If an old process keeps beating while the new one
// is silent, the worker returns to the old one.
func TestOldProcesses(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a")
	d.submits("j", 1)
	d.hear(book.Input{Beat: d.beat("a", "a-2")})
	process := func(want string) {
		t.Helper()
		if v, ok := d.book.Worker("a"); !ok || v.Process != want {
			t.Errorf("process %s, want %s", v.Process, want)
		}
	}
	process("a-2")
	held := d.order("a")
	for range 10 { // two workers with the same name
		d.hear(book.Input{Beat: d.beat("a", "a-1")})
		d.hear(book.Input{Beat: d.beat("a", "a-2")})
	}
	process("a-2")
	if d.order("a").Attempt != held.Attempt {
		t.Error("the task was lost")
	}
	for range 4 {
		process("a-2")
		d.hear(book.Input{Beat: d.beat("a", "a-1")})
	}
	process("a-1")
	d.hear(book.Input{Beat: d.beat("a", "a-1")})
	d.worker("a", wire.WorkerOccupied)
	d.hear(book.Input{Down: &book.Down{Worker: "a", Process: "a-1"}})
	d.hear(book.Input{Beat: d.beat("a", "a-2")})
	process("a-2")
}

// A drained worker stays drained even if the beats of its processes arrive in the wrong order. The
// task of its current process is lost when a former process keeps beating.
func TestOldProcessIsDrained(t *testing.T) {
	d := newDesk(t, nil)
	d.hear(book.Input{Beat: d.beat("a", "a-2")})
	d.hear(book.Input{Beat: d.beat("a", "a-1")})
	d.submits("j", 1)
	held := d.order("a")
	accepts(t, d.wishes(wire.ToDrain, "a"))
	d.joins("b")
	for range 4 {
		d.worker("a", wire.WorkerDraining)
		d.hear(book.Input{Beat: d.beat("a", "a-2")})
	}
	d.worker("a", wire.WorkerGone)
	again := d.order("b")
	if again.Job != "j" || again.Attempt == held.Attempt {
		t.Errorf("b has order %+v", again)
	}
	accepts(t, d.reports("b", again))
	d.job("j", wire.JobCompleted)
	for range 10 {
		d.hear(book.Input{Beat: d.beat("a", "a-2")})
		d.worker("a", wire.WorkerGone)
	}
	d.hear(book.Input{Beat: d.beat("a", "a-3")})
	d.worker("a", wire.WorkerAvailable)
	d.isFolded()
}

// A drained process takes no tasks after a late beat of an earlier process that was never seen
// before.
func TestDrainedProcessStaysDrained(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a")
	d.hear(book.Input{Beat: d.beat("a", "a-3")})
	accepts(t, d.wishes(wire.ToDrain, "a"))
	d.worker("a", wire.WorkerGone)
	d.hear(book.Input{Beat: d.beat("a", "a-2")})
	d.submits("j", 1)
	lost := d.order("a")
	for range 4 {
		d.hear(book.Input{Beat: d.beat("a", "a-3")})
	}
	d.isFolded()
	for range 10 {
		d.worker("a", wire.WorkerGone)
		d.hear(book.Input{Beat: d.beat("a", "a-3")})
	}
	d.joins("b")
	if o := d.order("b"); o.Job != "j" || o.Attempt == lost.Attempt {
		t.Errorf("b has order %+v", o)
	}
	d.hear(book.Input{Beat: d.beat("a", "a-4")})
	d.worker("a", wire.WorkerAvailable)
	d.isFolded()
}

// A worker that joins, goes missing and returns within one plan has its declared speed.
func TestWorkerMissedWhileJoining(t *testing.T) {
	d := newDesk(t, nil)
	beat := &wire.Beat{Version: 1, Worker: "a", Process: "a-1", Speed: 4}
	d.hear(book.Input{Beat: beat}, book.Input{Down: &book.Down{Worker: "a", Process: "a-1"}}, book.Input{Beat: beat})
	d.worker("a", wire.WorkerAvailable)
	d.isFolded()
}

// The number of a drained worker is reused when its process is gone, or when no other number is
// free.
func TestNumberOfDrainedWorker(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.MaxWorkers = 2 })
	d.joins("a")
	accepts(t, d.wishes(wire.ToDrain, "a"))
	d.joins("b")
	d.hear(book.Input{Beat: d.beat("a", "a-1")})
	d.worker("a", wire.WorkerGone)
	d.joins("c")
	if _, ok := d.book.Worker("a"); ok || d.book.WorkerName(0) != "c" {
		t.Errorf("%+v", d.book.Workers())
	}

	d = newDesk(t, nil)
	d.joins("a")
	accepts(t, d.wishes(wire.ToDrain, "a"))
	d.hear(book.Input{Down: &book.Down{Worker: "a", Process: "a-1"}})
	d.joins("b")
	if _, ok := d.book.Worker("a"); ok || d.book.WorkerName(0) != "b" {
		t.Errorf("%+v", d.book.Workers())
	}
}

// A finished job is cleared on request or after a time. Its name is never used again, but its
// number is.
func TestClear(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.Keep = 100 })
	d.joins("a")
	d.submits("j", 1)
	refuses(t, d.wishes(wire.ToClear, "j"), "the job is not done")
	if next := d.book.Next(); !math.IsInf(next, 1) {
		t.Errorf("next at %v", next)
	}
	d.hear(book.Input{Removed: &d.book.Removals()[0]})
	d.reports("a", d.order("a"))
	v := d.job("j", wire.JobCompleted)
	if next := d.book.Next(); next != *v.Finish+100 {
		t.Errorf("next at %v, done at %v", next, *v.Finish)
	}
	accepts(t, d.wishes(wire.ToClear, "j"))
	d.job("j", wire.JobCleared)
	accepts(t, d.wishes(wire.ToClear, "j"))
	if got := fmt.Sprint(d.book.Removals()); got != "[{0 false j } {0 false  j}]" {
		t.Errorf("removals %s", got)
	}
	refuses(t, d.submits("j", 1), "a name that no other job has or had")
	d.submits("k", 1)
	if name := d.book.JobName(0); name != "k" {
		t.Errorf("job 0 is %q, want k", name)
	}
	d.reports("a", d.order("a"))
	d.at = d.book.Next() - 2
	d.hear()
	d.job("k", wire.JobCompleted)
	d.hear()
	d.job("k", wire.JobCleared)
	if r := d.book.Report(); len(r.Jobs) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestWorkers(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.MaxWorkers = 3 })
	d.joins("a", "b", "c", "d")
	if _, ok := d.book.Worker("d"); ok {
		t.Error("a fourth worker of three")
	}
	d.submits("j", 2)
	held := d.order("a")
	d.hear(book.Input{Beat: &wire.Beat{
		Version: 1,
		Worker:  "a",
		Process: "a-1",
		Speed:   1,
		Job:     "j",
		Attempt: held.Attempt,
		Token:   held.Token,
	}})
	d.worker("a", wire.WorkerOccupied)
	d.hear(book.Input{Beat: &wire.Beat{
		Version: 1, Worker: "a", Process: "a-1", Speed: 1, Job: "j", Attempt: held.Attempt,
		Token: held.Token, Running: true,
	}})
	d.worker("a", wire.WorkerBusy)
	d.worker("c", wire.WorkerAvailable)

	accepts(t, d.wishes(wire.ToDrain, "a"))
	d.worker("a", wire.WorkerDraining)
	accepts(t, d.wishes(wire.ToDrain, "c"))
	d.worker("c", wire.WorkerGone)
	refuses(t, d.wishes(wire.ToDrain, "x"), "there is no such worker")
	d.reports("a", held)
	d.worker("a", wire.WorkerGone)
	d.hear(book.Input{Beat: d.beat("a", "a-1")})
	d.worker("a", wire.WorkerGone)
	d.hear(book.Input{Beat: d.beat("a", "a-2")})
	d.worker("a", wire.WorkerAvailable)
	d.joins("d") // gets the number of c
	if _, ok := d.book.Worker("c"); ok || d.book.WorkerName(2) != "d" {
		t.Errorf("%+v", d.book.Workers())
	}
	d.hear(book.Input{Down: &book.Down{Worker: "d", Process: "d-1"}})
	d.hear(book.Input{Down: &book.Down{Worker: "a", Process: "a-2"}})
	d.joins("e") // gets the number of the worker that has been down longest
	if _, ok := d.book.Worker("d"); ok {
		t.Errorf("%+v", d.book.Workers())
	}
	d.hear(book.Input{Beat: &wire.Beat{Version: 1, Worker: "a", Process: "a-3", Speed: 4}})
	if v, _ := d.book.Worker("a"); v.Speed != 4 || v.State != wire.WorkerAvailable {
		t.Errorf("%+v", v)
	}
	d.hear(book.Input{Beat: &wire.Beat{Version: 1, Worker: "a", Process: "a-3", Speed: 4, Leaving: true}})
	d.worker("a", wire.WorkerGone)
	d.hear(book.Input{Beat: &wire.Beat{Version: 1, Worker: "new", Process: "p", Speed: 4, Leaving: true}})
	if _, ok := d.book.Worker("new"); ok {
		t.Error("a leaving worker has joined")
	}
}

// A beat differs from the order of its worker if the token does. Orders are for one process only.
func TestDiffers(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a")
	d.submits("j", 1)
	o := d.order("a")
	beat := d.beat("a", "a-1")
	if got, differs := d.book.Differs(beat); !differs || got.Token != o.Token {
		t.Errorf("%+v %v", got, differs)
	}
	beat.Token = o.Token
	if _, differs := d.book.Differs(beat); differs {
		t.Error("a beat that matches its order differs")
	}
	other := d.beat("a", "a-0")
	if _, differs := d.book.Differs(other); differs {
		t.Error("an idle unknown process differs")
	}
	other.Token = "held"
	if got, differs := d.book.Differs(other); !differs || !got.Idle || got.Process != "a-0" {
		t.Errorf("%+v %v", got, differs)
	}
	d.wishes(wire.ToCancel, "j")
	if got, differs := d.book.Differs(beat); !differs || !got.Idle {
		t.Errorf("%+v %v", got, differs)
	}
	d.job("j", wire.JobCancelled)
	refuses(t, d.reports("a", o), "its job cancelled")
	refuses(t, d.wishes(wire.ToCancel, "j"), "the job is done")
}

// Rules may change between plans. A plan decided by another policy folds, but Verify reports the
// difference.
func TestRulesChange(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	d.submits("j", 3)
	snapshot, err := d.book.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	s := d.settings
	s.Rules = dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}, Learning: dispatch.Learning{Default: 1}}
	if d.book, err = book.Restore(s, snapshot); err != nil {
		t.Fatal(err)
	}
	d.hear()
	d.reports("a", d.order("a"))
	if p := d.book.Cluster().Policy; p != "edf" {
		t.Errorf("policy %s, want edf", p)
	}
	if _, err := audit(s, d.plans); err != nil {
		t.Error(err)
	}
	last := d.plans[len(d.plans)-1]
	for i := range last.Events {
		if last.Events[i].Kind == dispatch.Started {
			last.Events[i].Worker = 1
		}
	}
	var difference *book.Difference
	if _, err := audit(s, d.plans); !errors.As(err, &difference) || difference.Plan != last.Number {
		t.Errorf("audit of a modified plan: %v", err)
	}
}

// Time in plans never decreases, even if the clock is set back.
func TestClockGoesBack(t *testing.T) {
	d := newDesk(t, nil)
	d.at = 100
	d.joins("a")
	d.at = 3
	accepts(t, d.submits("j", 1))
	accepts(t, d.reports("a", d.order("a")))
	for _, p := range d.plans {
		if p.At < 101 {
			t.Errorf("plan %d is at %v", p.Number, p.At)
		}
	}
	if v := d.job("j", wire.JobCompleted); v.Submit != 101 || *v.Finish != 101 {
		t.Errorf("%+v", v)
	}
}

// A baseline can replace a policy of package dispatch, and vice versa. Running tasks continue. A
// job whose tasks start together waits until enough workers are free.
func TestBaselineTakesOver(t *testing.T) {
	d := newDesk(t, nil)
	d.joins("a", "b")
	d.submits("j", 3)
	restart := func(change func(*book.Settings)) {
		t.Helper()
		snapshot, err := d.book.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		s := d.settings
		change(&s)
		if d.book, err = book.Restore(s, snapshot); err != nil {
			t.Fatal(err)
		}
		d.hear()
	}
	holds := func(want ...string) {
		t.Helper()
		for i, name := range []string{"a", "b"} {
			if o := d.order(name); want[i] != o.Job {
				t.Errorf("%s has a task of %q, want %q", name, o.Job, want[i])
			}
		}
	}
	restart(func(s *book.Settings) { s.Rules, s.Rigid = dispatch.Rules{}, rigid.Policies()[2] })
	if p := d.book.Cluster().Policy; p != "easy/fcfs" || d.book.Measures() == nil {
		t.Errorf("policy %s", p)
	}
	holds("j", "j")
	d.reports("a", d.order("a")) // the third task waits for the second: they do not run together
	d.submits("k", 2)
	holds("", "j")
	d.reports("b", d.order("b"))
	holds("j", "")
	d.reports("a", d.order("a"))
	holds("k", "k")
	d.fails("a", d.order("a")) // both start again
	if v, c := d.job("k", wire.JobPresent), d.book.Cluster().Counts; v.Hand != 2 || v.Lost != 0 || c.Preempted != 1 {
		t.Errorf("%+v, %d attempts preempted", v, c.Preempted)
	}
	restart(func(s *book.Settings) { s.Rules.Policy.Rule = dispatch.EDF })
	holds("k", "k")
	d.reports("a", d.order("a"))
	d.reports("b", d.order("b"))
	d.job("k", wire.JobCompleted)
	if _, err := audit(d.settings, d.plans); err != nil {
		t.Error(err)
	}
}

// Decisions too large for one message are split into several plans.
func TestPlansFitIntoMessages(t *testing.T) {
	d := newDesk(t, func(s *book.Settings) { s.MaxWorkers = 0 })
	var in []book.Input
	for n := range 1000 {
		in = append(in, book.Input{Beat: d.beat(strings.Repeat("w", 55)+fmt.Sprint(n), strings.Repeat("p", 64))})
	}
	d.hear(in...)
	var jobs []wire.Job
	for n := range 2000 {
		jobs = append(jobs, wire.Job{
			Name:  strings.Repeat("j", 55) + fmt.Sprint(n),
			Tasks: 1,
			Work:  1,
			Run:   wire.Run{Kind: "sleep"},
		})
	}
	in = nil
	for _, half := range [][]wire.Job{jobs[:1000], jobs[1000:]} {
		for k := range 4 {
			b := &wire.Batch{Version: 1, Name: fmt.Sprintf("b%d-%d", len(in), k)}
			for _, j := range half {
				j.Name = fmt.Sprint(k) + j.Name[1:]
				b.Jobs = append(b.Jobs, j)
			}
			d.next++
			in = append(in, book.Input{Sequence: d.next, In: wire.In{Batch: b}})
		}
	}
	accepts(t, d.hear(in...))
	if c := d.book.Cluster().Counts; c.Jobs != 8000 || c.Begun != 1000 {
		t.Errorf("%+v", c)
	}
	in = nil
	for _, o := range d.book.Orders() {
		d.next++
		in = append(in, book.Input{
			Sequence: d.next,
			In: wire.In{Report: &wire.Report{Version: 1, Job: o.Order.Job, Task: o.Order.Task,
				Attempt: o.Order.Attempt, Worker: o.Worker, Token: o.Order.Token, Seconds: 1}},
		})
	}
	accepts(t, d.hear(in...))
	if c := d.book.Cluster().Counts; c.Finished != 1000 || c.Begun != 2000 || d.book.Upto() != d.next {
		t.Errorf("%+v", c)
	}
}

func TestSettings(t *testing.T) {
	good := newDesk(t, nil).settings
	for _, c := range []struct {
		change func(s *book.Settings)
		path   string
	}{
		{func(s *book.Settings) { s.Random = nil }, "Random"},
		{func(s *book.Settings) { s.Leader = "a b" }, "Leader"},
		{func(s *book.Settings) { s.Epoch = math.NaN() }, "Epoch"},
		{func(s *book.Settings) { s.Replan = -1 }, "Replan"},
		{func(s *book.Settings) { s.Losses = -1 }, "Losses"},
		{func(s *book.Settings) { s.Keep = math.Inf(1) }, "Keep"},
		{func(s *book.Settings) { s.MaxJobs = -1 }, "MaxJobs"},
		{func(s *book.Settings) { s.MaxTasks = -1 }, "MaxTasks"},
		{func(s *book.Settings) { s.MaxWorkers = 1001 }, "MaxWorkers"},
		{func(s *book.Settings) { s.Rules.Policy.Rule = "lottery" }, "Policy.Rule"},
		{func(s *book.Settings) { s.Rigid = rigid.Policies()[0] }, "Rules"},
		{func(s *book.Settings) { s.Rules, s.Rigid = dispatch.Rules{}, rigid.Policy{Order: "lifo"} }, "Policy.Order"},
	} {
		s := good
		c.change(&s)
		if _, err := book.New(s); err == nil || !strings.HasPrefix(err.Error(), c.path) {
			t.Errorf("error %v, want one about %s", err, c.path)
		}
	}
}

// FuzzFold folds arbitrary plans and restores arbitrary snapshots. They may cause errors but no
// panic.
func FuzzFold(f *testing.F) {
	together := scenario{rigid: rigid.Policies()[3]}
	all := byDeadline
	all.Learning.Speeds = true
	var logs [][][]byte
	for _, policy := range []scenario{byDeadline, together, all} {
		settings, plans := planLog(f, policy, 3, 3)
		logs = append(logs, plans)
		for i := range plans {
			f.Add(plans[i], plans[min(i+1, len(plans)-1)])
			f.Add([]byte("restore"), stateAt(f, settings, plans[:i+1]))
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, plans := range logs {
			b, err := book.New(settings(byDeadline, 1, false))
			if err != nil {
				t.Fatal(err)
			}
			foldAll(b, append(plans[:len(plans):len(plans)], first, second))
		}
		if sealed, err := wire.Seal(1, 0, second); err == nil {
			if r, err := book.Restore(settings(byDeadline, 1, false), sealed); err == nil {
				r.Jobs()
				r.Workers()
				r.Orders()
				foldAll(r, [][]byte{first})
			}
		}
	})
}

// foldAll folds messages as plans while they can be read and fit.
func foldAll(b *book.Book, messages [][]byte) {
	for _, data := range messages {
		p, err := wire.Decode[wire.Plan](data)
		if err != nil {
			return
		}
		p.Number = b.Number() + 1
		if b.Fold(p) != nil {
			return
		}
		b.Jobs()
		b.Workers()
		b.Orders()
		b.Profiles()
	}
	if b.Number() > 0 {
		_, _ = b.Take(b.At(), nil) // an error is a valid outcome
	}
}

// stateAt returns the state in the snapshot after some plans, with the number of the first plan.
func stateAt(f *testing.F, s book.Settings, plans [][]byte) []byte {
	b, err := book.New(s)
	if err != nil {
		f.Fatal(err)
	}
	foldAll(b, plans)
	sealed, err := b.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	_, _, data, err := wire.Unseal(sealed)
	if err != nil {
		f.Fatal(err)
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(data, &state); err != nil {
		f.Fatal(err)
	}
	state["n"], state["upto"] = json.RawMessage("1"), json.RawMessage("0")
	if data, err = json.Marshal(state); err != nil {
		f.Fatal(err)
	}
	return data
}

// audit decides all plans of a log again and returns the resulting book. The error is from
// [book.Book.Verify], with the number of the plan.
func audit(s book.Settings, plans []*wire.Plan) (*book.Book, error) {
	b, err := book.New(s)
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		if err := b.Verify(p); err != nil {
			return nil, fmt.Errorf("plan %d: %w", p.Number, err)
		}
	}
	return b, nil
}
