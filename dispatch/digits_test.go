package dispatch_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"productform/dispatch"
)

// digest returns a digest of every digit and every event of a run.
func digest(t *testing.T, s dispatch.Scenario) string {
	t.Helper()
	hash := sha256.New()
	var text []byte
	integer := func(n int, after string) { text = append(strconv.AppendInt(text, int64(n), 10), after...) }
	float := func(v float64, after string) { text = append(strconv.AppendFloat(text, v, 'b', -1, 64), after...) }
	s.Watch = func(d *dispatch.Decision) {
		text = text[:0]
		float(d.Time, " ")
		integer(d.Done, " [")
		for w, job := range d.Plan() {
			if w > 0 {
				text = append(text, ' ')
			}
			integer(job, "")
		}
		text = append(text, "]\n"...)
		for _, e := range d.Events {
			text = append(append(text, e.Kind...), ' ')
			integer(e.Job, " ")
			integer(e.Task, " ")
			integer(e.Worker, "\n")
		}
		hash.Write(text)
	}
	watched := mustRun(t, s)
	s.Watch = nil
	text = text[:0]
	for _, r := range []*dispatch.Result{watched, mustRun(t, s)} {
		for _, v := range []float64{
			r.PriorityViolationRate, r.DecisionViolationRate, r.RunningViolationRate, r.DeadlineMissPenalty,
			r.Delay.Mean, r.Delay.P99, r.Slowdown.Mean, r.Slowdown.P99, r.Utilization, r.Wasted, r.Makespan,
		} {
			float(v, " ")
		}
		text = fmt.Appendln(text, r.Missed, r.Decisions, r.Tasks, r.Lost)
		for _, c := range r.Jobs {
			integer(c.Job, " ")
			for _, v := range []float64{c.Start, c.Finish, c.Delay, c.Missed, c.Slowdown} {
				float(v, " ")
			}
			integer(c.Lost, "\n")
		}
	}
	hash.Write(text)
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// randomOutages returns outages of all workers until the given time, in order of workers; about a
// third coincide.
func randomOutages(workers int, until float64) []dispatch.Outage {
	random := rand.New(rand.NewPCG(5, 6))
	var outages []dispatch.Outage
	for w := range workers {
		for k := range 4 {
			from := until * (float64(k) + random.Float64()/2) / 4
			if k == 2 {
				from = until * 0.6
			}
			outages = append(outages, dispatch.Outage{Worker: w, From: from, To: from + until*random.Float64()/10})
		}
	}
	return outages
}

// For two thousand jobs of the log of [L14] on 20 workers, every digit and every event matches
// digests recorded before the decision maker was separated from the simulation.
func TestDigits(t *testing.T) {
	jobs := yearJobs(t)[:2000]
	_, uniform := yearSpeeds(t)
	outages := randomOutages(20, jobs[len(jobs)-1].Submit)
	want := []string{ // by policy: plain; with outages; with outages, learning and emergencies
		"b69c94a26167641f", "139d338bc6d4cb58", "88d0b71f65eae010",
		"bf93057ee365069c", "2d56f681dd2f7e91", "22ef546ecc3923a4",
		"2cb1eb48ea108628", "e417210dff58b004", "29c4181df91197e9",
		"da158af60f6f6597", "39902b639be3c18c", "84f91f22c3030aaf",
		"3e16fa4ddad52fc4", "1dff5a22aabd975e", "e9ab586a82afc2f8",
		"c3b5063ddeb121be", "17069fa9c6496b18", "17069fa9c6496b18",
	}
	var got []string
	for _, p := range sixPolicies() {
		s := dispatch.Scenario{Jobs: jobs, Speeds: uniform[:20], Policy: p}
		got = append(got, digest(t, s))
		s.Outages = outages
		got = append(got, digest(t, s))
		s.Learning, s.Emergency = dispatch.Learning{Default: 100, Window: 20}, 60
		got = append(got, digest(t, s))
	}
	if !slices.Equal(got, want) {
		t.Errorf("digests %q, want %q", got, want)
	}
}
