package dispatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"productform/dispatch"
	"productform/dispatch/swf"
	"productform/traces"
)

// yearJobs returns the jobs of the log of [L14], the year of 400 processors.
func yearJobs(t testing.TB) []dispatch.Job {
	t.Helper()
	r, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	log, err := swf.ReadAll(r, "SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	jobs, skipped, err := dispatch.WholeLog().Jobs(log.Jobs, 1)
	if err != nil || len(jobs)+skipped != 32135 {
		t.Fatalf("%d jobs and %d skipped of 32135, error %v", len(jobs), skipped, err)
	}
	return jobs
}

// yearSpeeds returns the speeds of 400 equal workers, and of 400 workers with speeds from [0.5,
// 1.5].
func yearSpeeds(t testing.TB) (equal, uniform []float64) {
	t.Helper()
	uniform, err := dispatch.UniformSpeeds(400, 0.5, 1.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Repeat([]float64{1}, 400), uniform
}

// sixPolicies returns the policies of [L14], section 6.3.
func sixPolicies() []dispatch.Policy {
	return []dispatch.Policy{
		{Rule: dispatch.Priority}, {Rule: dispatch.Proportion}, {Rule: dispatch.Workload},
		{Rule: dispatch.Deadline, Spare: dispatch.SpareByPriority},
		{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline},
		{Rule: dispatch.EDF},
	}
}

// The whole year runs, and all work is done: on equal workers of speed
// 1 the busy time is the sum of all work, within the rounding of a million additions.
func TestYear(t *testing.T) {
	jobs := yearJobs(t)
	equal, _ := yearSpeeds(t)
	tasks, work := 0, 0.0
	for _, j := range jobs {
		tasks += j.Tasks
		work += float64(j.Tasks) * j.Work
	}
	s := dispatch.Scenario{
		Jobs:   jobs,
		Speeds: equal,
		Policy: dispatch.Policy{Rule: dispatch.Deadline, Spare: dispatch.SpareByDeadline},
	}
	r := mustRun(t, s)
	if used := r.Utilization * 400 * r.Makespan; r.Tasks != tasks || r.Lost != 0 || used < work*(1-1e-9) ||
		used > work*(1+1e-9) {
		t.Errorf("%d tasks finished of %d, %v seconds of work of %v", r.Tasks, tasks, used, work)
	}
	for i, rec := range r.Jobs {
		if !(rec.Start >= jobs[i].Submit && rec.Finish >= rec.Start+jobs[i].Work-1e-6 && rec.Slowdown >= 1-1e-9 ||
			jobs[i].Work == 0) {
			t.Fatalf("job %d: %+v", i, rec)
		}
	}
}

// BenchmarkYear runs the year; on 20 workers tens of thousands of jobs wait.
func BenchmarkYear(b *testing.B) {
	jobs := yearJobs(b)
	equal, uniform := yearSpeeds(b)
	for _, c := range []struct {
		name   string
		speeds []float64
	}{
		{"workers=400/speeds=equal", equal}, {"workers=400/speeds=uniform", uniform},
		{"workers=20/speeds=equal", equal[:20]},
	} {
		for _, p := range sixPolicies() {
			b.Run(fmt.Sprintf("%s/rule=%s/spare=%s", c.name, p.Rule, p.Spare), func(b *testing.B) {
				for b.Loop() {
					r, err := dispatch.Run(context.Background(), dispatch.Scenario{
						Jobs:   jobs,
						Speeds: c.speeds,
						Policy: p,
					})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(r.Decisions), "decisions")
				}
			})
		}
	}
}

// BenchmarkUnequal runs two thousand jobs that keep workers of unequal speeds busy.
func BenchmarkUnequal(b *testing.B) {
	for _, workers := range []int{100, 1000, 10000} {
		speeds, err := dispatch.UniformSpeeds(workers, 0.5, 1.5, 1)
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		var jobs []dispatch.Job
		for k := range 2000 {
			work := 1000 * random.ExpFloat64()
			submit := 32 * 1000 / float64(workers) * float64(k)
			jobs = append(jobs, dispatch.Job{
				Submit: submit, Deadline: submit + 16*work + 1, Priority: float64(random.IntN(100)),
				Tasks: 1 << random.IntN(8), Work: work,
			})
		}
		b.Run(fmt.Sprintf("workers=%d/rule=deadline", workers), func(b *testing.B) {
			for b.Loop() {
				s := dispatch.Scenario{Jobs: jobs, Speeds: speeds, Policy: dispatch.Policy{Rule: dispatch.Deadline}}
				if _, err := dispatch.Run(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
