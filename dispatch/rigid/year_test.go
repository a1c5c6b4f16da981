package rigid_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"productform/dispatch"
	"productform/dispatch/rigid"
	"productform/dispatch/swf"
	"productform/traces"
)

// yearLog returns the log of a year of 400 processors, which has no requested times.
func yearLog(t testing.TB) swf.Log {
	t.Helper()
	r, err := traces.Open("SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	log, err := swf.ReadAll(r, "SDSC-Par-1996")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func yearJobs(t testing.TB) []dispatch.Job {
	t.Helper()
	jobs, _, err := dispatch.WholeLog().Jobs(yearLog(t).Jobs, 1)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// The whole year runs under all policies. By Little's law the delays add up to the integral of the
// number of jobs present, and the work of all jobs is done. Times are whole seconds, so neither sum
// is rounded.
func TestYear(t *testing.T) {
	jobs := yearJobs(t)
	work := 0.0
	for _, j := range jobs {
		work += float64(j.Tasks) * j.Work
	}
	for _, p := range policies() {
		r := mustRun(t, rigid.Scenario{Jobs: jobs, Workers: 400, Policy: p})
		type step struct {
			at float64
			by int
		}
		var steps []step
		delays := 0.0
		for i, rec := range r.Jobs {
			steps = append(steps, step{jobs[i].Submit, 1}, step{rec.Finish, -1})
			delays += rec.Delay
		}
		slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
		area, now := 0.0, 0
		for k, s := range steps {
			if k > 0 {
				area += float64(now) * (s.at - steps[k-1].at)
			}
			now += s.by
		}
		if area != delays || now != 0 || math.Abs(r.Utilization*400*r.Makespan/work-1) > 1e-12 || len(r.Jobs) != 32135 {
			t.Errorf("%s: area %v, delays %v, %d left, utilization %v", p, area, delays, now, r.Utilization)
		}
	}
}

// BenchmarkYear runs the year, with perfect estimates and with twice the run times.
func BenchmarkYear(b *testing.B) {
	jobs := yearJobs(b)
	twice := append([]dispatch.Job(nil), jobs...)
	for i := range twice {
		twice[i].Estimate = 2 * twice[i].Work
	}
	for _, c := range []struct {
		name string
		jobs []dispatch.Job
	}{{"requests=exact", jobs}, {"requests=twice", twice}} {
		for _, p := range policies() {
			b.Run(c.name+"/policy="+p.String(), func(b *testing.B) {
				for b.Loop() {
					r, err := rigid.Run(context.Background(), rigid.Scenario{Jobs: c.jobs, Workers: 400, Policy: p})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(r.BoundedSlowdown.Mean, "slowdown")
					b.ReportMetric(r.Waiting.Mean, "wait-s")
				}
			})
		}
	}
}
