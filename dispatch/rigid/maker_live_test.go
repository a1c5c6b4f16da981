package rigid_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
)

// A cluster drives a maker with all events of a live system, in random order. Tasks
// take any time, fail, are given up, or are reported late. Workers fail, leave, return and join.
// Jobs are cancelled and forgotten.
type cluster struct {
	t       *rapid.T
	m, copy *rigid.Maker
	now     float64
	jobs    []*liveJob // by number
	workers []*liveWorker
	taken   []dispatch.Happening // reports that may arrive late
}

type liveJob struct {
	what     dispatch.Job
	position int
	ended    map[int]bool
	begun    map[int]bool
	isDone   bool
}

type liveWorker struct {
	up   bool
	hold int // job that holds it, -1 for none
	hand dispatch.Happening
	busy bool
}

func TestMakerLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{t: t}
		n := rapid.IntRange(1, 5).Draw(t, "workers")
		p := rapid.SampledFrom(policies()).Draw(t, "policy")
		c.m, c.copy = mustMaker(t, p, n), mustMaker(t, p, n)
		for range n {
			c.workers = append(c.workers, &liveWorker{up: true, hold: -1})
		}
		for turn := range rapid.IntRange(1, 40).Draw(t, "moments") {
			c.now += rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "pause")
			var what []dispatch.Happening
			for range rapid.IntRange(0, 3).Draw(t, "things") {
				if h, ok := c.draw(turn, what); ok {
					what = append(what, h)
				}
			}
			c.moment(p, what)
			if rapid.IntRange(0, 5).Draw(t, "forget") == 0 {
				c.forget()
			}
		}
		c.end(p)
	})
}

// draw draws a random happening.
func (c *cluster) draw(turn int, before []dispatch.Happening) (h dispatch.Happening, ok bool) {
	w := rapid.IntRange(0, len(c.workers)-1).Draw(c.t, "worker")
	job := rapid.IntRange(-1, len(c.jobs)-1).Draw(c.t, "job")
	isOld := job >= 0 && c.jobs[job] != nil
	kind := rapid.SampledFrom([]dispatch.Kind{
		dispatch.Submitted, dispatch.Submitted, dispatch.Finished, dispatch.Finished, dispatch.Finished,
		dispatch.Refused, dispatch.Failed, dispatch.Leaving, dispatch.Returned, dispatch.Returned, "late",
		"join", dispatch.GivenUp, dispatch.Cancelled, dispatch.Changed,
	}).Draw(c.t, "kind")
	isTold := func(e dispatch.Happening) bool {
		return slices.ContainsFunc(before, func(b dispatch.Happening) bool {
			return b.Job == e.Job && b.Task == e.Task && b.Attempt > 0
		})
	}
	switch kind {
	case dispatch.Submitted:
		j := dispatch.Job{Submit: c.now, Tasks: rapid.IntRange(1, 4).Draw(c.t, "tasks"), Priority: float64(turn % 3)}
		j.Estimate = float64(rapid.IntRange(0, 6).Draw(c.t, "asks"))
		n := slices.Index(c.jobs, nil)
		if n < 0 {
			n = len(c.jobs)
			c.jobs = append(c.jobs, nil)
		}
		c.jobs[n] = &liveJob{what: j, ended: map[int]bool{}, begun: map[int]bool{}}
		return dispatch.Happening{Kind: kind, Job: n, What: &j}, true
	case dispatch.Finished, dispatch.Refused:
		h = c.workers[w].hand
		h.Kind, h.Work = kind, 1
		return h, c.workers[w].busy && !isTold(h)
	case "late":
		if len(c.taken) == 0 {
			return h, false
		}
		h = rapid.SampledFrom(c.taken).Draw(c.t, "report")
		h.Kind, h.Work = dispatch.Finished, 1
		return h, c.jobs[h.Job] != nil && !isTold(h)
	case "join":
		if len(c.workers) > 7 {
			return h, false
		}
		c.workers = append(c.workers, &liveWorker{hold: -1})
		return dispatch.Happening{Kind: dispatch.Returned, Worker: len(c.workers) - 1, Speed: 2}, true
	case dispatch.GivenUp:
		return dispatch.Happening{Kind: kind, Job: job}, isOld && c.jobs[job].begun[0]
	case dispatch.Cancelled:
		return dispatch.Happening{Kind: kind, Job: job}, isOld && rapid.Bool().Draw(c.t, "really")
	case dispatch.Changed:
		return dispatch.Happening{Kind: kind, Job: job, What: &dispatch.Job{Priority: 2}}, isOld
	}
	return dispatch.Happening{Kind: kind, Worker: w, Speed: 1}, true
}

// moment passes the happenings of a moment to makers, follows their decisions, and checks the
// invariants.
func (c *cluster) moment(p rigid.Policy, what []dispatch.Happening) {
	events, err := c.m.Decide(c.now, what)
	if err != nil {
		c.t.Fatalf("input %+v: %v", what, err)
	}
	if err := c.copy.Apply(c.now, what, events); err != nil {
		c.t.Fatalf("input %+v, events %v: %v", what, events, err)
	}
	if !reflect.DeepEqual(c.copy.State(), c.m.State()) {
		c.t.Fatalf("applied\n%+v\ndecided\n%+v", c.copy.State(), c.m.State())
	}
	for _, e := range events {
		c.follow(e)
	}
	c.check(p)
	if rapid.IntRange(0, 5).Draw(c.t, "restart") == 0 {
		c.m = restored(c.t, c.m)
	}
}

func (c *cluster) follow(e dispatch.Event) {
	switch e.Kind {
	case dispatch.Submitted:
		c.jobs[e.Job].position = c.submitted()
	case dispatch.Started:
		w, j := c.workers[e.Worker], c.jobs[e.Job]
		if !w.up || w.busy || w.hold >= 0 && w.hold != e.Job || j.ended[e.Task] || j.isDone {
			c.t.Fatalf("%v starts on %+v", e, w)
		}
		w.busy, w.hold, w.hand = true, e.Job, dispatch.Happening{
			Job:     e.Job,
			Task:    e.Task,
			Worker:  e.Worker,
			Attempt: e.Attempt,
		}
		j.begun[e.Task] = true
	case dispatch.Finished, dispatch.GivenUp:
		if e.Worker >= 0 && c.workers[e.Worker].hand.Attempt == e.Attempt {
			c.workers[e.Worker].busy = false
		}
		if c.jobs[e.Job].ended[e.Task] {
			c.t.Fatalf("%v ends twice", e)
		}
		c.jobs[e.Job].ended[e.Task] = true
	case dispatch.Lost, dispatch.Preempted, dispatch.Refused, dispatch.Dropped:
		w := c.workers[e.Worker]
		c.taken = append(c.taken, w.hand)
		w.busy = false
	case dispatch.Failed, dispatch.Leaving:
		c.workers[e.Worker].up = false
	case dispatch.Returned:
		c.workers[e.Worker].up = true
	case dispatch.Completed, dispatch.Cancelled:
		c.jobs[e.Job].isDone = true
	}
	for _, w := range c.workers { // free the workers of jobs without running tasks, and those that have left
		isHeld := func(v *liveWorker) bool { return v.busy && v.hold == w.hold }
		if w.hold >= 0 && (!slices.ContainsFunc(c.workers, isHeld) || !w.up && !w.busy) {
			w.hold = -1
		}
	}
}

// submitted returns the number of jobs submitted so far.
func (c *cluster) submitted() (n int) {
	for _, j := range c.jobs {
		if j != nil {
			n = max(n, j.position+1)
		}
	}
	return n
}

// check checks that either all tasks of a job run or none, that no job waits while nothing runs,
// and that under FCFS the first job waits only for workers.
func (c *cluster) check(p rigid.Policy) {
	up, free := 0, 0
	for _, w := range c.workers {
		if w.up {
			up++
		}
		if w.up && w.hold < 0 {
			free++
		}
	}
	first := -1
	for i, j := range c.jobs {
		if j == nil || j.isDone {
			continue
		}
		left, atWork := j.what.Tasks-len(j.ended), 0
		for _, w := range c.workers {
			if w.busy && w.hand.Job == i {
				atWork++
			}
		}
		progress, err := c.m.Progress(i)
		if err != nil || progress.Left != left || progress.AtWork != atWork || atWork != 0 && atWork != left {
			c.t.Fatalf("job %d: %d tasks left, %d of them running, progress %+v", i, left, atWork, progress)
		}
		if atWork == 0 && left <= up && (first < 0 || j.position < c.jobs[first].position) {
			first = i
		}
	}
	if first >= 0 && !slices.ContainsFunc(c.workers, func(w *liveWorker) bool { return w.busy }) {
		c.t.Fatalf("nothing is running, so nothing will happen, but job %d could start", first)
	}
	if first >= 0 && p == (rigid.Policy{Order: rigid.FCFS, Backfill: rigid.None}) {
		if left := c.jobs[first].what.Tasks - len(c.jobs[first].ended); left <= free {
			c.t.Fatalf("job %d is the first and waits for %d workers, %d are free", first, left, free)
		}
	}
}

// forget forgets a finished job; its number is reused.
func (c *cluster) forget() {
	for i, j := range c.jobs {
		if j != nil && j.isDone {
			for _, m := range []*rigid.Maker{c.m, c.copy} {
				if err := m.Forget(i); err != nil {
					c.t.Fatal(err)
				}
			}
			c.jobs[i] = nil
			c.taken = slices.DeleteFunc(c.taken, func(h dispatch.Happening) bool { return h.Job == i })
			return
		}
	}
}

// end brings all workers back and lets all tasks finish, after which all jobs must be done.
func (c *cluster) end(p rigid.Policy) {
	for range 200 {
		c.now++
		var what []dispatch.Happening
		for len(c.workers) < 4 {
			c.workers = append(c.workers, &liveWorker{hold: -1})
			what = append(what, dispatch.Happening{Kind: dispatch.Returned, Worker: len(c.workers) - 1, Speed: 1})
		}
		for w, v := range c.workers {
			if v.busy && v.hand.Attempt > 0 {
				h := v.hand
				h.Kind = dispatch.Finished
				what = append(what, h)
			}
			if !v.up && len(what) == 0 {
				what = append(what, dispatch.Happening{Kind: dispatch.Returned, Worker: w})
			}
		}
		c.moment(p, what)
		if !slices.ContainsFunc(c.jobs, func(j *liveJob) bool { return j != nil && !j.isDone }) {
			return
		}
	}
	c.t.Fatalf("not done: %+v", c.m.State())
}

// A policy of this package can take over from one of package dispatch in the middle of a run, and
// vice versa: running tasks keep running, and all jobs are eventually done.
func TestTakeover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "workers")
		d, err := dispatch.NewMaker(
			dispatch.Rules{Policy: dispatch.Policy{Rule: dispatch.EDF}}, slices.Repeat([]float64{1}, n),
		)
		if err != nil {
			t.Fatal(err)
		}
		type maker interface {
			Decide(at float64, what []dispatch.Happening) ([]dispatch.Event, error)
			Hand(worker int) (job, task, attempt int, since float64)
			Progress(job int) (dispatch.Progress, error)
		}
		var m maker = d
		jobs, at := 0, 0.0
		step := func(submits bool) {
			at++
			var what []dispatch.Happening
			for w := range n {
				if i, task, attempt, _ := m.Hand(w); i >= 0 && (!submits || rapid.Bool().Draw(t, "ends")) {
					what = append(what, dispatch.Happening{
						Kind:    dispatch.Finished,
						Worker:  w,
						Job:     i,
						Task:    task,
						Attempt: attempt,
						Work:    1,
					})
				}
			}
			if submits && rapid.Bool().Draw(t, "submits") {
				j := &dispatch.Job{Submit: at, Tasks: rapid.IntRange(1, n).Draw(t, "tasks"), Estimate: 2}
				what = append(what, dispatch.Happening{Kind: dispatch.Submitted, Job: jobs, What: j})
				jobs++
			}
			if _, err := m.Decide(at, what); err != nil {
				t.Fatal(err)
			}
		}
		hands := func() (list [][4]float64) {
			for w := range n {
				i, task, attempt, since := m.Hand(w)
				list = append(list, [4]float64{float64(i), float64(task), float64(attempt), since})
			}
			return list
		}
		for range rapid.IntRange(1, 20).Draw(t, "before") {
			step(true)
		}
		p := rapid.SampledFrom(policies()).Draw(t, "policy")
		before := hands()
		r, err := rigid.Takeover(p, d.State())
		if err != nil {
			t.Fatal(err)
		}
		if m = r; !slices.Equal(hands(), before) {
			t.Fatalf("%v running, before %v", hands(), before)
		}
		for range rapid.IntRange(0, 10).Draw(t, "after") {
			step(true)
		}
		r = restored(t, r)
		m = r
		if rapid.Bool().Draw(t, "back") {
			s, before := r.State().Ledger, hands()
			s.Rules.Policy.Rule = dispatch.Proportion
			if m, err = dispatch.MakerOf(s); err != nil || !slices.Equal(hands(), before) {
				t.Fatalf("%v, running %v, before %v", err, hands(), before)
			}
		}
		for range 200 {
			step(false)
		}
		for i := range jobs {
			if progress, err := m.Progress(i); err != nil || progress.Stage != dispatch.JobCompleted {
				t.Fatalf("job %d: %+v, %v", i, progress, err)
			}
		}
	})
}

// There are two workers. A runs on one and requests 2 s, B waits for both, and C, which requests 3
// s, waits behind B. At 3 the request of A becomes 4 s, and C would end after it. At 5 it becomes 8
// s, and C starts before B under both EASY and conservative.
func TestMakerOutlast(t *testing.T) {
	for _, p := range []rigid.Policy{
		{Order: rigid.FCFS, Backfill: rigid.EASY}, {Order: rigid.FCFS, Backfill: rigid.Conservative},
	} {
		m, err := rigid.NewMaker(p, []float64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		begun := map[int]float64{}
		decide := func(at float64, what ...dispatch.Happening) {
			events, err := m.Decide(at, what)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Kind == dispatch.Started {
					begun[e.Job] = at
				}
			}
		}
		decide(0, dispatch.Happening{Kind: dispatch.Submitted, Job: 0, What: &dispatch.Job{Tasks: 1, Estimate: 2}})
		decide(1, dispatch.Happening{Kind: dispatch.Submitted, Job: 1, What: &dispatch.Job{Tasks: 2, Estimate: 1}},
			dispatch.Happening{Kind: dispatch.Submitted, Job: 2, What: &dispatch.Job{Tasks: 1, Estimate: 3}})
		decide(3)
		decide(5)
		decide(6, dispatch.Happening{Kind: dispatch.Finished, Job: 0, Attempt: 1, Work: 6})
		decide(8, dispatch.Happening{Kind: dispatch.Finished, Job: 2, Worker: 1, Attempt: 2, Work: 3})
		if begun[0] != 0 || begun[2] != 5 || begun[1] != 8 {
			t.Errorf("%s: started at %v", p, begun)
		}
		decide(
			9, dispatch.Happening{Kind: dispatch.Finished, Job: 1, Worker: 0, Attempt: 3, Work: 1},
			dispatch.Happening{Kind: dispatch.Finished, Job: 1, Task: 1, Worker: 1, Attempt: 4, Work: 1},
		)
		r := m.Measures(0)
		if len(r.Jobs) != 3 || !r.Jobs[0].Outlived || r.Jobs[1].Outlived || r.Outlived != 1 || !r.Jobs[2].Backfilled ||
			r.Makespan != 9 || r.Utilization != 11/18.0 {
			t.Errorf("%s: %+v", p, r)
		}
	}
}

// Invalid states, and events that do not follow, are rejected.
func TestMakerRefuses(t *testing.T) {
	state := func() rigid.State {
		m, err := rigid.NewMaker(rigid.Policies()[3], []float64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		for k, tasks := range []int{1, 2} {
			if _, err := m.Decide(float64(k), []dispatch.Happening{
				{Kind: dispatch.Submitted, Job: k, What: &dispatch.Job{Tasks: tasks, Work: 5}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		return m.State()
	}
	for path, spoil := range map[string]func(*rigid.State){
		"Policy.Order":   func(s *rigid.State) { s.Policy.Order = "" },
		"Ledger.Now":     func(s *rigid.State) { s.Ledger.Now = -1 },
		"Workers":        func(s *rigid.State) { s.Workers = s.Workers[:1] },
		"Workers[0]":     func(s *rigid.State) { s.Workers[0] = 1 },
		"Jobs":           func(s *rigid.State) { s.Jobs = s.Jobs[:1] },
		"Jobs[1].Number": func(s *rigid.State) { s.Jobs[1].Number = 0 },
		"Jobs[0].Stage":  func(s *rigid.State) { s.Jobs[0].Stage = "waiting" },
		"Jobs[1].Stage":  func(s *rigid.State) { s.Jobs[1].Stage = "asleep" },
		"Jobs[1].Size":   func(s *rigid.State) { s.Jobs[1].Size = 1 },
		"Jobs[0].Asks":   func(s *rigid.State) { s.Jobs[0].Asks = 0 },
		"Jobs[0].Start":  func(s *rigid.State) { s.Jobs[0].Start = -1 },
		"Profile":        func(s *rigid.State) { s.Profile = nil },
		"Profile[1]":     func(s *rigid.State) { s.Profile[1].Time = s.Profile[0].Time },
	} {
		s := state()
		spoil(&s)
		var bad *input.Error
		if _, err := rigid.MakerOf(s); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
	finished := dispatch.Happening{Kind: dispatch.Finished, Attempt: 1, Work: 4}
	events := []dispatch.Event{{Kind: dispatch.Finished, Attempt: 1}, {Kind: dispatch.Completed, Task: -1, Worker: -1},
		{Kind: dispatch.Started, Job: 1, Attempt: 2}, {Kind: dispatch.Started, Job: 1, Task: 1, Worker: 1, Attempt: 3}}
	for n := range events {
		m, err := rigid.MakerOf(state())
		if err != nil {
			t.Fatal(err)
		}
		// starts may be missing, but only all starts of a job
		if err := m.Apply(4, []dispatch.Happening{finished}, events[:n]); (err == nil) != (n == 2) {
			t.Errorf("%d of %d events: error %v", n, len(events), err)
		}
	}
	m, err := rigid.MakerOf(state())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Apply(4, []dispatch.Happening{finished}, events); err != nil {
		t.Error(err)
	}
}
