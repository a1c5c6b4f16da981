package book

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"productform/dispatch"
	"productform/internal/input"
	"productform/internal/ranges"
	"productform/live/wire"
)

// Bounds of what one plan tells, so that it fits into a message with what the maker decides then, 190 bytes a worker; the
// rest is told in the next. A batch counts its bytes and what it adds for each job, any other input what it adds at most.
const (
	mostInputs = 1000
	mostBytes  = wire.MaxMessage * 3 / 4
	jobBytes   = 240
	inputBytes = 500
)

// Take is told what was heard, messages of PFQ_IN in the order of their sequences, and decides a moment. It returns the
// next plan, nil if there is nothing to write; then all that was heard is behind, or waits for its time on a logical
// clock. As long as it returns a plan there may be more: the caller appends it and calls again, with what was heard since.
//
// On the wall clock the moment is at, in seconds since the epoch, or the time of the last plan if that is later. On a
// logical clock at is not used. If the plan cannot be appended, or Take fails, the book is to be thrown away.
func (b *Book) Take(at float64, inputs []Input) (*wire.Plan, error) {
	b.queue = append(b.queue, inputs...)
	if b.isLogical() {
		return b.takeLogical()
	}
	t, err := b.begin(max(at, b.at))
	if err != nil {
		return nil, err
	}
	for len(b.queue) > 0 && t.hasRoom(&b.queue[0]) {
		t.hear(&b.queue[0])
		b.queue = b.queue[1:]
	}
	t.plan.Upto = b.heard
	t.clearOld()
	period := b.settings.Replan
	t.plan.Replan = len(t.plan.What) == 0 && period > 0 && b.present() && t.plan.At >= dispatch.NextReplan(b.decided, period)
	return t.finish()
}

// present reports whether there are jobs that are not done.
func (b *Book) present() bool {
	c := &b.counts
	return c.Jobs > c.Completed+c.Cancelled
}

// A taking is a plan in the making.
type taking struct {
	b       *Book
	plan    *wire.Plan
	heard   int
	bytes   int                   // at most that it takes to tell all that was heard
	ending  map[int]bool          // attempts whose end is told
	ended   map[[2]int]bool       // tasks whose result is told
	failed  map[[2]int][]failing  // attempts that failed, by job and task
	changed map[int]*dispatch.Job // what jobs are changed to, by number
	lost    *LostPlansError       // the first proof that plans are missing
}

// A failing is an attempt that failed, or was lost with its worker.
type failing struct {
	lost   bool
	worker int
}

// begin begins a plan.
func (b *Book) begin(at float64) (*taking, error) {
	t := &taking{b: b, ending: map[int]bool{}, ended: map[[2]int]bool{}, failed: map[[2]int][]failing{}, changed: map[int]*dispatch.Job{}}
	if err := b.startTerm(); err != nil {
		return nil, err
	}
	t.plan = &wire.Plan{Version: wire.Version, Number: b.number + 1, Leader: b.settings.Leader, At: at, Upto: b.upto}
	if b.number == 0 && !b.isLogical() {
		t.plan.Epoch = b.settings.Epoch
		if !ranges.IsTime(at) {
			return nil, ranges.Moment.Check("at", at)
		}
	}
	if b.number > 0 && b.rules == b.settings.rules() {
		return t, nil
	}
	t.plan.Rules, t.plan.Rigid = &b.settings.Rules, b.settings.Rigid
	if b.isLogical() && b.number == 0 {
		return t, nil // the script has the workers that the maker begins with
	}
	return t, b.setUp(t.plan)
}

// hasRoom reports whether the plan has room for one more.
func (t *taking) hasRoom(in *Input) bool {
	return t.heard == 0 || t.heard < mostInputs && t.bytes+bytesOf(in) <= mostBytes
}

// bytesOf returns what an input may add to a plan.
func bytesOf(in *Input) int {
	if in.In.Batch == nil {
		return inputBytes
	}
	data, err := json.Marshal(in.In.Batch)
	if err != nil {
		panic("book: a batch that was read cannot be written: " + err.Error())
	}
	return len(data) + jobBytes*len(in.In.Batch.Jobs)
}

// finish decides the moment, and returns the plan if it says anything.
func (t *taking) finish() (*wire.Plan, error) {
	b, p := t.b, t.plan
	if t.lost != nil {
		return nil, t.lost
	}
	t.giveUp()
	if !t.says() {
		return nil, nil
	}
	if p.Script != nil {
		if err := b.setUp(p); err != nil {
			return nil, err
		}
	}
	if decides(p) {
		what, err := b.filled(p.What)
		if err != nil {
			return nil, err
		}
		if p.Events, err = b.maker.Decide(p.At, what); err != nil {
			return nil, err
		}
	}
	for i := range p.Events {
		if e := &p.Events[i]; e.Kind == dispatch.Started {
			token := wire.Token{Term: b.term, Plan: p.Number, Job: b.JobName(e.Job), Task: e.Task, Attempt: e.Attempt,
				Worker: b.WorkerName(e.Worker)}
			p.Tokens = append(p.Tokens, token.Sign(b.key))
		}
	}
	if b.isNewTerm() {
		p.Term = &wire.Term{ID: b.term, Key: base64.RawURLEncoding.EncodeToString(b.key), From: b.keyFrom}
	}
	return p, b.note(p)
}

// says reports whether the plan says anything.
func (t *taking) says() bool {
	p := t.plan
	return decides(p) || p.Rules != nil || p.Upto > t.b.upto || p.Script != nil || len(p.Refused) > 0 || len(p.Removed) > 0 || len(p.Cleared) > 0 ||
		len(p.NewWorkers) > 0 || len(p.Missing) > 0 || len(p.Adopted) > 0
}

func (t *taking) tell(h dispatch.Happening) { t.plan.What = append(t.plan.What, h) }

// hear takes in one thing that was heard.
func (t *taking) hear(in *Input) {
	t.heard++
	t.bytes += bytesOf(in)
	if in.Sequence > 0 && !in.Restored {
		if in.Sequence <= t.b.heard {
			return
		}
		if in.Sequence > t.b.repairedEnd {
			t.plan.Gone += in.Sequence - max(t.b.heard, t.b.repairedEnd) - 1
		}
		t.b.heard = in.Sequence
	}
	switch {
	case in.adopted > 0:
		t.adopt(in.adopted)
	case in.Missing != nil:
		t.plan.Missing = append(t.plan.Missing, in.Missing...)
	case in.Err != nil:
		t.refuse(in, true, "", input.Errorf("subject", in.Subject, "a message that can be read").Error()+"; "+in.Err.Error())
	case in.In.Batch != nil:
		t.batch(in)
	case in.In.Report != nil:
		t.report(in)
	case in.In.Failure != nil:
		t.failure(in)
	case in.In.Wish != nil:
		t.wish(in)
	case in.In.Script != nil:
		t.refuse(in, true, "", "a script is for a logical clock")
	case in.Beat != nil:
		t.beat(in.Beat)
	case in.Down != nil:
		t.down(in.Down)
	case in.Removed != nil:
		if slices.Contains(t.b.removals, *in.Removed) {
			t.plan.Removed = append(t.plan.Removed, *in.Removed)
		}
	}
}

// refuse refuses a message; remove says that it stands where another belongs.
func (t *taking) refuse(in *Input, remove bool, worker, why string) {
	r := wire.Refusal{Sequence: in.Sequence, Worker: worker, Remove: remove, Why: clean(why)}
	if in.In.Batch != nil {
		r.Batch = in.In.Batch.Name
	} else if name, ok := wire.BatchOf(in.Subject); ok {
		r.Batch = name
	}
	t.plan.Refused = append(t.plan.Refused, r)
}

// batch accepts a batch whole, or refuses it whole. One that was accepted before is the same.
func (t *taking) batch(in *Input) {
	b, s := t.b, in.In.Batch
	if a := b.batches[s.Name]; a != nil && a.Refused == "" {
		return
	}
	submit := t.plan.At
	if s.At != nil {
		submit = *s.At
	}
	if why := b.whyNot(s, submit); why != "" {
		t.refuse(in, true, "", why)
		return
	}
	for i := range s.Jobs {
		n := wire.NumberedJob{Number: b.free(), Batch: s.Name, Submit: submit, Deadline: b.deadline(&s.Jobs[i], submit), Job: s.Jobs[i]}
		if err := b.enter(&n); err != nil {
			panic("book: a batch was checked, and does not fit: " + err.Error())
		}
		t.plan.NewJobs = append(t.plan.NewJobs, n)
		t.tell(dispatch.Happening{Kind: dispatch.Submitted, Job: n.Number})
	}
}

// whyNot says why a batch cannot be accepted, "" if it can.
func (b *Book) whyNot(s *wire.Batch, submit float64) string {
	if (s.At != nil) != b.isLogical() {
		return "at: want a time on a logical clock, and none on the wall clock"
	}
	tasks := b.tasks
	for i := range s.Jobs {
		j := &s.Jobs[i]
		path := input.Index("jobs", i)
		if _, ok := b.numbers[j.Name]; ok || b.cleared[j.Name] {
			return input.Errorf(path+".name", j.Name, "a name that no other job has or had").Error()
		}
		if d := b.deadline(j, submit); d != 0 && !(d > submit && d <= 1e50) {
			return input.Errorf(path+".deadline", b.written(d), "a time after the submission, at %s", b.written(submit)).Error()
		}
		tasks += j.Tasks
	}
	switch {
	case len(b.numbers)+len(s.Jobs) > b.settings.MaxJobs:
		return input.Errorf("jobs", len(s.Jobs), "at most %d jobs in all that are not cleared", b.settings.MaxJobs).Error()
	case tasks > b.settings.MaxTasks:
		return input.Errorf("jobs", tasks-b.tasks, "at most %d tasks in all jobs that are not cleared", b.settings.MaxTasks).Error()
	}
	return ""
}

// written returns a time on the clock of the plans as users write it.
func (b *Book) written(at float64) string {
	const end = 253402300800 // of the year 9999
	if unix := b.epoch + at; !b.isLogical() && unix >= 0 && unix < end {
		return time.Unix(int64(unix), 0).UTC().Format(time.RFC3339)
	}
	return strconv.FormatFloat(at, 'g', -1, 64)
}

// deadline returns the deadline of a job on the clock of the plans, 0 for none.
func (b *Book) deadline(j *wire.Job, submit float64) float64 {
	switch {
	case j.DeadlineIn > 0:
		return submit + j.DeadlineIn
	case j.DeadlineAt > 0:
		return j.DeadlineAt - b.epoch
	}
	return 0
}

// free returns the lowest number that no job has.
func (b *Book) free() int {
	for b.lowest < len(b.jobs) && b.jobs[b.lowest] != nil {
		b.lowest++
	}
	return b.lowest
}

// A source says which attempt a report or a failure is about. Who wrote it is known only where the token is right, which the worker
// alone was told: one with another token is of nobody, and no worker has to answer for it.
type source struct {
	job           string
	task, attempt int
	worker, token string
	at            float64 // at which it ended on a logical clock
	seconds       float64
}

// attempt returns the attempt that a report or a failure is about, if it is in order; else it refuses it. A report may be
// of an attempt that was taken from its worker.
func (t *taking) attempt(in *Input, s source) *attempt {
	b := t.b
	n, ok := b.numbers[s.job]
	a := b.attempts[s.attempt]
	isKnown := ok && a != nil && a.Job == n && a.Task == s.task && a.Token == s.token && a.Name == s.worker
	if !isKnown && t.unknown(in, s) {
		return nil
	}
	if !ok {
		t.refuse(in, true, s.worker, "there is no such job")
		return nil
	}
	j := b.jobs[n]
	switch {
	case s.task >= j.Job.Tasks:
		t.refuse(in, true, s.worker, "there is no such task")
	case isKnown:
		if work := s.seconds * a.Speed; !(work <= 1e50) {
			t.refuse(in, true, s.worker, "seconds: want a number that makes at most 1e50 of work")
			return nil
		}
		return a
	case j.Ended.has(s.task) && !j.GivenUp[s.task]:
		t.refuse(in, false, s.worker, "the task has its result")
	case j.isDone() || j.Ended.has(s.task):
		t.refuse(in, true, s.worker, "the task was given up, or its job cancelled")
	default:
		t.refuse(in, true, s.worker, "the token is not that of this attempt")
	}
	return nil
}

// report takes in the result of a task.
func (t *taking) report(in *Input) {
	s, _ := sourceOf(in)
	a := t.attempt(in, s)
	if a == nil {
		return
	}
	task := [2]int{a.Job, a.Task}
	if t.ended[task] {
		t.refuse(in, false, s.worker, "the task has its result")
		return
	}
	t.ended[task], t.ending[s.attempt] = true, true
	t.tell(dispatch.Happening{
		Kind: dispatch.Finished, Job: a.Job, Task: a.Task, Worker: a.Worker, Attempt: s.attempt,
		Work: s.seconds * a.Speed, Seconds: t.b.timed(s.seconds),
	})
}

// timed returns the seconds that a task took if something is learnt from them, else 0, which takes no room in plans.
func (b *Book) timed(seconds float64) float64 {
	if b.rules.Learning.Speeds {
		return seconds
	}
	return 0
}

// failure takes in that an attempt failed.
func (t *taking) failure(in *Input) {
	s, _ := sourceOf(in)
	a := t.attempt(in, s)
	switch {
	case a == nil:
	case a.Taken || t.ending[s.attempt]:
		t.refuse(in, false, s.worker, "the attempt has ended before")
	default:
		t.fails(s.attempt, a)
	}
}

// fails tells that an attempt in hand failed.
func (t *taking) fails(number int, a *attempt) {
	t.ending[number] = true
	task := [2]int{a.Job, a.Task}
	t.failed[task] = append(t.failed[task], failing{false, a.Worker})
	t.tell(dispatch.Happening{Kind: dispatch.Refused, Job: a.Job, Task: a.Task, Worker: a.Worker, Attempt: number})
}

// giveUp tells which of the tasks that failed at this moment are not tried again.
func (t *taking) giveUp() {
	b := t.b
	if b.isLogical() || len(t.failed) == 0 {
		return
	}
	up := 0
	for i := range b.workers {
		if b.workers[i].Up {
			up++
		}
	}
	tasks := make([][2]int, 0, len(t.failed))
	for task := range t.failed {
		if !t.ended[task] {
			tasks = append(tasks, task)
		}
	}
	slices.SortFunc(tasks, func(x, y [2]int) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	for _, task := range tasks {
		j := b.jobs[task[0]]
		var f failure
		if before := j.Failures[task[1]]; before != nil {
			f = *before
		} else {
			f.Worker = t.failed[task][0].worker
		}
		for _, now := range t.failed[task] {
			f.count(now.lost, now.worker)
		}
		most := cmp.Or(j.Job.Attempts, defaultAttempts)
		several := f.Several || up < 2
		if f.Refused >= most && several || f.Refused >= 2*most || f.Lost >= b.settings.Losses && several || f.Lost >= 2*b.settings.Losses {
			t.tell(dispatch.Happening{Kind: dispatch.GivenUp, Job: task[0], Task: task[1]})
		}
	}
}

// clearOld clears jobs that have been done for long.
func (t *taking) clearOld() {
	b := t.b
	for k := 0; k < len(b.done) && len(t.plan.Cleared) < mostInputs; k++ {
		j := b.jobs[b.done[k]]
		if *j.Finish+b.settings.Keep > t.plan.At {
			return
		}
		if !slices.Contains(t.plan.Cleared, j.Number) {
			t.plan.Cleared = append(t.plan.Cleared, j.Number)
		}
	}
}
