package book

import (
	"slices"
	"strings"
	"unicode"

	"productform/dispatch"
	"productform/live/wire"
)

// clean makes a reason fit to be written.
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

// wish takes in what a user asks. One that cannot be followed is removed, so that it can be asked again.
func (t *taking) wish(in *Input) {
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
		t.tell(dispatch.Happening{Kind: dispatch.Cancelled, Job: n})
	default:
		t.change(in, b.jobs[n])
	}
}

// change gives a job another priority or deadline; what the wish does not name stays.
func (t *taking) change(in *Input, j *job) {
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
	t.tell(dispatch.Happening{Kind: dispatch.Changed, Job: j.Number, What: to})
}

// beat takes in what a worker says of itself.
func (t *taking) beat(beat *wire.Beat) {
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
		// It is late, or of another worker with this name; or else the beat was late with which the process came that is
		// known now, and which then is not heard again.
		if b.strays[w.Name]++; b.strays[w.Name] < mostStrays {
			return
		}
		if w.Left { // it takes no more tasks, whichever process it is, and the one that is silent ends none
			t.fail(n)
			return
		}
	}
	delete(b.strays, w.Name)
	switch {
	case w.Process != beat.Process:
		t.fail(n)
		t.employ(n, beat)
		if !beat.Leaving && !w.Left {
			t.comeBack(n, beat.Speed, false)
		}
	case beat.Leaving:
		t.leave(n)
	case isDown:
		t.comeBack(n, w.Speed, false)
	}
	b.beats[beat.Worker] = beat
	b.touched.Workers[beat.Worker] = true
}

// join gives a new worker a number: that of a worker that is gone and sends no beats, which would make
// it join again. If there is none, it is a new number, that of any worker that is gone, or that of the
// worker that has been down longest, in this order. If there is none of these, the worker has to wait.
func (t *taking) join(beat *wire.Beat) {
	b := t.b
	isGone := func(w worker) bool { return w.Left && !b.holds(w.Name) }
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
	t.employ(n, beat)
	t.comeBack(n, beat.Speed, isAnother)
	b.beats[beat.Worker] = beat
}

// holds reports whether a worker has a task in hand.
func (b *Book) holds(name string) bool {
	if b.maker == nil {
		return false
	}
	_, _, attempt, _ := b.maker.Hand(b.places[name])
	return attempt > 0
}

func (t *taking) employ(n int, beat *wire.Beat) {
	w := wire.NumberedWorker{Number: n, Name: beat.Worker, Process: beat.Process, Speed: beat.Speed}
	if err := t.b.employ(&w); err != nil {
		panic("book: a worker was checked, and does not fit: " + err.Error())
	}
	t.plan.NewWorkers = append(t.plan.NewWorkers, w)
}

// comeBack tells that a worker is up, and whether it is another than the one with its number before.
func (t *taking) comeBack(n int, speed float64, isAnother bool) {
	t.b.workers[n].Up = true
	t.tell(dispatch.Happening{Kind: dispatch.Returned, Worker: n, Speed: speed, New: isAnother})
}

// down takes in that a worker is missed.
func (t *taking) down(d *Down) {
	n, ok := t.b.places[d.Worker]
	if !ok || t.b.workers[n].Process != d.Process {
		return
	}
	t.fail(n)
	if t.b.workers[n].Left {
		delete(t.b.beats, d.Worker)
		t.b.touched.Workers[d.Worker] = true
	}
}

// fail tells that a worker is down, if it is up or has a task in hand.
func (t *taking) fail(n int) {
	w := &t.b.workers[n]
	if !w.Up && !t.b.holds(w.Name) {
		return
	}
	w.Up = false
	if job, task, number, _ := t.b.maker.Hand(n); number > 0 && !t.ending[number] {
		t.ending[number] = true
		at := [2]int{job, task}
		t.failed[at] = append(t.failed[at], failing{true, n})
	}
	t.tell(dispatch.Happening{Kind: dispatch.Failed, Worker: n})
}

// leave tells that a worker takes no more tasks.
func (t *taking) leave(n int) {
	w := &t.b.workers[n]
	if w.Up {
		w.Up, w.Left = false, true
		t.tell(dispatch.Happening{Kind: dispatch.Leaving, Worker: n})
	}
}
