package dispatch_test

import (
	"math"
	"slices"
	"testing"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/traces"
)

// Samples as in [L14] give the same results in seconds and in milliseconds. The latter are
// integers, so on equal workers only means are rounded.
func TestSecondsAndMilliseconds(t *testing.T) {
	f, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := swf.ReadAll(f, "SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	seconds := dispatch.LinSampling(len(log.Jobs))
	milliseconds := seconds
	milliseconds.TimeScale, milliseconds.GapScale, milliseconds.Batch = 1, 100, 1000
	same := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) }
	for seed := range uint64(8) {
		for _, p := range sixPolicies() {
			s := dispatch.Scenario{Speeds: slices.Repeat([]float64{1}, 20), Policy: p}
			sample := func(from dispatch.Sampling, horizon float64) *dispatch.Result {
				if s.Jobs, _, err = from.Jobs(log.Jobs, seed); err != nil {
					t.Fatal(err)
				}
				s.Policy.Horizon = horizon
				return mustRun(t, s)
			}
			a, b := sample(seconds, 1), sample(milliseconds, 1000)
			if a.Decisions != b.Decisions || a.Missed != b.Missed ||
				!same(a.DeadlineMissPenalty, b.DeadlineMissPenalty/1000) ||
				!same(a.Delay.Mean, b.Delay.Mean/1000) || !same(a.PriorityViolationRate, b.PriorityViolationRate) {
				t.Errorf("seed %d, %+v: %+v\nin milliseconds %+v", seed, p, *a, *b)
			}
		}
	}
}

// Three tasks of 0.1 s end at 0.30000000000000004 s, which counts as 0.3 s.
func TestTimesEqualUpToRounding(t *testing.T) {
	edf := dispatch.Policy{Rule: dispatch.EDF}
	r := mustRun(t, dispatch.Scenario{
		Jobs: []dispatch.Job{{Tasks: 3, Work: 0.1}}, Speeds: []float64{1}, Policy: edf,
		Outages: []dispatch.Outage{{Worker: 0, From: 0.3, To: 10}},
	})
	if r.Lost != 0 || r.Makespan > 0.31 || r.Decisions != 3 {
		t.Errorf("outage at 0.3: %+v", r)
	}

	// The last of three tasks of 0.1 s, a task of 0.3 s and an arrival coincide: one decision gives
	// the arriving job both workers.
	var times []float64
	r = mustRun(t, dispatch.Scenario{
		Jobs: []dispatch.Job{
			{Tasks: 3, Work: 0.1}, {Tasks: 1, Work: 0.3, Deadline: 0.1}, {Submit: 0.3, Tasks: 2, Work: 1, Deadline: 5},
		},
		Speeds: []float64{1, 1}, Policy: edf,
		Watch: func(d *dispatch.Decision) { times = append(times, d.Time) },
	})
	if want := []float64{0, 0.1, 0.2, 0.1 + 0.1 + 0.1, 1.3}; len(times) != len(want) ||
		r.Jobs[2].Start != r.Jobs[0].Finish {
		t.Errorf("decisions at %v, want %v", times, want)
	}

	// A larger difference, 1e-11 of the clock time, separates events.
	times = nil
	mustRun(t, dispatch.Scenario{
		Jobs:   []dispatch.Job{{Submit: 1, Tasks: 1, Work: 1}, {Submit: 1 + 1e-11, Tasks: 1, Work: 1}},
		Speeds: []float64{1, 1}, Policy: edf, Watch: func(d *dispatch.Decision) { times = append(times, d.Time) },
	})
	if want := []float64{1, 1 + 1e-11, 2, 2 + 1e-11}; len(times) != len(want) || times[1] != want[1] {
		t.Errorf("decisions at %v, want %v", times, want)
	}
}

// The first task of a job is much larger than the others. After it has ended, the others count in
// full: they need n/10 workers to finish within a second.
func TestWorkLeftAfterLargeTask(t *testing.T) {
	for _, large := range []float64{1, 1e5, 1e6 + 0.3, 1e9 + 0.1, 1e16, 1e18} {
		for n := 10; n < 60; n += 10 {
			s := dispatch.Scenario{
				Jobs: []dispatch.Job{{
					Tasks: n + 1,
					Works: append([]float64{large}, slices.Repeat([]float64{0.1}, n)...),
				}},
				Speeds: slices.Repeat([]float64{1}, 10),
				Policy: dispatch.Policy{Rule: dispatch.Workload, Spare: dispatch.SpareKept},
			}
			for w := 1; w < 10; w++ {
				s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: 0, To: large})
			}
			planned := -1
			s.Watch = func(d *dispatch.Decision) {
				if d.Time >= large && planned < 0 {
					planned = d.Planned[0]
				}
			}
			if mustRun(t, s); planned != n/10 {
				t.Errorf("%d workers planned for %d tasks of 0.1 after one of %v, want %d", planned, n, large, n/10)
			}
		}
	}
}

// A hundred thousand tasks of 0.1 s in sequence are done at 10000 s, not later, and no more than
// all workers are used.
func TestManyRoundings(t *testing.T) {
	for _, n := range []int{1000, 10000, 100000} {
		r := mustRun(t, dispatch.Scenario{
			Jobs:   []dispatch.Job{{Tasks: n, Work: 0.1, Deadline: float64(n) / 10, Priority: 1}},
			Speeds: []float64{1}, Policy: dispatch.Policy{Rule: dispatch.EDF},
		})
		if r.Missed != 0 || r.DeadlineMissPenalty != 0 {
			t.Errorf("%d tasks of 0.1 s: %+v", n, r)
		}
	}
	for n := 1; n < 500; n++ {
		r := mustRun(t, dispatch.Scenario{
			Jobs: []dispatch.Job{{Submit: 0.7, Tasks: 2 * n, Work: 0.1}}, Speeds: []float64{1.3, 1.3},
			Policy: dispatch.Policy{Rule: dispatch.EDF},
		})
		if math.Abs(r.Utilization-1) > 1e-15 {
			t.Errorf("%d tasks on two workers: utilization %v", 2*n, r.Utilization)
		}
	}
}
