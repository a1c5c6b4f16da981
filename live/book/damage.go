package book

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
	"productform/live/wire"
)

// KeyBytes is the size of the key that authenticates tokens.
const KeyBytes = 32

// A LostPlansError reports a message in PFQ_IN with a valid token of a plan that the log does not
// have. Only the manager signs tokens, so the log has lost plans. A worker cannot forge this error.
type LostPlansError struct {
	Sequence uint64 // sequence of the message in PFQ_IN
	Plan     uint64 // number of the plan that began the attempt
	Last     uint64 // number of the last plan in the log
	Job      string // name of the job
	Task     int    // number of the task, from 0
}

func (e *LostPlansError) Error() string {
	return fmt.Sprintf("message %d of %s is about task %d of job %s, started by plan %d, which the log does not "+
		"have; the log ends with plan %d",
		e.Sequence, wire.InStream, e.Task, e.Job, e.Plan, e.Last)
}

// A term is the range of plans of one manager.
type term struct {
	ID          string
	First, Last uint64
}

// maxTerms is the number of terms that the book remembers. Tokens of earlier terms count as known.
const maxTerms = 1000

// The possible origins of a report that does not match a known attempt.
type origin int

const (
	forged   origin = iota // the token is invalid
	known                  // the log has its plan: the attempt is over
	lost                   // its plan is missing and has not been declared lost
	repaired               // its plan is missing, but [Book.Repair] was called since
)

// trace returns the origin of a report or a failure, and the number of the plan that started its
// attempt.
func (b *Book) trace(s source) (origin, uint64) {
	t := wire.Token{Job: s.job, Task: s.task, Attempt: s.attempt, Worker: s.worker}
	if !t.Verify(b.key, s.token) {
		return forged, 0
	}
	for i := range b.terms {
		if r := &b.terms[i]; r.ID == t.Term && r.First <= t.Plan && t.Plan <= r.Last {
			return known, t.Plan
		}
	}
	switch {
	case t.Plan <= b.repaired:
		return repaired, t.Plan
	case len(b.terms) == maxTerms && t.Plan < b.terms[0].First:
		return known, t.Plan
	}
	return lost, t.Plan
}

// Trace checks a message of PFQ_IN that no plan has named. The error is a [*LostPlansError] if it
// proves that plans are lost.
func (b *Book) Trace(in *Input) error {
	s, ok := sourceOf(in)
	if !ok {
		return nil
	}
	if a := b.attempts[s.attempt]; a != nil && a.Token == s.token {
		return nil
	}
	from, plan := b.trace(s)
	if from != lost {
		return nil
	}
	return &LostPlansError{Sequence: in.Sequence, Plan: plan, Last: b.number, Job: s.job, Task: s.task}
}

// sourceOf returns the attempt that a message is about, and whether the message is a report or a
// failure.
func sourceOf(in *Input) (source, bool) {
	switch {
	case in.In.Report != nil:
		r := in.In.Report
		return source{r.Job, r.Task, r.Attempt, r.Worker, r.Token, r.At, r.Seconds}, true
	case in.In.Failure != nil:
		f := in.In.Failure
		return source{f.Job, f.Task, f.Attempt, f.Worker, f.Token, f.At, f.Seconds}, true
	}
	return source{}, false
}

// unknown handles a report or a failure that matches no known attempt. It returns false if the
// caller can simply refuse the message.
func (t *planBuilder) unknown(in *Input, s source) bool {
	b := t.b
	from, plan := b.trace(s)
	switch {
	case from == lost:
		if t.lost == nil {
			t.lost = &LostPlansError{Sequence: in.Sequence, Plan: plan, Last: b.number, Job: s.job, Task: s.task}
		}
		return true
	case from == forged && in.Sequence <= b.keyFrom:
		t.putAside(in, s.worker, "its token is older than the key of the cluster, and its attempt is unknown")
		return true
	case from != repaired:
		return false
	}
	n, ok := b.numbers[s.job]
	switch {
	case !ok && !b.cleared[s.job]:
		t.putAside(in, s.worker, "its job and its attempt are unknown: their plans are lost")
	case !ok:
		return false
	case s.task >= b.jobs[n].Job.Tasks:
		t.putAside(in, s.worker, "its attempt is unknown, and its job has fewer tasks")
	case b.jobs[n].isDone() || b.jobs[n].Ended.has(s.task):
		return false
	case in.In.Report == nil || t.isAdopted(n, s.task) || b.isLogical():
		t.refuse(in, false, s.worker, "the plan of its attempt is lost")
	default:
		t.plan.Adopted = append(t.plan.Adopted, wire.Adoption{Job: n, Task: s.task, Sequence: in.Sequence,
			Seconds: s.seconds})
	}
	return true
}

// putAside refuses a message that may be genuine, and keeps a copy.
func (t *planBuilder) putAside(in *Input, worker, why string) {
	t.refuse(in, true, worker, why)
	t.plan.Refused[len(t.plan.Refused)-1].Aside = true
}

func (t *planBuilder) isAdopted(job, task int) bool {
	if _, ok := t.b.jobs[job].Adopted[task]; ok {
		return true
	}
	return slices.ContainsFunc(t.plan.Adopted, func(a wire.Adoption) bool { return a.Job == job && a.Task == task })
}

// adopt ends an attempt at a task whose result was adopted.
func (t *planBuilder) adopt(number int) {
	a := t.b.attempts[number]
	if a == nil || a.Taken || t.ending[number] || t.ended[[2]int{a.Job, a.Task}] {
		return
	}
	result, ok := t.b.jobs[a.Job].Adopted[a.Task]
	if !ok {
		return
	}
	t.ended[[2]int{a.Job, a.Task}], t.ending[number] = true, true
	t.addHappening(dispatch.Happening{
		Kind: dispatch.Finished,
		Job:  a.Job, Task: a.Task, Worker: a.Worker, Attempt: number,
		Work: min(result.Seconds*a.Speed, 1e50),
	})
}

// repair applies the fields of a plan about a damaged store.
func (b *Book) repair(p *wire.Plan) error {
	if p.Term != nil {
		key, err := base64.RawURLEncoding.DecodeString(p.Term.Key)
		if err != nil || len(key) != KeyBytes {
			return input.Errorf("term.key", "(a secret)", "%d bytes in base64", KeyBytes)
		}
		if b.terms = append(b.terms, term{ID: p.Term.ID, First: p.Number}); len(b.terms) > maxTerms {
			b.terms = b.terms[1:]
		}
		b.key, b.keyFrom = key, max(b.keyFrom, p.Term.From)
	}
	if k := len(b.terms); k > 0 {
		b.terms[k-1].Last = p.Number
	}
	for _, a := range p.Adopted {
		j := b.job(a.Job)
		if j == nil || a.Task >= j.Job.Tasks {
			return input.Errorf("adopted", a.Job, "a job, and one of its tasks")
		}
		if j.Adopted == nil {
			j.Adopted = map[int]wire.Adoption{}
		}
		j.Adopted[a.Task] = a
		b.counts.Adopted++
	}
	for _, m := range p.Missing {
		j := b.job(m.Job)
		if j == nil {
			return input.Errorf("missing", m.Job, "a job")
		}
		j.Missing = m.Results
		b.touched.Jobs[j.Job.Name] = true
	}
	b.counts.Gone += p.Gone
	if len(p.Adopted) > 0 {
		b.wake()
	} else {
		for i := range p.Events {
			if e := &p.Events[i]; e.Kind == dispatch.Started {
				b.wakeAttempt(e.Attempt)
			}
		}
	}
	return nil
}

// wake ends all attempts at tasks with adopted results.
func (b *Book) wake() {
	for _, number := range slices.Sorted(maps.Keys(b.attempts)) {
		b.wakeAttempt(number)
	}
}

func (b *Book) wakeAttempt(number int) {
	a := b.attempts[number]
	if a == nil || a.Taken {
		return
	}
	if _, ok := b.jobs[a.Job].Adopted[a.Task]; ok {
		b.queue = append(b.queue, Input{adopted: number})
	}
}

// startTerm draws the term of the plans that this book makes, and a key if the log has none.
func (b *Book) startTerm() error {
	if b.term != "" {
		return nil
	}
	var random [8]byte
	if _, err := io.ReadFull(b.settings.Random, random[:]); err != nil {
		return err
	}
	if b.key == nil {
		b.key = make([]byte, KeyBytes)
		if _, err := io.ReadFull(b.settings.Random, b.key); err != nil {
			return err
		}
	}
	b.term = wire.NewTerm(random)
	return nil
}

// isNewTerm reports whether the next plan is the first of its term.
func (b *Book) isNewTerm() bool { return len(b.terms) == 0 || b.terms[len(b.terms)-1].ID != b.term }

// SetKey sets the key of [KeyBytes] bytes that authenticates tokens, unless the plans have one.
// Tokens of messages in PFQ_IN up to sequence from may be older than the key.
func (b *Book) SetKey(key []byte, from uint64) {
	if b.key == nil {
		b.key, b.keyFrom = slices.Clone(key), from
	}
}

// Key returns the key that authenticates tokens, nil if there is none.
func (b *Book) Key() []byte { return slices.Clone(b.key) }

// Results returns, for each job with results that is not cleared, the tasks that should have a
// result in PFQ_IN.
func (b *Book) Results() map[string][]bool {
	all := map[string][]bool{}
	for _, j := range b.jobs {
		if j == nil || j.Job.Tasks == j.Left+j.Failed {
			continue
		}
		tasks := make([]bool, j.Job.Tasks)
		for task := range tasks {
			tasks[task] = j.Ended.has(task) && !j.GivenUp[task]
		}
		all[j.Job.Name] = tasks
	}
	return all
}

// Open returns the tasks of each unfinished job that have not ended. Tasks whose results were
// adopted are excluded.
func (b *Book) Open() map[string][]bool {
	all := map[string][]bool{}
	for _, j := range b.jobs {
		if j == nil || j.isDone() {
			continue
		}
		tasks := make([]bool, j.Job.Tasks)
		for task := range tasks {
			_, adopted := j.Adopted[task]
			tasks[task] = !j.Ended.has(task) && !adopted
		}
		all[j.Job.Name] = tasks
	}
	return all
}

// Repair declares all plans after the last one lost, up to number last. The next plan is last + 1,
// results of lost attempts are adopted, and attempt numbers continue above theirs. The clock of an
// empty book starts at epoch. PFQ_IN may have gaps up to sequence end.
func (b *Book) Repair(last, end uint64, epoch float64) error {
	if last <= b.number {
		return input.Errorf("last", last, "the number of a lost plan, above %d", b.number)
	}
	if b.maker == nil {
		b.rules, b.epoch = rules{Rules: dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}}, epoch
		var err error
		if b.maker, err = newMaker(b.rules, nil); err != nil {
			return err
		}
	}
	most := int(last-b.number) * wire.MaxWorkers // maximum number of attempts that the lost plans can have started
	var err error
	switch m := b.maker.(type) {
	case *dispatch.Maker:
		s := m.State()
		s.Attempts += most
		b.maker, err = dispatch.MakerOf(s)
	case *rigid.Maker:
		s := m.State()
		s.Ledger.Attempts += most
		b.maker, err = rigid.MakerOf(s)
	}
	b.counts.LostPlans += last - b.number
	b.number, b.repaired, b.repairedEnd = last, last, end
	return err
}
