package rigid

import (
	"math"

	"productform/dispatch"
	"productform/num"
)

// A Result is the outcome of a run. Measures shared with [dispatch.Result] have the same names.
type Result struct {
	Jobs []Record `json:"-"` // in the order of Scenario.Jobs

	DeadlineMissPenalty float64 `json:"deadline_miss_penalty" unit:"priority s"` // Σ_j P_j M_j, M_j = Record.Missed
	Missed              int     `json:"missed" unit:"jobs"`                      // jobs with M_j > 0
	Makespan            float64 `json:"makespan" unit:"s"`                       // from first submission to last end

	Delay    dispatch.Spread `json:"delay" unit:"s"`    // spread of Record.Delay, the response time
	Slowdown dispatch.Spread `json:"slowdown" unit:"-"` // spread of Record.Slowdown over jobs that take time

	// Utilization is the fraction of the time of workers that are up that is spent in runs that
	// finish, from the first submission to the last end. Wasted is the fraction spent in lost runs.
	// Both are 0 if no time passes.
	Utilization float64 `json:"utilization" unit:"of time"`
	Wasted      float64 `json:"wasted" unit:"of time"`

	Lost int `json:"lost" unit:"tasks"` // lost with their jobs; a task may be lost repeatedly

	Waiting         dispatch.Spread `json:"waiting" unit:"s"`          // spread of Record.Waiting
	BoundedSlowdown dispatch.Spread `json:"bounded_slowdown" unit:"-"` // spread of Record.BoundedSlowdown
	// jobs that started before a job ahead of them in the queue
	Backfilled int `json:"backfilled" unit:"jobs"`
	Outlived   int `json:"outlived" unit:"jobs"` // jobs that exceeded their requested times
}

// A Record is the outcome of a job with run time r; for a killed job, r is the time until it was
// killed. Start is the start of the run that finished, Slowdown is T / r for a delay T, and Lost
// counts all tasks of the job each time that it is lost.
type Record struct {
	dispatch.Record
	Waiting         float64 // W = Start - submission, seconds
	BoundedSlowdown float64 // max(1, T / max(r, threshold))
	Backfilled      bool    // whether it started before a job ahead of it
	Outlived        bool    // whether it exceeded its requested time
}

// defaultThreshold is the default threshold of the bounded slowdown, in seconds.
const defaultThreshold = 10

// result returns the summary of the run.
func (r *run) result() *Result {
	for i := range r.records {
		r.records[i].Job = i
		r.line.jobs[i].record(&r.records[i])
	}
	return summary(r.s.Workers, r.s.Threshold, r.line.sums, r.records, func(k int) (*dispatch.Job, float64) {
		return &r.s.Jobs[k], r.line.jobs[k].runs
	})
}

// record sets the fields of a record that are not times.
func (j *job) record(rec *Record) { rec.Backfilled, rec.Outlived = j.ahead, j.outlast }

// summary summarizes records with Start and Finish, whose other fields it sets; of returns the k-th
// job and its run time.
func summary(
	workers int, threshold float64, sums sums, records []Record, of func(k int) (j *dispatch.Job, runs float64),
) *Result {
	res := &Result{Jobs: records}
	if threshold == 0 {
		threshold = defaultThreshold
	}
	first, last := math.Inf(1), 0.0
	var held num.Sum
	list := func() []float64 { return make([]float64, 0, len(records)) }
	waits, delays, slowdowns, bounded := list(), list(), list(), list()
	for k := range records {
		rec := &records[k]
		j, seconds := of(k)
		first, last = min(first, j.Submit), max(last, rec.Finish)
		rec.Waiting, rec.Delay = rec.Start-j.Submit, rec.Finish-j.Submit
		rec.BoundedSlowdown = max(1, rec.Delay/max(seconds, threshold))
		if seconds > 0 {
			rec.Slowdown = rec.Delay / seconds
			slowdowns = append(slowdowns, rec.Slowdown)
		}
		waits, delays, bounded = append(waits, rec.Waiting), append(delays, rec.Delay),
			append(bounded, rec.BoundedSlowdown)
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
		res.Lost += rec.Lost
		held.Add(float64(float64(j.Tasks) * seconds))
	}
	res.Waiting, res.Delay = dispatch.SpreadOf(waits), dispatch.SpreadOf(delays)
	res.Slowdown, res.BoundedSlowdown = dispatch.SpreadOf(slowdowns), dispatch.SpreadOf(bounded)
	res.Makespan = max(0, last-first)
	if capacity := float64(float64(workers)*res.Makespan) - sums.Until.Value(); res.Makespan > 0 && capacity > 0 {
		res.Utilization, res.Wasted = held.Value()/capacity, sums.Wasted.Value()/capacity
	}
	return res
}
