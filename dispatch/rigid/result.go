package rigid

import (
	"math"

	"productform/dispatch"
	"productform/num"
)

// A Result is what a run came to.
type Result struct {
	Jobs []Record // in the order of Scenario.Jobs

	Waiting         dispatch.Spread // of Record.Waiting
	Delay           dispatch.Spread // of Record.Delay, the response time
	Slowdown        dispatch.Spread // of Record.Slowdown, over the jobs that take time
	BoundedSlowdown dispatch.Spread // of Record.BoundedSlowdown

	Utilization float64 // part of the time of workers that jobs hold, from the first submission to the last end; 0 if no time passes
	Makespan    float64 // seconds from the first submission to the last end

	Backfilled int // jobs that began before one that stood before them in the queue
	Outlived   int // jobs that ran longer than they asked for, and were killed if Scenario.Kill

	DeadlineMissPenalty float64 // Σ_j P_j M_j, M_j = Record.Missed, as in package dispatch
	Missed              int     // jobs with M_j > 0
}

// A Record is what became of a job of run time r, the time until it was killed if it was.
type Record struct {
	Job             int     // place in Scenario.Jobs
	Start, Finish   float64 // times
	Waiting         float64 // W = Start - submission, seconds
	Delay           float64 // T = Finish - submission, seconds
	Slowdown        float64 // T / r; 0 for a job that takes no time
	BoundedSlowdown float64 // max(1, T / max(r, threshold))
	Missed          float64 // M, as [dispatch.Job.Missed] says
	Backfilled      bool
	Outlived        bool
}

// defaultThreshold is that of the bounded slowdown, in seconds.
const defaultThreshold = 10

func (r *run) result() *Result {
	res := &Result{Jobs: r.records}
	threshold := r.s.Threshold
	if threshold == 0 {
		threshold = defaultThreshold
	}
	first, last := math.Inf(1), 0.0
	var held num.Sum
	var waits, delays, slowdowns, bounded []float64
	for i := range r.records {
		rec, j, seconds := &r.records[i], &r.s.Jobs[i], r.jobs[i].runs
		first, last = min(first, j.Submit), max(last, rec.Finish)
		rec.Waiting, rec.Delay = rec.Start-j.Submit, rec.Finish-j.Submit
		rec.BoundedSlowdown = max(1, rec.Delay/max(seconds, threshold))
		if seconds > 0 {
			rec.Slowdown = rec.Delay / seconds
			slowdowns = append(slowdowns, rec.Slowdown)
		}
		waits, delays, bounded = append(waits, rec.Waiting), append(delays, rec.Delay), append(bounded, rec.BoundedSlowdown)
		if late := j.Missed(rec.Finish); late > 0 {
			rec.Missed = late
			res.Missed++
			res.DeadlineMissPenalty += float64(j.Priority * late)
		}
		if rec.Backfilled {
			res.Backfilled++
		}
		if rec.Outlived {
			res.Outlived++
		}
		held.Add(float64(float64(j.Tasks) * seconds))
	}
	res.Waiting, res.Delay = dispatch.SpreadOf(waits), dispatch.SpreadOf(delays)
	res.Slowdown, res.BoundedSlowdown = dispatch.SpreadOf(slowdowns), dispatch.SpreadOf(bounded)
	if res.Makespan = last - first; res.Makespan > 0 {
		res.Utilization = held.Value() / (float64(r.s.Workers) * res.Makespan)
	}
	return res
}
