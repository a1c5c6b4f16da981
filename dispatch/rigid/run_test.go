package rigid_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/internal/input"
)

func mustRun(t interface {
	Helper()
	Fatal(...any)
}, s rigid.Scenario) *rigid.Result {
	t.Helper()
	r, err := rigid.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// policies returns all policies.
func policies() []rigid.Policy {
	return append(rigid.Policies(), rigid.Policy{Order: rigid.SJF, Backfill: rigid.EASY})
}

// drawScenario draws a few jobs with times in whole seconds, which makes events coincide
// frequently.
func drawScenario(t *rapid.T) rigid.Scenario {
	s := rigid.Scenario{
		Workers: rapid.IntRange(1, 8).Draw(t, "workers"),
		Policy:  rapid.SampledFrom(policies()).Draw(t, "policy"),
		Kill:    rapid.Bool().Draw(t, "kill"),
	}
	seconds := rapid.OneOf(rapid.IntRange(0, 10), rapid.Just(0))
	for range rapid.IntRange(1, 14).Draw(t, "jobs") {
		s.Jobs = append(s.Jobs, dispatch.Job{
			Submit:   float64(rapid.IntRange(0, 20).Draw(t, "submit")),
			Tasks:    rapid.IntRange(1, s.Workers).Draw(t, "tasks"),
			Work:     float64(seconds.Draw(t, "work")),
			Estimate: float64(rapid.OneOf(rapid.Just(0), seconds, rapid.IntRange(10, 30)).Draw(t, "estimate")),
		})
	}
	return s
}

// Run and the reference implementation start the same jobs at the same times. In the reference, no
// job starts after any of its reservations, except under easy/sjf, where shorter jobs may become
// the first. With perfect estimates a job starts under conservative at its first reservation.
func TestRunMatchesSlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		r := mustRun(t, s)
		perfect := true
		for i, want := range runSlow(s) {
			got := r.Jobs[i]
			if got.Start != want.start || got.Finish != want.start+want.runs || got.Backfilled != want.backfilled {
				t.Fatalf("job %d: %+v, want a start at %v, a run of %v, backfilled %v",
					i, got, want.start, want.runs, want.backfilled)
			}
			for _, time := range want.promised {
				if want.start > time && s.Policy.Order == rigid.FCFS {
					t.Fatalf("job %d starts at %v, promised %v", i, want.start, want.promised)
				}
			}
		}
		for _, j := range runSlow(s) {
			perfect = perfect && j.runs == j.asks
		}
		for i, j := range runSlow(s) {
			if perfect && s.Policy.Backfill == rigid.Conservative &&
				(len(j.promised) != 1 || j.start != j.promised[0]) {
				t.Fatalf("job %d starts at %v, promised %v", i, j.start, j.promised)
			}
		}
	})
}

// All runs satisfy these invariants: no job starts before its submission, no worker has two jobs,
// all work is done, and the measures match their definitions.
func TestRunConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.Threshold = float64(rapid.IntRange(0, 5).Draw(t, "threshold"))
		for i := range s.Jobs {
			s.Jobs[i].Priority, s.Jobs[i].Deadline = float64(i),
				s.Jobs[i].Submit+float64(rapid.IntRange(1, 20).Draw(t, "deadline"))
		}
		r := mustRun(t, s)
		threshold := s.Threshold
		if threshold == 0 {
			threshold = 10
		}
		var area, waits, slow, bounded, penalty float64
		timed, late, backfilled, outlived := 0, 0, 0, 0
		first, last := math.Inf(1), 0.0
		for i, rec := range r.Jobs {
			j := s.Jobs[i]
			runs := rec.Finish - rec.Start
			if rec.Job != i || rec.Start < j.Submit || runs > j.Work ||
				runs < j.Work && (!s.Kill || runs != j.Estimate || !rec.Outlived) {
				t.Fatalf("job %d: %+v", i, rec)
			}
			if want := j.Estimate > 0 && j.Work > j.Estimate; rec.Outlived != want {
				t.Fatalf("job %d: outlived %v, want %v", i, rec.Outlived, want)
			}
			area += float64(j.Tasks) * runs
			waits += rec.Waiting
			bounded += max(1, (rec.Waiting+runs)/max(runs, threshold))
			if runs > 0 {
				slow += (rec.Waiting + runs) / runs
				timed++
			}
			if rec.Finish > j.Deadline {
				late++
				penalty += j.Priority * (rec.Finish - j.Deadline)
			}
			if rec.Backfilled {
				backfilled++
			}
			if rec.Outlived {
				outlived++
			}
			first, last = min(first, j.Submit), max(last, rec.Finish)
			for _, at := range []float64{rec.Start, math.Nextafter(rec.Start, math.Inf(1))} {
				busy := 0
				for k, other := range r.Jobs {
					if other.Start <= at && at < other.Finish {
						busy += s.Jobs[k].Tasks
					}
				}
				if busy > s.Workers {
					t.Fatalf("%d workers are busy at %v", busy, at)
				}
			}
		}
		n := float64(len(s.Jobs))
		near := func(name string, got, want float64) {
			if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) { // error of sums of 14 numbers
				t.Fatalf("%s is %v, want %v", name, got, want)
			}
		}
		near("makespan", r.Makespan, last-first)
		near("work", r.Utilization*float64(s.Workers)*r.Makespan, area)
		near("waiting", r.Waiting.Mean, waits/n)
		near("bounded slowdown", r.BoundedSlowdown.Mean, bounded/n)
		near("slowdown", r.Slowdown.Mean*float64(timed), slow)
		near("penalty", r.DeadlineMissPenalty, penalty)
		if r.Missed != late || r.Backfilled != backfilled || r.Outlived != outlived || r.Slowdown.Count != timed ||
			r.Delay.Count != len(s.Jobs) {
			t.Fatalf("%+v", r)
		}
	})
}

// Under FCFS without backfilling, jobs start in order of submission. Under this policy, and under
// conservative with perfect estimates, the job submitted last does not affect the others.
func TestRunInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.Policy = rapid.SampledFrom([]rigid.Policy{
			{Order: rigid.FCFS, Backfill: rigid.None}, {Order: rigid.FCFS, Backfill: rigid.Conservative},
		}).Draw(t, "policy of the two")
		slices.SortFunc(s.Jobs, func(a, b dispatch.Job) int { return int(a.Submit - b.Submit) })
		for i := range s.Jobs {
			if s.Policy.Backfill == rigid.Conservative {
				s.Jobs[i].Estimate = 0
				s.Jobs[i].Work++ // not 0, for which a job requests 1 s
			}
		}
		all := mustRun(t, s)
		for i, rec := range all.Jobs {
			if s.Policy.Backfill == rigid.None && i > 0 && rec.Start < all.Jobs[i-1].Start ||
				s.Policy.Backfill == rigid.None && rec.Backfilled {
				t.Fatalf("job %d: %+v after %+v", i, rec, all.Jobs[i-1])
			}
		}
		n := len(s.Jobs) - 1
		if n == 0 {
			return
		}
		s.Jobs = s.Jobs[:n]
		fewer := mustRun(t, s)
		for i, rec := range fewer.Jobs {
			if rec.Start != all.Jobs[i].Start {
				t.Fatalf("job %d starts at %v, with one more at %v", i, rec.Start, all.Jobs[i].Start)
			}
		}
	})
}

// FCFS has a recursion without events: a job starts as soon as it is submitted, the previous one
// has started, and n workers are free.
func TestRunFCFSRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.Policy, s.Kill = rigid.Policy{Order: rigid.FCFS, Backfill: rigid.None}, false
		slices.SortStableFunc(s.Jobs, func(a, b dispatch.Job) int { return int(a.Submit - b.Submit) })
		free, begin := make([]float64, s.Workers), 0.0
		for i, rec := range mustRun(t, s).Jobs {
			j := s.Jobs[i]
			begin = max(begin, j.Submit, free[j.Tasks-1])
			for k := range j.Tasks {
				free[k] = begin + j.Work
			}
			slices.Sort(free)
			if rec.Start != begin {
				t.Fatalf("job %d starts at %v, want %v", i, rec.Start, begin)
			}
		}
	})
}

// Jobs with times in tenths of seconds, whose sums are rounded, start in the same order as with
// whole seconds.
func TestRunRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		for i := range s.Jobs {
			s.Jobs[i].Work++ // not 0, which means a request of 1 s in every unit
		}
		whole := mustRun(t, s)
		unit := rapid.SampledFrom([]float64{0.1, 0.001, 1.0 / 3, 7e5 / 9}).Draw(t, "unit")
		s.Jobs = slices.Clone(s.Jobs)
		for i := range s.Jobs {
			j := &s.Jobs[i]
			j.Submit, j.Work, j.Estimate = unit*j.Submit, unit*j.Work, unit*j.Estimate
		}
		for i, rec := range mustRun(t, s).Jobs {
			if want := unit * whole.Jobs[i].Start; math.Abs(rec.Start-want) > 1e-11*want ||
				rec.Backfilled != whole.Jobs[i].Backfilled {
				t.Fatalf("job %d: %+v in units of %v, %+v in seconds", i, rec, unit, whole.Jobs[i])
			}
		}
	})
}

// There are four workers. A holds three from 0 to 4. At 1 arrive B, which needs all four for 3 s, C
// (one for 3 s), D (one for 6 s) and E (two for 2 s).
//
// fcfs: B at 4, and at 7 C, D and E. sjf: E is the first and begins at 4. B, which precedes C
// because it was submitted before it, waits for E until 6, and C and D wait for B until 9.
//
// easy: B is promised 4. C begins at 1, since it ends by then, and takes the only free worker. At 4
// B begins, at 7 the others. easy/sjf: E is promised 4, C begins at 1. At 4 E begins and B is
// promised 6, after which D would still run: B begins at 6, D at 9. conservative: B is promised 4,
// C fits before it, and D and E follow at 7, after B.
//
// Now A and C request 9 s. easy: B is promised 9, after which C might still run; D begins at 1. At
// 4, A ends, B is promised 7, when D ends, and E ends before that: E begins at 4, B at 7, C at 10.
// conservative: B is promised 9, C and E 12, D 1. At 4, B moves to 7, C to 10, and E, the last of
// them, to 4.
func TestRunByHand(t *testing.T) {
	jobs := []dispatch.Job{
		{ID: 1, Submit: 0, Tasks: 3, Work: 4},
		{ID: 2, Submit: 1, Tasks: 4, Work: 3},
		{ID: 3, Submit: 1, Tasks: 1, Work: 3},
		{ID: 4, Submit: 1, Tasks: 1, Work: 6},
		{ID: 5, Submit: 1, Tasks: 2, Work: 2},
	}
	for _, c := range []struct {
		policy     string
		estimates  []float64
		starts     []float64
		backfilled int
	}{
		{"fcfs", nil, []float64{0, 4, 7, 7, 7}, 0},
		{"sjf", nil, []float64{0, 6, 9, 9, 4}, 0},
		{"easy", nil, []float64{0, 4, 1, 7, 7}, 1},
		{"easy/sjf", nil, []float64{0, 6, 1, 9, 4}, 1},
		{"conservative", nil, []float64{0, 4, 1, 7, 7}, 1},
		{"easy", []float64{9, 0, 9, 0, 0}, []float64{0, 7, 10, 1, 4}, 2},
		{"conservative", []float64{9, 0, 9, 0, 0}, []float64{0, 7, 10, 1, 4}, 2},
	} {
		p, err := rigid.ParsePolicy(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		s := rigid.Scenario{Jobs: slices.Clone(jobs), Workers: 4, Policy: p}
		for i, e := range c.estimates {
			s.Jobs[i].Estimate = e
		}
		r := mustRun(t, s)
		var starts []float64
		for _, rec := range r.Jobs {
			starts = append(starts, rec.Start)
		}
		if !slices.Equal(starts, c.starts) || r.Backfilled != c.backfilled {
			t.Errorf("%s, request %v: starts %v, %d backfilled, want %v, %d",
				c.policy, c.estimates, starts, r.Backfilled, c.starts, c.backfilled)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	good := func() rigid.Scenario {
		return rigid.Scenario{
			Jobs:    []dispatch.Job{{Tasks: 1, Work: 1}, {Submit: 2, Tasks: 3, Work: 1}},
			Workers: 3,
			Policy:  rigid.Policies()[2],
		}
	}
	if _, err := rigid.Run(t.Context(), good()); err != nil {
		t.Fatal(err)
	}
	for path, spoil := range map[string]func(*rigid.Scenario){
		"Jobs":               func(s *rigid.Scenario) { s.Jobs = nil },
		"Workers":            func(s *rigid.Scenario) { s.Workers = 0 },
		"Threshold":          func(s *rigid.Scenario) { s.Threshold = math.Inf(1) },
		"Policy.Order":       func(s *rigid.Scenario) { s.Policy.Order = "lifo" },
		"Policy.Backfill":    func(s *rigid.Scenario) { s.Policy.Backfill = "" },
		"Jobs[1].Tasks":      func(s *rigid.Scenario) { s.Workers = 2 },
		"Jobs[0].Tasks":      func(s *rigid.Scenario) { s.Jobs[0].Tasks = 0 },
		"Jobs[1].Submit":     func(s *rigid.Scenario) { s.Jobs[1].Submit = math.NaN() },
		"Jobs[1].Work":       func(s *rigid.Scenario) { s.Jobs[1].Work = -1 },
		"Jobs[0].Estimate":   func(s *rigid.Scenario) { s.Jobs[0].Estimate = math.NaN() },
		"Jobs[1].MaxWorkers": func(s *rigid.Scenario) { s.Jobs[1].MaxWorkers = 3 },
		"Jobs[0].Works":      func(s *rigid.Scenario) { s.Jobs[0].Works = []float64{1} },
		"Jobs[0].Speeds":     func(s *rigid.Scenario) { s.Jobs[0].Speeds = []float64{1, 1, 1} },
		"Jobs[0].Priority":   func(s *rigid.Scenario) { s.Jobs[0].Priority = -1 },
		"Jobs[1].Deadline":   func(s *rigid.Scenario) { s.Jobs[1].Deadline = 2 },
	} {
		s := good()
		spoil(&s)
		var bad *input.Error
		if _, err := rigid.Run(t.Context(), s); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: error %v", path, err)
		}
	}
	s := good()
	s.Policy = rigid.Policy{Order: rigid.SJF, Backfill: rigid.Conservative}
	if _, err := rigid.Run(t.Context(), s); err == nil {
		t.Error("conservative/sjf is accepted")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := rigid.Run(stopped, good()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Watch counts up to all jobs and does not affect the run.
func TestRunWatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		want, last := mustRun(t, s), 0
		s.Watch = func(ended int) {
			if ended < last {
				t.Fatalf("%d after %d", ended, last)
			}
			last = ended
		}
		if got := mustRun(t, s); !reflect.DeepEqual(got, want) || last != len(s.Jobs) {
			t.Fatalf("%d of %d jobs, %+v, want %+v", last, len(s.Jobs), got, want)
		}
	})
}
