package book_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/live/book"
	"productform/live/wire"
)

// Faults drop, repeat, delay and reorder messages, kill and suspend processes, and kill the
// manager. In the end each task has ended once, its result is the first valid report, tasks that
// always fail are given up, plans have no gap, and deciding them again gives the same plans.
func TestFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for w.now = 0; w.now < 20 || !w.isOver(); w.now += 0.25 {
			if w.now > 600 {
				for _, m := range w.workers {
					t.Logf("MACHINE %+v order %+v unsent %+v last %+v", m, m.order, m.unsent, m.last)
				}
				for i, m := range w.stream {
					t.Logf("IN %d %s %s %v", i+1, m.subject, m.data, m.deleted)
				}
				for _, p := range w.plans {
					t.Logf("PLAN %+v", p)
				}
				t.Fatalf("unfinished jobs remain: %+v\n%+v\n%+v", w.book.Jobs(), w.book.Workers(), w.book.Orders())
			}
			w.calm = w.now >= 20
			w.step()
		}
		w.check()
	})
}

// A world is a server with its clients, its workers and a succession of managers. All messages
// between them pass through post, which may lose, repeat or delay them.
type world struct {
	t     *rapid.T
	rigid rigid.Policy // zero for a policy of package dispatch
	now   float64
	calm  bool // no more faults
	often int  // a process is killed with probability 1/often per step

	stream   []stored // PFQ_IN
	subjects map[string]bool
	plans    []*wire.Plan
	saved    []byte // snapshot
	mail     []letter

	book    *book.Book
	lives   uint64
	told    uint64 // sequence of the last message passed to the manager
	heard   map[string]float64
	inbox   []book.Input
	workers []*machine
	wishes  []func()
}

type stored struct {
	subject string
	data    []byte
	deleted bool
}

// A letter is a message that is delivered at a time.
type letter struct {
	at      float64
	deliver func()
}

// A machine simulates a worker.
type machine struct {
	name, process string
	lives         int
	up            bool
	wakes         float64 // suspended until this time
	plan          uint64
	order         *wire.Order // the assigned task
	ends          float64
	unsent        *wire.Report // report not yet acknowledged by the server
	place         string       // subject of unsent and last
	failed        *wire.Failure
	last          *wire.Report
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, subjects: map[string]bool{}, heard: map[string]float64{}}
	w.often = rapid.SampledFrom([]int{40, 8}).Draw(t, "often")
	drains := rapid.Bool().Draw(t, "drains")
	if rapid.IntRange(0, 2).Draw(t, "rigid") == 0 {
		w.rigid = rapid.SampledFrom(rigid.Policies()).Draw(t, "policy")
	}
	for n := range rapid.IntRange(1, 4).Draw(t, "workers") {
		m := &machine{name: name(n)}
		w.start(m)
		w.workers = append(w.workers, m)
	}
	most := 5
	if w.rigid != (rigid.Policy{}) { // otherwise some jobs cannot start
		if most = len(w.workers); most > 1 && drains {
			most--
		}
	}
	for n := range rapid.IntRange(1, 3).Draw(t, "batches") {
		b := &wire.Batch{Version: 1, Name: fmt.Sprintf("b%d", n)}
		for k := range rapid.IntRange(1, 2).Draw(t, "jobs") {
			b.Jobs = append(b.Jobs, wire.Job{
				Name: fmt.Sprintf("j%d-%d", n, k), Priority: float64(k), DeadlineIn: 5,
				Tasks: rapid.IntRange(1, most).Draw(t, "tasks"),
				Work:  float64(rapid.IntRange(0, 4).Draw(t, "work")), Run: wire.Run{Kind: "sleep"},
			})
		}
		w.wishes = append(w.wishes, func() { w.publish(wire.Submit(b.Name), b) })
	}
	if rapid.Bool().Draw(t, "cancels") {
		w.wishes = append(w.wishes, func() { w.publish(wire.Cancel("j0-0"), &wire.Wish{Version: 1}) })
	}
	if rapid.Bool().Draw(t, "changes") {
		ten := 10.0
		w.wishes = append(w.wishes, func() {
			w.publish(wire.Change("j1-0", 1), &wire.Wish{Version: 1, Priority: &ten})
		})
	}
	if len(w.workers) > 1 && drains {
		w.wishes = append(w.wishes, func() { w.publish(wire.Drain("w0", 1), &wire.Wish{Version: 1}) })
	}
	if rapid.Bool().Draw(t, "lies") {
		lie := &wire.Report{Version: 1, Job: "j0-0", Task: 0, Attempt: 1, Worker: "w0", Token: "guessed"}
		w.wishes = append(w.wishes, func() { w.publish(wire.Done("j0-0", 0), lie) })
	}
	w.lead()
	return w
}

// isPoison reports whether a task always fails.
func isPoison(job string, task int) bool { return job == "j1-0" && task == 0 }

// chance draws an event with probability 1/n; while the world is calm it never happens.
func (w *world) chance(n int, what string) bool {
	return !w.calm && rapid.IntRange(0, n-1).Draw(w.t, what) == n/2
}

// post sends a message, which may be lost, repeated or late.
func (w *world) post(deliver func()) {
	copies := 1
	if !w.calm {
		copies = []int{1, 1, 1, 1, 0, 2}[rapid.IntRange(0, 5).Draw(w.t, "copies")]
	}
	for range copies {
		late := 0.0
		if w.chance(4, "late") {
			late = float64(rapid.IntRange(1, 12).Draw(w.t, "by")) / 4
		}
		w.mail = append(w.mail, letter{w.now + late, deliver})
	}
}

// publish stores a message if its subject is free, and reports whether the subject is taken
// afterwards.
func (w *world) publish(subject string, m wire.Message) bool {
	data, err := wire.Encode(m)
	if err != nil {
		w.t.Fatal(err)
	}
	if !w.subjects[subject] {
		w.subjects[subject] = true
		w.stream = append(w.stream, stored{subject: subject, data: data})
	}
	return true
}

func (w *world) settings() book.Settings {
	s := settings(
		scenario{Scenario: dispatch.Scenario{Policy: dispatch.Policy{Rule: dispatch.Deadline}, Emergency: 1}},
		w.lives, false,
	)
	if s.Epoch, s.Losses = 1e9, 0; w.rigid != (rigid.Policy{}) {
		s.Rules, s.Rigid = dispatch.Rules{}, w.rigid
	}
	return s
}

// lead starts a new manager.
func (w *world) lead() {
	w.lives++
	b, err := book.New(w.settings())
	if err == nil && w.saved != nil {
		b, err = book.Restore(w.settings(), w.saved)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range w.plans[b.Number():] {
		if err := b.Fold(p); err != nil {
			w.t.Fatal(err)
		}
	}
	w.book, w.told, w.inbox = b, b.Upto(), nil
	for _, v := range b.Workers() {
		w.heard[v.Name] = w.now
	}
}

// step simulates a quarter of a second.
func (w *world) step() {
	if len(w.wishes) > 0 && (w.calm || w.chance(3, "wish")) {
		w.wishes[0]()
		w.wishes = w.wishes[1:]
	}
	mail := w.mail
	w.mail = nil
	for len(mail) > 0 {
		k := 0
		if !w.calm {
			k = rapid.IntRange(0, len(mail)-1).Draw(w.t, "letter")
		}
		if l := mail[k]; l.at <= w.now {
			l.deliver()
		} else {
			w.mail = append(w.mail, l)
		}
		mail = slices.Delete(mail, k, k+1)
	}
	for _, m := range w.workers {
		w.live(m)
	}
	w.manage()
}

// start starts a new process of a worker.
func (w *world) start(m *machine) {
	m.lives++
	*m = machine{name: m.name, lives: m.lives, process: fmt.Sprintf("%s-%d", m.name, m.lives), up: true}
}

// live simulates a step of a worker.
func (w *world) live(m *machine) {
	switch {
	case !m.up && (w.calm || w.chance(w.often/4, "start")):
		w.start(m)
	case !m.up || m.wakes > w.now:
		return
	case w.chance(w.often, "kill"):
		m.up = false
		if rapid.Bool().Draw(w.t, "seen") { // the server sees the connection close
			down := &book.Down{Worker: m.name, Process: m.process}
			w.post(func() { w.inbox = append(w.inbox, book.Input{Down: down}) })
		}
		return
	case w.chance(40, "sleep"):
		m.wakes = w.now + float64(rapid.IntRange(1, 8).Draw(w.t, "for"))
		return
	}
	if v, ok := w.book.Worker(m.name); w.calm && ok && v.State == wire.WorkerDown && v.Process == m.process &&
		w.now > 30 {
		w.start(m) // its messages are lost
	}
	w.work(m)
	w.report(m)
	beat := &wire.Beat{Version: 1, Worker: m.name, Process: m.process, Speed: 1, Plan: m.plan}
	if m.order != nil {
		beat.Job, beat.Task, beat.Attempt, beat.Token, beat.Running = m.order.Job, m.order.Task,
			m.order.Attempt, m.order.Token, true
	}
	w.post(func() {
		w.heard[beat.Worker] = w.now
		w.inbox = append(w.inbox, book.Input{Beat: beat})
		if o, differs := w.book.Differs(beat); differs {
			w.send(book.Order{Worker: beat.Worker, Order: o})
		}
	})
}

// work finishes the assigned task when it is due.
func (w *world) work(m *machine) {
	o := m.order
	if o == nil || w.now < m.ends {
		return
	}
	m.order = nil
	if isPoison(o.Job, o.Task) {
		m.failed = &wire.Failure{
			Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: m.name, Token: o.Token,
			Exit: 1, Reason: "poison",
		}
		return
	}
	m.unsent = &wire.Report{Version: 1, Job: o.Job, Task: o.Task, Attempt: o.Attempt, Worker: m.name, Token: o.Token,
		Seconds: o.Work, Output: []byte(o.Job)}
	m.last, m.place = m.unsent, o.ReportTo()
}

// report sends the report or failure that the server has not acknowledged.
func (w *world) report(m *machine) {
	if r, place := m.unsent, m.place; r != nil {
		w.post(func() {
			w.publish(place, r)
			w.post(func() {
				if m.unsent == r {
					m.unsent = nil
				}
			})
		})
	}
	if f := m.failed; f != nil {
		w.post(func() {
			w.publish(wire.Failed(f.Job, f.Task, f.Attempt), f)
			w.post(func() {
				if m.failed == f {
					m.failed = nil
				}
			})
		})
	}
}

// send sends an order.
func (w *world) send(o book.Order) {
	data, err := wire.Encode(&o.Order)
	if err != nil {
		w.t.Fatal(err)
	}
	w.post(func() {
		got, err := wire.Decode[wire.Order](data)
		if err != nil {
			w.t.Fatal(err)
		}
		m := w.workers[slices.IndexFunc(w.workers, func(m *machine) bool { return m.name == o.Worker })]
		if !m.up || m.wakes > w.now || got.Process != m.process || got.Plan < m.plan {
			return
		}
		m.plan = got.Plan
		switch {
		case got.Idle:
			m.order = nil
		case m.order != nil && m.order.Token == got.Token, m.failed != nil && m.failed.Token == got.Token:
		case m.last != nil && m.last.Token == got.Token:
			m.unsent, m.order = m.last, nil
		default:
			m.order, m.ends = got, w.now+got.Work
		}
	})
}

// manage simulates a step of the manager.
func (w *world) manage() {
	if w.chance(60, "manager killed") {
		w.lead()
		return
	}
	var in []book.Input
	for ; w.told < uint64(len(w.stream)); w.told++ {
		s := w.stream[w.told]
		if s.deleted {
			continue
		}
		m, err := wire.DecodeIn(s.subject, s.data)
		in = append(in, book.Input{Sequence: w.told + 1, In: m, Subject: s.subject, Err: err})
	}
	in = append(in, w.inbox...)
	w.inbox = nil
	for _, v := range w.book.Workers() {
		if w.now-w.heard[v.Name] > 2 {
			in = append(in, book.Input{Down: &book.Down{Worker: v.Name, Process: v.Process}})
		}
	}
	for _, r := range w.book.Removals() {
		if w.chance(3, "removed later") {
			continue
		}
		if r.Sequence > 0 && !w.stream[r.Sequence-1].deleted {
			w.stream[r.Sequence-1].deleted = true
			w.subjects[w.stream[r.Sequence-1].subject] = false
		}
		in = append(in, book.Input{Removed: &r})
	}
	w.take(in)
}

// take lets the book decide, then appends the plan and sends orders. The manager may be killed
// before or after an append.
func (w *world) take(in []book.Input) {
	for {
		p, err := w.book.Take(w.now, in)
		if err != nil {
			w.t.Fatal(err)
		}
		if in = nil; p == nil {
			return
		}
		before := w.chance(30, "killed before the append")
		if !before {
			w.plans = append(w.plans, rewritten(w.t, p))
		}
		if before || w.chance(30, "killed after the append") {
			w.lead()
			return
		}
		if w.chance(10, "snapshot") {
			if w.saved, err = w.book.Snapshot(); err != nil {
				w.t.Fatal(err)
			}
		}
		for _, o := range w.book.OrdersOf(p) {
			w.send(o)
		}
	}
}

func (w *world) isOver() bool {
	c := w.book.Cluster().Counts
	return len(w.wishes) == 0 && w.told == uint64(len(w.stream)) && c.Jobs == c.Completed+c.Cancelled &&
		len(w.book.Removals()) == 0
}

// check compares the outcome with the submitted jobs.
func (w *world) check() {
	t := w.t
	finished, tokens := map[[2]int]int{}, map[string]bool{} // attempts by task
	givenUp := map[[2]int]bool{}
	for _, p := range w.plans {
		for _, e := range p.Events {
			task := [2]int{e.Job, e.Task}
			switch e.Kind {
			case dispatch.Finished:
				if finished[task] != 0 || givenUp[task] {
					t.Fatalf("task %v ends twice", task)
				}
				finished[task] = e.Attempt
			case dispatch.GivenUp:
				if finished[task] != 0 || givenUp[task] {
					t.Fatalf("task %v ends twice", task)
				}
				givenUp[task] = true
			}
		}
		for _, token := range p.Tokens {
			if tokens[token] {
				t.Fatalf("token %s is issued twice", token)
			}
			tokens[token] = true
		}
	}
	for n, v := range w.book.Jobs() {
		for task := range v.Tasks {
			w.checkTask(v, task, finished[[2]int{n, task}], givenUp[[2]int{n, task}])
		}
		switch want := wire.JobCompleted; {
		case v.State == wire.JobCancelled && v.Name == "j0-0":
		case v.Failed > 0 && v.State == wire.JobFailures:
		case v.Failed > 0 || v.State != want || v.Left != 0:
			t.Fatalf("%+v, want %s", v, want)
		}
	}
	checkLog(t, w.settings(), w.book, w.plans)
}

// checkTask compares the outcome of a task in the plans with the messages of PFQ_IN.
func (w *world) checkTask(v wire.JobView, task, attempt int, givenUp bool) {
	var results []*wire.Report
	for _, s := range w.stream {
		if s.subject == wire.Done(v.Name, task) && !s.deleted {
			r, err := wire.Decode[wire.Report](s.data)
			if err != nil {
				w.t.Fatal(err)
			}
			results = append(results, r)
		}
	}
	switch {
	case attempt != 0 &&
		(len(results) != 1 || results[0].Attempt != attempt || strings.HasPrefix(results[0].Token, "guess")):
		w.t.Fatalf("task %d of %s: finished as attempt %d, results %+v", task, v.Name, attempt, results)
	case attempt == 0 && len(results) != 0:
		w.t.Fatalf("task %d of %s: never finished, results %+v", task, v.Name, results)
	case isPoison(v.Name, task) && !givenUp && v.State != wire.JobCancelled:
		w.t.Fatalf("task %d of %s always fails, but is not given up", task, v.Name)
	case attempt == 0 && !givenUp && v.State != wire.JobCancelled:
		w.t.Fatalf("task %d of %s has not ended", task, v.Name)
	}
}
