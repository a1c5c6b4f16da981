package book

import (
	"slices"
	"strings"
	"unicode"

	"productform/dispatch"
	"productform/live/wire"
)

// clean makes a reason printable and limits its length.
func clean(why string) string {
	why = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, why)
	if r := []rune(why); len(r) > 150 {
		why = string(r[:147]) + "..."
	}
	return why
}

// wish applies a user's request. A request that cannot be followed is removed, so it can be sent
// again.
func (t *planBuilder) wish(in *Input) {
	b, w := t.b, in.In.Wish
	if w.Verb == wire.ToDrain {
		n, ok := b.places[w.Name]
		if !ok {
			t.refuse(in, true, "", "there is no such worker")
			return
		}
		t.leave(n)
		return
	}
	n, ok := b.numbers[w.Name]
	switch {
	case !ok && b.cleared[w.Name] && w.Verb == wire.ToClear:
	case !ok:
		t.refuse(in, true, "", "there is no such job")
	case w.Verb == wire.ToClear && !b.jobs[n].isDone():
		t.refuse(in, true, "", "the job is not done: cancel it first")
	case w.Verb == wire.ToClear:
		if !slices.Contains(t.plan.Cleared, n) {
			t.plan.Cleared = append(t.plan.Cleared, n)
		}
	case b.jobs[n].isDone():
		t.refuse(in, true, "", "the job is done")
	case w.Verb == wire.ToCancel:
		t.addHappening(dispatch.Happening{Kind: dispatch.Cancelled, Job: n})
	default:
		t.change(in, b.jobs[n])
	}
}

// change changes the priority or the deadline of a job, and keeps what the request does not
// mention.
func (t *planBuilder) change(in *Input, j *job) {
	b, w := t.b, in.In.Wish
	to := t.changed[j.Number]
	if to == nil {
		to = &dispatch.Job{Priority: j.Job.Priority, Deadline: j.Deadline}
	}
	priority, deadline := to.Priority, to.Deadline
	if w.Priority != nil {
		priority = *w.Priority
	}
	switch {
	case w.DeadlineIn != nil && *w.DeadlineIn == 0, w.DeadlineAt != nil && *w.DeadlineAt == 0:
		deadline = 0
	case w.DeadlineIn != nil:
		deadline = t.plan.At + *w.DeadlineIn
	case w.DeadlineAt != nil:
		deadline = *w.DeadlineAt - b.epoch
	}
	if deadline != 0 && !(deadline > j.Submit && deadline <= 1e50) {
		t.refuse(in, true, "", "the deadline is not after the submission of the job")
		return
	}
	to = &dispatch.Job{Priority: priority, Deadline: deadline}
	t.changed[j.Number] = to
	t.addHappening(dispatch.Happening{Kind: dispatch.Changed, Job: j.Number, What: to})
}

// beat applies a heartbeat of a worker.
func (t *planBuilder) beat(beat *wire.Beat) {
	b := t.b
	n, ok := b.places[beat.Worker]
	if !ok {
		if !beat.Leaving {
			t.join(beat)
		}
		return
	}
	w := &b.workers[n]
	isDown := !w.Up && !w.Left
	if slices.Contains(w.Former, beat.Process) && !isDown {
		// The beat is late, or from another worker of the same name. Or the beat that introduced
		// the current process was late, and that process is gone.
		if b.staleBeats[w.Name]++; b.staleBeats[w.Name] < maxStaleBeats {
			return
		}
		if w.Left { // neither process takes more tasks, and the silent one ends none
			t.failWorker(n)
			return
		}
	}
	delete(b.staleBeats, w.Name)
	switch {
	case w.Process != beat.Process:
		t.failWorker(n)
		t.registerWorker(n, beat)
		if !beat.Leaving && !w.Left {
			t.returnWorker(n, beat.Speed, false)
		}
	case beat.Leaving:
		t.leave(n)
	case isDown:
		t.returnWorker(n, w.Speed, false)
	}
	b.beats[beat.Worker] = beat
	b.touched.Workers[beat.Worker] = true
}

// join gives a new worker a number. The first choice is the number of a worker that is gone and
// sends no beats, since workers that send beats would join again. The next choices are a new
// number, the number of any worker that is gone, and the number of the worker that has been down
// longest. Without any of these, the worker has to wait.
func (t *planBuilder) join(beat *wire.Beat) {
	b := t.b
	isGone := func(w worker) bool { return w.Left && !b.hasTask(w.Name) }
	n := slices.IndexFunc(b.workers, func(w worker) bool { return isGone(w) && b.beats[w.Name] == nil })
	if n < 0 && len(b.workers) < b.settings.MaxWorkers {
		n = len(b.workers)
	}
	if n < 0 {
		n = slices.IndexFunc(b.workers, isGone)
	}
	if n < 0 {
		for i := range b.workers {
			w := &b.workers[i]
			if !w.Up && !w.Left && (n < 0 || w.Since < b.workers[n].Since) {
				n = i
			}
		}
	}
	if n < 0 {
		return
	}
	isAnother := n < len(b.workers)
	t.registerWorker(n, beat)
	t.returnWorker(n, beat.Speed, isAnother)
	b.beats[beat.Worker] = beat
}

// hasTask reports whether a worker has a task.
func (b *Book) hasTask(name string) bool {
	if b.maker == nil {
		return false
	}
	_, _, attempt, _ := b.maker.Hand(b.places[name])
	return attempt > 0
}

func (t *planBuilder) registerWorker(n int, beat *wire.Beat) {
	w := wire.NumberedWorker{Number: n, Name: beat.Worker, Process: beat.Process, Speed: beat.Speed}
	if err := t.b.registerWorker(&w); err != nil {
		panic("book: cannot apply a checked worker: " + err.Error())
	}
	t.plan.NewWorkers = append(t.plan.NewWorkers, w)
}

// returnWorker marks a worker as up. isAnother reports whether it reuses the number of another
// worker.
func (t *planBuilder) returnWorker(n int, speed float64, isAnother bool) {
	t.b.workers[n].Up = true
	t.addHappening(dispatch.Happening{Kind: dispatch.Returned, Worker: n, Speed: speed, New: isAnother})
}

// down applies the report that a worker is missing.
func (t *planBuilder) down(d *Down) {
	n, ok := t.b.places[d.Worker]
	if !ok || t.b.workers[n].Process != d.Process {
		return
	}
	t.failWorker(n)
	if t.b.workers[n].Left {
		delete(t.b.beats, d.Worker)
		t.b.touched.Workers[d.Worker] = true
	}
}

// failWorker marks a worker as down, if it is up or has a task.
func (t *planBuilder) failWorker(n int) {
	w := &t.b.workers[n]
	if !w.Up && !t.b.hasTask(w.Name) {
		return
	}
	w.Up = false
	if job, task, number, _ := t.b.maker.Hand(n); number > 0 && !t.ending[number] {
		t.ending[number] = true
		at := [2]int{job, task}
		t.failed[at] = append(t.failed[at], failedAttempt{true, n})
	}
	t.addHappening(dispatch.Happening{Kind: dispatch.Failed, Worker: n})
}

// leave marks a worker as leaving: it takes no more tasks.
func (t *planBuilder) leave(n int) {
	w := &t.b.workers[n]
	if w.Up {
		w.Up, w.Left = false, true
		t.addHappening(dispatch.Happening{Kind: dispatch.Leaving, Worker: n})
	}
}
