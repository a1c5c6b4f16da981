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
	"productform/live/wire"
)

// Limits on the inputs of one plan: the plan and the maker's decisions, 190 bytes per worker, fit
// in a message. The remaining inputs go into the next plan. A batch counts as its size plus
// jobBytes per job, and any other input as inputBytes, the most that it adds.
const (
	maxInputs  = 1000
	maxBytes   = wire.MaxMessage * 3 / 4
	jobBytes   = 240
	inputBytes = 500
)

// Take processes inputs, with messages of PFQ_IN in the order of their sequences, and decides one
// moment. It returns the next plan, or nil if there is nothing to record; then all inputs have been
// processed or, on a logical clock, wait for their time. As long as it returns plans, there may be
// more: the caller appends the plan and calls Take again with the inputs that have arrived since.
//
// On the wall clock the moment is at, in seconds since the epoch, or the time of the last plan if
// that is later. On a logical clock at is ignored. If Take fails or the plan cannot be appended,
// the caller must discard the book.
func (b *Book) Take(at float64, inputs []Input) (*wire.Plan, error) {
	b.queue = append(b.queue, inputs...)
	if b.isLogical() {
		return b.takeLogical()
	}
	t, err := b.newPlan(max(at, b.at))
	if err != nil {
		return nil, err
	}
	for len(b.queue) > 0 && t.hasRoom(&b.queue[0]) {
		t.applyInput(&b.queue[0])
		b.queue = b.queue[1:]
	}
	t.plan.Upto = b.heard
	t.clearOld()
	period := b.settings.Replan
	t.plan.Replan = len(t.plan.What) == 0 && period > 0 && b.hasOpenJobs() &&
		t.plan.At >= dispatch.NextReplan(b.decided, period)
	return t.finish()
}

// hasOpenJobs reports whether some jobs are not done.
func (b *Book) hasOpenJobs() bool {
	c := &b.counts
	return c.Jobs > c.Completed+c.Cancelled
}

// A planBuilder assembles the next plan.
type planBuilder struct {
	b       *Book
	plan    *wire.Plan
	heard   int
	bytes   int                        // upper bound on the size of the inputs in the plan
	ending  map[int]bool               // attempts that end in this plan
	ended   map[[2]int]bool            // tasks that get their result in this plan
	failed  map[[2]int][]failedAttempt // failed attempts by job and task
	changed map[int]*dispatch.Job      // changed jobs by number
	lost    *LostPlansError            // the first proof that plans are missing
}

// A failedAttempt is an attempt that failed or was lost with its worker.
type failedAttempt struct {
	lost   bool
	worker int
}

// newPlan starts a plan.
func (b *Book) newPlan(at float64) (*planBuilder, error) {
	t := &planBuilder{
		b:       b,
		ending:  map[int]bool{},
		ended:   map[[2]int]bool{},
		failed:  map[[2]int][]failedAttempt{},
		changed: map[int]*dispatch.Job{},
	}
	if err := b.startTerm(); err != nil {
		return nil, err
	}
	t.plan = &wire.Plan{Version: wire.Version, Number: b.number + 1, Leader: b.settings.Leader, At: at, Upto: b.upto}
	if b.number == 0 && !b.isLogical() {
		t.plan.Epoch = b.settings.Epoch
		if !input.IsTime(at) {
			return nil, input.Moment.Check("at", at)
		}
	}
	if b.number > 0 && b.rules == b.settings.rules() {
		return t, nil
	}
	t.plan.Rules, t.plan.Rigid = &b.settings.Rules, b.settings.Rigid
	if b.isLogical() && b.number == 0 {
		return t, nil // the script defines the maker's first workers
	}
	return t, b.setUp(t.plan)
}

// hasRoom reports whether another input fits in the plan.
func (t *planBuilder) hasRoom(in *Input) bool {
	return t.heard == 0 || t.heard < maxInputs && t.bytes+bytesOf(in) <= maxBytes
}

// bytesOf returns an upper bound on the bytes that an input adds to a plan.
func bytesOf(in *Input) int {
	if in.In.Batch == nil {
		return inputBytes
	}
	data, err := json.Marshal(in.In.Batch)
	if err != nil {
		panic("book: cannot encode a decoded batch: " + err.Error())
	}
	return len(data) + jobBytes*len(in.In.Batch.Jobs)
}

// finish decides the moment and returns the plan, or nil if it is empty.
func (t *planBuilder) finish() (*wire.Plan, error) {
	b, p := t.b, t.plan
	if t.lost != nil {
		return nil, t.lost
	}
	t.giveUp()
	if !t.isNonempty() {
		return nil, nil
	}
	if p.Script != nil {
		if err := b.setUp(p); err != nil {
			return nil, err
		}
	}
	if decides(p) {
		what, err := b.fillJobs(p.What)
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

// isNonempty reports whether the plan records anything.
func (t *planBuilder) isNonempty() bool {
	p := t.plan
	return decides(p) || p.Rules != nil || p.Upto > t.b.upto || p.Script != nil || len(p.Refused) > 0 ||
		len(p.Removed) > 0 || len(p.Cleared) > 0 ||
		len(p.NewWorkers) > 0 || len(p.Missing) > 0 || len(p.Adopted) > 0
}

func (t *planBuilder) addHappening(h dispatch.Happening) { t.plan.What = append(t.plan.What, h) }

// applyInput applies one input.
func (t *planBuilder) applyInput(in *Input) {
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
		t.refuse(in, true, "", input.Errorf("subject", in.Subject, "a readable message").Error()+"; "+in.Err.Error())
	case in.In.Batch != nil:
		t.batch(in)
	case in.In.Report != nil:
		t.report(in)
	case in.In.Failure != nil:
		t.failure(in)
	case in.In.Wish != nil:
		t.wish(in)
	case in.In.Script != nil:
		t.refuse(in, true, "", "scripts need a logical clock")
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

// refuse refuses a message. It is removed if it occupies the subject of another message.
func (t *planBuilder) refuse(in *Input, remove bool, worker, why string) {
	r := wire.Refusal{Sequence: in.Sequence, Worker: worker, Remove: remove, Why: clean(why)}
	if in.In.Batch != nil {
		r.Batch = in.In.Batch.Name
	} else if name, ok := wire.BatchOf(in.Subject); ok {
		r.Batch = name
	}
	t.plan.Refused = append(t.plan.Refused, r)
}

// batch accepts or refuses a batch as a whole. A batch that was accepted before is ignored.
func (t *planBuilder) batch(in *Input) {
	b, s := t.b, in.In.Batch
	if a := b.batches[s.Name]; a != nil && a.Refused == "" {
		return
	}
	submit := t.plan.At
	if s.At != nil {
		submit = *s.At
	}
	if why := b.refusalReason(s, submit); why != "" {
		t.refuse(in, true, "", why)
		return
	}
	for i := range s.Jobs {
		n := wire.NumberedJob{
			Number:   b.freeNumber(),
			Batch:    s.Name,
			Submit:   submit,
			Deadline: b.deadline(&s.Jobs[i], submit),
			Job:      s.Jobs[i],
		}
		if err := b.enter(&n); err != nil {
			panic("book: cannot apply a checked batch: " + err.Error())
		}
		t.plan.NewJobs = append(t.plan.NewJobs, n)
		t.addHappening(dispatch.Happening{Kind: dispatch.Submitted, Job: n.Number})
	}
}

// refusalReason returns the reason why a batch cannot be accepted, or "" if it can.
func (b *Book) refusalReason(s *wire.Batch, submit float64) string {
	if (s.At != nil) != b.isLogical() {
		return "at: want a time on a logical clock, or none on the wall clock"
	}
	tasks := b.tasks
	for i := range s.Jobs {
		j := &s.Jobs[i]
		path := input.Index("jobs", i)
		if _, ok := b.numbers[j.Name]; ok || b.cleared[j.Name] {
			return input.Errorf(path+".name", j.Name, "a name that no other job has or had").Error()
		}
		if d := b.deadline(j, submit); d != 0 && !(d > submit && d <= 1e50) {
			return input.Errorf(path+".deadline", b.formatTime(d), "a time after the submission, at %s",
				b.formatTime(submit)).Error()
		}
		tasks += j.Tasks
	}
	switch {
	case len(b.numbers)+len(s.Jobs) > b.settings.MaxJobs:
		return input.Errorf("jobs", len(s.Jobs), "at most %d jobs that are not cleared", b.settings.MaxJobs).Error()
	case tasks > b.settings.MaxTasks:
		return input.Errorf("jobs", tasks-b.tasks, "at most %d tasks in the jobs that are not cleared",
			b.settings.MaxTasks).Error()
	}
	return ""
}

// formatTime formats a time on the clock of the plans for users.
func (b *Book) formatTime(at float64) string {
	const end = 253402300800 // start of the year 10000
	if unix := b.epoch + at; !b.isLogical() && unix >= 0 && unix < end {
		return time.Unix(int64(unix), 0).UTC().Format(time.RFC3339)
	}
	return strconv.FormatFloat(at, 'g', -1, 64)
}

// deadline returns the deadline of a job on the clock of the plans, or 0 for none.
func (b *Book) deadline(j *wire.Job, submit float64) float64 {
	switch {
	case j.DeadlineIn > 0:
		return submit + j.DeadlineIn
	case j.DeadlineAt > 0:
		return j.DeadlineAt - b.epoch
	}
	return 0
}

// freeNumber returns the lowest number that no job has.
func (b *Book) freeNumber() int {
	for b.lowest < len(b.jobs) && b.jobs[b.lowest] != nil {
		b.lowest++
	}
	return b.lowest
}

// A source identifies the attempt that a report or a failure is about. Only a valid token, which
// only the worker received, identifies the author; a message with another token blames no worker.
type source struct {
	job           string
	task, attempt int
	worker, token string
	at            float64 // end on a logical clock
	seconds       float64
}

// attempt returns the attempt that a report or a failure is about, or refuses the message if it is
// invalid. The attempt may have been taken from its worker.
func (t *planBuilder) attempt(in *Input, s source) *attempt {
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
			t.refuse(in, true, s.worker, "seconds: want at most 1e50 of work in total")
			return nil
		}
		return a
	case j.Ended.has(s.task) && !j.GivenUp[s.task]:
		t.refuse(in, false, s.worker, "the task already has a result")
	case j.isDone() || j.Ended.has(s.task):
		t.refuse(in, true, s.worker, "the task was given up, or its job cancelled")
	default:
		t.refuse(in, true, s.worker, "the token does not match the attempt")
	}
	return nil
}

// report applies the result of a task.
func (t *planBuilder) report(in *Input) {
	s, _ := sourceOf(in)
	a := t.attempt(in, s)
	if a == nil {
		return
	}
	task := [2]int{a.Job, a.Task}
	if t.ended[task] {
		t.refuse(in, false, s.worker, "the task already has a result")
		return
	}
	t.ended[task], t.ending[s.attempt] = true, true
	t.addHappening(dispatch.Happening{
		Kind: dispatch.Finished, Job: a.Job, Task: a.Task, Worker: a.Worker, Attempt: s.attempt,
		Work: s.seconds * a.Speed, Seconds: t.b.learnedSeconds(s.seconds),
	})
}

// learnedSeconds returns the run time of a task if speeds are learned from it. Otherwise it returns
// 0, which takes no space in plans.
func (b *Book) learnedSeconds(seconds float64) float64 {
	if b.rules.Learning.Speeds {
		return seconds
	}
	return 0
}

// failure applies the failure of an attempt.
func (t *planBuilder) failure(in *Input) {
	s, _ := sourceOf(in)
	a := t.attempt(in, s)
	switch {
	case a == nil:
	case a.Taken || t.ending[s.attempt]:
		t.refuse(in, false, s.worker, "the attempt has already ended")
	default:
		t.failAttempt(s.attempt, a)
	}
}

// failAttempt adds the failure of a running attempt to the plan.
func (t *planBuilder) failAttempt(number int, a *attempt) {
	t.ending[number] = true
	task := [2]int{a.Job, a.Task}
	t.failed[task] = append(t.failed[task], failedAttempt{false, a.Worker})
	t.addHappening(dispatch.Happening{
		Kind:    dispatch.Refused,
		Job:     a.Job,
		Task:    a.Task,
		Worker:  a.Worker,
		Attempt: number,
	})
}

// giveUp gives up the tasks that reached their limit of failures at this moment.
func (t *planBuilder) giveUp() {
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
		if f.Refused >= most && several || f.Refused >= 2*most || f.Lost >= b.settings.Losses && several ||
			f.Lost >= 2*b.settings.Losses {
			t.addHappening(dispatch.Happening{Kind: dispatch.GivenUp, Job: task[0], Task: task[1]})
		}
	}
}

// clearOld clears jobs that have been done for longer than Settings.Keep.
func (t *planBuilder) clearOld() {
	b := t.b
	for k := 0; k < len(b.done) && len(t.plan.Cleared) < maxInputs; k++ {
		j := b.jobs[b.done[k]]
		if *j.Finish+b.settings.Keep > t.plan.At {
			return
		}
		if !slices.Contains(t.plan.Cleared, j.Number) {
			t.plan.Cleared = append(t.plan.Cleared, j.Number)
		}
	}
}
