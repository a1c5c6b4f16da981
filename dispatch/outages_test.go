package dispatch_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/dispatch"
)

// A ledger follows a run using only what Watch reports.
type ledger struct {
	s        dispatch.Scenario
	now      float64
	up       []bool
	hand     []heldTask // by worker
	came     []bool     // by job
	finished [][]int    // by job and task: number of times it finished
	counts   map[dispatch.Kind]int
	lost     []int // by job
	err      error
}

type heldTask struct {
	job, task int // -1 if the worker is idle
	since     float64
}

func newLedger(s dispatch.Scenario) *ledger {
	l := &ledger{
		s: s, up: make([]bool, len(s.Speeds)), hand: make([]heldTask, len(s.Speeds)), came: make([]bool, len(s.Jobs)),
		finished: make([][]int, len(s.Jobs)), counts: map[dispatch.Kind]int{}, lost: make([]int, len(s.Jobs)),
	}
	for w := range l.up {
		l.up[w] = true
		l.hand[w] = heldTask{-1, -1, 0}
	}
	for j := range l.finished {
		l.finished[j] = make([]int, s.Jobs[j].Tasks)
	}
	return l
}

func (l *ledger) must(ok bool, format string, args ...any) {
	if !ok && l.err == nil {
		l.err = fmt.Errorf("at %v: "+format, append([]any{l.now}, args...)...)
	}
}

func (l *ledger) watch(d *dispatch.Decision) {
	l.must(d.Time >= l.now, "time goes back to %v", d.Time)
	l.now = d.Time
	for _, e := range d.Events {
		l.counts[e.Kind]++
		switch e.Kind {
		case dispatch.Submitted:
			submit := l.s.Jobs[e.Job].Submit
			l.must(!l.came[e.Job] && submit <= l.now && l.now <= submit*atOnce, "%+v", e)
			l.came[e.Job] = true
		case dispatch.Started:
			l.must(l.came[e.Job] && l.up[e.Worker] && l.hand[e.Worker].job < 0 &&
				l.finished[e.Job][e.Task] == 0, "%+v", e)
			for _, h := range l.hand {
				l.must(h.job != e.Job || h.task != e.Task, "%+v, which another worker is running", e)
			}
			l.hand[e.Worker] = heldTask{e.Job, e.Task, l.now}
		case dispatch.Finished, dispatch.Lost, dispatch.Preempted:
			h := l.hand[e.Worker]
			l.must(h.job == e.Job && h.task == e.Task && l.up[e.Worker], "%+v, while %+v was running", e, h)
			end := h.since + taskWork(&l.s.Jobs[e.Job], e.Task)/speedAt(&l.s, e.Job, e.Worker)
			if e.Kind == dispatch.Finished {
				l.must(end <= l.now && l.now <= end*atOnce, "%+v, should end at %v", e, end)
				l.finished[e.Job][e.Task]++
			} else {
				l.must(end > l.now, "%+v, which should have ended at %v", e, end)
				l.lost[e.Job]++
			}
			if e.Kind == dispatch.Preempted {
				l.must(l.s.Emergency > 0 && l.s.Jobs[e.Job].Priority < l.s.Emergency, "%+v", e)
			}
			l.hand[e.Worker] = heldTask{-1, -1, 0}
		case dispatch.Completed:
			l.must(!slices.Contains(l.finished[e.Job], 0), "%+v, with tasks to do", e)
		case dispatch.Failed, dispatch.Returned:
			l.must(l.up[e.Worker] == (e.Kind == dispatch.Failed) && l.hand[e.Worker].job < 0, "%+v", e)
			l.up[e.Worker] = e.Kind == dispatch.Returned
		}
	}
	l.look(d)
}

// look compares the state passed to Watch with the ledger.
func (l *ledger) look(d *dispatch.Decision) {
	l.must(slices.Equal(d.Up, l.up), "Up = %v, want %v", d.Up, l.up)
	l.must(d.Done == l.counts[dispatch.Completed], "Done = %d, want %d", d.Done, l.counts[dispatch.Completed])
	held, planned := make([]int, len(l.s.Jobs)), make([]int, len(l.s.Jobs))
	idle, plan, hand := 0, d.Plan(), d.Hand()
	for w, h := range l.hand {
		if hand[w] != h.job {
			l.must(false, "Hand[%d] = %d, want %d", w, hand[w], h.job)
		}
		if h.job >= 0 {
			held[h.job]++
		} else if l.up[w] {
			idle++
		}
		if p := plan[w]; p >= 0 {
			if !l.up[w] {
				l.must(false, "a plan for worker %d, which is down", w)
			}
			planned[p]++
		}
	}
	l.must(slices.Equal(planned, d.Planned), "Planned = %v, want %v", d.Planned, planned)
	var present []int
	for j, f := range l.finished {
		open := 0
		for _, n := range f {
			if n == 0 {
				open++
			}
		}
		if l.came[j] && open > 0 {
			present = append(present, j)
		}
		usable := min(open, cmp.Or(l.s.Jobs[j].MaxWorkers, open))
		if planned[j] > usable || held[j] > usable {
			l.must(false, "%d workers planned and %d running, of %d that job %d can use",
				planned[j], held[j], usable, j)
		}
		keeps := l.s.Policy.Spare == dispatch.SpareKept && l.s.Policy.Rule != dispatch.EDF
		if l.came[j] && idle > 0 && held[j] != usable && !(keeps && held[j] >= planned[j]) {
			l.must(false, "%d workers idle, but job %d runs on %d with %d tasks to do", idle, j, held[j], open)
		}
		if p := l.s.Jobs[j].Priority; l.s.Emergency > 0 && p >= l.s.Emergency && held[j] < planned[j] {
			for w, h := range l.hand { // only emergencies and planned tasks can prevent this
				l.must(h.job < 0 || l.s.Jobs[h.job].Priority >= l.s.Emergency || held[h.job] <= planned[h.job],
					"emergency %d waits for worker %d", j, w)
			}
		}
	}
	shown := slices.Clone(d.Present)
	l.must(slices.IsSortedFunc(shown, func(a, b int) int { return int(l.s.Jobs[b].Priority - l.s.Jobs[a].Priority) }),
		"Present = %v is not in order of priority", shown)
	slices.Sort(shown)
	l.must(slices.Equal(shown, present), "Present = %v, want %v", shown, present)
}

// close checks the ledger after the run.
func (l *ledger) close(r *dispatch.Result, err error) {
	if err != nil {
		var e *dispatch.StrandedError
		l.must(errors.As(err, &e), "error %v", err)
		if l.err == nil {
			l.must(e.Jobs == len(l.s.Jobs)-l.counts[dispatch.Completed], "%+v", e)
			l.must(slices.Contains(l.finished[e.Job], 0), "%+v", e)
			for _, f := range l.finished[:e.Job] {
				l.must(!slices.Contains(f, 0), "%+v", e)
			}
			forGood := 0
			last := math.Inf(-1)
			for _, o := range l.s.Outages {
				if math.IsInf(o.To, 1) {
					forGood++
					last = max(last, o.From)
				}
			}
			l.must(forGood == len(l.s.Speeds) &&
				e.Time == last, "%+v, with %d workers gone for good, the last at %v", e, forGood, last)
		}
		return
	}
	tasks := 0
	for j, f := range l.finished {
		for task, n := range f {
			l.must(n == 1, "task %d of job %d finished %d times", task, j, n)
			tasks++
		}
		l.must(r.Jobs[j].Lost == l.lost[j], "Jobs[%d].Lost = %d, want %d", j, r.Jobs[j].Lost, l.lost[j])
	}
	c := l.counts
	l.must(c[dispatch.Started] == c[dispatch.Finished]+c[dispatch.Lost]+c[dispatch.Preempted], "%v", c)
	l.must(c[dispatch.Finished] == tasks && r.Tasks == tasks &&
		r.Lost == c[dispatch.Lost]+c[dispatch.Preempted], "%v", c)
	l.must(c[dispatch.Completed] == len(l.s.Jobs) && c[dispatch.Submitted] == len(l.s.Jobs), "%v", c)
}

// For all failures and returns, every task of every job finishes exactly once, unless all workers
// have left for good.
func TestConservation(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	seen := map[dispatch.Kind]int{}
	stranded, emptied := 0, 0
	for n := range 6000 {
		rules, spares := dispatch.AllRules(), []dispatch.Spare{"", dispatch.SpareByDeadline, dispatch.SpareKept}
		s := randomScenario(rules[n%len(rules)], spares[n/len(rules)%3], random.IntN)
		l := newLedger(s)
		s.Watch = func(d *dispatch.Decision) {
			l.watch(d)
			if !slices.Contains(d.Up, true) && len(d.Present) > 0 {
				emptied++
			}
		}
		r, err := dispatch.Run(context.Background(), s)
		l.close(r, err)
		if l.err != nil {
			t.Fatalf("script %d: %v\n%+v", n, l.err, s)
		}
		if err != nil {
			stranded++
		}
		for k, c := range l.counts {
			seen[k] += c
		}
	}
	if stranded < 20 || emptied < 200 || seen[dispatch.Lost] < 1000 || seen[dispatch.Preempted] < 100 {
		t.Errorf("%d runs stranded, %d decisions without workers, events %v: the scripts do not cover their cases",
			stranded, emptied, seen)
	}
}

// The same holds for fractional works and outages: a hundred workers fail and return at random.
func TestConservationAtScale(t *testing.T) {
	for n, rule := range dispatch.AllRules() {
		random := rand.New(rand.NewPCG(5, uint64(n)))
		s := dispatch.Scenario{
			Policy:    dispatch.Policy{Rule: rule},
			Emergency: 3.5,
			Learning:  dispatch.Learning{Default: 2, Window: 5},
		}
		for w := range 100 {
			s.Speeds = append(s.Speeds, 0.5+random.Float64())
			for at := 20 * random.ExpFloat64(); at < 200; {
				to := at + 3*random.ExpFloat64() + 1e-3
				s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: at, To: to})
				at = to + 20*random.ExpFloat64()
			}
		}
		for i := range 200 {
			j := dispatch.Job{
				ID:       int64(i),
				Submit:   200 * random.Float64(),
				Priority: float64(random.IntN(5)),
				Tasks:    1 + random.IntN(40),
			}
			j.Deadline = j.Submit + 20*random.Float64() + 1
			for range j.Tasks {
				j.Works = append(j.Works, 4*random.ExpFloat64())
			}
			s.Jobs = append(s.Jobs, j)
		}
		l := newLedger(s)
		s.Watch = l.watch
		r, err := dispatch.Run(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if l.close(r, nil); l.err != nil || l.counts[dispatch.Lost] == 0 {
			t.Errorf("rule %s: %v, events %v", rule, l.err, l.counts)
		}
	}
}

// If all workers fail while a job is half done, the cluster waits and continues when one returns.
// Adjacent outages act as one.
func TestEmptiedClusterWaits(t *testing.T) {
	s := dispatch.Scenario{
		Jobs:   []dispatch.Job{{Tasks: 4, Work: 10, Priority: 1, Deadline: 20}},
		Speeds: []float64{1, 2},
		Policy: dispatch.Policy{Rule: dispatch.EDF},
		Outages: []dispatch.Outage{
			{Worker: 0, From: 7, To: math.Inf(1)},
			{Worker: 1, From: 8, To: 30}, {Worker: 1, From: 30, To: 40},
		},
	}
	// Worker 1 finishes task 1 at 5. Task 0 is lost at 7, task 2 at 8; 0, 2 and 3 follow after 40.
	r, err := dispatch.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := dispatch.Record{Finish: 55, Delay: 55, Missed: 35, Slowdown: 55 / (40. / 3), Lost: 2}
	// Worker 0 is up for 7 seconds, worker 1 for 8 + 15: 20 of them are useful, and 7 + 3 are
	// wasted.
	if r.Jobs[0] != want || r.Utilization != 20./30 || r.Wasted != 10./30 || r.Decisions != 8 || r.Lost != 2 {
		t.Errorf("%+v", r)
	}
}

// Jobs are stranded if no worker is left for them, even if they arrive later. A task that ends
// exactly when its worker leaves is not lost.
func TestStranded(t *testing.T) {
	s := dispatch.Scenario{
		Jobs: []dispatch.Job{
			{Submit: 0, Tasks: 2, Work: 5}, {Submit: 1, Tasks: 1, Work: 9}, {Submit: 50, Tasks: 1, Work: 0},
		},
		Speeds:  []float64{1, 1},
		Policy:  dispatch.Policy{Rule: dispatch.EDF},
		Outages: []dispatch.Outage{{Worker: 1, From: 5, To: math.Inf(1)}, {Worker: 0, From: 13, To: math.Inf(1)}},
	}
	last := 0.0
	s.Watch = func(d *dispatch.Decision) { last = d.Time }
	_, err := dispatch.Run(context.Background(), s)
	if last != 13 {
		t.Errorf("the last decision is at %v, want 13", last)
	}
	var e *dispatch.StrandedError
	if want := (dispatch.StrandedError{Time: 13, Jobs: 2, Job: 1}); !errors.As(err, &e) || *e != want {
		t.Errorf("error %v, want %v", err, &want)
	}
	if want := "2 jobs never finish, Jobs[1] among them: no worker is left after time 13"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	s.Jobs, s.Outages[0].From = s.Jobs[:2], 14
	s.Outages[1].From = 14
	if _, err := dispatch.Run(context.Background(), s); err != nil {
		t.Errorf("outages from time 14: %v", err)
	}
}
