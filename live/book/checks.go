package book

import (
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"productform/dispatch"
	"productform/internal/input"
	"productform/live/wire"
)

// first returns the result of a task that is to be checked, nil if there is none; also one that was drawn at this moment.
func (t *taking) first(task [2]int) *wire.Repeat {
	for i := range t.plan.Repeats {
		if r := &t.plan.Repeats[i]; r.Job == task[0] && r.Task == task[1] {
			return r
		}
	}
	return t.b.jobs[task[0]].Repeats[task[1]]
}

// isDrawn draws whether the result of an attempt is to be checked, if it is in hand and another worker is up, and no plan of another
// rule takes the workers of a job together.
func (t *taking) isDrawn(a *attempt) bool {
	b := t.b
	if b.settings.Verify == 0 || a.Taken || b.rules.isRigid() {
		return false
	}
	var bytes [8]byte
	if _, err := io.ReadFull(b.settings.Random, bytes[:]); err != nil {
		return false // the tokens, which are drawn from there too, say so
	}
	if u := float64(binary.LittleEndian.Uint64(bytes[:])>>11) / (1 << 53); u >= b.settings.Verify {
		return false
	}
	for n := range b.workers {
		if b.workers[n].Up && n != a.Worker {
			return true
		}
	}
	return false
}

// repeat has the task of a report run again, by another worker.
func (t *taking) repeat(r *wire.Report, a *attempt) {
	digest := r.Digest
	if digest == "" {
		digest = wire.Digest(r.Output)
	}
	t.ending[r.Attempt] = true
	if t.checked != nil {
		t.checked[a.Name] = true
	}
	t.plan.Repeats = append(t.plan.Repeats, wire.Repeat{
		Job: a.Job, Task: a.Task, Attempt: r.Attempt, Worker: a.Name, Digest: digest, Seconds: r.Seconds,
	})
	t.tell(dispatch.Happening{Kind: dispatch.Repeated, Job: a.Job, Task: a.Task, Worker: a.Worker, Attempt: r.Attempt})
}

// compare compares the second result of a task with the first. That of the same worker, which rules of another kind may have let
// run it, shows nothing.
func (t *taking) compare(first *wire.Repeat, r *wire.Report) {
	c := wire.Check{Job: first.Job, Task: first.Task, First: first.Worker}
	if r.Worker != first.Worker {
		digest := r.Digest
		if digest == "" {
			digest = wire.Digest(r.Output)
		}
		c.Second, c.Differs = r.Worker, digest != first.Digest
	}
	t.plan.Checks = append(t.plan.Checks, c)
}

// leaveUnchecked ends a task with its first result.
func (t *taking) leaveUnchecked(first *wire.Repeat) {
	a := t.b.attempts[first.Attempt]
	t.ended[[2]int{first.Job, first.Task}] = true
	t.plan.Checks = append(t.plan.Checks, wire.Check{Job: first.Job, Task: first.Task, First: first.Worker})
	t.tell(dispatch.Happening{
		Kind: dispatch.Finished, Job: first.Job, Task: first.Task, Worker: a.Worker, Attempt: first.Attempt, Work: first.Seconds * a.Speed,
	})
}

// isChecked reports whether a worker has results that are to be checked, or had some when this moment began.
func (t *taking) isChecked(worker string) bool {
	if t.checked == nil {
		t.checked = map[string]bool{}
		for number := range t.b.repeats {
			for _, first := range t.b.jobs[number].Repeats {
				t.checked[first.Worker] = true
			}
		}
		for i := range t.plan.Repeats {
			t.checked[t.plan.Repeats[i].Worker] = true
		}
	}
	return t.checked[worker]
}

// checkNone ends the tasks that wait to be checked after a worker has run them.
func (t *taking) checkNone(worker string) {
	if !t.isChecked(worker) {
		return
	}
	leave := func(first *wire.Repeat) {
		if first.Worker == worker && !t.ended[[2]int{first.Job, first.Task}] {
			t.leaveUnchecked(first)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(t.b.repeats)) {
		repeats := t.b.jobs[number].Repeats
		for _, task := range slices.Sorted(maps.Keys(repeats)) {
			leave(repeats[task])
		}
	}
	for i := range t.plan.Repeats {
		leave(&t.plan.Repeats[i])
	}
	delete(t.checked, worker)
}

// alone returns the only worker that is up, -1 if none is or several are.
func (b *Book) alone() int {
	only := -1
	for n := range b.workers {
		if b.workers[n].Up {
			if only >= 0 {
				return -1
			}
			only = n
		}
	}
	return only
}

// isAlone reports whether results wait to be checked while only one worker is up.
func (b *Book) isAlone() bool { return len(b.repeats) > 0 && b.alone() >= 0 }

// checkNoMore ends the tasks that wait for another worker than the only one that is up.
func (t *taking) checkNoMore() {
	b := t.b
	if !b.isAlone() {
		return
	}
	name, hands := b.workers[b.alone()].Name, map[[2]int]bool{}
	for n := range b.workers {
		if job, task, attempt, _ := b.maker.Hand(n); attempt > 0 && !t.ending[attempt] {
			hands[[2]int{job, task}] = true
		}
	}
	for _, number := range slices.Sorted(maps.Keys(b.repeats)) {
		j := b.jobs[number]
		for _, task := range slices.Sorted(maps.Keys(j.Repeats)) {
			at := [2]int{number, task}
			if first := j.Repeats[task]; first.Worker == name && !t.ended[at] && !hands[at] {
				t.leaveUnchecked(first)
			}
		}
	}
}

// check takes in which results are to be checked, and what came of it.
func (b *Book) check(p *wire.Plan) error {
	for i := range p.Repeats {
		r := p.Repeats[i]
		j := b.job(r.Job)
		switch a := b.attempts[r.Attempt]; {
		case j == nil || r.Task >= j.Job.Tasks:
			return input.Errorf(input.Index("repeats", i), r.Job, "a job, and one of its tasks")
		case j.isDone() || j.Ended.has(r.Task):
			continue // at the same moment
		case a == nil || a.Job != r.Job || a.Task != r.Task || a.Name != r.Worker || !a.Taken:
			return input.Errorf(input.Index("repeats", i), r.Attempt, "an attempt at the task that has ended")
		}
		if j.Repeats == nil {
			j.Repeats = map[int]*wire.Repeat{}
		}
		j.Repeats[r.Task] = &r
		b.repeats[r.Job] = true
	}
	for i := range p.Checks {
		c := &p.Checks[i]
		if c.Second == "" {
			b.counts.Unchecked++
		} else {
			b.counts.Checked++
		}
		if c.Differs {
			b.counts.Differing++
		}
		j := b.job(c.Job)
		if j == nil {
			continue
		}
		if c.Second != "" {
			j.Checked++
		}
		if c.Differs {
			j.Differing++
		}
		delete(j.Repeats, c.Task)
		if len(j.Repeats) == 0 {
			delete(b.repeats, c.Job)
		}
	}
	return nil
}
