package dispatch_test

import (
	"slices"
	"testing"

	"productform/dispatch"
)

// Fifty thousand workers each lose a task at the same moment and return together; all tasks
// then restart.
func TestMassOutage(t *testing.T) {
	const m = 50_000
	s := dispatch.Scenario{Speeds: slices.Repeat([]float64{1}, m), Jobs: []dispatch.Job{{Tasks: m, Work: 4}}}
	for w := range m {
		s.Outages = append(s.Outages, dispatch.Outage{Worker: w, From: 3, To: 5})
	}
	for _, rule := range []dispatch.Rule{dispatch.EDF, dispatch.Workload} {
		s.Policy = dispatch.Policy{Rule: rule}
		r := mustRun(t, s)
		if r.Lost != m || r.Makespan != 9 || r.Decisions != 3 || !closeTo(r.Utilization, 4./7) ||
			!closeTo(r.Wasted, 3./7) {
			t.Errorf("rule %s: lost %d, until %v, %d decisions, %v used, %v wasted",
				rule, r.Lost, r.Makespan, r.Decisions, r.Utilization, r.Wasted)
		}
	}
}

// Twenty-five thousand jobs of one task arrive at the same time, and four workers take them in the
// order of the policy.
func TestManyJobsPresent(t *testing.T) {
	const n, workers = 25_000, 4
	s := dispatch.Scenario{Speeds: slices.Repeat([]float64{1}, workers)}
	for i := range n {
		rank := i * 7919 % n // a permutation: 7919 is a prime that does not divide n
		s.Jobs = append(s.Jobs, dispatch.Job{
			Tasks:    1,
			Work:     1,
			Priority: float64(n - rank),
			Deadline: float64(1 + rank),
		})
	}
	for _, p := range []dispatch.Policy{
		{Rule: dispatch.Priority}, {Rule: dispatch.Workload},
		{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline}, {Rule: dispatch.EDF},
	} {
		s.Policy = p
		r := mustRun(t, s)
		for i, rec := range r.Jobs {
			if want := float64(i * 7919 % n / workers); rec.Start != want {
				t.Fatalf("%+v: job %d starts at %v, want %v", p, i, rec.Start, want)
			}
		}
	}
}

// At one moment, an emergency takes most of twenty thousand workers from two jobs, starting with
// the one of lower priority.
func TestMassEmergency(t *testing.T) {
	const m = 20_000
	s := dispatch.Scenario{
		Jobs: []dispatch.Job{
			{Tasks: m / 2, Work: 10, Priority: 2}, {Tasks: m / 2, Work: 10, Priority: 1},
			{Submit: 1, Tasks: m * 3 / 4, Work: 5, Priority: 9},
		},
		Speeds: slices.Repeat([]float64{1}, m), Policy: dispatch.Policy{Rule: dispatch.EDF}, Emergency: 9,
	}
	s.Jobs[2].Deadline = 2
	r := mustRun(t, s)
	if lost := []int{r.Jobs[0].Lost, r.Jobs[1].Lost, r.Jobs[2].Lost}; !slices.Equal(lost, []int{m / 4, m / 2, 0}) ||
		r.Jobs[2].Finish != 6 {
		t.Errorf("lost %v, %+v", lost, r.Jobs[2])
	}
}

// The cost per task does not depend on the length of the learning window.
func TestLongWindow(t *testing.T) {
	const n = 100_000
	r := mustRun(t, dispatch.Scenario{
		Jobs: []dispatch.Job{{Tasks: 2 * n, Work: 1}}, Speeds: []float64{1},
		Policy:   dispatch.Policy{Rule: dispatch.Deadline},
		Learning: dispatch.Learning{Default: 3, Window: n},
	})
	if r.Makespan != 2*n {
		t.Error(r.Makespan)
	}
}
